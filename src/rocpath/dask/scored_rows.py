"""Partitions of scored rows: scores, signed weights and groups."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from rocpath.dask.weights import Jumps, Vector


class ScoredPartition(NamedTuple):
    """Scores and jumps of the rows of a partition, optionally of two models, and groups."""

    score: Vector
    jump: Jumps | Vector  # signed weight in units; shares of groups are not whole numbers
    other_score: Vector | None = None
    group: NDArray[Any] | None = None

    @property
    def is_positive(self) -> NDArray[np.bool_]:
        """Class of each row."""
        return np.asarray(self.jump > 0)

    @property
    def weight(self) -> Vector:
        """Weight of each row, in units of its class."""
        return np.abs(self.jump).astype(np.float64)

    def take(self, index: NDArray[Any]) -> Self:
        """Select rows."""
        columns = [column if column is None else column[index] for column in self]
        return type(self)(*columns)  # type: ignore[arg-type]

    @classmethod
    def join(cls, pieces: Sequence[Self]) -> Self:
        """Concatenate rows."""
        columns = zip(*pieces, strict=True)
        joined = [None if one[0] is None else np.concatenate(one) for one in columns]
        return cls(*joined)  # type: ignore[arg-type]

"""Results of segmentation: changes, means and costs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rocpath.changepoint.selection import ModelSelection, model_selection

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Segmentations:
    """Hold the best segmentations of a sequence with 0, 1, 2, ... changes.

    Attributes
    ----------
    cost : array, shape (max_changes + 1,)
        Cost of the best model with k changes; infinite if no model satisfies the labels
        and the minimum length. It does not increase with k, except with labels, a
        minimum length or a constraint.
    changes : tuple of arrays of int
        ``changes[k]`` has the k increasing indices where new segments start, from 1 to
        n - 1: the segments are ``x[0:c0], x[c0:c1], ...``. Empty if the model does not
        exist.
    mean : tuple of arrays
        ``mean[k]`` has the means of the k + 1 segments, one row each if there are
        several columns.
    n : int
        Length of the sequence.
    """

    cost: NDArray[np.float64]
    changes: tuple[NDArray[np.int64], ...]
    mean: tuple[NDArray[np.float64], ...]
    n: int

    def __len__(self) -> int:
        """Return the number of models, ``max_changes + 1``."""
        return len(self.changes)

    def selection(self) -> ModelSelection:
        """Return the models that some penalty selects, as `model_selection` does."""
        possible = np.flatnonzero(np.isfinite(self.cost))
        selection = model_selection(self.cost[possible], possible)
        return replace(selection, model=selection.n_changes)


@dataclass(frozen=True, slots=True, eq=False)
class Segmentation:
    """Hold the best segmentation of a sequence for one penalty.

    Attributes
    ----------
    cost : float
        Cost without the penalty.
    changes : array of int
        Indices where new segments start, as in `Segmentations`.
    mean : array
        Means of the segments.
    penalty : float
        The penalty of each change.
    n : int
        Length of the sequence.
    position : array or None
        Positions of the changes, if the observations have positions.
    """

    cost: float
    changes: NDArray[np.int64]
    mean: NDArray[np.float64]
    penalty: float
    n: int
    position: NDArray[np.float64] | None = None

    @property
    def n_changes(self) -> int:
        """The number of changes."""
        return self.changes.size

"""Vectors with one entry per row, whose partitions the workers compute when needed."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from rocpath.dask.passes import Passes
from rocpath.dask.weights import Vector


@dataclass(frozen=True, slots=True, eq=False)
class PartitionedVector:
    """Vector of float64 in partitions, which adds and scales like a NumPy array."""

    passes: Passes
    tasks: list[Any]  # each returns the entries of a partition

    def __rmul__(self, factor: float) -> Self:
        """Multiply the vector by a number."""
        return type(self)(self.passes, self.passes.each(_scaled, self.tasks, factor=factor))

    def __add__(self, other: Self) -> Self:
        """Add two vectors of the same rows."""
        return type(self)(self.passes, self.passes.each(_added, self.tasks, other.tasks))

    def kept(self) -> Self:
        """Compute the entries, which the workers keep."""
        return type(self)(self.passes, self.passes.keep(self.tasks))


def _scaled(entries: Vector, factor: float) -> Vector:
    return np.asarray(factor * entries)


def _added(entries: Vector, others: Vector) -> Vector:
    return np.asarray(entries + others)

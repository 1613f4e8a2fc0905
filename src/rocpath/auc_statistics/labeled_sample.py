"""Validated labels, weights, groups and scores of a sample."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath.arguments import (
    check_count,
    describe,
    finite_vector,
    is_missing,
    label_weights,
    positive_labels,
    refuse_any,
    refuse_masked,
    same_length,
)


class RowGroups(NamedTuple):
    """The group of each row as an integer code, and the number of groups."""

    code: NDArray[np.intp]
    n_groups: int

    @classmethod
    def of(cls, name: str, labels: ArrayLike, n_rows: int, *, least: int = 2) -> RowGroups:
        """Encode labels of any type; raise if there are fewer than ``least`` groups."""
        refuse_masked(name, labels)
        label = np.asarray(labels)
        if label.ndim != 1:
            raise ValueError(f"{name} must be one-dimensional, got {label.shape}.")
        check_count(f"{name} must have an entry", label.size, n_rows, "rows")
        refuse_any(is_missing(label), f"{name} must have no missing or infinite values", label)
        groups = cls.from_codes(_codes(label))
        if groups.n_groups < least:
            only = describe(label[:1].tolist()[0])
            raise ValueError(f"{name} must have at least two different values, got only {only}.")
        return groups

    @classmethod
    def from_codes(cls, code: NDArray[np.intp]) -> RowGroups:
        """Create groups from codes, some of which may be unused."""
        return cls(code, int(np.count_nonzero(np.bincount(code))))

    def take(self, rows: NDArray[np.intp]) -> RowGroups:
        """Return the groups of some of the rows."""
        return self.from_codes(self.code[rows])


def _codes(label: NDArray[Any]) -> NDArray[np.intp]:
    """Encode labels as non-negative integers; equal labels have equal codes."""
    if label.dtype.kind in "bui":
        low = int(label.min())
        if int(label.max()) - low <= 2 * label.size:
            # Integers without large gaps can serve as codes.
            return np.asarray(label.astype(np.intp) - low)
    elif label.dtype.kind == "O":
        label = label.astype(str)
    return np.asarray(np.unique(label, return_inverse=True)[1])


@dataclass(frozen=True)
class LabeledSample:
    """Hold validated labels with optional weights and groups."""

    is_positive: NDArray[np.bool_]
    weight: NDArray[np.float64] | None = None
    groups: RowGroups | None = None

    @classmethod
    def of(
        cls,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        positive: Any = None,
        groups: ArrayLike | None = None,
    ) -> LabeledSample:
        """Validate labels, weights and groups."""
        is_positive = positive_labels(y, positive)
        weight, together = None, None
        if sample_weight is not None:
            weight = label_weights(is_positive, sample_weight)
        if groups is not None:
            together = RowGroups.of("groups", groups, is_positive.size)
            if together.n_groups == is_positive.size:
                # With one row in each group, rows are independent.
                together = None
        return cls(is_positive, weight, together)

    def scores(self, name: str, given: ArrayLike) -> NDArray[np.float64]:
        """Validate scores, and return them as a float64 array."""
        score = finite_vector(name, given, copy=False)
        same_length(**{"y": self.is_positive, name: score})
        return score

    @cached_property
    def counts(self) -> dict[str, int | None]:
        """Numbers of rows and groups, by their names in the results."""
        n_positives = int(np.count_nonzero(self.is_positive))
        return {
            "n_positives": n_positives,
            "n_negatives": self.is_positive.size - n_positives,
            "n_groups": None if self.groups is None else self.groups.n_groups,
        }

    def squared_influences(self, deviation: NDArray[np.float64]) -> list[float]:
        """Sum the squared influences of the positives and of the negatives."""
        weighted = deviation if self.weight is None else self.weight * deviation
        total = np.bincount(self.is_positive, self.weight)
        squares = np.bincount(self.is_positive, weighted**2) / total**2
        return squares[::-1].tolist()  # type: ignore[no-any-return]

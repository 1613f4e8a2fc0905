"""Validated labels, weights, groups and scores of a sample."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath.arguments import (
    Floats,
    check_count,
    describe,
    finite_vector,
    label_vector,
    label_weights,
    positive_labels,
    same_length,
)


def group_codes(name: str, labels: ArrayLike, n_rows: int, *, least: int = 2) -> NDArray[np.intp]:
    """Encode labels of any type as integers; raise if fewer than ``least`` are distinct."""
    label = label_vector(name, labels)
    check_count(f"{name} must have an entry", label.size, n_rows, "rows")
    code = _codes(label)
    if count_groups(code) < least:
        only = describe(label[:1].tolist()[0])
        raise ValueError(f"{name} must have at least two different values, got only {only}.")
    return code


def count_groups(code: NDArray[np.intp]) -> int:
    """Return the number of distinct codes, which need not be consecutive."""
    return int(np.count_nonzero(np.bincount(code)))


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
    """Validated labels with optional weights and groups."""

    is_positive: NDArray[np.bool_]
    weight: Floats | None = None
    groups: NDArray[np.intp] | None = None  # integer codes

    @classmethod
    def of(
        cls,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        positive: Any = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Validate labels, weights and groups."""
        is_positive = positive_labels(y, positive)
        n_rows = is_positive.size
        weight = None if sample_weight is None else label_weights(is_positive, sample_weight)
        code = None if groups is None else group_codes("groups", groups, n_rows)
        # With one row in each group, rows are independent.
        is_grouped = code is not None and count_groups(code) < n_rows
        return cls(is_positive, weight, code if is_grouped else None)

    def scores(self, name: str, given: ArrayLike) -> Floats:
        """Validate scores, and return them as a float64 array."""
        score = finite_vector(name, given, copy=False)
        same_length(**{"y": self.is_positive, name: score})
        return score

    @cached_property
    def counts(self) -> dict[str, Any]:
        """Numbers of rows and groups, by their names in the results."""
        n_positives = int(np.count_nonzero(self.is_positive))
        return {
            "n_positives": n_positives,
            "n_negatives": self.is_positive.size - n_positives,
            "n_groups": None if self.groups is None else count_groups(self.groups),
        }

    def squared_influences(self, deviation: Floats) -> list[float]:
        """Sum the squared influences of the positives and of the negatives."""
        weighted = deviation if self.weight is None else self.weight * deviation
        total = np.bincount(self.is_positive, self.weight)
        squares = np.bincount(self.is_positive, weighted**2) / total**2
        return squares[::-1].tolist()  # type: ignore[no-any-return]

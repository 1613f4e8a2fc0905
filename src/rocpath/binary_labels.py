"""Labels of two values, and how much each row counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rocpath.arguments import check_count, describe, finite_vector, refuse_any

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def row_weights(sample_weight: ArrayLike | None, n_rows: int) -> NDArray[np.float64]:
    """Return the weight of every row, 1 by default, or raise if none counts."""
    if sample_weight is None:
        return np.ones(n_rows)
    weight = finite_vector("sample_weight", sample_weight)
    rule = "y and sample_weight must have the same length, an entry"
    check_count(rule, weight.size, n_rows, "rows")
    refuse_any(weight < 0, "sample_weight must not be negative", weight)
    if not weight.any():
        raise ValueError("sample_weight must have a positive entry, got only zeros.")
    return weight


def label_weights(
    is_positive: NDArray[np.bool_], sample_weight: ArrayLike | None
) -> NDArray[np.float64]:
    """Return the weight of every row, 1 by default, or raise if a class has none."""
    weight = row_weights(sample_weight, is_positive.size)
    # Rates divide by these sums.
    for name, members in (("negative", ~is_positive), ("positive", is_positive)):
        if weight[members].sum() <= 0:
            raise ValueError(
                f"sample_weight of the {name} class must sum to a positive number, "
                "got 0."
            )
    return weight


def positive_labels(y: ArrayLike, positive: Any = None) -> NDArray[np.bool_]:
    """Tell which of binary labels are positive: by default the larger ones."""
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"y must be one-dimensional, got shape {labels.shape}.")
    refuse_any(is_missing(labels), "y must be finite and complete", labels)
    classes = _distinct(labels)
    check_two_classes(classes)
    if positive is None:
        # The same choice as scikit-learn's, so that 1 of 0 and 1 is positive.
        positive = classes[1]
    elif positive not in classes.tolist():
        raise ValueError(
            f"positive must be one of the labels {describe(classes.tolist())}, "
            f"got {positive!r}."
        )
    return np.asarray(labels == positive)


def is_missing(labels: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which labels are missing or not finite."""
    if labels.dtype.kind in "biuSU":
        return np.zeros(labels.shape, dtype=bool)
    if labels.dtype.kind in "fc":
        return np.asarray(~np.isfinite(labels))
    # NaN and NaT differ from themselves.
    return np.array([x is None or x != x for x in labels], dtype=bool)


def check_two_classes(classes: NDArray[Any]) -> None:
    """Raise unless there are exactly two classes."""
    if classes.size != 2:
        raise ValueError(
            f"y must have exactly two classes, got {classes.size}: "
            f"{describe(classes.tolist())}."
        )


def _distinct(labels: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct labels in increasing order."""
    if labels.size and labels.dtype.kind in "buif":
        # Two numbers are the smallest and the largest: no sort is needed to see that.
        ends = np.array([labels.min(), labels.max()])
        if ends[0] != ends[1] and np.all((labels == ends[0]) | (labels == ends[1])):
            return ends
    return np.unique(labels)

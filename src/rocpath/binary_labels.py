"""Labels of two values, and how much each row counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rocpath.arguments import describe, finite_vector, same_length

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def label_weights(
    is_positive: NDArray[np.bool_], sample_weight: ArrayLike | None
) -> NDArray[np.float64]:
    """Return the weight of every row, 1 by default, or raise if a class has none."""
    if sample_weight is None:
        return np.ones(is_positive.size)
    weight = finite_vector("sample_weight", sample_weight)
    same_length(y=is_positive, sample_weight=weight)
    if weight.min() < 0:
        raise ValueError(
            f"sample_weight must not be negative, got {weight.min()} at index "
            f"{weight.argmin()}."
        )
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
    # NaN and NaT differ from themselves.
    if labels.dtype.kind in "buif":
        is_missing = ~np.isfinite(labels)
    else:
        is_missing = np.array([x is None or x != x for x in labels], dtype=bool)
    if is_missing.any():
        worst = is_missing.argmax()
        raise ValueError(
            f"y must be finite and complete, got {labels[worst]} at index {worst}."
        )
    classes = np.unique(labels)
    if classes.size != 2:
        raise ValueError(
            f"y must have exactly two classes, got {classes.size}: "
            f"{describe(classes.tolist())}."
        )
    if positive is None:
        # The same choice as scikit-learn's, so that 1 of 0 and 1 is positive.
        positive = classes[1]
    elif positive not in classes.tolist():
        raise ValueError(
            f"positive must be one of the labels {describe(classes.tolist())}, "
            f"got {positive!r}."
        )
    return np.asarray(labels == positive)

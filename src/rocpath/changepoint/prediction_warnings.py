"""Warnings about sequences that differ from the training data."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocpath.changepoint.segmentation_results import Segmentation

_EXTRAPOLATION = 0.5  # tolerated distance from the training range, relative to its width
_DENSE = 0.1  # changes per observation that suggest a wrong penalty
_MOST_NAMED = 5


def warn_of_unusual(
    model: Any, X: NDArray[np.float64], found: Sequence[Segmentation], names: Sequence[str]
) -> None:
    """Warn about features outside the training range, and about too many changes."""
    if hasattr(model, "low_"):
        room = _EXTRAPOLATION * (model.high_ - model.low_)
        is_far = (model.low_ - room > X) | (model.high_ + room < X)
        is_far = is_far[:, model.coef_ != 0].any(axis=1)
        _warn(is_far, names, "have features outside the training range")
    is_dense = np.array([one.n_changes > _DENSE * one.n for one in found], dtype=bool)
    _warn(is_dense, names, f"have changes at more than {_DENSE:.0%} of observations")


def _warn(is_bad: NDArray[np.bool_], names: Sequence[str], what: str) -> None:
    bad = [name for name, one in zip(names, is_bad, strict=True) if one]
    if bad:
        more = f" and {len(bad) - _MOST_NAMED} more" if bad[_MOST_NAMED:] else ""
        warnings.warn(
            f"Sequences {', '.join(bad[:_MOST_NAMED])}{more} {what}: check their "
            "changes, or label some of them.",
            stacklevel=4,
        )

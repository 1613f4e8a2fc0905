"""Detect changes in unlabeled sequences, and warn about unusual results."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath.changepoint.observations import checked_sequences, one_for_each
from rocpath.changepoint.penalty_default import default_penalty, noise_scaled
from rocpath.changepoint.segment_costs import Constraint, SegmentCost
from rocpath.changepoint.segmentation import segment_penalty
from rocpath.changepoint.segmentation_results import Segmentation
from rocpath.validation import Floats

_EXTRAPOLATION = 0.5  # tolerated distance from the training range, relative to its width
_MAX_DENSITY = 0.1  # changes per observation above which the penalty is suspect
_MAX_NAMED = 5  # sequences named in a warning


def detect_changes(
    sequences: Sequence[ArrayLike],
    penalty: float | Sequence[float] | None = None,
    *,
    cost: SegmentCost = "normal",
    constraint: Constraint = None,
    min_length: int = 1,
    weights: Sequence[ArrayLike | None] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Segmentation]:
    """Segment sequences without labels.

    Parameters
    ----------
    sequences : list of array-like
        The sequences, each of shape (n,) or (n, d). If there are several columns, each
        is divided by its estimated noise standard deviation.
    penalty : float or list of float, optional
        Penalty per change, for all sequences or for each of them; by default, the
        `default_penalty` of each sequence.
    cost, constraint, min_length
        As for `segment`.
    weights : list of array-like or None, optional
        Weights of the observations of each sequence.
    progress : callable, optional
        Function that is called with the number of segmented sequences and the total
        number of sequences.

    Returns
    -------
    list of Segmentation

    Examples
    --------
    >>> import numpy as np
    >>> from rocpath import changepoint as cp
    >>> rng = np.random.default_rng(0)
    >>> x = np.repeat([0.0, 5.0], 50) + rng.normal(size=100)
    >>> [found.changes.tolist() for found in cp.detect_changes([x, 1e6 * x])]
    [[50], [50]]
    """
    values = checked_sequences(sequences)
    n = len(values)
    every_weight = one_for_each("weights", weights, n)
    is_list = penalty is not None and np.ndim(penalty) > 0
    every_penalty = one_for_each("penalty", penalty if is_list else [penalty] * n, n)
    found = []
    for done, (x, own, weight) in enumerate(zip(values, every_penalty, every_weight, strict=True)):
        if progress is not None:
            progress(done, n)
        # Columns are scaled by their noise for the search; means are in the original units.
        scaled, median, unit = noise_scaled(x, weight)
        if own is None:
            own = default_penalty(scaled, cost=cost, weights=weight)
        best = segment_penalty(
            scaled, own, cost=cost, weights=weight, constraint=constraint, min_length=min_length
        )
        found.append(replace(best, mean=best.mean * unit + median))
    return found


def warn_of_unusual(
    model: Any, X: Floats, found: Sequence[Segmentation], names: Sequence[str]
) -> None:
    """Warn about features outside the training range, and about too many changes."""
    if hasattr(model, "low_"):
        room = _EXTRAPOLATION * (model.high_ - model.low_)
        is_far = (model.low_ - room > X) | (model.high_ + room < X)
        is_far = is_far[:, model.coef_ != 0].any(axis=1)
        _warn(is_far, names, "Features are outside the training range")
    is_dense = np.array([one.n_changes > _MAX_DENSITY * one.n for one in found], dtype=bool)
    _warn(is_dense, names, f"Changes are detected at more than {_MAX_DENSITY:.0%} of observations")


def _warn(is_bad: NDArray[np.bool_], names: Sequence[str], what: str) -> None:
    bad = [name for name, one in zip(names, is_bad, strict=True) if one]
    if bad:
        more = f" and {len(bad) - _MAX_NAMED} more" if bad[_MAX_NAMED:] else ""
        warnings.warn(
            f"{what} in the following sequences: {', '.join(bad[:_MAX_NAMED])}{more}. Check "
            "their changes, or label some of them.",
            stacklevel=4,
        )

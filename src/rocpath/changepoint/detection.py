"""Detect changes in unlabeled sequences, and warn about unusual results."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath.changepoint.cost_choice import resolved_cost
from rocpath.changepoint.intervals import location_intervals
from rocpath.changepoint.model_checks import model_warnings
from rocpath.changepoint.observations import checked_sequences, one_for_each
from rocpath.changepoint.penalty_default import choose_penalty, noise_scaled
from rocpath.changepoint.seasons import checked_period, first_pattern, pattern_of, repeated
from rocpath.changepoint.segment_costs import Constraint, DetectionCost
from rocpath.changepoint.segmentation import segment_penalty
from rocpath.changepoint.segmentation_results import Segmentation
from rocpath.changepoint.worth import change_gains
from rocpath.validation import Floats, one_of, read_only, share_between

_EXTRAPOLATION = 0.5  # tolerated distance from the training range, relative to its width
_MAX_DENSITY = 0.1  # changes per observation above which the penalty is suspect
_MAX_SEASON_FITS = 5  # the changes usually stay the same after two
_MAX_NAMED = 5  # sequences named in a warning


def detect_changes(
    sequences: Sequence[ArrayLike],
    penalty: float | Sequence[float] | None = None,
    *,
    cost: DetectionCost = "normal",
    constraint: Constraint = None,
    min_length: int = 1,
    period: int | None = None,
    confidence: float = 0.95,
    weights: Sequence[ArrayLike | None] | None = None,
    names: Sequence[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Segmentation]:
    """Segment sequences without labels.

    With the default penalty, the model of each sequence is checked. A warning is emitted
    for each sequence with a seasonal pattern, trends or spikes, or that resembles a
    random walk, and is stored in ``warnings`` of its result.

    Parameters
    ----------
    sequences : list of array-like
        The sequences, each of shape (n,) or (n, d). If there are several columns, each
        is divided by its estimated noise standard deviation.
    penalty : float or list of float, optional
        Penalty per change, for all sequences or for each of them; by default, the
        `default_penalty` of each sequence.
    cost : str
        Cost of a segment, as for `segment`, or ``"auto"``, which chooses
        ``"normal"``, ``"linear"`` or ``"biweight"`` for each sequence and requires the
        default penalty.
    constraint, min_length
        As for `segment`.
    period : int, optional
        Period of a seasonal pattern, in observations. The pattern is fitted together
        with the segments and subtracted.
    confidence : float
        Confidence level of the intervals of the locations.
    weights : list of array-like or None, optional
        Weights of the observations of each sequence.
    names : list of str, optional
        Names of the sequences in warnings; by default their indices.
    progress : callable, optional
        Function that is called with the number of segmented sequences and the total
        number of sequences.

    Returns
    -------
    list of Segmentation
        Each with the gain of each change and the interval of its location:
        ``intervals[j]`` contains the first and the last index at which segment j + 1
        may start.

    Examples
    --------
    >>> import numpy as np
    >>> from rocpath import changepoint as cp
    >>> rng = np.random.default_rng(0)
    >>> x = np.repeat([0.0, 3.0], 50) + rng.normal(size=100)
    >>> found = cp.detect_changes([x, 1e6 * x])
    >>> [one.changes.tolist() for one in found]
    [[47], [47]]
    >>> found[0].intervals.tolist()
    [[46, 50]]
    """
    values = checked_sequences(sequences)
    n = len(values)
    confidence = share_between("confidence", confidence)
    one_of("cost", cost, get_args(DetectionCost))
    every_weight = one_for_each("weights", weights, n)
    is_list = penalty is not None and np.ndim(penalty) > 0
    every_penalty = one_for_each("penalty", penalty if is_list else [penalty] * n, n)
    every_name = [str(one) for one in one_for_each("names", names or range(n), n)]
    if cost == "auto" and penalty is not None:
        raise ValueError(
            "penalty must be None with cost='auto', because the penalties of its costs differ, "
            f"got {penalty}."
        )
    settings: dict[str, Any] = {"constraint": constraint, "min_length": min_length}
    found = []
    rows = zip(values, every_penalty, every_weight, every_name, strict=True)
    for done, (x, own, weight, name) in enumerate(rows):
        if progress is not None:
            progress(done, n)
        best = _detected(x, own, weight, period, cost, settings)
        for text in best.warnings:
            warnings.warn(f"sequence {name}: {text}.", stacklevel=2)
        found.append(_with_intervals(x, best, weight, confidence))
    return found


def _detected(
    x: Floats,
    penalty: float | None,
    weight: ArrayLike | None,
    period: int | None,
    cost: DetectionCost,
    settings: dict[str, Any],
) -> Segmentation:
    """Segment a sequence, after subtracting a seasonal pattern if there is one."""
    if period is None:
        return _segmented(x, penalty, weight, cost, settings)
    period = checked_period(period, len(x), "sequences")
    season = first_pattern(x, period)
    best = None
    for _ in range(_MAX_SEASON_FITS):
        before = best
        best = _segmented(x - repeated(season, len(x)), penalty, weight, cost, settings)
        if before is not None and np.array_equal(before.changes, best.changes):
            break
        season = pattern_of(x - best.fitted(), period)
    assert best is not None
    return replace(best, season=read_only(season))


def _segmented(
    x: Floats,
    penalty: float | None,
    weight: ArrayLike | None,
    cost: DetectionCost,
    settings: dict[str, Any],
) -> Segmentation:
    # Columns are scaled by their noise for the search; means are in the original units.
    scaled, median, unit = noise_scaled(x, weight)
    model = resolved_cost(scaled, cost, weight)
    choice = None
    if penalty is None:
        choice = choose_penalty(scaled, cost=model, weights=weight)
        penalty = choice.penalty
    best = segment_penalty(scaled, penalty, cost=model, weights=weight, **settings)
    texts: tuple[str, ...] = ()
    if choice is not None and settings["constraint"] is None:
        texts = model_warnings(scaled, best, choice, cost=model, weights=weight)
    gain = change_gains(scaled, best.changes, cost=model, weights=weight)
    return replace(
        best, mean=best.mean * unit + median, model=model, gain=read_only(gain), warnings=texts
    )


def _with_intervals(
    x: Floats, best: Segmentation, weight: ArrayLike | None, confidence: float
) -> Segmentation:
    if best.season is not None:
        x = x - repeated(best.season, len(x))
    scaled = noise_scaled(x, weight)[0]
    model: Any = best.model
    intervals = location_intervals(
        scaled, best.changes, cost=model, weights=weight, confidence=confidence
    )
    return replace(best, intervals=intervals)


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

"""Exact line searches: AUM and AUC as functions of the step size."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np

import rocpath._core as _core
from rocpath.memory import available_memory
from rocpath.search.breakpoints import ErrorBreakpoints, per_example
from rocpath.search.lines import Lines, with_rounding_margin
from rocpath.search.partial_auc import checked_region
from rocpath.search.proofs import with_auc_certificate, with_aum_certificate
from rocpath.search.search_results import AUMPath, BestStep, StepPath
from rocpath.validation import Floats, nonnegative_number, one_of, read_only, whole_number

Stop = Literal["first_min_aum", "first_max_auc"]

# Computing this many rows of a path takes less time than counting all of its rows.
_FEW_ROWS = 1024
# A StepPath has five columns of float64, one of int64 and two of int32.
_ROW_BYTES = 56


def sweep(
    lines: Lines,
    *,
    stop: Stop | None = None,
    max_crossings: int | None = None,
    max_step: float | None = None,
    max_fpr: float | None = None,
    min_tpr: float | None = None,
) -> StepPath:
    """Compute AUM and AUC at every crossing of the lines, in order of the step.

    This is the line search of the paper. Its "linear" variant is
    ``max_crossings=len(lines)``; its "quadratic" variant has no limit. Repeated lines,
    and lines that meet in one point, are handled exactly.

    Parameters
    ----------
    lines : Lines
        Thresholds as functions of the step.
    stop : {None, "first_min_aum", "first_max_auc"}
        Event that ends the search: none; the first minimum of AUM, which is ``aum`` of
        the last row; or the first step after which AUC decreases. For monotone errors
        the first minimum of AUM is the global one, otherwise a local one.
    max_crossings : int, optional
        Maximum number of steps with a crossing.
    max_step : float, optional
        Largest step.
    max_fpr, min_tpr : float, optional
        Region of a partial AUC, as in ``auc``; errors must be monotone.

    Returns
    -------
    StepPath

    Raises
    ------
    MemoryError
        If the path does not fit into memory; the message states its size.

    Examples
    --------
    >>> import rocpath as rp
    >>> bp = rp.ErrorBreakpoints.from_labels([0, 0, 1, 1])
    >>> lines = rp.Lines.from_predictions(bp, [-7, -2, 0, -4], [0, -0.5, 0, 0.5])
    >>> path = rp.sweep(lines)
    >>> path.step
    array([ 0.,  2.,  8., 10.])
    >>> path.aum
    array([1., 0., 0., 0.])
    >>> path.auc_after
    array([0.75, 1.  , 1.  , 1.  ])
    >>> rp.sweep(lines, max_fpr=0.5).auc_after
    array([0.25, 0.5 , 0.5 , 0.5 ])
    """
    step_limit = _checked_limit(lines, max_step)
    one_of("stop", stop, (None, "first_min_aum", "first_max_auc"))
    crossing_limit = 2**63  # 2**32 lines have fewer crossings
    if max_crossings is not None:
        limit = whole_number("max_crossings", max_crossings, least=0)
        crossing_limit = min(limit, crossing_limit)
    region = checked_region("lines", lines.is_monotone, max_fpr, min_tpr)

    def search(n_expected: int, max_rows: int) -> dict[str, Any]:
        return _core.sweep(
            lines.core,
            stop=getattr(_core.Stop, stop or "never"),
            max_crossings=crossing_limit,
            max_step=step_limit,
            **region,
            n_expected=n_expected,
            max_rows=max_rows,
        )

    max_rows = available_memory() // _ROW_BYTES
    # A search with a stop often ends after a few rows, sooner than all could be counted. The
    # core obtains more memory if needed.
    n_expected = _FEW_ROWS
    if stop is None:
        n_expected = _expected_rows(lines, crossing_limit, step_limit, max_rows)
    columns = search(n_expected, max_rows)
    if columns.pop("is_too_long"):
        n_crossings = _core.count_crossings(lines.core, step_limit)
        raise _too_long(min(n_crossings, crossing_limit) + 1)
    return StepPath(**_in_unit(columns, lines.unit), lines=lines)


def best_aum_step(
    lines: Lines, *, max_step: float | None = None, certificate: bool = False
) -> BestStep:
    """Find the step with the smallest AUM.

    For monotone errors AUM is convex in the step, and its minimum is found in linear
    expected time. For other errors, a sweep finds the first local minimum; see
    ``aum_path`` for the global one.

    Parameters
    ----------
    lines, max_step
        As for `sweep`.
    certificate : bool
        Whether to return a claim that `verify` checks without any code of the search.
        Errors must be monotone.

    Returns
    -------
    BestStep
        ``is_global`` is True if the errors are monotone. AUM of other errors may
        decrease without bound; the step is then ``max_step``, or the largest float64.

    Examples
    --------
    >>> import rocpath as rp
    >>> bp = rp.ErrorBreakpoints.from_labels([0, 0, 1, 1])
    >>> lines = rp.Lines.from_predictions(bp, [-7, -2, 0, -4], [0, -0.5, 0, 0.5])
    >>> best = rp.best_aum_step(lines)
    >>> best.value, best.interval
    (0.0, (2.0, inf))
    """
    step_limit = _checked_limit(lines, max_step)
    _check_certifiable(lines, certificate)
    # For monotone errors, AUM is the minimum of a convex function over the threshold,
    # and therefore convex in the step: no sweep is needed.
    search = _core.best_aum_step if lines.is_monotone else _core.first_min_aum
    best = search(lines.core, max_step=step_limit)
    best["value"] *= lines.unit
    bound = best["value"] if lines.is_monotone else -np.inf  # AUM may be negative
    result = BestStep(**best, bound=bound, is_global=lines.is_monotone)
    return with_aum_certificate(result, step_limit) if certificate else result


def aum_path(lines: Lines, *, max_step: float | None = None) -> AUMPath:
    """Compute the kinks of AUM as a function of the step, without other crossings.

    Parameters
    ----------
    lines, max_step
        As for `sweep`.

    Returns
    -------
    AUMPath

    Examples
    --------
    >>> import rocpath as rp
    >>> bp = rp.ErrorBreakpoints.from_labels([0, 0, 1, 1])
    >>> lines = rp.Lines.from_predictions(bp, [-7, -2, 0, -4], [0, -0.5, 0, 0.5])
    >>> path = rp.aum_path(lines)
    >>> path.step, path.aum, path.aum_slope_after
    (array([0., 2.]), array([1., 0.]), array([-0.5,  0. ]))
    """
    end = _checked_limit(lines, max_step)
    columns = _core.aum_path(lines.core, max_step=end)
    return AUMPath(**_in_unit(columns, lines.unit), end=end, lines=lines)


def best_auc_step(
    lines: Lines,
    *,
    tol: float = 0.0,
    max_step: float | None = None,
    two_sided: bool = False,
    rounding: float = 0.0,
    max_fpr: float | None = None,
    min_tpr: float | None = None,
    certificate: bool = False,
    progress: Callable[[float, float, int], None] | None = None,
) -> BestStep:
    """Find the step with the largest AUC, by branch and bound.

    AUC at a step is that of the lines in exact arithmetic, at the float64 value of the
    step. Predictions computed in float64 are rounded: where ``interval`` is only a few
    ulps wide, ``auc`` of ``predictions + step * direction`` may differ. Models that
    take the step should set ``rounding``.

    Parameters
    ----------
    lines
        As for `sweep`; errors need not be monotone.
    tol : float
        Absolute tolerance: no step has an AUC that is larger by more than this. With 0
        the result is the maximum over all float64 steps.
    max_step : float, optional
        Largest step.
    two_sided : bool
        Whether to search negative steps too, down to ``-max_step``.
    rounding : float
        Rounding error of predictions after a step, relative to the largest ones. A
        pair of thresholds then counts as correctly ranked at step ``s`` only if it
        remains so when both move by ``rounding * (max|intercept| + |s| * max|slope|)``;
        step 0 is not rounded and keeps its AUC. ``value`` is therefore a lower bound of
        AUC after the step, plateaus that exist only by rounding are ignored, and AUC
        does not fall below that of step 0. ``2**-40`` suits predictions ``X @ coef`` in
        which at most 11 bits cancel. Errors must be monotone.
    max_fpr, min_tpr
        As for `sweep`.
    certificate : bool
        Whether to return a proof of the result, which `verify` checks without any code
        of the search. Errors must be monotone, and ``rounding`` 0.
    progress : callable, optional
        Function called periodically with the best value, the bound, and the number of
        windows searched.

    Returns
    -------
    BestStep
        ``value <= bound <= value + tol``.

    Examples
    --------
    >>> import rocpath as rp
    >>> bp = rp.ErrorBreakpoints.from_labels([0, 0, 1, 1])
    >>> lines = rp.Lines.from_predictions(bp, [-7, -2, 0, -4], [0, -0.5, 0, 0.5])
    >>> best = rp.best_auc_step(lines)
    >>> best.value, best.interval
    (1.0, (2.0, inf))
    >>> rp.best_auc_step(lines, max_fpr=0.5).value
    0.5
    """
    step_limit = _checked_limit(lines, max_step)
    region = checked_region("lines", lines.is_monotone, max_fpr, min_tpr)
    tolerance = nonnegative_number("tol", tol)
    relative_error = nonnegative_number("rounding", rounding)
    _check_certifiable(lines, certificate, relative_error)

    def search(some: Lines, min_step: float) -> BestStep:
        best = _core.best_auc_step(
            some.core,
            min_step=min_step,
            max_step=step_limit,
            tolerance=tolerance,
            **region,
            progress=progress or (lambda *_: None),
        )
        return BestStep(**best, is_global=True)

    if relative_error == 0:
        # A single search in both directions shares one bound.
        min_step = 0.0 - step_limit if two_sided else 0.0
        best, domain = search(lines, min_step), (min_step, step_limit)
        if certificate:
            best = with_auc_certificate(lines, best, domain, tol=tolerance, **region)
        return best
    stay = float(sweep(lines, max_crossings=0, max_fpr=max_fpr, min_tpr=min_tpr).auc[0])
    tried = [BestStep(0.0, (0.0, 0.0), stay, stay, is_global=True)]
    tried.append(search(with_rounding_margin(lines, relative_error), 0.0))
    if two_sided:
        tried.append(_reversed(search(with_rounding_margin(lines.reversed(), relative_error), 0.0)))
    best = max(tried, key=lambda one: one.value)
    return replace(best, bound=max(one.bound for one in tried))


def best_auc_step_along(
    bp: ErrorBreakpoints,
    predictions: Floats,
    direction: Floats,
    *,
    tol: float = 0.0,
    min_step: float = 0.0,
    max_fpr: float | None = None,
) -> BestStep:
    """Find the step with the largest AUC of ``predictions + step * direction``.

    This is `best_auc_step` for estimators: one call of the core, without `Lines`.
    """
    region = {"max_fpr": 1.0, "min_tpr": 0.0}
    if max_fpr is not None:
        region = checked_region("bp", bp.is_monotone, max_fpr, None)
    best = _core.best_auc_step_along(
        bp.core,
        per_example("predictions", predictions, bp),
        per_example("direction", direction, bp),
        min_step=min_step,
        max_step=np.inf,
        tolerance=tol,
        **region,
    )
    return BestStep(**best, is_global=True)


def _reversed(best: BestStep) -> BestStep:
    """Convert the best step of reversed lines to one of the original lines."""
    low, high = best.interval
    return replace(best, step=-best.step, interval=(-high, -low))


def _expected_rows(lines: Lines, max_crossings: int, max_step: float, max_rows: int) -> int:
    """Return the number of rows to allocate for a sweep, or raise if it is too large."""
    # Every pair of lines crosses at most once, and every crossing is at most one row.
    n_rows = min(len(lines) * (len(lines) - 1) // 2, max_crossings) + 1
    is_whole = np.isinf(max_step)
    if n_rows > (max_rows if is_whole else _FEW_ROWS):
        # Many pairs never cross at a positive step; a merge sort counts those that do.
        n_crossings = _core.count_crossings(lines.core, max_step)
        n_rows = min(n_crossings, max_crossings) + 1
    if n_rows <= max_rows:
        return n_rows
    if is_whole:
        raise _too_long(n_rows)
    return _FEW_ROWS  # rows may be far fewer than crossings if many lines meet


def _in_unit(columns: dict[str, Any], unit: float) -> dict[str, Any]:
    if unit != 1.0:
        slope = columns["aum_slope_after"]
        scaled = slope * unit
        # A nonzero slope must not underflow to zero.
        is_lost = (scaled == 0) & (slope != 0)
        scaled[is_lost] = np.copysign(5e-324, slope[is_lost])
        columns["aum"] = read_only(columns["aum"] * unit)
        columns["aum_slope_after"] = read_only(scaled)
    return columns


def _check_certifiable(lines: Lines, certificate: bool, rounding: float = 0.0) -> None:
    if certificate and not lines.is_monotone:
        raise ValueError(
            "certificate must be False unless errors are monotone (fp_diff >= 0 and "
            "fn_diff <= 0), got True for errors that increase and decrease."
        )
    if certificate and rounding != 0:
        raise ValueError(
            f"certificate must be False unless rounding is 0, got rounding={rounding}: AUC "
            "after rounding is only bounded."
        )


def _checked_limit(lines: Lines, max_step: float | None) -> float:
    """Check the type of lines and the largest step, and return the latter."""
    if not isinstance(lines, Lines):
        raise TypeError(f"lines must be Lines, got {type(lines).__name__}.")
    # Adding zero turns -0.0 into 0.0.
    return float("inf") if max_step is None else nonnegative_number("max_step", max_step) + 0.0


def _too_long(n_rows: int) -> MemoryError:
    return MemoryError(
        f"the path may have {n_rows:,} rows, {n_rows * _ROW_BYTES / 1e9:,.1f} GB, more "
        "than the available memory. Set max_crossings, max_step or stop."
    )

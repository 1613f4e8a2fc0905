"""Label errors of a sequence as a function of the penalty."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath.changepoint.labels import LabelErrors, Labels, label_errors
from rocpath.changepoint.observations import possible_changes
from rocpath.changepoint.search import check_label_kinds
from rocpath.changepoint.segment_costs import Constraint, SegmentCost
from rocpath.changepoint.segmentation import segment, segmentation_bytes
from rocpath.changepoint.segmentation_results import ModelSelection
from rocpath.memory import available_memory
from rocpath.search.breakpoints import Denominator, ErrorBreakpoints
from rocpath.validation import (
    Floats,
    check_count,
    check_none,
    describe,
    finite_vector,
    read_only,
    same_length,
    set_fields,
    whole_number,
    whole_numbers,
)

# Largest number of changes times length of a search that completes an error function; it takes
# about 20 seconds.
_MAX_WORK = 10**8
# Smallest factor between the penalties with the fewest errors and those whose models were not
# computed; predicted penalties are rarely wrong by a larger factor.
_MARGIN = 16.0


@dataclass(frozen=True, slots=True, eq=False)
class PenaltyErrors:
    """Label errors of one sequence as a function of the penalty.

    Row j applies to penalties p with ``min_penalty[j] <= p < min_penalty[j + 1]``.
    Consecutive rows with equal errors are merged. FP and FN need not be monotone.

    Parameters
    ----------
    min_penalty : array-like, shape (n_rows,)
        Smallest penalty of each row, increasing from 0.
    fp, fn : array-like of int, shape (n_rows,)
        Numbers of false positives and false negatives.

    Examples
    --------
    >>> from rocpath import changepoint as cp
    >>> errors = cp.PenaltyErrors([0, 2, 5], fp=[2, 1, 0], fn=[0, 0, 1])
    >>> errors.at([-1.0, 1.0]).tolist()
    [2, 1]
    """

    min_penalty: Floats
    fp: NDArray[np.int64]
    fn: NDArray[np.int64]

    def __post_init__(self) -> None:
        """Check and freeze the arrays."""
        penalty = finite_vector("min_penalty", self.min_penalty)
        fp, fn = whole_numbers("fp", self.fp), whole_numbers("fn", self.fn)
        same_length(min_penalty=penalty, fp=fp, fn=fn)
        if penalty.size == 0 or penalty[0] != 0 or not (np.diff(penalty) > 0).all():
            raise ValueError(f"min_penalty must increase from 0, got {describe(penalty.tolist())}.")
        check_none(fp < 0, "fp must be non-negative", fp)
        check_none(fn < 0, "fn must be non-negative", fn)
        # Models with the same errors are equivalent for learning.
        is_new = np.append(True, (np.diff(fp) != 0) | (np.diff(fn) != 0))
        set_fields(
            self,
            min_penalty=read_only(penalty[is_new]),
            fp=read_only(fp[is_new]),
            fn=read_only(fn[is_new]),
        )

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.min_penalty.size

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and unpickle through the constructor, so that arrays stay read-only."""
        return PenaltyErrors, (self.min_penalty, self.fp, self.fn)

    @property
    def min_log_penalty(self) -> Floats:
        """Logarithm of ``min_penalty``; the first entry is minus infinity."""
        with np.errstate(divide="ignore"):
            return read_only(np.log(self.min_penalty))

    def per_unit(self, unit: float) -> Self:
        """Return the errors as a function of the penalty divided by a unit."""
        return replace(self, min_penalty=self.min_penalty / unit)

    def at(self, log_penalty: ArrayLike) -> Any:
        """Return the number of errors, FP + FN, at a log penalty.

        Parameters
        ----------
        log_penalty : float or array-like
            Log penalties, possibly infinite.

        Returns
        -------
        int or array of int
        """
        at = np.asarray(log_penalty, dtype=np.float64)
        if np.isnan(at).any():
            raise ValueError("log_penalty must not contain NaN, got nan.")
        # A penalty at a jump belongs to the row that begins there, as in
        # `model_selection`.
        row = np.searchsorted(self.min_log_penalty, at, side="right") - 1
        return (self.fp + self.fn)[row][()]


def errors_by_penalty(
    x: ArrayLike,
    labels: Labels,
    *,
    max_changes: int = 20,
    cost: SegmentCost = "normal",
    weights: ArrayLike | None = None,
    constraint: Constraint = None,
    min_length: int = 1,
    position: ArrayLike | None = None,
) -> PenaltyErrors:
    """Count the label errors of a sequence for every penalty.

    The function finds the best models with up to ``max_changes`` changes (`segment`),
    the penalties that select each of them (`model_selection`), and their label errors
    (`label_errors`). Small penalties select models with more changes. Therefore, the
    maximum grows until the errors at small penalties are known, or until the models
    would take too much time or memory, in which case a warning is emitted.

    Parameters
    ----------
    x : array-like, shape (n,) or (n, d)
        The sequence.
    labels : Labels
        Labeled regions of the sequence.
    max_changes : int
        Initial maximum number of changes; reduced to n - 1 for shorter sequences.
    cost, weights, constraint, min_length
        As for `segment`.
    position : array-like, shape (n,), optional
        As for `label_errors`.

    Returns
    -------
    PenaltyErrors

    Examples
    --------
    >>> from rocpath import changepoint as cp
    >>> labels = cp.Labels([0, 3], [3, 6], ["one_change", "no_change"])
    >>> errors = cp.errors_by_penalty([1, 1, 5, 5, 5, 2], labels, max_changes=2)
    >>> errors.min_penalty.round(3).tolist()
    [0.0, 6.75, 14.083]
    >>> errors.fp.tolist(), errors.fn.tolist()
    ([1, 0, 0], [0, 0, 1])
    """
    max_changes = whole_number("max_changes", max_changes, least=0)
    check_label_kinds(labels, constraint)
    settings: dict[str, Any] = {"cost": cost, "weights": weights, "constraint": constraint}
    n_changes = possible_changes(x, max_changes)
    while True:
        models = segment(x, n_changes, min_length=min_length, **settings)
        selection = models.selection()
        function = penalty_errors(selection, label_errors(models, labels, position=position))
        more = possible_changes(x, 2 * n_changes + 1)
        if more == n_changes or _is_complete(function, labels, selection, n_changes):
            return function
        if more * np.shape(x)[0] > _MAX_WORK or segmentation_bytes(more) > available_memory():
            _warn_of_limit(function, labels, n_changes)
            return function
        n_changes = more


def _is_complete(
    function: PenaltyErrors, labels: Labels, selection: ModelSelection, n_changes: int
) -> bool:
    """Return whether models with more than ``n_changes`` changes are irrelevant."""
    # With the up-down constraint, only every second change may decrease the cost.
    if selection.n_changes[0] < n_changes - 1:
        return True
    if function.fp[0] == labels.possible_fp and function.fn[0] == 0:
        return True
    low, _ = target_interval(function)
    return bool(np.exp(low) > _MARGIN * selection.min_penalty[min(1, len(selection) - 1)] > 0)


def _warn_of_limit(function: PenaltyErrors, labels: Labels, n_changes: int) -> None:
    """Warn if the smallest penalty without additional errors is unknown."""
    if np.isfinite(target_interval(function)[0]):
        return
    warnings.warn(
        f"Label errors{labels.where} are unknown for small penalties, because segmentations with "
        f"more than {n_changes:,} changes would take too much time or memory: label shorter "
        "sequences, or aggregate observations.",
        stacklevel=3,
    )


def penalty_errors(selection: ModelSelection, errors: LabelErrors) -> PenaltyErrors:
    """Compute the label errors for every penalty from those of every model.

    Parameters
    ----------
    selection : ModelSelection
        Result of `model_selection` for all models of the sequence.
    errors : LabelErrors
        Result of `label_errors` for the same models, in the same order.

    Returns
    -------
    PenaltyErrors

    Examples
    --------
    >>> from rocpath import changepoint as cp
    >>> models = cp.segment([1, 1, 5, 5, 5, 2], 2)
    >>> labels = cp.Labels([0, 3], [3, 6], ["one_change", "no_change"])
    >>> errors = cp.label_errors(models, labels)
    >>> function = cp.penalty_errors(cp.model_selection(models.cost), errors)
    >>> function.min_penalty.round(3).tolist()
    [0.0, 6.75, 14.083]
    >>> function.fp.tolist(), function.fn.tolist()
    ([1, 0, 0], [0, 0, 1])
    """
    if selection.model.max() >= len(errors):
        raise ValueError(
            "errors must have one entry for each model of the selection, got "
            f"{len(errors)} entries, but model {selection.model.max()} is selected."
        )
    return PenaltyErrors(
        selection.min_penalty, errors.fp[selection.model], errors.fn[selection.model]
    )


def error_breakpoints(
    functions: Sequence[PenaltyErrors], *, denominator: Denominator = "count"
) -> ErrorBreakpoints:
    """Convert the label errors of many sequences to error breakpoints.

    The prediction of a sequence is minus its log penalty. Breakpoints assume that there
    are no false positives at the largest penalties and no false negatives at the
    smallest ones, so errors that occur at every penalty do not count. If false negatives
    increase again below the penalties that minimize them, which may happen if
    ``max_changes`` is too small, their minimum is used there; likewise for false
    positives at the largest penalties.

    Parameters
    ----------
    functions : list of PenaltyErrors
        Label errors of each sequence.
    denominator : {"count", "rate"}
        As for `ErrorBreakpoints.from_penalty_errors`.

    Returns
    -------
    ErrorBreakpoints

    Examples
    --------
    >>> from rocpath import changepoint as cp
    >>> one = cp.PenaltyErrors([0, 1, 4], fp=[1, 0, 0], fn=[0, 0, 1])
    >>> two = cp.PenaltyErrors([0, 2], fp=[1, 0], fn=[0, 0])
    >>> bp = cp.error_breakpoints([one, two])
    >>> bp.example.tolist(), bp.fp_diff.tolist(), bp.fn_diff.tolist()
    ([0, 0, 1], [0.0, 1.0, 1.0], [-1.0, 0.0, 0.0])
    """
    functions = checked_functions("functions", functions)
    return ErrorBreakpoints.from_penalty_errors(
        np.repeat(np.arange(len(functions)), [len(f) for f in functions]),
        np.concatenate([f.min_penalty for f in functions]),
        # In the paper, FP starts at 0 and FN ends at 0; here, they start and
        # end at their minima.
        np.concatenate([_flat_before_minimum(f.fp[::-1])[::-1] for f in functions]),
        np.concatenate([_flat_before_minimum(f.fn) for f in functions]),
        denominator=denominator,
        n_examples=len(functions),
    )


def _flat_before_minimum(errors: NDArray[np.int64]) -> NDArray[np.int64]:
    """Replace errors before the first minimum with the minimum."""
    is_before = np.arange(errors.size) < errors.argmin()
    return np.where(is_before, errors.min(), errors)


def can_be_learned(functions: Sequence[PenaltyErrors]) -> bool:
    """Return whether the penalty trades false positives for false negatives."""
    return (
        # Otherwise the ROC curve has no positives or no negatives.
        sum(int(f.fp[0] - f.fp.min()) for f in functions) > 0
        and sum(int(f.fn[-1] - f.fn.min()) for f in functions) > 0
        and any(np.isfinite(target_interval(f)).any() for f in functions)
    )


def target_interval(function: PenaltyErrors) -> tuple[float, float]:
    """Return the interval of log penalties with the fewest label errors.

    If there are several such intervals, the longest is returned. If two are infinite,
    the one with larger penalties, and thus fewer changes, is returned.

    Parameters
    ----------
    function : PenaltyErrors
        Label errors of one sequence.

    Returns
    -------
    tuple of two floats
        Lower and upper limit, possibly infinite.

    Examples
    --------
    >>> from rocpath import changepoint as cp
    >>> errors = cp.PenaltyErrors([0, 1, 2, 8], fp=[2, 1, 0, 0], fn=[0, 0, 0, 1])
    >>> [round(end, 3) for end in cp.target_interval(errors)]
    [0.693, 2.079]
    """
    (function,) = checked_functions("function", [function])
    errors = function.fp + function.fn
    # Neighboring rows differ in FP or FN but may have the same sum.
    is_best = np.concatenate(([False], errors == errors.min(), [False]))
    ends = np.append(function.min_log_penalty, np.inf)
    lower = ends[np.flatnonzero(is_best[1:] & ~is_best[:-1])]
    upper = ends[np.flatnonzero(is_best[:-1] & ~is_best[1:])]
    length = upper - lower
    best = np.flatnonzero(length == length.max())[-1]
    return float(lower[best]), float(upper[best])


def checked_functions(name: str, functions: Any, *, n: int | None = None) -> list[PenaltyErrors]:
    """Return a list of error functions; raise if it is empty or does not have length n."""
    listed: list[PenaltyErrors] = list(functions)
    if not listed:
        raise ValueError(f"{name} must have at least one sequence, got none.")
    for number, function in enumerate(listed):
        if not isinstance(function, PenaltyErrors):
            raise TypeError(
                f"{name} must be a list of PenaltyErrors, got {describe(function)} for "
                f"sequence {number}."
            )
    if n is not None:
        check_count(f"{name} must have an entry", len(listed), n, "rows of X")
    return listed

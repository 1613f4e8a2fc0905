"""AUM, AUC and the ROC curve at one vector of predictions."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import rocpath._core as _core
from rocpath.sample import positive_labels
from rocpath.search.breakpoints import ErrorBreakpoints, per_example
from rocpath.search.partial_auc import checked_region, partial_area, standardized_area
from rocpath.validation import (
    Floats,
    finite_vector,
    freeze_arrays,
    read_only,
    reconstruction,
    same_length,
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ROCCurve:
    """Points of a ROC curve, in order of the constant added to predictions.

    Attributes
    ----------
    fpr, tpr : array, shape (n_points,)
        False and true positive rates, relative to the final FP and TP. For
        non-monotone errors the curve may loop and leave the unit square.
    threshold : array, shape (n_points, 2)
        Open interval of the added constants that lead to the point.
    min_error : array, shape (n_points,)
        min(FP, FN) in the unit of the breakpoints; its area over the constants is AUM.
    auc, aum : float
        Areas under the curve and under ``min_error``.
    """

    fpr: Floats
    tpr: Floats
    threshold: Floats
    min_error: Floats
    auc: float
    aum: float

    def __post_init__(self) -> None:
        """Freeze the arrays."""
        freeze_arrays(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and unpickle through the constructor, so that arrays stay read-only."""
        return reconstruction(self)

    def __repr__(self) -> str:
        return f"ROC curve with {self.fpr.size:,} points: AUC {self.auc:.4g}, AUM {self.aum:.4g}"


def aum(bp: ErrorBreakpoints | ArrayLike, predictions: ArrayLike, *, positive: Any = None) -> float:
    """Compute the area under min(FP, FN) over all constants added to the predictions.

    Parameters
    ----------
    bp : ErrorBreakpoints or array-like of labels, shape (n_examples,)
        Error functions, or binary labels of any two values.
    predictions : array-like, shape (n_examples,)
        Predicted values.
    positive : label, optional
        Positive class, for labels. The default is the larger of the two labels.

    Returns
    -------
    float

    Examples
    --------
    >>> import rocpath as rp
    >>> bp = rp.ErrorBreakpoints.from_labels([0, 0, 1, 1])
    >>> rp.aum(bp, [-7, -2, 0, -4])
    1.0
    >>> rp.aum([0, 0, 1, 1], [-7, -2, 0, -4])
    1.0
    """
    bp, prediction = _checked(bp, predictions, positive)
    return _core.aum(bp.core, prediction)


def aum_derivatives(
    bp: ErrorBreakpoints | ArrayLike, predictions: ArrayLike, *, positive: Any = None
) -> tuple[Floats, Floats]:
    """Compute the left and right derivatives of AUM with respect to every prediction.

    They differ where thresholds are tied: a prediction that increases moves its
    thresholds below the tied ones, and one that decreases moves them above.

    Parameters
    ----------
    bp, predictions, positive
        As for `aum`.

    Returns
    -------
    left, right : array, shape (n_examples,)

    Examples
    --------
    >>> import rocpath as rp
    >>> bp = rp.ErrorBreakpoints.from_labels([0, 1])
    >>> left, right = rp.aum_derivatives(bp, [0, 0])
    >>> left, right
    (array([ 0., -1.]), array([1., 0.]))
    """
    bp, prediction = _checked(bp, predictions, positive)
    return _core.aum_derivatives(bp.core, prediction)


def aum_gradient(
    bp: ErrorBreakpoints | ArrayLike, predictions: ArrayLike, *, positive: Any = None
) -> Floats:
    """Compute the mean of the two one-sided derivatives of AUM.

    Parameters
    ----------
    bp, predictions, positive
        As for `aum`.

    Returns
    -------
    array, shape (n_examples,)

    Examples
    --------
    >>> import rocpath as rp
    >>> bp = rp.ErrorBreakpoints.from_labels([0, 0, 1, 1])
    >>> rp.aum_gradient(bp, [-7, -2, 0, -4])
    array([ 0. ,  0.5,  0. , -0.5])
    """
    bp, prediction = _checked(bp, predictions, positive)
    return _core.aum_gradient(bp.core, prediction)


def auc(
    bp: ErrorBreakpoints | ArrayLike,
    predictions: ArrayLike,
    *,
    positive: Any = None,
    max_fpr: float | None = None,
    min_tpr: float | None = None,
    standardized: bool = False,
) -> float:
    """Compute the area under the ROC curve, with ties counting one half.

    Parameters
    ----------
    bp, predictions, positive
        As for `aum`.
    max_fpr : float, optional
        Maximum false positive rate of a partial AUC; errors must be monotone. A tie at
        this rate counts proportionally.
    min_tpr : float, optional
        Minimum true positive rate of a partial AUC; errors must be monotone.
    standardized : bool
        Whether to scale the area to 1/2 for chance and 1 for a perfect ranking
        (McClish).

    Returns
    -------
    float
        Between 0 and 1 for monotone errors; possibly outside otherwise.

    Examples
    --------
    >>> import rocpath as rp
    >>> bp = rp.ErrorBreakpoints.from_labels([0, 0, 1, 1])
    >>> rp.auc(bp, [-7, -2, 0, -4])
    0.75
    >>> rp.auc(["no", "no", "yes", "yes"], [-7, -2, 0, -4])
    0.75
    >>> rp.auc(bp, [-7, -2, 0, -4], max_fpr=0.5)
    0.25
    """
    is_whole = max_fpr is None and min_tpr is None
    if is_whole and not isinstance(bp, ErrorBreakpoints):
        return _label_auc(bp, predictions, positive)
    bp, prediction = _checked(bp, predictions, positive)
    if is_whole:
        return _core.auc(bp.core, prediction)
    region = checked_region("bp", bp.is_monotone, max_fpr, min_tpr)
    # The core counts pairs without computing a curve, which a partial area requires.
    _, fp, tp = _curve_counts(bp, prediction)
    area = partial_area(fp, tp, **region)
    if standardized:
        return standardized_area(area, **region)
    return area


def roc_curve(
    bp: ErrorBreakpoints | ArrayLike, predictions: ArrayLike, *, positive: Any = None
) -> ROCCurve:
    """Compute the points of the ROC curve and the constants that lead to them.

    Parameters
    ----------
    bp, predictions, positive
        As for `aum`.

    Returns
    -------
    ROCCurve

    Examples
    --------
    >>> import rocpath as rp
    >>> bp = rp.ErrorBreakpoints.from_labels([0, 0, 1, 1])
    >>> curve = rp.roc_curve(bp, [-7, -2, 0, -4])
    >>> curve.fpr, curve.tpr
    (array([0. , 0. , 0.5, 0.5, 1. ]), array([0. , 0.5, 0.5, 1. , 1. ]))
    >>> curve.threshold[2]
    array([2., 4.])
    """
    bp, prediction = _checked(bp, predictions, positive)
    jumps = bp.jumps
    threshold, fp, tp = _curve_counts(bp, prediction)
    # FP and FN are compared exactly, as multiples of units, before the division.
    errors = np.minimum(fp * jumps.fp_unit, (tp[-1] - tp) * jumps.tp_unit)
    edge = np.concatenate(([-np.inf], threshold, [np.inf]))
    return ROCCurve(
        fpr=read_only(fp / fp[-1]),
        tpr=read_only(tp / tp[-1]),
        threshold=read_only(np.column_stack((edge[:-1], edge[1:]))),
        min_error=read_only(errors / jumps.divisor),
        auc=auc(bp, prediction),
        aum=aum(bp, prediction),
    )


def curve_errors(bp: ErrorBreakpoints, curve: ROCCurve) -> tuple[Floats, Floats]:
    """Return FP and FN of the points of a curve, in the unit of the breakpoints."""
    total_fp, total_fn = bp.jumps.totals
    return curve.fpr * total_fp, (1.0 - curve.tpr) * total_fn


def inside_interval(low: float, high: float, *, beyond: float = 1.0) -> float:
    """Return the midpoint, or a point ``beyond`` away from the only finite end, or 0."""
    if low == high:
        return low
    if np.isinf(low):
        return 0.0 if np.isinf(high) else high - beyond
    # The ends are halved first, since the sum of two large ones would overflow.
    return low + beyond if np.isinf(high) else 0.5 * low + 0.5 * high


def _checked(
    bp: ErrorBreakpoints | ArrayLike, predictions: ArrayLike, positive: Any
) -> tuple[ErrorBreakpoints, Floats]:
    """Return breakpoints, converted from binary labels if necessary, and predictions."""
    if not isinstance(bp, ErrorBreakpoints):
        bp = ErrorBreakpoints.from_labels(bp, positive=positive)
    elif positive is not None:
        raise ValueError(
            f"positive must be None for ErrorBreakpoints, got {positive!r}: their "
            "classes are known."
        )
    return bp, per_example("predictions", predictions, bp)


def _label_auc(y: ArrayLike, predictions: ArrayLike, positive: Any) -> float:
    """Compute AUC of binary labels from ranks, in integer arithmetic."""
    is_positive = positive_labels(y, positive)
    score = finite_vector("predictions", predictions, copy=False)
    same_length(y=is_positive, predictions=score)
    return _core.label_auc(is_positive, score)


def _curve_counts(
    bp: ErrorBreakpoints, prediction: Floats
) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
    """Return the thresholds, and FP and TP between them as multiples of units."""
    # Equal thresholds share one point of the curve.
    threshold, group = np.unique(bp.core.thresholds(prediction), return_inverse=True)
    counts = np.zeros((2, threshold.size + 1), dtype=np.int64)
    for total, jump in zip(counts, (bp.jumps.fp, bp.jumps.tp), strict=True):
        # np.bincount would sum the integers as float64.
        np.add.at(total, group + 1, jump)
    fp, tp = np.cumsum(counts, axis=1)
    return threshold, fp, tp

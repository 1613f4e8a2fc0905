"""Confidence intervals of AUCs: of two classes, and averages over strata or classes."""

from itertools import permutations
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath.evaluation.curves import ScoreCurve
from rocpath.evaluation.groups import pairs_within_groups
from rocpath.evaluation.influence import Variance, auc_with_influence, place_rows, unit_variance
from rocpath.evaluation.results import AUCInterval
from rocpath.evaluation.score_interval import binormal_table, scaled_interval
from rocpath.sample import Sample, count_groups, group_codes, label_vector, row_weights
from rocpath.validation import Floats, check_count, check_none, describe, one_of, share_between

# With fewer strata, such as a few sites, rows are the independent units, not strata.
_MIN_SAMPLED_STRATA = 10


def auc_interval(
    y: ArrayLike,
    scores: ArrayLike,
    *,
    confidence: float = 0.95,
    max_fpr: float | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    weighting: Literal["pairs", "strata"] = "pairs",
    multi_class: Literal["ovr", "ovo"] = "ovr",
    average: Literal["macro", "weighted"] = "macro",
    positive: Any = None,
) -> AUCInterval:
    """Compute an AUC with its standard error and a confidence interval.

    The interval consists of the AUC values that the score test does not reject, with
    the standard error expected at each value, like Wilson's interval for a proportion.

    Parameters
    ----------
    y : array-like, shape (n_rows,)
        Labels with exactly two distinct values, or with more if ``scores`` has one
        column per class.
    scores : array-like, shape (n_rows,) or (n_rows, n_classes)
        Scores, larger for rows that are more likely to be positive. Ties count one
        half. Columns are in the sorted order of the classes.
    confidence : float
        Nominal coverage of the interval.
    max_fpr : float, optional
        Upper limit of the false positive rate. The value is then the partial AUC up to
        this limit, between 0 and ``max_fpr``.
    sample_weight : array-like, shape (n_rows,), optional
        Non-negative weight of each row, for samples drawn with unequal probabilities.
        Rows are independent, and only relative weights matter: a weight of 2 does not
        represent two rows.
    groups : array-like, shape (n_rows,), optional
        Group of each row, such as a patient. Rows of one group may depend on each
        other in any way; groups are independent. The AUC is still computed over all
        pairs, and the standard error is Obuchowski's (1997). Without groups, all rows
        are assumed to be independent.
    strata : array-like, shape (n_rows,), optional
        Stratum of each row, such as a user or a matched set. Only pairs within a
        stratum count, and strata with one class are skipped. With at least ten strata
        and without ``groups``, strata are the independent units; with fewer strata,
        rows are.
    weighting : {"pairs", "strata"}
        Weights of the strata: their numbers of pairs, or equal weights.
    multi_class : {"ovr", "ovo"}
        AUCs to average if there are several classes: of each class against the rest,
        or of each pair of classes (Hand and Till).
    average : {"macro", "weighted"}
        Weights of these AUCs: equal, or proportional to the number of rows.
    positive : label, optional
        Positive class; by default, the larger of the two labels.

    Returns
    -------
    AUCInterval

    Examples
    --------
    >>> import rocpath as rp
    >>> rp.auc_interval([0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6])
    AUC 0.889 (95% CI 0.305 to 0.990), 3 positives, 3 negatives
    >>> patient = ["a", "a", "b", "b", "c", "c"]
    >>> rp.auc_interval([0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6], groups=patient).n_groups
    3
    """
    confidence = share_between("confidence", confidence)
    if np.ndim(scores) == 2:
        several = "scores of several classes"
        _refuse_with(several, max_fpr=max_fpr, strata=strata, positive=positive)
        is_pairwise = one_of("multi_class", multi_class, ("ovr", "ovo")) == "ovo"
        is_weighted = one_of("average", average, ("macro", "weighted")) == "weighted"
        columns = y, scores, sample_weight, groups
        return _multiclass_interval(*columns, is_pairwise, is_weighted, confidence)
    sample = Sample.from_labels(y, sample_weight=sample_weight, groups=groups, positive=positive)
    if strata is not None:
        _refuse_with("strata", max_fpr=max_fpr)
        score = sample.scores("scores", scores)
        code = group_codes("strata", strata, score.size, least=1)
        by_pairs = one_of("weighting", weighting, ("pairs", "strata")) == "pairs"
        return _stratified_interval(sample, score, code, by_pairs, confidence)
    return ScoreCurve.of(sample, scores, max_fpr=max_fpr, confidence=confidence).interval


def _refuse_with(other: str, **arguments: Any) -> None:
    """Raise if an argument is not supported in combination with another one."""
    for name, argument in arguments.items():
        if argument is not None:
            raise ValueError(f"{name} must be None with {other}: the combination is not supported.")


def _multiclass_interval(
    y: ArrayLike,
    scores: ArrayLike,
    sample_weight: ArrayLike | None,
    groups: ArrayLike | None,
    is_pairwise: bool,
    is_weighted: bool,
    confidence: float,
) -> AUCInterval:
    """Average the one-vs-rest or one-vs-one AUCs of several classes."""
    classes, code, score = _checked_columns(y, scores)
    weight = row_weights(sample_weight, code.size)
    size: NDArray[Any] = np.bincount(code, weight, classes.size)
    if size.min() <= 0:
        empty = classes[int(size.argmin())].item()
        raise ValueError(f"sample_weight of class {empty!r} must sum to a positive number, got 0.")
    group = None if groups is None else group_codes("groups", groups, code.size)
    value, influence = 0.0, np.zeros(code.size)
    for one, others, share in _binary_problems(size, is_pairwise, is_weighted):
        rows = np.flatnonzero((code == one) | np.isin(code, others))
        column = np.ascontiguousarray(score[rows, one])
        area, of_rows = auc_with_influence(column, code[rows] == one, weight[rows])
        value += share * area
        influence[rows] += share * of_rows
    smallest = int(np.bincount(code).min())
    kind = "one-vs-one" if is_pairwise else "one-vs-rest"
    return _average_interval(
        f"{'weighted' if is_weighted else 'macro'} {kind} AUC of {classes.size} classes",
        value,
        unit_variance(influence, group),
        (smallest, code.size - smallest),
        confidence,
        n_groups=None if group is None else count_groups(group),
    )


def _checked_columns(y: ArrayLike, scores: ArrayLike) -> tuple[NDArray[Any], ...]:
    """Return the classes, the class code of each row, and the matrix of scores."""
    classes, code = np.unique(label_vector("y", y), return_inverse=True)
    score = np.asarray(scores, dtype=np.float64)
    check_count("scores must have a row", score.shape[0], code.size, "labels")
    if classes.size < 2 or classes.size != score.shape[1]:
        raise ValueError(
            f"scores must have a column for each class of y, got {score.shape[1]} "
            f"columns and {classes.size} classes: {describe(classes.tolist())}."
        )
    for k, column in enumerate(score.T):
        check_none(~np.isfinite(column), f"column {k} of scores must be finite", column)
    return classes, code, score


def _binary_problems(
    size: Floats, is_pairwise: bool, is_weighted: bool
) -> list[tuple[int, list[int], float]]:
    """Return the class, the other classes and the weight of each AUC in the average."""
    every = range(size.size)
    if is_pairwise:  # each ordered pair of classes (Hand and Till, 2001)
        problems = [(i, [j], size[i] + size[j]) for i, j in permutations(every, 2)]
    else:
        problems = [(i, [j for j in every if j != i], size[i]) for i in every]
    weights = [weight if is_weighted else 1.0 for *_, weight in problems]
    return [(i, j, w / sum(weights)) for (i, j, _), w in zip(problems, weights, strict=True)]


def _stratified_interval(
    sample: Sample, score: Floats, code: NDArray[np.intp], is_weighted: bool, confidence: float
) -> AUCInterval:
    """Average the AUCs of strata with both classes, weighted by pairs or equally."""
    blocks = place_rows(score, sample.is_positive, sample.weight, 1.0)
    within = pairs_within_groups(code, blocks, score, sample.is_positive, sample.weight)
    is_used = within.pairs > 0
    n_strata = int(np.count_nonzero(is_used))
    if n_strata == 0:
        raise ValueError("strata must have at least one stratum with both classes, got none.")
    share = np.where(is_used, within.pairs if is_weighted else 1.0, 0.0)
    share = share / share.sum()
    area = np.divide(within.concordant, within.pairs, out=np.zeros(share.size), where=is_used)
    value = min(float(share @ area), 1.0)
    if sample.unit is None and n_strata >= _MIN_SAMPLED_STRATA:
        # Strata are the sampling units, and the average is a ratio of two sums over strata.
        variance = unit_variance((share * (area - value))[is_used])
    else:
        component = np.where(is_used[code], within.component - area[code], 0.0)
        variance = _within_variance(sample, code, component, share, area)
    # Rows of skipped strata do not contribute to the average.
    n_negative, n_positive = np.bincount(sample.is_positive[is_used[code]]).tolist()
    return _average_interval(
        "AUC within strata",
        value,
        variance,
        (n_positive, n_negative),
        confidence,
        **sample.counts,
        n_strata=n_strata,
        n_skipped_strata=count_groups(code) - n_strata,
    )


def _within_variance(
    sample: Sample, code: NDArray[np.intp], component: Floats, share: Floats, area: Floats
) -> Variance:
    """Sum the squared influences of groups, or DeLong's variances of the strata."""
    weight = np.ones(code.size) if sample.weight is None else sample.weight
    key = np.where(sample.is_positive, code + area.size, code)
    total, square = (np.bincount(key, weight**k, 2 * area.size) for k in (1, 2))
    # A class of a stratum may have no weight; its stratum is then skipped.
    influence = share[code] * weight * component / np.maximum(total[key], 1e-300)
    if sample.unit is not None:
        # Components of one group are correlated, both within and across strata.
        return unit_variance(influence, sample.unit)
    n_rows = total**2 / np.maximum(square, 1e-300)
    variance = np.bincount(key, influence**2, total.size) * n_rows / np.maximum(n_rows - 1.0, 1.0)
    # The sample variance of a single row is undefined, so that of the normal model is used.
    of_positive, of_negative, _ = binormal_table(1.0).at(area)
    shares, model = np.tile(share, 2), np.concatenate((of_negative, of_positive))
    variance = np.where(n_rows < 2.0, shares**2 * model, variance)
    n_free = np.maximum(n_rows[shares > 0] - 1.0, 0.0).reshape(2, -1).sum(axis=1)
    return Variance(float(variance.sum()), max(float(n_free.min()), 1.0))


def _average_interval(
    name: str,
    value: float,
    variance: Variance,
    sizes: tuple[Any, Any],
    confidence: float,
    **counts: Any,
) -> AUCInterval:
    low, high = scaled_interval(value, *variance, sizes, confidence=confidence)
    error = float(np.sqrt(variance.value))
    return AUCInterval(
        name=name,
        value=value,
        low=low,
        high=high,
        confidence=confidence,
        standard_error=error,
        **counts,
    )

"""Confidence intervals for AUCs, and tests that compare two of them."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from rocpath.arguments import finite_number, one_of, share_between
from rocpath.auc_statistics.averages import multiclass_interval, stratified_interval
from rocpath.auc_statistics.curves import ScoreCurve
from rocpath.auc_statistics.differences import compared, difference_of
from rocpath.auc_statistics.influence import Variance
from rocpath.auc_statistics.labeled_sample import LabeledSample, RowGroups
from rocpath.auc_statistics.results import AUCComparison, AUCInterval


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
        return multiclass_interval(
            y,
            scores,
            sample_weight=sample_weight,
            groups=groups,
            is_pairwise=one_of("multi_class", multi_class, ("ovr", "ovo")) == "ovo",
            is_weighted=one_of("average", average, ("macro", "weighted")) == "weighted",
            confidence=confidence,
        )
    sample = LabeledSample.of(y, sample_weight, positive, groups)
    if strata is not None:
        _refuse_with("strata", max_fpr=max_fpr)
        score = sample.scores("scores", scores)
        code = RowGroups.of("strata", strata, score.size, least=1).code
        by_pairs = one_of("weighting", weighting, ("pairs", "strata")) == "pairs"
        return stratified_interval(sample, score, code, is_weighted=by_pairs, confidence=confidence)
    return ScoreCurve.of(sample, scores, max_fpr=max_fpr, confidence=confidence).interval


def compare_auc(
    y: ArrayLike,
    scores: ArrayLike,
    other_scores: ArrayLike,
    *,
    confidence: float = 0.95,
    max_fpr: float | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    margin: float | None = None,
    positive: Any = None,
) -> AUCComparison:
    """Compare the AUCs of two scores of the same rows by DeLong's test.

    The interval combines the intervals of both AUCs, as in :func:`auc_interval`, with
    the correlation of the AUCs (the square-and-add rule of Newcombe, Zou and Donner).

    Parameters
    ----------
    y : array-like, shape (n_rows,)
        Labels with exactly two distinct values.
    scores, other_scores : array-like, shape (n_rows,)
        Scores, larger for rows that are more likely to be positive. Ties count one
        half.
    confidence, max_fpr, sample_weight, groups, positive
        As in :func:`auc_interval`. With groups, the test uses Student's t
        distribution.
    margin : float, optional
        Positive margin for tests of non-inferiority and equivalence.

    Returns
    -------
    AUCComparison

    Examples
    --------
    >>> import rocpath as rp
    >>> y = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> rp.compare_auc(y, [1, 2, 3, 5, 4, 6, 7, 8], [1, 5, 3, 7, 2, 4, 8, 6])
    AUC 0.938 and 0.625: difference +0.3125 (95% CI -0.1016 to +0.7266), p = 0.065
    """
    sample = LabeledSample.of(y, sample_weight, positive, groups)
    one, two = (
        ScoreCurve.of(sample, given, name=name, max_fpr=max_fpr, confidence=confidence)
        for name, given in (("scores", scores), ("other_scores", other_scores))
    )
    return compared(one, two, checked_margin(margin))


def compare_auc_unpaired(
    y: ArrayLike,
    scores: ArrayLike,
    other_y: ArrayLike,
    other_scores: ArrayLike,
    *,
    confidence: float = 0.95,
    max_fpr: float | None = None,
    groups: ArrayLike | None = None,
    other_groups: ArrayLike | None = None,
    margin: float | None = None,
    positive: Any = None,
) -> AUCComparison:
    """Compare the AUCs of two independent samples using DeLong's variances.

    Parameters
    ----------
    y, other_y : array-like
        Labels of each sample, with exactly two distinct values.
    scores, other_scores : array-like
        Scores of the rows of each sample.
    confidence, max_fpr, groups, margin, positive
        As in :func:`compare_auc`.
    other_groups : array-like, optional
        Groups of the rows of the second sample.

    Returns
    -------
    AUCComparison

    Examples
    --------
    >>> import rocpath as rp
    >>> rp.compare_auc_unpaired([0, 0, 1, 1], [1, 3, 2, 4], [0, 1, 0, 1], [2, 1, 3, 4])
    AUC 0.750 and 0.500: difference +0.2500 (95% CI -0.4767 to +0.7551), p = 0.68
    """
    samples = (
        (LabeledSample.of(y, None, positive, groups), "scores", scores),
        (LabeledSample.of(other_y, None, positive, other_groups), "other_scores", other_scores),
    )
    one, two = (
        ScoreCurve.of(sample, given, name=name, max_fpr=max_fpr, confidence=confidence)
        for sample, name, given in samples
    )
    first, second = one.test_variance, two.test_variance
    tested = Variance(first.value + second.value, min(first.freedom, second.freedom))
    variance = one.interval.standard_error**2 + two.interval.standard_error**2
    return difference_of(one, two, variance, tested, margin=checked_margin(margin))


def _refuse_with(other: str, **arguments: Any) -> None:
    """Raise if an argument is not supported in combination with another one."""
    for name, argument in arguments.items():
        if argument is not None:
            raise ValueError(f"{name} must be None with {other}: the combination is not supported.")


def checked_margin(margin: float | None) -> float | None:
    """Return a positive margin, or raise."""
    if margin is None:
        return None
    value = finite_number("margin", margin)
    if not value > 0:
        raise ValueError(f"margin must be positive, got {value:g}.")
    return value

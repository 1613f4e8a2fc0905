"""Confidence intervals for AUCs, and tests that compare two of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rocpath.arguments import finite_number, rate_up_to_one, share_between
from rocpath.auc_statistics.curves import (
    Curve,
    LabeledSample,
    compared,
    difference_of,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rocpath.auc_statistics.results import AUCComparison, AUCInterval


def auc_interval(
    y: ArrayLike,
    scores: ArrayLike,
    *,
    confidence: float = 0.95,
    max_fpr: float | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    positive: Any = None,
) -> AUCInterval:
    """Compute an AUC with its standard error and a confidence interval.

    The interval consists of the AUC values that the score test does not reject, with
    the standard error expected at each value, as Wilson's interval for a proportion.

    Parameters
    ----------
    y : array-like, shape (n_rows,)
        Labels of exactly two values.
    scores : array-like, shape (n_rows,)
        Scores that are larger for rows that are more likely positive. Ties count one
        half.
    confidence : float
        Nominal coverage of the interval.
    max_fpr : float, optional
        Upper limit of the false positive rate. The value is then the partial AUC up to
        this limit, between 0 and ``max_fpr``.
    sample_weight : array-like, shape (n_rows,), optional
        Non-negative weight of each row, as for a sample drawn with unequal
        probabilities: rows are independent, and only the proportions of weights
        matter. A weight of 2 does not stand for two rows.
    groups : array-like, shape (n_rows,), optional
        Group of each row, such as a patient. Rows of one group may depend on each
        other in any way; groups are independent. The AUC remains that of all pairs,
        and the standard error is Obuchowski's (1997). Without groups, all rows are
        independent.
    positive : label, optional
        Positive class. By default it is the larger of the two labels.

    Returns
    -------
    AUCInterval

    Examples
    --------
    >>> import rocpath as rp
    >>> rp.auc_interval([0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6])
    AUC 0.889 (95% CI 0.396 to 0.986), 3 positives, 3 negatives
    >>> patient = ["a", "a", "b", "b", "c", "c"]
    >>> rp.auc_interval([0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6], groups=patient).n_groups
    3
    """
    sample = LabeledSample.of(y, sample_weight, positive, groups)
    score = sample.scores("scores", scores)
    confidence = share_between("confidence", confidence)
    max_fpr = rate_up_to_one("max_fpr", max_fpr)
    return Curve.of(sample, score, max_fpr, confidence).interval


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

    The interval combines those of :func:`auc_interval` with the correlation of both
    AUCs (the square-and-add rule of Newcombe, Zou and Donner).

    Parameters
    ----------
    y : array-like, shape (n_rows,)
        Labels of exactly two values.
    scores, other_scores : array-like, shape (n_rows,)
        Scores that are larger for rows that are more likely positive. Ties count one
        half.
    confidence, max_fpr, sample_weight, groups, positive
        As for :func:`auc_interval`. With groups, the test uses Student's distribution.
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
    AUC 0.938 and 0.625: difference +0.3125 (95% CI +0.0443 to +0.6454), p = 0.065
    """
    sample = LabeledSample.of(y, sample_weight, positive, groups)
    score = sample.scores("scores", scores)
    other = sample.scores("other_scores", other_scores)
    confidence = share_between("confidence", confidence)
    max_fpr = rate_up_to_one("max_fpr", max_fpr)
    margin = checked_margin(margin)
    return compared(
        Curve.of(sample, score, max_fpr, confidence),
        Curve.of(sample, other, max_fpr, confidence),
        margin,
    )


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
    """Compare the AUCs of two independent samples by DeLong's variances.

    Parameters
    ----------
    y, other_y : array-like
        Labels of each sample, of exactly two values.
    scores, other_scores : array-like
        Scores of the rows of each sample.
    confidence, max_fpr, groups, margin, positive
        As for :func:`compare_auc`.
    other_groups : array-like, optional
        Groups of the rows of the second sample.

    Returns
    -------
    AUCComparison

    Examples
    --------
    >>> import rocpath as rp
    >>> rp.compare_auc_unpaired([0, 0, 1, 1], [1, 3, 2, 4], [0, 1, 0, 1], [2, 1, 3, 4])
    AUC 0.750 and 0.500: difference +0.2500 (95% CI -0.4265 to +0.7139), p = 0.68
    """
    confidence = share_between("confidence", confidence)
    max_fpr = rate_up_to_one("max_fpr", max_fpr)
    margin = checked_margin(margin)
    one, two = (
        Curve.of(sample, sample.scores(name, score), max_fpr, confidence)
        for sample, name, score in (
            (LabeledSample.of(y, None, positive, groups), "scores", scores),
            (
                LabeledSample.of(other_y, None, positive, other_groups),
                "other_scores",
                other_scores,
            ),
        )
    )
    errors = one.interval.standard_error**2, two.interval.standard_error**2
    return difference_of(
        one.interval,
        two.interval,
        sum(errors),
        centers=(one.center, two.center),
        freedom=min(
            curve.cluster.freedom if curve.cluster else float("inf")
            for curve in (one, two)
        ),
        margin=margin,
    )


def checked_margin(margin: float | None) -> float | None:
    """Return a positive margin, or raise."""
    if margin is None:
        return None
    value = finite_number("margin", margin)
    if not value > 0:
        raise ValueError(f"margin must be positive, got {value:g}.")
    return value

"""Sample sizes for estimating an AUC or comparing two AUCs."""

import numpy as np
from scipy import special

from rocpath.evaluation.score_interval import binormal_table
from rocpath.validation import finite_number, share_between


def n_positives_needed(
    auc: float,
    *,
    width: float | None = None,
    power: float | None = None,
    other_auc: float = 0.5,
    negatives_per_positive: float = 1.0,
    correlation: float = 0.5,
    confidence: float = 0.95,
) -> int:
    """Compute the number of positives needed to estimate or compare AUCs.

    The scores of both classes are assumed to be normal with equal variances. Exactly
    one of ``width`` and ``power`` must be given.

    Parameters
    ----------
    auc : float
        Expected AUC in (0, 1).
    width : float, optional
        Maximum expected width of the confidence interval.
    power : float, optional
        Minimum power of the test for a difference between ``auc`` and ``other_auc``.
    other_auc : float
        AUC to compare with. A value of 0.5 is chance, which is not estimated.
    negatives_per_positive : float
        Number of negatives per positive.
    correlation : float
        Correlation of the two AUCs estimated from the same rows; 0 for two independent
        samples, each with this number of positives.
    confidence : float
        Confidence level of the interval, or one minus the significance level of the
        two-sided test.

    Returns
    -------
    int
        Number of positives.

    Examples
    --------
    >>> import rocpath as rp
    >>> rp.n_positives_needed(0.8, width=0.1, negatives_per_positive=4)
    91
    >>> rp.n_positives_needed(0.8, power=0.9, other_auc=0.75)
    444
    """
    auc = share_between("auc", auc)
    confidence = share_between("confidence", confidence)
    ratio = finite_number("negatives_per_positive", negatives_per_positive)
    if ratio <= 0:
        raise ValueError(f"negatives_per_positive must be positive, got {ratio:g}.")
    if (width is None) == (power is None):
        raise ValueError("exactly one of width and power must be given.")
    quantile = float(special.ndtri(0.5 + 0.5 * confidence))
    variance = _unit_variance(auc, ratio)
    if width is not None:
        width = share_between("width", width)
        return int(np.ceil(variance * (2.0 * quantile / width) ** 2))
    other_auc = share_between("other_auc", other_auc)
    if auc == other_auc:
        raise ValueError(f"other_auc must differ from auc, got {other_auc:g} for both.")
    if other_auc == 0.5:
        # Chance is a fixed value, not a second estimate.
        null, difference = _unit_variance(0.5, ratio), variance
    else:
        rho = finite_number("correlation", correlation)
        if not -1 <= rho < 1:
            raise ValueError(f"correlation must be in [-1, 1), got {rho:g}.")
        other = _unit_variance(other_auc, ratio)
        difference = variance + other - 2.0 * rho * np.sqrt(variance * other)
        null = difference
    deviate = float(special.ndtri(share_between("power", power)))
    distance = quantile * np.sqrt(null) + deviate * np.sqrt(difference)
    return int(np.ceil((distance / (auc - other_auc)) ** 2))


def _unit_variance(auc: float, negatives_per_positive: float) -> float:
    """Return the variance of an AUC, multiplied by the number of positives."""
    positive, negative, _ = binormal_table(1.0).at(auc)
    return float(positive + negative / negatives_per_positive)

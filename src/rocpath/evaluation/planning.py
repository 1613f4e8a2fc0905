"""Sample sizes for estimating an AUC or comparing two AUCs, found by simulation.

The interval and the tests of this library are simulated rather than DeLong's: their
widths differ by a factor of two or more for small samples and large AUCs.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special, stats

from rocpath.evaluation.comparisons import compare_auc
from rocpath.evaluation.intervals import auc_interval
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

    The interval of :func:`auc_interval` or the test of :func:`compare_auc` is simulated
    for normal scores with equal variances in both classes. Exactly one of ``width`` and
    ``power`` must be given. The simulation is reproducible, and the number of positives
    is accurate to about 5%. Numbers above 2,000 are those of the normal approximation.

    Parameters
    ----------
    auc : float
        Expected AUC in (0, 1).
    width : float, optional
        Maximum mean width of the confidence interval.
    power : float, optional
        Minimum power of the test for a difference between ``auc`` and ``other_auc``.
    other_auc : float
        AUC to compare with. A value of 0.5 is chance, which is not estimated: the power
        is then that of an interval that excludes 0.5.
    negatives_per_positive : float
        Number of negatives per positive.
    correlation : float
        Correlation of the two AUCs estimated from the same rows; 0 for two independent
        samples, each with this number of positives. A correlation that two normal scores
        cannot have is replaced by the nearest possible value.
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
    93
    >>> rp.n_positives_needed(0.8, power=0.9)
    18
    """
    auc = share_between("auc", auc)
    confidence = share_between("confidence", confidence)
    ratio = finite_number("negatives_per_positive", negatives_per_positive)
    if ratio <= 0:
        raise ValueError(f"negatives_per_positive must be positive, got {ratio:g}.")
    if (width is None) == (power is None):
        raise ValueError("exactly one of width and power must be given.")
    if width is not None:
        width = share_between("width", width)
        return _smallest_number(_WidthPlan(auc, ratio, confidence, width))
    other_auc = share_between("other_auc", other_auc)
    if auc == other_auc:
        raise ValueError(f"other_auc must differ from auc, got {other_auc:g} for both.")
    rho = finite_number("correlation", correlation)
    if not -1 <= rho < 1:
        raise ValueError(f"correlation must be in [-1, 1), got {rho:g}.")
    power = share_between("power", power)
    return _smallest_number(_PowerPlan(auc, ratio, confidence, power, other_auc, rho))


_N_SAMPLES = 1_000  # the standard error of a power of 0.9 is then 0.01
_MOST_SIMULATED = 2_000  # with more positives, the normal approximation is as accurate
_TOLERANCE = 0.02  # relative width of the bracket that ends the search


def _smallest_number(plan: "_WidthPlan | _PowerPlan") -> int:
    """Return the number of positives at which a plan meets its target."""
    number = max(int(np.ceil(plan.approximation)), 2)
    if number > _MOST_SIMULATED:
        return number
    # The target is met at `high` and not at `low`; the bracket grows until both are so.
    low, high = 1, 0
    while not high or high - low > max(_TOLERANCE * high, 1):
        if plan.is_met(number):
            high = number
        else:
            low = number
        step = np.sqrt(low * high) if high and low > 1 else number * (0.75 if high else 1.33)
        number = max(int(step), low + 1)
    return high


class _WidthPlan(NamedTuple):
    """The mean width of an interval."""

    auc: float
    ratio: float
    confidence: float
    width: float

    @property
    def approximation(self) -> float:
        """Number of positives from the normal approximation."""
        quantile = float(special.ndtri(0.5 + 0.5 * self.confidence))
        return _unit_variance(self.auc, self.ratio) * (2.0 * quantile / self.width) ** 2

    def is_met(self, n_positives: int) -> bool:
        """Whether the simulated mean width is at most the target."""

        def interval_width(y: NDArray[np.bool_], score: NDArray[np.float64]) -> float:
            interval = auc_interval(y, score[0], confidence=self.confidence)
            return interval.high - interval.low

        widths = _simulated(interval_width, n_positives, self.ratio, [self.auc], 0.0)
        return bool(widths.mean() <= self.width)


class _PowerPlan(NamedTuple):
    """The power of a test of a difference between two AUCs."""

    auc: float
    ratio: float
    confidence: float
    power: float
    other_auc: float
    correlation: float

    @property
    def approximation(self) -> float:
        """Number of positives from the normal approximation."""
        variance = _unit_variance(self.auc, self.ratio)
        if self.other_auc == 0.5:
            # Chance is a fixed value, not a second estimate.
            null, difference = _unit_variance(0.5, self.ratio), variance
        else:
            other = _unit_variance(self.other_auc, self.ratio)
            null = variance + other - 2.0 * self.correlation * np.sqrt(variance * other)
            difference = null
        quantile, deviate = special.ndtri([0.5 + 0.5 * self.confidence, self.power])
        distance = quantile * np.sqrt(null) + deviate * np.sqrt(difference)
        return float((distance / (self.auc - self.other_auc)) ** 2)

    def is_met(self, n_positives: int) -> bool:
        """Whether the simulated power is at least the target."""
        level = 1.0 - self.confidence

        def is_rejected(y: NDArray[np.bool_], score: NDArray[np.float64]) -> float:
            if len(score) == 1:
                interval = auc_interval(y, score[0], confidence=self.confidence)
                return float(interval.low > 0.5 or interval.high < 0.5)
            return float(compare_auc(y, *score).p_value < level)

        areas = [self.auc] if self.other_auc == 0.5 else [self.auc, self.other_auc]
        scores = _score_correlation(self.auc, self.other_auc, self.correlation)
        rejections = _simulated(is_rejected, n_positives, self.ratio, areas, scores)
        return bool(rejections.mean() >= self.power)


def _simulated(
    statistic: Callable[[NDArray[np.bool_], NDArray[np.float64]], float],
    n_positives: int,
    ratio: float,
    areas: list[float],
    correlation: float,
) -> NDArray[np.float64]:
    """Return a statistic of simulated samples; scores have this correlation in a class."""
    # The same random numbers for every number of positives make the search stable.
    rng = np.random.default_rng(0)
    y = np.repeat([True, False], [n_positives, max(round(n_positives * ratio), 2)])
    shift = np.sqrt(2.0) * special.ndtri(areas)[:, None] * y
    values = np.empty(_N_SAMPLES)
    for k in range(_N_SAMPLES):
        score = rng.standard_normal((len(areas), y.size))
        if len(areas) == 2:
            score[1] = correlation * score[0] + np.sqrt(1.0 - correlation**2) * score[1]
        values[k] = statistic(y, score + shift)
    return values


def _score_correlation(auc: float, other_auc: float, correlation: float) -> float:
    """Return the correlation of normal scores whose AUCs have a given correlation."""
    # The covariance of the structural components of two scores is a bivariate normal
    # probability minus the product of the AUCs; half of the correlation of the scores is
    # that of the differences of a row and a random row of the other class.
    distance = special.ndtri([auc, other_auc])

    def covariance(at: tuple[float, float], rho: float) -> float:
        matrix = [[1.0, 0.5 * rho], [0.5 * rho, 1.0]]
        both = stats.multivariate_normal.cdf(at, cov=matrix)
        return float(both - np.prod(special.ndtr(at)))

    scale = np.sqrt(np.prod([covariance((at, at), 1.0) for at in distance]))

    def excess(rho: float) -> float:
        return covariance(tuple(distance), rho) / float(scale) - correlation

    largest = 1.0 - 1e-9
    if excess(largest) <= 0:
        return largest
    if excess(-largest) >= 0:
        return -largest
    return float(optimize.brentq(excess, -largest, largest, xtol=1e-6))


def _unit_variance(auc: float, negatives_per_positive: float) -> float:
    """Return the variance of an AUC, multiplied by the number of positives."""
    positive, negative, _ = binormal_table(1.0).at(auc)
    return float(positive + negative / negatives_per_positive)

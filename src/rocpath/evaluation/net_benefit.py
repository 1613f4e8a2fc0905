"""Net benefit of decisions at thresholds: the numbers of a decision curve."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rocpath.evaluation.decision_rates import UNKNOWN, DecisionRates
from rocpath.evaluation.results import Limits, TextTable, frame_of, percent
from rocpath.sample import Sample
from rocpath.validation import Floats, check_none, finite_vector, same_length, share_between

_DEFAULT = np.arange(1, 100) / 100
_MOST_LINES = 12  # of the text table


class NetBenefitPoint(NamedTuple):
    """Net benefit at a threshold, with its interval, and that of treating all rows."""

    threshold: float
    value: float
    low: float
    high: float
    treat_all: float
    treat_none: float = 0.0


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class NetBenefit(TextTable):
    """The decision curve of predicted probabilities.

    Attributes
    ----------
    points : list of NetBenefitPoint
        Net benefit ``value`` with its limits ``low`` and ``high`` at each ``threshold``,
        and net benefit of the defaults ``treat_all`` and ``treat_none`` (zero). The
        result can be indexed and iterated.
    unit : str
        Unit of the net benefit: "true positives per row", or "cost per row".
    prevalence : float
        Share of positives in the population.
    positive : label
        Positive class.
    confidence : float
        Nominal coverage of each interval.
    """

    points: list[NetBenefitPoint]
    unit: str
    prevalence: float
    positive: Any
    confidence: float

    def __getitem__(self, index: int) -> NetBenefitPoint:
        """Return a point."""
        return self.points[index]

    def __len__(self) -> int:
        """Return the number of points."""
        return len(self.points)

    def __iter__(self) -> Iterator[NetBenefitPoint]:
        """Iterate over the points."""
        return iter(self.points)

    def column(self, name: str) -> Floats:
        """Return a field of all points as an array.

        Parameters
        ----------
        name : str
            Name of the field, such as ``"value"``.

        Returns
        -------
        array, shape (n_points,)
        """
        return np.array([getattr(point, name) for point in self.points])

    def to_frame(self) -> Any:
        """Return a data frame with a row per point."""
        return frame_of([point._asdict() for point in self.points])

    def _tables(self) -> list[tuple[list[str], list[list[str]]]]:
        header = ["threshold", "net benefit", f"{percent(self.confidence)} CI", "treat all"]
        step = -(-len(self.points) // _MOST_LINES)
        body = [
            [
                f"{point.threshold:g}",
                f"{point.value:.4f}",
                "" if np.isnan(point.low) else f"{point.low:.4f} to {point.high:.4f}",
                f"{point.treat_all:.4f}",
            ]
            for point in self.points[::step]
        ]
        return [(header, body)]

    def _below(self) -> list[str]:
        text = f"Net benefit in {self.unit}; prevalence {100 * self.prevalence:.3g}%"
        return [f"{text} ({self.positive})."]


def net_benefit(
    y: ArrayLike,
    probability: ArrayLike,
    thresholds: ArrayLike | None = None,
    *,
    cost: ArrayLike | None = None,
    prevalence: float | None = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    confidence: float = 0.95,
    positive: Any = None,
) -> NetBenefit:
    """Compute the net benefit of predicted probabilities at thresholds (decision curve).

    The net benefit at a threshold t is the share of true positives minus t / (1 - t)
    times the share of false positives (Vickers and Elkin, 2006). A model is useful at
    the thresholds at which it exceeds treating all rows and treating none.

    Parameters
    ----------
    y : array-like, shape (n_rows,)
        Labels with exactly two distinct values, from rows that the model was not
        fitted to.
    probability : array-like, shape (n_rows,)
        Predicted probabilities of the positive class.
    thresholds : float or array-like, optional
        Probabilities between 0 and 1; by default 0.01, 0.02, ..., 0.99.
    cost : array-like, shape (n_rows,), optional
        Cost of each row, such as an amount: that of a positive is saved if it is found,
        and that of a negative is spent if it is predicted positive. The net benefit is
        then the mean of the savings minus the expenses, instead of weighting false
        positives by the threshold.
    prevalence : float, optional
        Share of positives in the population in which the model will be used. By
        default, that of the rows.
    groups : array-like, shape (n_rows,), optional
        Group of each row, as in :func:`auc_interval`.
    sample_weight : array-like, shape (n_rows,), optional
        Non-negative weight of each row. With unequal weights, intervals are NaN.
    confidence : float
        Nominal coverage of each interval.
    positive : label, optional
        Positive class; by default, the larger of the two labels.

    Returns
    -------
    NetBenefit

    Examples
    --------
    >>> import numpy as np
    >>> import rocpath as rp
    >>> y = np.repeat([1, 0], [20, 80])
    >>> probability = np.repeat([0.6, 0.1, 0.6, 0.1], [15, 5, 10, 70])
    >>> point = rp.net_benefit(y, probability, 0.25)[0]
    >>> round(point.value, 3), round(point.treat_all, 3)  # (15 - 10 / 3) / 100, (20 - 80 / 3) / 100
    (0.117, -0.067)
    """
    confidence = share_between("confidence", confidence)
    prevalence = None if prevalence is None else share_between("prevalence", prevalence)
    if cost is not None and prevalence is not None:
        raise ValueError(
            "prevalence must be None with cost, because the costs of the given rows are "
            f"averaged, got {prevalence:g}."
        )
    sample = Sample.from_labels(y, groups=groups, sample_weight=sample_weight, positive=positive)
    if sample.weight is not None and sample.weight.min() == sample.weight.max():
        sample = Sample.from_labels(y, groups=groups, positive=positive)
    score = sample.scores("probability", probability)
    check_none((score < 0) | (score > 1), "probability must be in [0, 1]", score)
    threshold = finite_vector(
        "thresholds", np.atleast_1d(_DEFAULT if thresholds is None else thresholds)
    )
    check_none((threshold <= 0) | (threshold >= 1), "thresholds must be in (0, 1)", threshold)
    if cost is None:
        return decision_curve(sample, score, threshold, confidence, prevalence)
    points = _cost_points(sample, score, threshold, confidence, _row_costs(sample, cost))
    return NetBenefit(
        points=points,
        unit="cost per row",
        prevalence=observed_prevalence(sample),
        positive=sample.classes[1],
        confidence=confidence,
    )


def observed_prevalence(sample: Sample) -> float:
    """Return the weighted share of positives."""
    return float(np.average(sample.is_positive, weights=sample.weight))


def decision_curve(
    sample: Sample,
    score: Floats,
    threshold: Floats,
    confidence: float,
    prevalence: float | None = None,
) -> NetBenefit:
    """Compute the net benefit of validated probabilities."""
    share = observed_prevalence(sample) if prevalence is None else prevalence
    points = []
    for at in threshold.tolist():
        benefit = DecisionRates(sample, score, at, confidence).net_benefit(prevalence)
        points.append(NetBenefitPoint(at, *benefit, share - (1.0 - share) * at / (1.0 - at)))
    return NetBenefit(
        points=points,
        unit="true positives per row",
        prevalence=share,
        positive=sample.classes[1],
        confidence=confidence,
    )


def _row_costs(sample: Sample, cost: ArrayLike) -> Floats:
    """Return what each row adds to the benefit if it is predicted positive."""
    amount = finite_vector("cost", cost)
    same_length(y=sample.is_positive, cost=amount)
    check_none(amount < 0, "cost must not be negative", amount)
    return np.where(sample.is_positive, amount, -amount)


def _cost_points(
    sample: Sample, score: Floats, threshold: Floats, confidence: float, gain: Floats
) -> list[NetBenefitPoint]:
    points = []
    for at in threshold.tolist():
        benefit = mean_limits(sample, np.where(score >= at, gain, 0.0), confidence)
        points.append(NetBenefitPoint(at, *benefit, float(np.average(gain, weights=sample.weight))))
    return points


def mean_limits(sample: Sample, values: Floats, confidence: float) -> Limits:
    """Return a mean with Student's interval, from the jackknife over rows or groups."""
    mean = float(np.average(values, weights=sample.weight))
    if sample.weight is not None:
        return Limits(mean, *UNKNOWN[1:])
    total: Floats = values
    size: Floats = np.ones(values.size)
    if sample.unit is not None:
        code: NDArray[np.intp] = np.unique(sample.unit, return_inverse=True)[1]
        total = np.asarray(np.bincount(code, values), dtype=np.float64)
        size = np.asarray(np.bincount(code), dtype=np.float64)
    square = ((total.sum() - total) / (size.sum() - size) - mean) ** 2
    variance = float(square.sum())
    # A few rows with large values may account for nearly all of the variance.
    fourth = float(square @ square)
    freedom = max(3.0 * variance**2 / fourth - 2.0, 1.0) if fourth > 0 else np.inf
    half = float(special.stdtrit(freedom, 0.5 + 0.5 * confidence)) * np.sqrt(variance)
    return Limits(mean, mean - half, mean + half)

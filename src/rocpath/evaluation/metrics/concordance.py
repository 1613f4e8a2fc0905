"""Concordance of scores with censored times: Harrell's C and Uno's C."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple, Self, cast

import numpy as np

from rocpath import _core
from rocpath.evaluation.groups import Jackknife
from rocpath.evaluation.influence import Variance
from rocpath.evaluation.metrics.auc import excess_of_weights
from rocpath.evaluation.metrics.kaplan_meier import KaplanMeier
from rocpath.evaluation.metrics.metric import Column, Estimate
from rocpath.evaluation.metrics.scales import LogitScale
from rocpath.sample import Codes, Sample
from rocpath.validation import Floats, finite_number

_NONE: Any = np.empty(0)  # the core's value for weights of one
_NO_CODES: Any = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class EventScale(LogitScale):
    """Logit scale, with a larger variance if some rows have much larger weights."""

    def limits(
        self, column: Column, center: float, variance: Variance, confidence: float
    ) -> tuple[float, float]:
        """Return the limits of the interval."""
        wider = variance._replace(value=variance.value + _weight_variance(column))
        return super().limits(column, center, wider, confidence)

    def cautious_variance(self, column: Column, variance: Variance) -> float:
        """Return the variance for tests of differences."""
        return super().cautious_variance(column, variance) + _weight_variance(column)


def _weight_variance(column: Column) -> float:
    """Return the variance for rows with large weights that were not sampled, as for AUCs."""
    sample = column.sample
    if sample.weight is None:
        return 0.0
    sides = [sample.weight[mask] for _, mask in sample.class_masks]
    excess = sum(
        excess_of_weights(float(w.max()), float(w.sum()), float((w > 0).sum())) for w in sides
    )
    return excess * column.value * (1.0 - column.value)


@dataclass(frozen=True)
class Concordance:
    """Harrell's C: the share of concordant pairs among all comparable pairs.

    A pair is comparable if one row has an event, and the other row is known to survive
    longer. It is concordant if the row with the earlier event has the larger score; ties
    count one half. The value equals ``concordance_index`` of lifelines (which expects
    negated scores) and ``concordance_index_censored`` of scikit-survival.

    Examples
    --------
    >>> import rocpath as rp
    >>> y = rp.Survival([2, 4, 4, 5, 7, 8], [1, 1, 0, 1, 0, 1])
    >>> round(rp.interval(y, [6, 5, 1, 3, 4, 2], "concordance").value, 4)  # 10 of 11 pairs
    0.9091
    """

    outcome: ClassVar[Literal["survival"]] = "survival"
    scale = EventScale()
    bounds = (0.0, 1.0)
    digits = 3

    @property
    def name(self) -> str:
        """Name in results."""
        return "Harrell's C"

    def estimate(self, sample: Sample, score: Floats) -> Estimate:
        """Compute the value and the influence of each row."""
        return self.column(sample, score).estimate

    def column(self, sample: Sample, score: Floats) -> "ConcordanceColumn":
        """Count the pairs once, for the value, its variance and its interval."""
        return ConcordanceColumn(self, sample, score)

    def censoring(self, sample: Sample) -> "CensoringWeights | None":
        """Return the weights of events; None if all are one."""
        return None


@dataclass(frozen=True)
class UnoConcordance(Concordance):
    """Uno's C: concordance with pairs weighted by the inverse probability of censoring.

    Unlike Harrell's C, it does not depend on the distribution of the censoring times, if
    they are independent of the events and of the scores. The value equals
    ``concordance_index_ipcw`` of scikit-survival with the same rows as training data.

    Parameters
    ----------
    tau : float, optional
        Time at which the evaluation ends: only events before it are counted. By default,
        all are; the last ones may then have very large weights.

    Examples
    --------
    >>> import rocpath as rp
    >>> y = rp.Survival([2, 4, 4, 5, 7, 8], [1, 1, 0, 1, 0, 1])
    >>> round(rp.interval(y, [6, 5, 1, 3, 4, 2], rp.metrics.UnoConcordance(tau=6)).value, 4)
    0.8865
    """

    tau: float | None = None

    def __post_init__(self) -> None:
        if self.tau is not None and not finite_number("tau", self.tau) > 0:
            raise ValueError(f"tau must be positive, got {self.tau:g}.")

    @property
    def name(self) -> str:
        """Name in results."""
        return "Uno's C" if self.tau is None else f"Uno's C up to time {self.tau:g}"

    def column(self, sample: Sample, score: Floats) -> "ConcordanceColumn":
        """Count the pairs whose earlier event is before ``tau``."""
        until = np.inf if self.tau is None else np.nextafter(self.tau, 0.0)
        return ConcordanceColumn(self, sample.until(float(until)), score)

    def censoring(self, sample: Sample) -> "CensoringWeights":
        """Return the weights of the events that count."""
        return CensoringWeights.from_sample(sample, power=2, remedy="tau")


class CensoringWeights(NamedTuple):
    """Weights of events by the inverse probability of being uncensored, to a power."""

    weight: Floats
    curve: KaplanMeier
    power: int

    @classmethod
    def from_sample(cls, sample: Sample, *, power: int, remedy: str) -> Self:
        """Estimate the distribution of censoring, and weight the events that count."""
        duration: Any = sample.duration
        is_used = sample.is_positive
        curve = KaplanMeier.from_rows(duration, sample.has_event, sample.weight, of_censoring=True)
        probability = curve.estimate[curve.index]
        is_lost = is_used & (probability <= 0) & (sample.weights > 0)
        if is_lost.any():
            raise ValueError(
                f"{remedy} must be at most {duration[is_lost].min():g} here: no row is known to "
                "be observed longer, so that later events have no finite weight."
            )
        weight = np.zeros(len(sample))
        np.power(probability, -power, out=weight, where=is_used & (probability > 0))
        return cls(weight, curve, power)

    def influence(self, derivative: Floats) -> Floats:
        """Return the influence of rows through the weights.

        ``derivative`` is that of the estimate by the logarithm of each weight.
        """
        sums: Any = np.bincount(self.curve.index, derivative, self.curve.time.size)
        return -self.power * self.curve.influence(sums)


@dataclass(frozen=True, eq=False)
class ConcordanceColumn(Column):
    """The pairs of one score, with their share that is concordant."""

    @cached_property
    def censoring(self) -> CensoringWeights | None:
        """Weights of events; None if all are one."""
        return self.metric.censoring(self.sample)  # type: ignore[no-any-return]

    def _pairs(self, codes: Codes | None = None) -> dict[str, Floats]:
        sample, censoring = self.sample, self.censoring
        duration: Any = sample.duration
        return _core.concordance(
            duration,
            sample.has_event,
            _NONE if sample.weight is None else sample.weight,
            _NONE if censoring is None else censoring.weight,
            _NO_CODES if codes is None else codes.astype(np.int64, copy=False),
            self.score,
        )

    @cached_property
    def pairs(self) -> dict[str, Floats]:
        """Weights of the pairs of each row."""
        return self._pairs()

    @property
    def n_pairs(self) -> float:
        """Total weight of the comparable pairs."""
        return 0.5 * float(self.pairs["comparable"].sum())

    @cached_property
    def estimate(self) -> Estimate:
        """The share of concordant pairs, and the influence of each row."""
        pairs = self.pairs
        sample = self.sample
        total = self.n_pairs
        if not total > 0:
            raise ValueError(
                "y must have a comparable pair, a row with an event and a row that survives "
                f"longer, got none: {self.metric.name} is undefined."
            )
        value = 0.5 * float(pairs["concordant"].sum()) / total
        influence = (pairs["concordant"] - value * pairs["comparable"]) / total
        if self.censoring is not None:
            influence += self._influence_of_censoring(value, total)
        return Estimate(value, influence, sample.is_positive)

    def _influence_of_censoring(self, value: float, total: float) -> Floats:
        """Return the influence of rows through the estimated distribution of censoring."""
        pairs, censoring = self.pairs, cast("CensoringWeights", self.censoring)
        early = (pairs["early_concordant"] - value * pairs["early_comparable"]) / total
        return self.sample.weights * censoring.influence(early)

    @cached_property
    def influence(self) -> Floats:
        """The influence of each row, increased for few events.

        Residuals of estimates with few events are too small. Divided by the square root
        of 1 - 1/m, for m events, the variance of m equally influential events is that of
        the jackknife.
        """
        weight = self.sample.weights * self.sample.is_positive
        if self.censoring is not None:
            weight = weight * self.censoring.weight
        return self.estimate.influence * few_events_factor(weight)

    @cached_property
    def jackknife(self) -> Jackknife:
        """The estimate from pairs of different groups, and without each group."""
        unit: Any = self.sample.unit
        within = self._pairs(unit)
        sums = []
        for name in ("concordant", "comparable"):
            own = np.bincount(unit, within[name])
            between = np.bincount(unit, self.pairs[name]) - own
            total = 0.5 * float(between.sum())
            sums.append((total, total - between))
        (concordant, others), (comparable, rest) = sums
        center = concordant / comparable
        replicates = np.divide(
            others, rest, out=np.full(rest.size, center), where=rest > 1e-9 * comparable
        )
        if self.censoring is not None:
            through = self._influence_of_censoring(center, comparable)
            share = np.bincount(unit, self.sample.weights) / self.sample.weights.sum()
            replicates -= np.bincount(unit, through) / np.maximum(1.0 - share, 1e-9)
        return Jackknife(center, replicates)


def few_events_factor(weight: Floats) -> float:
    """Return the factor of influences for weighted events (zero for other rows)."""
    n_events = float(weight.sum()) ** 2 / max(float(weight @ weight), 1e-300)
    return float(1.0 / np.sqrt(1.0 - 1.0 / max(n_events, 1.5)))

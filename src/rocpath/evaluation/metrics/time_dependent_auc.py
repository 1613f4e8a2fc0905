"""The AUC of events until a time against rows that survive it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from rocpath.evaluation.influence import auc_with_influence
from rocpath.evaluation.metrics.concordance import CensoringWeights, EventScale, few_events_factor
from rocpath.evaluation.metrics.kaplan_meier import KaplanMeier
from rocpath.evaluation.metrics.metric import Column, Estimate
from rocpath.sample import Sample
from rocpath.validation import Floats, check_increase, finite_vector


@dataclass(frozen=True)
class TimeDependentAUC:
    """Cumulative/dynamic AUC at a time, or its mean over several times.

    Rows with an event until the time are compared with rows that are observed longer.
    Each event has a weight, the inverse probability of not being censored before, so
    that censoring does not bias the AUC if it is independent of events and scores.

    The mean weights each time by the decrease of the survival function since the one
    before. Values equal those of ``cumulative_dynamic_auc`` in scikit-survival, with the
    same rows as training data.

    Parameters
    ----------
    time : float or sequence of float
        Time at which the AUC is evaluated, or several, in increasing order.

    Examples
    --------
    >>> import rocpath as rp
    >>> y = rp.Survival([2, 4, 4, 5, 7, 8], [1, 1, 0, 1, 0, 1])
    >>> round(rp.interval(y, [6, 5, 1, 3, 4, 2], rp.metrics.TimeDependentAUC(5)).value, 4)
    0.8182
    """

    time: float | Sequence[float]
    outcome: ClassVar[Literal["survival"]] = "survival"
    scale = EventScale()
    bounds = (0.0, 1.0)
    digits = 3

    def __post_init__(self) -> None:
        times = finite_vector("time", np.atleast_1d(np.asarray(self.time)))
        if not times.size:
            raise ValueError("time must be a time or several, got an empty sequence.")
        check_increase("time must be positive and increasing", np.append(0.0, times))
        # A tuple, so that the metric can be compared and hashed.
        object.__setattr__(self, "time", tuple(times.tolist()))

    @property
    def times(self) -> tuple[float, ...]:
        """The times, in increasing order."""
        return self.time  # type: ignore[return-value]

    @property
    def name(self) -> str:
        """Name in results."""
        if len(self.times) == 1:
            return f"AUC at time {self.times[0]:g}"
        return f"mean AUC at times {self.times[0]:g} to {self.times[-1]:g}"

    def estimate(self, sample: Sample, score: Floats) -> Estimate:
        """Compute the value and the influence of each row."""
        return self.column(sample, score).estimate

    def column(self, sample: Sample, score: Floats) -> "TimeDependentColumn":
        """Estimate the distribution of censoring once, for all times."""
        return TimeDependentColumn(self, sample.until(self.times[-1]), score)


@dataclass(frozen=True, eq=False)
class TimeDependentColumn(Column):
    """The AUCs of one score at several times."""

    @cached_property
    def censoring(self) -> CensoringWeights:
        """Weights of the events until the last time."""
        return CensoringWeights.from_sample(self.sample, power=1, remedy="time")

    @cached_property
    def estimate(self) -> Estimate:
        """The mean AUC, and the influence of each row."""
        parts = [self._at(time) for time in self.metric.times]
        if len(parts) == 1:
            return parts[0]
        area = np.array([part.value for part in parts])
        sample, times = self.sample, self.metric.times
        duration: Any = sample.duration
        curve = KaplanMeier.from_rows(duration, sample.has_event, sample.weight)
        survival = np.array([curve.at(time) for time in times])
        fall = -np.diff(survival, prepend=1.0)
        value = float(area @ fall) / float(fall.sum())
        influence = fall @ np.array([part.influence for part in parts])
        # The derivative of the mean by the logarithm of the survival function at each time.
        derivative = survival * np.diff(area, append=value)
        places = [curve.place(time) - 1 for time in times]
        sums: Any = np.bincount(places, derivative, curve.time.size)
        influence = (influence + sample.weights * curve.influence(sums)) / fall.sum()
        return Estimate(value, influence, sample.is_positive)

    def _classes(self, time: float) -> tuple[Any, Any, Floats]:
        """Return masks of events until a time and of rows that survive it, and weights."""
        duration: Any = self.sample.duration
        is_case = self.sample.is_positive & (duration <= time)
        weight = self.sample.weights * np.where(is_case, self.censoring.weight, 1.0)
        return is_case, duration > time, weight

    @property
    def n_pairs(self) -> float:
        """Mean weight of the pairs over the times."""
        classes = (self._classes(time) for time in self.metric.times)
        return float(
            np.mean([weight[case].sum() * weight[other].sum() for case, other, weight in classes])
        )

    def _at(self, time: float) -> Estimate:
        """Return the AUC at a time, and the influence of each row."""
        sample = self.sample
        is_case, is_control, weight = self._classes(time)
        used = np.flatnonzero(is_case | is_control)
        if not (weight[is_case].sum() > 0 and weight[is_control].sum() > 0):
            raise ValueError(
                f"y must have an event until time {time:g} and a row that is observed longer: "
                f"{self.metric.name} is undefined."
            )
        value, placed = auc_with_influence(self.score[used], is_case[used], weight[used])
        influence = np.zeros(len(sample))
        influence[used] = placed
        through = self.censoring.influence(np.where(is_case, influence, 0.0))
        return Estimate(value, influence + sample.weights * through, is_case)

    @cached_property
    def influence(self) -> Floats:
        """The influence of each row, increased for few events or few survivors."""
        sample, times = self.sample, self.metric.times
        duration: Any = sample.duration
        weights = (sample.weights * self.censoring.weight, sample.weights * (duration > times[0]))
        return self.estimate.influence * max(few_events_factor(weight) for weight in weights)

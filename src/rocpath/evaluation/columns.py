"""From arguments to columns: a metric of each score of a validated sample."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from rocpath.evaluation.designs import Design
from rocpath.evaluation.designs.groups import n_effective_groups
from rocpath.evaluation.metrics.auc import AUC
from rocpath.evaluation.metrics.metric import Column, column_of
from rocpath.evaluation.metrics.multiclass import ClassSample, OverClasses
from rocpath.evaluation.metrics.names import metric_of
from rocpath.evaluation.metrics.partial_auc import PartialAUC
from rocpath.evaluation.metrics.within_strata import WithinStrata, with_population
from rocpath.evaluation.results import AUCInterval, MetricInterval, is_plain_label
from rocpath.sample import Sample, count_groups
from rocpath.validation import Floats, check_masked, describe, one_of

_MIN_GROUPS = 6  # effective number of groups from which intervals were valid in simulations


@dataclass(frozen=True, eq=False)
class Arguments:
    """The metric and the sample that the arguments of a function describe.

    ``sample`` has all rows, and ``used`` those that are evaluated: rows of strata with
    one class are skipped.
    """

    metric: Any
    sample: Sample
    used: Sample
    fields: dict[str, Any]  # of results
    rows: Any = None  # mask of the used rows, if some are skipped

    @classmethod
    def from_arguments(
        cls,
        y: Any,
        *,
        metric: Any,
        groups: ArrayLike | None = None,
        strata: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        positive: Any = None,
        weighting: Any = "pairs",
        population: Any = None,
        multi_class: Any = "ovr",
        average: Any = "macro",
        is_multiclass: bool = False,
    ) -> Self:
        """Validate all arguments but the scores."""
        metric = metric_of(metric)
        one_of("weighting", weighting, ("pairs", "rows", "equal"))
        one_of("population", population, (None, "these", "like these"))
        is_pairwise = one_of("multi_class", multi_class, ("ovr", "ovo")) == "ovo"
        is_weighted = one_of("average", average, ("macro", "weighted")) == "weighted"
        if is_multiclass:
            check_absent("scores of several classes", strata=strata, positive=positive)
            several = ClassSample.from_classes(y, sample_weight, groups)
            check_supported(metric, several)
            classes = OverClasses(metric, is_pairwise, is_weighted, len(several.labels))
            return cls(classes, several, several, {})
        sample = Sample.from_outcome(
            y, groups=groups, strata=strata, sample_weight=sample_weight, positive=positive
        )
        check_supported(metric, sample)
        if strata is None:
            if population is not None:
                raise ValueError(f"population must be None without strata, got {population!r}.")
            return cls(metric, sample, sample, {})
        return cls(WithinStrata(metric, weighting), sample, sample, {})._within_strata(population)

    def _within_strata(self, population: Any) -> Self:
        used, is_used, holds_for = with_population(self.sample, population)
        stratum: Any = self.sample.stratum
        n_strata = count_groups(stratum[is_used])
        fields = {
            **used.counts,
            "population": holds_for,
            "n_groups": self.sample.counts["n_groups"],
            "n_strata": n_strata,
            "n_skipped_strata": count_groups(stratum) - n_strata,
        }
        return replace(self, used=used, fields=fields, rows=None if is_used.all() else is_used)

    def subset(self, rows: Any) -> Self:
        """Return the arguments for some of the rows."""
        sample = self.sample.take(rows)
        part = replace(self, sample=sample, used=sample)
        return part._within_strata(self.fields["population"]) if self.fields else part

    def score(self, name: str, scores: ArrayLike) -> Floats:
        """Validate the scores of all rows."""
        if isinstance(self.sample, ClassSample):
            return self.sample.matrix(name, scores)
        return self.sample.scores(name, scores)

    def panel(self, scores: Mapping[str, Floats]) -> list[Column]:
        """Return a column for each score; raise if the metric is undefined."""
        columns = [
            column_of(self.metric, self.used, self._used(score)) for score in scores.values()
        ]
        for name, column in zip(scores, columns, strict=True):
            if not np.isfinite(column.value):
                raise ValueError(
                    f"{self.metric.name} must be defined for {name}, got "
                    f"{len(self.used)} rows without any that it counts."
                )
        return columns

    def _used(self, score: Floats) -> Floats:
        return score if self.rows is None else score[self.rows]

    @property
    def warnings(self) -> tuple[str, ...]:
        """Reasons for which intervals are doubtful."""
        is_sampled = self.fields.get("population") == "like these"
        of_metric = getattr(self.metric, "warnings_for", None)
        return (
            *design_warnings(self.used, unit="strata" if is_sampled else "groups"),
            *(() if of_metric is None else of_metric(self.used)),
        )


def design_warnings(sample: Sample, *, unit: str = "groups") -> tuple[str, ...]:
    """Return the reasons for which the design makes intervals doubtful."""
    if sample.unit is None:
        return ()
    n_groups = n_effective_groups(sample)
    if n_groups >= _MIN_GROUPS:
        return ()
    text = f"intervals and tests need about {_MIN_GROUPS} effective {unit}, got {n_groups:.1f}."
    return (text,)


def _labels(sample: Sample) -> dict[str, Any]:
    """Return the positive and the negative label, if there are two classes."""
    if isinstance(sample, ClassSample) or sample.outcome != "labels":
        return {}
    return {"positive": sample.classes[1], "negative": sample.classes[0]}


def _reversal(fields: dict[str, Any], max_fpr: float) -> list[str]:
    """Return a warning if the AUC is below chance, so that the other label may be meant."""
    if max_fpr < 1 or fields["high"] >= 0.5 or fields.get("negative") is None:
        return []
    positive, negative = fields["positive"], fields["negative"]
    if is_plain_label(positive):
        return ["the AUC is below 0.5: larger scores indicate the negative class"]
    text = (
        f"the AUC is below 0.5: larger scores indicate {negative!r} rather than {positive!r}, the "
        f"positive class. Pass positive={negative!r} if it is the positive class"
    )
    # Which of two names is positive was probably not intended.
    warnings.warn(f"{text}.", UserWarning, stacklevel=4)
    return [text]


def check_absent(other: str, **arguments: Any) -> None:
    """Raise if an argument is not supported in combination with another one."""
    for name, argument in arguments.items():
        if argument is not None:
            raise ValueError(f"{name} must be None with {other}: the combination is not supported.")


def check_supported(metric: Any, sample: Sample) -> None:
    """Raise if the metric cannot be computed for the outcome or the design."""
    if metric.outcome != sample.outcome:
        needed = {"labels": "labels of two classes", "survival": "a rocpath.Survival"}
        raise ValueError(
            f"y must be {needed[metric.outcome]} for the metric {metric.name!r}, got "
            f"{needed[sample.outcome]}."
        )
    for argument, reason in getattr(metric, "refused", {}).items():
        if getattr(sample, {"sample_weight": "weight"}.get(argument, argument)) is not None:
            raise ValueError(f"{argument} must be None for {metric.name!r}: {reason}")


def named_scores(arguments: Arguments, scores: Any, *, least: int = 2) -> dict[str, Floats]:
    """Return validated columns by name; errors name the invalid column."""
    check_masked("scores", scores)
    if not isinstance(scores, Mapping) and not hasattr(scores, "columns"):
        table = np.asarray(scores)
        if table.ndim != 2:
            raise ValueError(
                f"scores must be a dict, a data frame or two-dimensional, got {describe(scores)}."
            )
        scores = dict(enumerate(np.ascontiguousarray(table.T)))
    names = list(getattr(scores, "columns", scores))
    if len(names) < least:
        raise ValueError(f"scores must have at least two columns, got {len(names)}.")
    return {str(name): arguments.score(f"scores {str(name)!r}", scores[name]) for name in names}


def interval_of(
    design: Design, index: int, confidence: float, arguments: Arguments | None = None
) -> MetricInterval:
    """Return the interval of one column."""
    column = design.columns[index]
    metric, sample = column.metric, column.sample
    contrast = np.zeros(len(design.columns))
    contrast[index] = 1.0
    variance = design.variance(contrast)
    low, high = metric.scale.limits(column, float(design.center[index]), variance, confidence)
    error = getattr(column, "standard_error", None)
    fields: dict[str, Any] = {
        "name": metric.name,
        "value": float(column.value),
        "low": float(low),
        "high": float(high),
        "confidence": confidence,
        "standard_error": float(np.sqrt(variance.value)) if error is None else error,
        **_labels(sample),
        "digits": metric.digits,
        **sample.counts,
        **({} if arguments is None else arguments.fields | {"warnings": arguments.warnings}),
    }
    inner = getattr(metric, "metric", metric)
    if isinstance(inner, (AUC, PartialAUC)):
        limit = inner.region["max_fpr"]
        fields["warnings"] = (*fields.get("warnings", ()), *_reversal(fields, limit))
        return AUCInterval(**fields, max_fpr=limit if limit < 1 else None)
    return MetricInterval(**fields)

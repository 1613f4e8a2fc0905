"""Metrics by name."""

from typing import Any

from rocpath.evaluation.metrics.auc import AUC
from rocpath.evaluation.metrics.average_precision import AveragePrecision
from rocpath.evaluation.metrics.brier import Brier
from rocpath.evaluation.metrics.concordance import Concordance
from rocpath.evaluation.metrics.metric import Metric
from rocpath.validation import describe

METRICS: dict[str, Any] = {
    "auc": AUC,
    "average_precision": AveragePrecision,
    "brier": Brier,
    "concordance": Concordance,
}


def metric_of(metric: Any) -> Any:
    """Return a metric, given its name or the metric itself."""
    if isinstance(metric, str) and metric in METRICS:
        return METRICS[metric]()
    if isinstance(metric, (str, type)) or not isinstance(metric, Metric):
        names = " or ".join(repr(name) for name in METRICS)
        raise ValueError(
            f"metric must be {names} or an object of rocpath.metrics, got {describe(metric)}."
        )
    return metric

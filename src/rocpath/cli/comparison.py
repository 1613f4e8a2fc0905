"""Compare rankings of a table's rows with each other, on rows held out."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_curve
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from rocpath.auc_statistics.influence import auc_with_influence
from rocpath.cli.table_model import make_pipeline
from rocpath.ranking.auc_classifier import AUCClassifier

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from rocpath.cli.table_columns import BinaryLabel, FeatureColumns

OURS = "AUCClassifier"
MOST_FOLDS = 5  # fewer where a class has fewer rows
METHODS = (OURS, "logistic regression", "balanced logistic regression")


class Auc(NamedTuple):
    """An AUC, and each row's influence on it; squared they sum to its variance."""

    value: float
    influence: NDArray[np.float64]

    @property
    def standard_error(self) -> float:
        """DeLong's standard error."""
        return float(np.sqrt((self.influence**2).sum()))


class Comparison(NamedTuple):
    """How well each method ranks rows that it was not fitted to.

    Metrics are ``auc`` (mean over the parts held out), its ``standard_error`` (DeLong),
    ``pooled_auc`` of the scores of all parts together, and for baselines ``our_lead``,
    our AUC less theirs, with ``our_lead_standard_error``. The ROC curves, false and
    true positive rates, are those of the pooled scores.
    """

    n_folds: int
    metrics: dict[str, dict[str, float]]
    roc: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]


def delong_auc(score: NDArray[np.float64], is_positive: NDArray[np.bool_]) -> Auc:
    """Compute an AUC with the influence of each row."""
    return Auc(*auc_with_influence(score, is_positive, np.ones(score.size)))


def compare_methods(
    table: pl.DataFrame,
    label: BinaryLabel,
    features: FeatureColumns,
    *,
    random_state: int,
    progress: Callable[[str], None],
) -> Comparison:
    """Fit every method to all parts of the rows but one, and score that one."""
    n_folds = _folds_for(label)
    frame = features.of(table)
    y = label.is_positive
    parts = StratifiedKFold(n_folds, shuffle=True, random_state=random_state)
    folds = list(parts.split(np.zeros(y.size), y))
    score = {method: np.zeros(y.size) for method in METHODS}
    # Not cross_val_predict, which cannot tell how far it is.
    for fold, (train, test) in enumerate(folds, 1):
        for method in METHODS:
            progress(f"{method}, part {fold} of {n_folds}")
            pipeline = make_pipeline(features, *_estimators(method, random_state))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                pipeline.fit(frame[train], y[train].astype(int))
            score[method][test] = pipeline.decision_function(frame[test])
    held_out = [test for _, test in folds]
    auc = {method: _mean_auc(score[method], y, held_out) for method in METHODS}
    return Comparison(
        n_folds,
        {
            method: _metrics(auc[method], auc[OURS], score[method], y)
            for method in METHODS
        },
        {method: tuple(roc_curve(y, score[method])[:2]) for method in METHODS},
    )


def _mean_auc(
    score: NDArray[np.float64], y: NDArray[np.bool_], parts: Sequence[NDArray[np.intp]]
) -> Auc:
    """Average the AUCs of parts of the rows: their scores need not be comparable."""
    areas = [delong_auc(score[part], y[part]) for part in parts]
    influence = np.zeros(y.size)
    for part, area in zip(parts, areas, strict=True):
        influence[part] = area.influence / len(parts)
    return Auc(float(np.mean([area.value for area in areas])), influence)


def _folds_for(label: BinaryLabel) -> int:
    n_folds = min(MOST_FOLDS, label.n_positive, label.n_negative)
    if n_folds < 2:
        is_positive_scarce = label.n_positive < label.n_negative
        scarce = label.positive if is_positive_scarce else label.negative
        raise ValueError(
            f"label column {label.column!r} has only 1 row of {scarce!r}: two are "
            "needed to hold one out."
        )
    return n_folds


def _estimators(method: str, random_state: int) -> list[Any]:
    if method == OURS:
        return [AUCClassifier(random_state=random_state)]
    weight = "balanced" if method.startswith("balanced") else None
    # Without centers, such that sparse columns stay sparse; the intercept takes them.
    return [
        StandardScaler(with_mean=False),
        LogisticRegression(max_iter=1000, class_weight=weight),
    ]


def _metrics(
    auc: Auc, ours: Auc, score: NDArray[np.float64], y: NDArray[np.bool_]
) -> dict[str, float]:
    metrics = {
        "auc": auc.value,
        "standard_error": auc.standard_error,
        "pooled_auc": delong_auc(score, y).value,
    }
    if auc is not ours:
        lead = Auc(ours.value - auc.value, ours.influence - auc.influence)
        metrics["our_lead"] = lead.value
        metrics["our_lead_standard_error"] = lead.standard_error
    return metrics

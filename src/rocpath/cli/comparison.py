"""Compare rankings of a table's rows with each other, on rows held out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline

from rocpath.auc_statistics.intervals import auc_interval, compare_auc
from rocpath.tables.model import table_inputs
from rocpath.tables.rankers import DENSE, OF_CHOICE, OURS, dense, fitted_steps

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from rocpath.auc_statistics.results import AUCInterval
    from rocpath.tables.columns import FeatureColumns
    from rocpath.tables.labels import BinaryLabel
    from rocpath.tables.rankers import ModelChoice

MOST_FOLDS = 5  # fewer where a class has fewer rows
_SURE = 2.0  # standard errors, about 95 % of what chance would do


class Comparison(NamedTuple):
    """How well each method ranks rows that it was not fitted to.

    Metrics are ``auc`` (mean over the parts held out), its ``standard_error`` (DeLong)
    and its interval from ``low`` to ``high``, ``pooled_auc`` of the scores of all parts
    together, and for baselines ``our_lead``, our AUC less theirs, with
    ``our_lead_standard_error``. With ``max_fpr`` all but ``auc`` and ``pooled_auc`` are
    about ``partial_auc`` instead, the mean true positive rate up to there. Scores are
    those of the rows while held out.
    """

    n_folds: int
    metrics: dict[str, dict[str, float]]
    score: dict[str, NDArray[np.float64]]
    max_fpr: float | None = None
    ours: str = OURS  # the method whose leads are told

    @classmethod
    def judged(
        cls,
        score: dict[str, NDArray[np.float64]],
        y: NDArray[np.bool_],
        parts: Sequence[NDArray[np.intp]],
        max_fpr: float | None = None,
    ) -> Comparison:
        """Judge scores by the parts held out; leads are those of the first method."""
        ours = next(iter(score))
        metrics = {
            method: part_metrics(method, score, y, parts, max_fpr, ours=ours)
            for method in score
        }
        return cls(len(parts), metrics, score, max_fpr, ours)

    @classmethod
    def skipped(cls) -> Comparison:
        """Compare nothing."""
        return cls(0, {}, {})

    @property
    def judged_by(self) -> str:
        """The metric that decides."""
        return "auc" if self.max_fpr is None else "partial_auc"

    def best(self, choice: ModelChoice) -> str:
        """Return the method of the largest AUC; of equal ones the simplest."""
        methods = OF_CHOICE[choice]
        if not self.metrics:
            return methods[0]
        return max(methods, key=lambda method: self.metrics[method][self.judged_by])

    def roc(
        self, y: NDArray[np.bool_]
    ) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Return false and true positive rates of the pooled scores by method."""
        return {name: tuple(roc_curve(y, own)[:2]) for name, own in self.score.items()}


def compare_methods(
    table: pl.DataFrame,
    label: BinaryLabel,
    features: FeatureColumns,
    *,
    random_state: int,
    progress: Callable[[str], None],
    methods: Sequence[str],
    max_fpr: float | None = None,
) -> Comparison:
    """Fit every method to all parts of the rows but one, and score that one.

    The first method is compared with each of the others.
    Settings are chosen by parts of the rows that a method is fitted to, so that no row
    it is judged by has a say in them.
    """
    n_folds = folds_for(label)
    frame = features.of(table)
    y = label.is_positive
    parts = StratifiedKFold(n_folds, shuffle=True, random_state=random_state)
    folds = list(parts.split(np.zeros(y.size), y))
    # The same parts for every method, so that leads are those on the same rows.
    score = {method: np.zeros(y.size) for method in methods}
    # Not cross_val_predict, which cannot tell how far it is.
    for fold, (train, test) in enumerate(folds, 1):
        # Medians and categories of the rows fitted to, once for all methods.
        columns = table_inputs(features, is_dense=False)
        inputs = columns.fit_transform(frame[train]), columns.transform(frame[test])
        for method in methods:
            progress(f"{method}, part {fold} of {n_folds}")
            X, X_new = map(dense, inputs) if method in DENSE else inputs
            steps = fitted_steps(
                method, X, y[train], random_state=random_state, max_fpr=max_fpr
            )
            score[method][test] = Pipeline(steps).decision_function(X_new)
    return Comparison.judged(score, y, [test for _, test in folds], max_fpr)


def verdict(
    method: str, metric: dict[str, float], label: BinaryLabel, *, ours: str = OURS
) -> str:
    """Say what the parts held out show of our model against another."""
    lead, error = metric["our_lead"], metric["our_lead_standard_error"]
    # An error of 0.000 would contradict what is said of it.
    digits = 3 if error >= 0.001 else 4
    by = f"{abs(lead):.{digits}f} ± {error:.{digits}f} on rows held out"
    if lead and abs(lead) >= _SURE * error:
        return f"{ours} is {'ahead of' if lead > 0 else 'behind'} {method} by {by}."
    # The rarer kind limits what can be told; so many more of the other would not help.
    is_positive_scarce = label.n_positive < label.n_negative
    kind = label.positive if is_positive_scarce else label.negative
    n_rows = min(label.n_positive, label.n_negative)
    lying = f"{'ahead' if lead > 0 else 'behind'} by {by}" if lead else "level"
    return (
        f"{ours} against {method}: no difference that {n_rows:,} rows of {kind!r} "
        f"could show ({lying})."
    )


def part_metrics(
    method: str,
    score: dict[str, NDArray[np.float64]],
    y: NDArray[np.bool_],
    parts: Sequence[NDArray[np.intp]],
    max_fpr: float | None = None,
    *,
    ours: str = OURS,
) -> dict[str, float]:
    """Average AUCs over parts: scores of different parts need not be comparable."""
    own, width = score[method], max_fpr or 1.0
    areas = [auc_interval(y[part], own[part], max_fpr=max_fpr) for part in parts]
    value = float(np.mean([area.value for area in areas])) / width
    error = _error_of_mean([area.standard_error for area in areas]) / width
    below, above = _reach(auc_interval(y, own, max_fpr=max_fpr), error, width)
    # The partial area comes first, as the report marks the best of the first score.
    metrics = {"partial_auc": value} if max_fpr else {}
    metrics |= {
        "auc": float(np.mean([roc_auc_score(y[part], own[part]) for part in parts])),
        "standard_error": error,
        "low": max(value - below, 0.0),
        "high": min(value + above, 1.0),
        "pooled_auc": float(roc_auc_score(y, own)),
    }
    if method != ours:
        # Paired: two methods err on the same rows, and their difference is surer than
        # the two areas are.
        leads = [
            compare_auc(y[part], score[ours][part], own[part], max_fpr=max_fpr)
            for part in parts
        ]
        errors = [lead.standard_error for lead in leads]
        lead = float(np.mean([lead.difference for lead in leads])) / width
        metrics["our_lead"] = lead
        metrics["our_lead_standard_error"] = _error_of_mean(errors) / width
    return metrics


def _reach(pooled: AUCInterval, error: float, width: float) -> tuple[float, float]:
    """Return how far an interval reaches below and above its area.

    Its shape is that for all rows together, whose number counts, and not those of the
    parts; its size is that of the mean over parts.
    """
    # At an AUC of 1 the standard error is 0, but the interval has a width.
    scale = 1.0 / width
    if error and pooled.standard_error:
        scale = error / pooled.standard_error
    return scale * (pooled.value - pooled.low), scale * (pooled.high - pooled.value)


def _error_of_mean(standard_error: Sequence[float]) -> float:
    """Combine errors of parts that share no row they are judged by."""
    return float(np.linalg.norm(standard_error)) / len(standard_error)


def folds_for(label: BinaryLabel) -> int:
    """Return into how many parts the rows are split, each with both labels."""
    n_folds = min(MOST_FOLDS, label.n_positive, label.n_negative)
    if n_folds < 2:
        is_positive_scarce = label.n_positive < label.n_negative
        scarce = label.positive if is_positive_scarce else label.negative
        raise ValueError(
            f"label column {label.column!r} has only 1 row of {scarce!r}: two are "
            "needed to hold one out."
        )
    return n_folds

"""Compare models of a table by the AUC of their scores on held-out rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.metrics import roc_auc_score

from rocpath.auc_statistics.influence import auc_with_influence
from rocpath.auc_statistics.intervals import auc_interval
from rocpath.model_comparison import ModelComparison, ModelScore, simplest_model

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rocpath.tables.folds import RowDesign


class CrossValidatedScores(NamedTuple):
    """Scores of several models on the same rows, none of which they were fitted to.

    Attributes
    ----------
    row : array of int
        Rows of the table that were held out, in ascending order.
    fold : array of int
        Fold of each of these rows.
    score : dict of array
        Log-odds of these rows by the name of the model.
    is_positive : array of bool
        Labels of these rows.
    design : RowDesign
        Dependence and weights of these rows.
    """

    row: NDArray[np.intp]
    fold: NDArray[np.intp]
    score: dict[str, NDArray[np.float64]]
    is_positive: NDArray[np.bool_]
    design: RowDesign

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return np.unique(self.fold).size

    @property
    def sample_size(self) -> str:
        """Number of rows of the rarer class, and of groups."""
        n_positive = int(self.is_positive.sum())
        n_negative = self.is_positive.size - n_positive
        is_positive_rare = n_positive <= n_negative
        size = f"{min(n_positive, n_negative):,} "
        size += "positives" if is_positive_rare else "negatives"
        group = self.design.group
        if group is not None:
            size += f", {np.unique(group).size:,} groups"
        return size


def compare_models(
    held_out: CrossValidatedScores, *, candidates: Sequence[str], max_fpr: float | None = None
) -> tuple[ModelComparison, dict[str, dict[str, float]]]:
    """Compare models by AUC, or partial AUC, and select the simplest good one.

    Parameters
    ----------
    held_out : CrossValidatedScores
        Scores of all models.
    candidates : list of str
        Models that may be selected, the simplest first.
    max_fpr : float, optional
        Upper limit of the false positive rate: models are compared by the mean true
        positive rate up to it instead of the AUC.

    Returns
    -------
    ModelComparison
        Mean over the folds, paired differences, and the selected model.
    dict of dict of float
        Further metrics of each model, such as the AUC of the pooled scores.
    """
    width = max_fpr or 1.0
    names = list(held_out.score)
    columns = [_mean_over_folds(held_out, name, width) for name in names]
    value = {name: area / width for name, (area, _) in zip(names, columns, strict=True)}
    influence = {name: by_unit / width for name, (_, by_unit) in zip(names, columns, strict=True)}

    def error(name: str, other: str | None = None) -> float:
        change = influence[name] - (influence[other] if other is not None else 0.0)
        return float(np.sqrt(change @ change))

    allowed = {name: value[name] for name in candidates}
    selected = simplest_model(allowed, error)
    scores = [
        ModelScore(
            name,
            value[name],
            error(name),
            *_interval(held_out, name, value[name], error(name), max_fpr),
            *(
                (None, None)
                if name == selected
                else (value[name] - value[selected], error(name, selected))
            ),
        )
        for name in names
    ]
    scores.sort(key=lambda one: -one.value)
    comparison = ModelComparison(
        metric="AUC" if max_fpr is None else f"mean TPR up to an FPR of {max_fpr:g}",
        greater_is_better=True,
        scores=tuple(scores),
        selected=selected,
        n_folds=held_out.n_folds,
        sample_size=held_out.sample_size,
    )
    return comparison, {
        one.name: _metrics(held_out, one, is_partial=max_fpr is not None) for one in scores
    }


def _mean_over_folds(
    held_out: CrossValidatedScores, name: str, max_fpr: float
) -> tuple[float, NDArray[np.float64]]:
    """Return the mean AUC over the folds, and the influence of each unit on it.

    The sum of squared influences is the variance of the mean: DeLong's in every fold,
    or, with units of several rows, the cluster-robust one. Scores of different folds
    come from different fits and are not compared.
    """
    y, design = held_out.is_positive, held_out.design
    unit = design.unit
    folds = np.unique(held_out.fold)
    weight = np.broadcast_to(design.weight, y.shape)
    total, influence = 0.0, np.zeros(y.size)
    for k in folds:
        rows = np.flatnonzero(held_out.fold == k)
        area, on_rows = auc_with_influence(
            held_out.score[name][rows], y[rows], weight[rows], max_fpr=max_fpr
        )
        total += area / folds.size
        influence[rows] = on_rows * _small_sample(y[rows], unit, rows) / folds.size
    if unit is None:
        return total, influence
    by_unit: Any = np.bincount(unit, influence)
    return total, by_unit


def _small_sample(
    y: NDArray[np.bool_], unit: NDArray[np.intp] | None, rows: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return the square root of m / (m - 1), for m rows of a class or m units."""
    if unit is not None:
        m: NDArray[np.float64] = np.full(y.size, float(np.unique(unit[rows]).size))
    else:
        m = np.where(y, y.sum(), y.size - y.sum()).astype(np.float64)
    # The variance of a single row or unit cannot be estimated.
    return np.sqrt(m / np.maximum(m - 1.0, 1.0))


def _interval(
    held_out: CrossValidatedScores, name: str, value: float, error: float, max_fpr: float | None
) -> tuple[float, float]:
    """Return an interval with the shape of that of the pooled scores.

    The shape depends on the number of all rows and groups, not on that of a fold; the
    width is that of the mean over folds.
    """
    y, design = held_out.is_positive, held_out.design
    pooled = auc_interval(
        y, held_out.score[name], max_fpr=max_fpr, positive=True, **design.statistics
    )
    # At an AUC of 1 the standard error is 0, but the interval has a width.
    scale = 1.0 / (max_fpr or 1.0)
    if error and pooled.standard_error:
        scale = error / pooled.standard_error
    return (
        max(value - scale * (pooled.value - pooled.low), 0.0),
        min(value + scale * (pooled.high - pooled.value), 1.0),
    )


def _metrics(
    held_out: CrossValidatedScores, one: ModelScore, *, is_partial: bool
) -> dict[str, float]:
    """Return what a program may want to know about a model."""
    y, score = held_out.is_positive, held_out.score[one.name]
    weight = held_out.design.sample_weight
    areas = [
        roc_auc_score(y[rows], score[rows], sample_weight=_at(weight, rows))
        for k in np.unique(held_out.fold)
        for rows in (np.flatnonzero(held_out.fold == k),)
    ]
    metrics: dict[str, float] = {"partial_auc": one.value} if is_partial else {}
    metrics |= {
        "auc": float(np.mean(areas)),
        "standard_error": one.standard_error,
        "low": one.low,
        "high": one.high,
        "pooled_auc": float(roc_auc_score(y, score, sample_weight=weight)),
    }
    if one.difference is not None and one.difference_standard_error is not None:
        metrics["difference"] = one.difference
        metrics["difference_standard_error"] = one.difference_standard_error
    return metrics


def _at(weight: NDArray[np.float64] | None, rows: NDArray[np.intp]) -> NDArray[np.float64] | None:
    return None if weight is None else weight[rows]

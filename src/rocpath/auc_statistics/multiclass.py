"""AUCs of several classes, averaged over classes or over pairs of classes."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from rocpath.arguments import check_count, describe, refuse_any, row_weights
from rocpath.auc_statistics.groups import RowGroups
from rocpath.auc_statistics.influence import auc_with_influence
from rocpath.auc_statistics.results import AUCInterval
from rocpath.auc_statistics.score_interval import scaled_interval

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def multiclass_interval(
    y: ArrayLike,
    scores: ArrayLike,
    *,
    sample_weight: ArrayLike | None,
    groups: ArrayLike | None,
    is_pairwise: bool,
    is_weighted: bool,
    confidence: float,
) -> AUCInterval:
    """Average AUCs of one class against the rest, or of pairs of classes."""
    classes, code = np.unique(np.asarray(y), return_inverse=True)
    score = score_columns(scores, code.size)
    if classes.size < 2 or classes.size != score.shape[1]:
        raise ValueError(
            f"scores must have a column for each class of y, got {score.shape[1]} "
            f"columns and {classes.size} classes: {describe(classes.tolist())}."
        )
    weight = row_weights(sample_weight, code.size)
    size = np.bincount(code, weight, classes.size)
    if size.min() <= 0:
        empty = classes[int(size.argmin())]
        raise ValueError(f"sample_weight of class {empty!r} must sum to a positive number, got 0.")
    average = _pairs_average if is_pairwise else _classes_average
    value, influence = average(score, code, weight, np.asarray(size), is_weighted)
    n_groups = None
    if groups is None:
        count = np.bincount(code)
        square = np.bincount(code, influence**2)
        variance = float((square * count / np.maximum(count - 1, 1)).sum())
        freedom = float(max(count.min() - 1, 1))
    else:
        together = RowGroups.of("groups", groups, code.size)
        n_groups = together.n_groups
        square = np.bincount(together.code, influence) ** 2
        variance = float(square.sum()) * n_groups / (n_groups - 1)
        largest = max(float(square @ square), 1e-300)
        freedom = max(float(square.sum()) ** 2 / largest, 1.0)
    smallest = int(np.bincount(code).min())
    low, high = scaled_interval(
        value, variance, freedom, (smallest, code.size - smallest), confidence=confidence
    )
    error = float(np.sqrt(variance))
    return AUCInterval(value, error, low, high, confidence, n_groups=n_groups)


def score_columns(scores: ArrayLike, n_rows: int) -> NDArray[np.float64]:
    """Return columns of finite scores, or raise with the column that is wrong."""
    score = np.asarray(scores, dtype=np.float64)
    if score.ndim != 2:
        raise ValueError(f"scores must be two-dimensional, got shape {score.shape}.")
    check_count("scores must have a row", score.shape[0], n_rows, "labels")
    for k in np.flatnonzero(~np.isfinite(score).all(axis=0)):
        column = score[:, k]
        refuse_any(~np.isfinite(column), f"column {k} of scores must be finite", column)
    return score


def _classes_average(
    score: NDArray[np.float64],
    code: NDArray[np.intp],
    weight: NDArray[np.float64],
    size: NDArray[np.float64],
    is_weighted: bool,
) -> tuple[float, NDArray[np.float64]]:
    """Average the AUCs of each class against the rest, with row influences."""
    share = size / size.sum() if is_weighted else np.full(size.size, 1.0 / size.size)
    value, influence = 0.0, np.zeros(code.size)
    for k in range(size.size):
        column = np.ascontiguousarray(score[:, k])
        area, of_rows = auc_with_influence(column, code == k, weight)
        value += share[k] * area
        influence += share[k] * of_rows
    return value, influence


def _pairs_average(
    score: NDArray[np.float64],
    code: NDArray[np.intp],
    weight: NDArray[np.float64],
    size: NDArray[np.float64],
    is_weighted: bool,
) -> tuple[float, NDArray[np.float64]]:
    """Average the AUCs of each ordered pair of classes (Hand and Till, 2001)."""
    pairs = list(permutations(range(size.size), 2))
    raw = np.array([size[i] + size[j] if is_weighted else 1.0 for i, j in pairs])
    value, influence = 0.0, np.zeros(code.size)
    for (i, j), share in zip(pairs, raw / raw.sum(), strict=True):
        rows = np.flatnonzero((code == i) | (code == j))
        column = np.ascontiguousarray(score[rows, i])
        area, of_rows = auc_with_influence(column, code[rows] == i, weight[rows])
        value += share * area
        influence[rows] += share * of_rows
    return value, influence

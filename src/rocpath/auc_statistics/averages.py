"""Averages of AUCs: over strata, over classes, and over pairs of classes."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath.arguments import check_count, describe, refuse_any, row_weights
from rocpath.auc_statistics.groups import pairs_within_groups
from rocpath.auc_statistics.influence import Variance, auc_with_influence, place_rows, unit_variance
from rocpath.auc_statistics.labeled_sample import LabeledSample, RowGroups
from rocpath.auc_statistics.results import AUCInterval
from rocpath.auc_statistics.score_interval import binormal_table, scaled_interval

# With fewer strata, such as a few sites, rows are the independent units, not strata.
MIN_SAMPLED_STRATA = 10


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
    """Average the one-vs-rest or one-vs-one AUCs of several classes."""
    classes, code, score = _checked_columns(y, scores)
    weight = row_weights(sample_weight, code.size)
    size: NDArray[Any] = np.bincount(code, weight, classes.size)
    if size.min() <= 0:
        empty = classes[int(size.argmin())]
        raise ValueError(f"sample_weight of class {empty!r} must sum to a positive number, got 0.")
    together = None if groups is None else RowGroups.of("groups", groups, code.size)
    value, influence = 0.0, np.zeros(code.size)
    for one, others, share in _contests(size, is_pairwise, is_weighted):
        rows = np.flatnonzero((code == one) | np.isin(code, others))
        column = np.ascontiguousarray(score[rows, one])
        area, of_rows = auc_with_influence(column, code[rows] == one, weight[rows])
        value += share * area
        influence[rows] += share * of_rows
    smallest = int(np.bincount(code).min())
    kind = "one-vs-one" if is_pairwise else "one-vs-rest"
    return _average_interval(
        f"{'weighted' if is_weighted else 'macro'} {kind} AUC of {classes.size} classes",
        value,
        unit_variance(influence, together),
        (smallest, code.size - smallest),
        confidence,
        n_groups=None if together is None else together.n_groups,
    )


def _checked_columns(y: ArrayLike, scores: ArrayLike) -> tuple[NDArray[Any], ...]:
    """Return the classes, the class code of each row, and the matrix of scores."""
    classes, code = np.unique(np.asarray(y), return_inverse=True)
    score = np.asarray(scores, dtype=np.float64)
    check_count("scores must have a row", score.shape[0], code.size, "labels")
    if classes.size < 2 or classes.size != score.shape[1]:
        raise ValueError(
            f"scores must have a column for each class of y, got {score.shape[1]} "
            f"columns and {classes.size} classes: {describe(classes.tolist())}."
        )
    for k, column in enumerate(score.T):
        refuse_any(~np.isfinite(column), f"column {k} of scores must be finite", column)
    return classes, code, score


def _contests(
    size: NDArray[np.float64], is_pairwise: bool, is_weighted: bool
) -> list[tuple[int, list[int], float]]:
    """Return the class, the other classes and the weight of each AUC in the average."""
    every = range(size.size)
    if is_pairwise:  # each ordered pair of classes (Hand and Till, 2001)
        pairs = [(i, [j]) for i, j in permutations(every, 2)]
    else:
        pairs = [(i, [j for j in every if j != i]) for i in every]
    weight = np.ones(len(pairs))
    if is_weighted:
        weight = np.array([size[i] + size[j] if is_pairwise else size[i] for i, (j, *_) in pairs])
    shares = (weight / weight.sum()).tolist()
    return [(*pair, share) for pair, share in zip(pairs, shares, strict=True)]


def stratified_interval(
    sample: LabeledSample,
    score: NDArray[np.float64],
    code: NDArray[np.intp],
    *,
    is_weighted: bool,
    confidence: float,
) -> AUCInterval:
    """Average the AUCs of strata with both classes, weighted by pairs or equally."""
    blocks = place_rows(score, sample.is_positive, sample.weight, 1.0)
    inside = pairs_within_groups(code, blocks, score, sample.is_positive, sample.weight)
    is_used = inside.pairs > 0
    n_strata = int(np.count_nonzero(is_used))
    if n_strata == 0:
        raise ValueError("strata must have at least one stratum with both classes, got none.")
    share = np.where(is_used, inside.pairs if is_weighted else 1.0, 0.0)
    share = share / share.sum()
    area = np.divide(inside.won, inside.pairs, out=np.zeros(share.size), where=is_used)
    value = min(float(share @ area), 1.0)
    if sample.groups is None and n_strata >= MIN_SAMPLED_STRATA:
        # Strata are the sampling units, and the average is a ratio of two sums over strata.
        variance = unit_variance((share * (area - value))[is_used])
    else:
        component = np.where(is_used[code], inside.component - area[code], 0.0)
        variance = _within_variance(sample, code, component, share, area)
    counts = sample.counts
    return _average_interval(
        "AUC within strata",
        value,
        variance,
        (counts["n_positives"], counts["n_negatives"]),
        confidence,
        **counts,
        n_strata=n_strata,
        n_skipped_strata=int(np.count_nonzero(np.bincount(code))) - n_strata,
    )


def _within_variance(
    sample: LabeledSample,
    code: NDArray[np.intp],
    component: NDArray[np.float64],
    share: NDArray[np.float64],
    area: NDArray[np.float64],
) -> Variance:
    """Sum the squared influences of groups, or DeLong's variances of the strata."""
    weight = np.ones(code.size) if sample.weight is None else sample.weight
    key = np.where(sample.is_positive, code + area.size, code)
    total, square = (np.bincount(key, weight**k, 2 * area.size) for k in (1, 2))
    influence = share[code] * weight * component / total[key]
    if sample.groups is not None:
        # Components of one group are correlated, both within and across strata.
        return unit_variance(influence, sample.groups)
    n_rows = total**2 / np.maximum(square, 1e-300)
    variance = np.bincount(key, influence**2, total.size) * n_rows / np.maximum(n_rows - 1.0, 1.0)
    # The sample variance of a single row is undefined, so that of the normal model is used.
    of_positive, of_negative, _ = binormal_table(1.0).at(area)
    shares, model = np.tile(share, 2), np.concatenate((of_negative, of_positive))
    variance = np.where(n_rows < 2.0, shares**2 * model, variance)
    n_free = np.maximum(n_rows[shares > 0] - 1.0, 0.0).reshape(2, -1).sum(axis=1)
    return Variance(float(variance.sum()), max(float(n_free.min()), 1.0))


def _average_interval(
    name: str,
    value: float,
    variance: Variance,
    sizes: tuple[Any, Any],
    confidence: float,
    **counts: Any,
) -> AUCInterval:
    low, high = scaled_interval(value, *variance, sizes, confidence=confidence)
    error = float(np.sqrt(variance.value))
    return AUCInterval(name, value, low, high, confidence, standard_error=error, **counts)

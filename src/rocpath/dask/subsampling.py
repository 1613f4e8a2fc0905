"""Subsampling of rows, and refinement on all rows of a model fitted to the subsample.

Rows are selected by a hash of the row number, independently of the partitioning. A hash
of their content would select either all or none of many identical rows. In the
refinement, the result of the ascent is kept if it increases the AUC on all rows. If not,
the initial model is refitted to all rows by Newton's method, with one pass per step.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocpath.dask.partitions import Partition, PartitionedRows
from rocpath.dask.scores import Buckets, PartitionedScores
from rocpath.dask.weights import Vector
from rocpath.hashing import INCREMENT, mixed_bits
from rocpath.matrices import Columns
from rocpath.ranking.convex_problem import MAX_COLUMNS_FOR_NEWTON, ConvexProblem, LossSums, newton
from rocpath.ranking.fit import Candidate

MAX_ROWS_PER_CLASS = 20_000  # as in the ascent of `rocpath.AUCClassifier`
_MAX_BYTES = 2**28  # maximum total size of the rows sent to the client
_MIN_ROWS_PER_CLASS = 1_000  # takes precedence over the maximum size


def subsample(rows: PartitionedRows, seed: int) -> Partition:
    """Send at most ``MAX_ROWS_PER_CLASS`` rows of each class to the client.

    Rows keep their original order, and labels are replaced by class indices.
    """
    counts, n_rows = rows.class_counts, sum(rows.n_rows)
    affordable = int(_MAX_BYTES / (rows.n_bytes / n_rows * counts.size))
    n_wanted = min(MAX_ROWS_PER_CLASS, max(affordable, _MIN_ROWS_PER_CLASS))
    # Six standard deviations are added, so that there are almost never too few rows.
    share = np.minimum((n_wanted + 6.0 * np.sqrt(n_wanted)) / counts, 1.0)
    # Limits are at most the largest float64 below 2**64, so that the cast does not overflow.
    limit = np.minimum(share * 2.0**64, 2.0**64 - 2048).astype(np.uint64)
    limit[share == 1.0] = np.iinfo(np.uint64).max
    first_row = np.cumsum([0, *rows.n_rows[:-1]]).tolist()
    given = {"classes": rows.classes, "limit": limit, "seed": seed}
    tasks = rows.passes.each(_sample, rows.tasks, first_row, **given)
    found = rows.passes.results("sampling rows", tasks, reads_x=True)
    hashes = np.concatenate([one for one, _ in found])
    sample = Partition.join([one for _, one in found])
    # Rows with the lowest hashes are kept, so that smaller samples are subsets of larger
    # ones.
    is_kept = np.zeros(hashes.size, dtype=bool)
    for label in range(counts.size):
        here = np.flatnonzero(sample.y == label)
        is_kept[here[np.argsort(hashes[here])[:n_wanted]]] = True
    if is_kept.all() and hashes.size == n_rows:
        return sample
    sample = sample.take(is_kept)
    # As in memory, each class keeps its total weight.
    factor = rows.class_weights / np.bincount(sample.y, sample.weight, counts.size)
    return sample._replace(sample_weight=sample.weight * factor[sample.y])


def refine(
    rows: PartitionedRows, is_class: NDArray[np.bool_], candidate: Candidate, max_fpr: float | None
) -> Vector:
    """Return the coefficients of the scaled columns, from the ascent or a refit."""
    columns = candidate.columns
    start = candidate.initial_coef
    positives = rows.classes[is_class]
    if candidate.history.chosen > 0:
        ascended, initial = (
            _auc(rows, positives, columns.unscaled(coef).coef, max_fpr)
            for coef in (candidate.coef, start)
        )
        if ascended > initial:
            return candidate.coef
    best = candidate.best_initial_model
    if start.size > MAX_COLUMNS_FOR_NEWTON:
        return start
    scale = candidate.scale_of(best)
    totals = [rows.class_weights[side].sum() for side in (~is_class, is_class)]
    rescaled = Columns(columns.center, columns.scale * scale)
    bound = candidate.clip_bound / scale if best.is_clipped else np.inf
    # The problem has no rows here; each partition inserts its own.
    problem = ConvexProblem(None, rescaled, bound, np.zeros(0), np.zeros(0), best.loss)
    row_weights = [0.5 / one if best.is_balanced else 1.0 / sum(totals) for one in totals]

    def sums(coef: Vector) -> LossSums:
        given = {"problem": problem, "positives": positives, "row_weights": row_weights}
        tasks = rows.passes.each(_loss_sums, rows.tasks, coef=coef, **given)
        total: LossSums = rows.passes.total("refitting to all rows", tasks, _add, reads_x=True)
        return total

    coef = newton(sums, best.l2, np.append(start * scale, 0.0))[:-1]
    return np.where(np.isfinite(rescaled.scale), coef, 0.0) / scale


def row_hashes(first_row: int, n_rows: int, seed: int) -> NDArray[np.uint64]:
    """Hash row numbers to uniform integers."""
    with np.errstate(over="ignore"):
        code = np.arange(first_row, first_row + n_rows).astype(np.uint64)
        code = (code + np.uint64(seed) * np.uint64(0xD1342543DE82EF95) + INCREMENT) * INCREMENT
    return mixed_bits(code)


def _sample(
    rows: Partition, first_row: int, classes: NDArray[Any], limit: NDArray[np.uint64], seed: int
) -> tuple[NDArray[np.uint64], Partition]:
    """Return the rows whose hash is at most the limit of their class, and their hashes."""
    class_index = np.searchsorted(classes, rows.y)
    hashes = row_hashes(first_row, class_index.size, seed)
    is_sampled = hashes <= limit[class_index]
    return hashes[is_sampled], rows._replace(y=class_index).take(is_sampled)


def _auc(
    rows: PartitionedRows, positives: NDArray[Any], coef: Vector, max_fpr: float | None
) -> float:
    rows.passes.n_passes += 1  # computing the scores reads X
    scores = PartitionedScores.from_rows(rows, positives, coef)
    return Buckets.from_scores(scores).auc(1.0 if max_fpr is None else max_fpr)


def _loss_sums(
    rows: Partition,
    problem: ConvexProblem,
    positives: NDArray[Any],
    row_weights: list[float],
    coef: Vector,
) -> LossSums:
    """Sum the loss and its derivatives over the rows of a partition."""
    is_positive = np.isin(rows.y, positives)
    weight = np.take(row_weights, is_positive.astype(np.intp))
    convex = problem._replace(
        X=rows.block, sign=np.where(is_positive, 1.0, -1.0), sample_weight=weight * rows.weight
    )
    return convex.sums(coef, convex.blocks())


def _add(sums: list[LossSums]) -> LossSums:
    loss, gradient, hessian = zip(*sums, strict=True)
    return LossSums(sum(loss), np.sum(gradient, axis=0), np.sum(hessian, axis=0))

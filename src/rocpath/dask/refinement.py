"""Refinement of a model on all rows, after its fit to a subsample.

The initial model is refitted to all rows by Newton's method, with one pass per step;
the result of the ascent is kept only if it increases the AUC of all rows.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocpath.dask.buckets import Buckets
from rocpath.dask.partitions import Partition, PartitionedRows
from rocpath.dask.scores import PartitionedScores
from rocpath.matrices import Columns
from rocpath.ranking.convex_problem import MOST_COLUMNS_FOR_NEWTON, ConvexProblem, LossSums, newton
from rocpath.ranking.fit import Candidate


def refine(
    rows: PartitionedRows,
    is_class: NDArray[np.bool_],
    candidate: Candidate,
    max_fpr: float | None = None,
) -> NDArray[np.float64]:
    """Return ``coef`` for the scaled columns, from the ascent or refitted."""
    columns, start, positives = candidate.columns, candidate.initial_coef, rows.classes[is_class]
    if candidate.history.chosen > 0:
        ascended, initial = (
            _auc(rows, positives, columns.unscaled(coef).coef, max_fpr)
            for coef in (candidate.coef, start)
        )
        if ascended > initial:
            return candidate.coef
    best = candidate.best_initial_model
    if start.size > MOST_COLUMNS_FOR_NEWTON:
        return start
    scale = candidate.scale_of(best)
    totals = [rows.class_weights[side].sum() for side in (~is_class, is_class)]
    # The rows are missing here; each partition inserts its own.
    problem = ConvexProblem(
        None,
        Columns(columns.center, columns.scale * scale),
        candidate.clip_bound / scale if best.is_clipped else np.inf,
        np.zeros(0),
        np.zeros(0),
        best.loss,
    )
    row_weights = [0.5 / one if best.is_balanced else 1.0 / sum(totals) for one in totals]

    def sums(coef: NDArray[np.float64]) -> LossSums:
        given = {"problem": problem, "positives": positives, "row_weights": row_weights}
        tasks = rows.passes.each(_loss_sums, rows.tasks, coef=coef, **given)
        total: LossSums = rows.passes.total("refitting to all rows", tasks, _add, reads_x=True)
        return total

    coef = newton(sums, best.l2, np.append(start * scale, 0.0))[:-1]
    return np.where(np.isfinite(problem.columns.scale), coef, 0.0) / scale


def _auc(
    rows: PartitionedRows, positives: NDArray[Any], coef: NDArray[np.float64], max_fpr: float | None
) -> float:
    rows.passes.n_passes += 1  # computing the scores reads X
    scores = PartitionedScores.of(rows, positives, coef)
    return Buckets.of(scores).auc(1.0 if max_fpr is None else max_fpr)


def _loss_sums(
    rows: Partition,
    problem: ConvexProblem,
    positives: NDArray[Any],
    row_weights: list[float],
    coef: NDArray[np.float64],
) -> LossSums:
    """Sum the loss and its derivatives over the rows of a partition."""
    is_positive = np.isin(rows.y, positives)
    weight = np.take(row_weights, is_positive.astype(np.intp))
    convex = problem._replace(
        X=rows.X, sign=np.where(is_positive, 1.0, -1.0), sample_weight=weight * rows.weight
    )
    return convex.sums(coef, convex.blocks())


def _add(sums: list[LossSums]) -> LossSums:
    loss, gradient, hessian = zip(*sums, strict=True)
    return LossSums(sum(loss), np.sum(gradient, axis=0), np.sum(hessian, axis=0))

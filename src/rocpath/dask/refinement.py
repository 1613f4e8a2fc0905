"""Refinement on all rows of a ranking that was found on a subsample.

The initial model is refitted to all rows by Newton's method, with one pass per step;
the result of the ascent is kept only if it increases the AUC of all rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rocpath.dask.auc_pairs import exact_auc, partial_auc
from rocpath.dask.buckets import Buckets, LabeledScores
from rocpath.dask.weights import common_units, counted_labels
from rocpath.matrices import Columns, row_products
from rocpath.ranking.convex_problem import MOST_COLUMNS_FOR_NEWTON, ConvexProblem, LossSums, newton

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rocpath.dask.partitions import DataSummary, Partition
    from rocpath.dask.passes import Passes
    from rocpath.dask.weights import WeightUnits
    from rocpath.ranking.fit import Candidate
    from rocpath.ranking.initial_models import InitialModel


class AllRows(NamedTuple):
    """The partitioned rows from which a subsample was taken."""

    passes: Passes
    partitions: list[Any]
    summary: DataSummary
    max_fpr: float | None = None

    def refine(self, is_class: NDArray[np.bool_], candidate: Candidate) -> NDArray[np.float64]:
        """Return the coef of scaled columns after the ascent or the refitted one."""
        columns, start = candidate.columns, candidate.initial_coef
        if candidate.history.chosen > 0:
            after_ascent = self._auc(columns, is_class, candidate.coef)
            if after_ascent > self._auc(columns, is_class, start):
                return candidate.coef
        best = candidate.best_initial_model
        if best is None or start.size > MOST_COLUMNS_FOR_NEWTON:
            return start
        scale = candidate.scale_of(best)
        problem = _Problem(
            Columns(columns.center, columns.scale * scale),
            candidate.clip_bound / scale if best.is_clipped else np.inf,
            self.summary.classes[is_class],
            self._row_weights(is_class, best),
            best,
        )
        return self._newton(problem, start * scale) / scale

    def _row_weights(self, is_class: NDArray[np.bool_], model: InitialModel) -> tuple[float, float]:
        """Return the weights of a negative and a positive row; all sum to one."""
        weights = self.summary.class_weights
        negative, positive = weights[~is_class].sum(), weights[is_class].sum()
        if model.is_balanced:
            return 0.5 / negative, 0.5 / positive
        return 1.0 / (negative + positive), 1.0 / (negative + positive)

    def _auc(
        self, columns: Columns, is_class: NDArray[np.bool_], coef: NDArray[np.float64]
    ) -> float:
        model = columns.unscaled(coef)
        positives, units = self.summary.classes[is_class], None
        if self.summary.is_weighted:
            units = common_units(self.passes, self.partitions, positives)
        state = model.coef, positives, units
        tasks = self.passes.each(_score, self.partitions, state=state)
        scores = self.passes.keep(tasks)
        self.passes.n_passes += 1  # in which the scores are computed
        buckets = Buckets.shuffle(self.passes, scores, sum(self.summary.n_rows))
        if self.max_fpr is None:
            return exact_auc(buckets)
        return partial_auc(buckets, self.max_fpr)

    def _newton(self, problem: _Problem, start: NDArray[np.float64]) -> NDArray[np.float64]:
        def sums(coef: NDArray[np.float64]) -> LossSums:
            tasks = self.passes.each(_loss_sums, self.partitions, state=(problem, coef))
            name = "refitting to all rows"
            total: LossSums = self.passes.total(name, tasks, _add, reads_x=True)
            return total

        coef = newton(sums, problem.model.l2, np.append(start, 0.0))
        return np.where(np.isfinite(problem.columns.scale), coef[:-1], 0.0)


class _Problem(NamedTuple):
    """An initial model, and what a partition needs to compute its sums."""

    columns: Columns
    clip_bound: NDArray[np.float64] | float
    positives: NDArray[Any]
    row_weights: tuple[float, float]  # of a negative and a positive row
    model: InitialModel


def _loss_sums(rows: Partition, state: tuple[_Problem, NDArray[np.float64]]) -> LossSums:
    """Sum the loss and its derivatives over the rows of a partition."""
    problem, coef = state
    is_positive = np.isin(rows.y, problem.positives)
    weight = np.where(is_positive, problem.row_weights[1], problem.row_weights[0])
    convex = ConvexProblem(
        rows.X,
        problem.columns,
        problem.clip_bound,
        np.where(is_positive, 1.0, -1.0),
        weight if rows.weight is None else weight * rows.weight,
        problem.model.loss,
    )
    return convex.sums(coef, convex.blocks())


def _add(sums: list[LossSums]) -> LossSums:
    loss, gradient, hessian = zip(*sums, strict=True)
    return LossSums(sum(loss), np.sum(gradient, axis=0), np.sum(hessian, axis=0))


def _score(
    rows: Partition, state: tuple[NDArray[np.float64], NDArray[Any], WeightUnits | None]
) -> LabeledScores:
    coef, positives, units = state
    labels = counted_labels(rows, positives, units)
    return LabeledScores(row_products(rows.X, coef), labels)

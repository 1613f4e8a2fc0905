"""What all rows say of a ranking that was found among some of them.

A convex start is fitted to all rows by Newton's method, a pass for each move; a climb
of AUC is kept only if the AUC of all rows rises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rocpath.dask.auc_pairs import exact_auc, partial_auc
from rocpath.dask.buckets import Buckets, Scored
from rocpath.dask.weights import agreed_units, counted_labels
from rocpath.matrices import row_products
from rocpath.ranking.convex_problem import (
    MOST_COLUMNS_FOR_NEWTON,
    MOST_ITERATIONS,
    TOLERANCE,
    ConvexProblem,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rocpath.dask.parts import Facts, Part
    from rocpath.dask.passes import Passes
    from rocpath.dask.weights import WeightUnits
    from rocpath.matrices import Columns
    from rocpath.ranking.fit import Candidate
    from rocpath.ranking.initial_models import InitialModel


class AllRows(NamedTuple):
    """The rows in parts that some rows were drawn from."""

    passes: Passes
    parts: list[Any]
    facts: Facts
    max_fpr: float | None = None

    def refined(
        self, is_class: NDArray[np.bool_], candidate: Candidate
    ) -> NDArray[np.float64]:
        """Return a coef of scaled columns: the climbed one, or the start refitted."""
        columns, start = candidate.columns, candidate.initial_coef
        if candidate.history.chosen > 0:
            climbed = self._auc(columns, is_class, candidate.coef)
            if climbed > self._auc(columns, is_class, start):
                return candidate.coef
        best = candidate.best_initial_model
        if best is None or start.size > MOST_COLUMNS_FOR_NEWTON:
            return start
        problem = _Problem(
            columns,
            candidate.clip_bound if best.is_clipped else np.inf,
            self.facts.classes[is_class],
            _factors(best, *self._class_weights(is_class)),
            best,
        )
        return self._newton(problem, start)

    def _class_weights(self, is_class: NDArray[np.bool_]) -> tuple[float, float]:
        """Return the weights of all negatives and of all positives."""
        weights = self.facts.class_weights
        return float(weights[~is_class].sum()), float(weights[is_class].sum())

    def _auc(
        self, columns: Columns, is_class: NDArray[np.bool_], coef: NDArray[np.float64]
    ) -> float:
        model = columns.unscaled(coef)
        positives, units = self.facts.classes[is_class], None
        if self.facts.are_weighted:
            units = agreed_units(self.passes, self.parts, positives)
        state = model.coef, positives, units
        scored = self.passes.keep(self.passes.each(_scored, self.parts, state=state))
        self.passes.n_passes += 1  # which the first of the passes over scores waits for
        buckets = Buckets.shuffled(self.passes, scored, sum(self.facts.n_rows))
        if self.max_fpr is None:
            return exact_auc(buckets)
        return partial_auc(buckets, self.max_fpr)

    def _newton(
        self, problem: _Problem, start: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Solve as rows in memory are solved for, with one pass for every move."""
        coef = np.append(start, 0.0)
        ridge = np.append(np.full(start.size, problem.start.l2), 0.0)
        sums = self._sums(problem, coef)
        for _ in range(MOST_ITERATIONS):
            value = sums.loss + 0.5 * float(ridge @ coef**2)
            gradient = sums.gradient + ridge * coef
            hessian = sums.hessian + np.diag(ridge + 1e-10)
            move = -np.linalg.solve(hessian, gradient)
            if float(-gradient @ move) <= TOLERANCE * value:
                coef = coef + move
                break
            step = 1.0
            while step > 1e-6:
                moved = coef + step * move
                sums = self._sums(problem, moved)
                if sums.loss + 0.5 * float(ridge @ moved**2) < value:
                    break
                step *= 0.5
            else:
                break
            coef = moved
        return np.where(np.isfinite(problem.columns.scale), coef[:-1], 0.0)

    def _sums(self, problem: _Problem, coef: NDArray[np.float64]) -> LossSums:
        tasks = self.passes.each(_loss_sums, self.parts, state=(problem, coef))
        name = "fitting the start to all rows"
        sums: LossSums = self.passes.total(name, tasks, _added, reads_x=True)
        return sums


class _Problem(NamedTuple):
    """A convex start, and what a part must know to add to its sums."""

    columns: Columns
    reach: NDArray[np.float64] | float
    positives: NDArray[Any]
    factors: tuple[float, float]  # of the weights of negatives and of positives
    start: InitialModel


class LossSums(NamedTuple):
    """A loss, and its first and second derivatives."""

    loss: float
    gradient: NDArray[np.float64]
    hessian: NDArray[np.float64]


def _factors(
    start: InitialModel, negative: float, positive: float
) -> tuple[float, float]:
    """Return what makes weights sum to one, over all rows or half over each class."""
    if not start.is_balanced:
        return 1.0 / (negative + positive), 1.0 / (negative + positive)
    return 0.5 / negative, 0.5 / positive


def _loss_sums(part: Part, state: tuple[_Problem, NDArray[np.float64]]) -> LossSums:
    """Sum the loss and its derivatives over the rows of a part."""
    problem, coef = state
    is_positive = np.isin(part.y, problem.positives)
    factor = np.where(is_positive, problem.factors[1], problem.factors[0])
    convex = ConvexProblem(
        part.X,
        problem.columns,
        problem.reach,
        np.where(is_positive, 1.0, -1.0),
        factor if part.weight is None else factor * part.weight,
        problem.start.loss,
    )
    loss, gradient = 0.0, np.zeros(coef.size)
    hessian = np.zeros((coef.size, coef.size))
    for rows, block in convex.blocks():
        some = convex._replace(
            sign=convex.sign[rows], sample_weight=convex.sample_weight[rows]
        )
        value, slope, curvature = some.derivatives(block @ coef)
        loss += value
        gradient += block.T @ slope
        hessian += block.T @ (block * curvature[:, None])
    return LossSums(loss, gradient, hessian)


def _added(sums: list[LossSums]) -> LossSums:
    loss, gradient, hessian = zip(*sums, strict=True)
    return LossSums(sum(loss), np.sum(gradient, axis=0), np.sum(hessian, axis=0))


def _scored(
    part: Part, state: tuple[NDArray[np.float64], NDArray[Any], WeightUnits | None]
) -> Scored:
    coef, positives, units = state
    return Scored(row_products(part.X, coef), counted_labels(part, positives, units))

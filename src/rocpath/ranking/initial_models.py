"""Initial models of a ranking: losses, fitting and averaging."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy import sparse

from rocpath.matrices import Columns, Matrix, sums_over_rows
from rocpath.ranking.convex_problem import (
    MAX_COLUMNS_FOR_NEWTON,
    ConvexProblem,
    Loss,
    Vector,
    row_space,
)
from rocpath.ranking.labeled_rows import LabeledRows

# From strong to very weak regularization; cross-validated AUC determines their shares.
_L2S = tuple(10.0**power for power in range(1, -6, -1))


class InitialModel(NamedTuple):
    """Loss of an initial model, whether it balances classes and clips columns, and L2 penalty.

    The penalty applies to the coefficients of columns with unit variance or, with
    ``has_common_scale``, of columns on the scale of `common_scale`.
    """

    loss: Loss
    is_balanced: bool
    is_clipped: bool
    l2: float
    has_common_scale: bool = False


# These kinds complement each other, because they rank poorly on different tables. On 64 tables,
# their average ranked as well as that of six kinds: plain logistic, balanced logistic and
# balanced hinge, each clipped and unclipped.
_KINDS: tuple[tuple[Loss, bool, bool], ...] = (
    ("logistic", False, False),
    ("logistic", True, True),
    ("squared_hinge", True, False),
)
# Models on the common scale. On package descriptions of three sections
# (benchmarks/accuracy/text.py), all three kinds with seven penalties increased AUC by .0025 in
# twice the time, and omitting the penalty of .03 decreased it by .0007.
_COMMON_KIND: tuple[Loss, bool, bool] = ("logistic", True, False)
_COMMON_L2S = (30.0, 3.0, 0.3, 0.03)
# Model for tables with too few rows to cross-validate. With 7 to 20 positives on 54 tables
# (benchmarks/accuracy/constants.py), an l2 of .001 increased AUC by .0005 ± .0010, and one of .1
# decreased it by .0016 ± .0012.
DEFAULT_INITIAL_MODEL = InitialModel("logistic", is_balanced=True, is_clipped=False, l2=0.01)


def initial_models(n_features: int, *, has_common_scale: bool) -> list[InitialModel]:
    """Return the initial models; columns are clipped only in tables with few columns."""
    has_few = n_features <= MAX_COLUMNS_FOR_NEWTON
    models = [
        InitialModel(loss, is_balanced, is_clipped and has_few, l2)
        for loss, is_balanced, is_clipped in _KINDS
        for l2 in _L2S
    ]
    common_l2s = _COMMON_L2S if has_common_scale else ()
    return models + [InitialModel(*_COMMON_KIND, l2, has_common_scale=True) for l2 in common_l2s]


def common_scale(X: Matrix, columns: Columns) -> Vector:
    """Return a second scale of the columns, relative to their standard deviations.

    With unit variance, a rare word has the same penalty as a frequent one, and a few
    rows may give it a large coefficient. Neither scale is better for all tables, so
    models on both are averaged according to their cross-validated AUC. In sparse tables
    with many columns, all columns have the same scale. In other tables, the scale of a
    column that is mostly zero is at least half of the root mean square of its nonzero
    values.
    """
    is_varying = np.isfinite(columns.scale)
    deviation = np.where(is_varying, columns.scale, 1.0)
    if sparse.issparse(X) and X.shape[1] > MAX_COLUMNS_FOR_NEWTON and is_varying.any():
        # Deviations are divided by the largest one, because their squares may overflow.
        relative = deviation / deviation[is_varying].max()
        common = np.sqrt(np.mean(relative[is_varying] ** 2))
        return np.where(is_varying, common / relative, 1.0)
    n_nonzero = np.asarray((X != 0).sum(axis=0)).ravel()
    # This is the root mean square of the nonzero values, in standard deviations.
    with np.errstate(over="ignore"):
        size = np.hypot(1.0, columns.center / deviation)
    size *= np.sqrt(X.shape[0] / np.maximum(n_nonzero, 1))
    return np.where(is_varying & (n_nonzero < 0.5 * X.shape[0]), np.maximum(1.0, 0.5 * size), 1.0)


def fit_initial_models(
    rows: LabeledRows,
    models: Sequence[InitialModel],
    clip_bound: Vector,
    relative_scale: Vector,
    *,
    is_precise: bool = True,
) -> list[Vector]:
    """Fit the models to scaled columns, and return their coefficients in order."""
    # Empty columns, such as words that occur in none of the rows, have a coefficient of 0.
    used = np.unique(rows.X.indices) if sparse.issparse(rows.X) else slice(None)
    X, coefs = rows.X[:, used], []
    for is_common, of_scale in itertools.groupby(models, lambda model: model.has_common_scale):
        scale = np.ones(X.shape[1])
        scaled = X
        back = None
        if is_common:
            scale = relative_scale[used]
            scaled = X.multiply(1.0 / scale).tocsr() if sparse.issparse(X) else X / scale
        if scaled.shape[1] > MAX_COLUMNS_FOR_NEWTON:
            scaled, back = row_space(scaled)
        # Dense columns are already centered; sparse ones are centered in every product.
        columns = Columns.as_given(scaled.shape[1])
        if sparse.issparse(scaled):
            columns = replace(columns, center=sums_over_rows(scaled, rows.sample.balanced_weight))
        bound = clip_bound[used] / scale
        found = solve_models(
            replace(rows, X=scaled), columns, of_scale, bound, is_precise=is_precise
        )
        for solution in found:
            coef = np.zeros(relative_scale.size)
            coef[used] = (solution if back is None else solution @ back) / scale
            coefs.append(coef)
    return coefs


def solve_models(
    rows: LabeledRows,
    columns: Columns,
    models: Iterable[InitialModel],
    clip_bound: Vector,
    near: Vector | None = None,
    *,
    is_precise: bool = True,
) -> Iterator[Vector]:
    """Solve the convex problems of the models, starting from ``near`` if it is given.

    Penalties apply to columns on the scale of ``columns``, and the solutions are
    coefficients of these scaled columns.
    """
    plain_weight = rows.sample_weight / rows.sample_weight.sum()
    for kind, of_kind in itertools.groupby(models, key=lambda model: model[:3]):
        loss, is_balanced, is_clipped = kind
        weight = rows.sample.balanced_weight if is_balanced else plain_weight
        bound = clip_bound if is_clipped else np.inf
        problem = ConvexProblem(rows.X, columns, bound, rows.sign, weight, loss)
        l2s, start = [one.l2 for one in of_kind], None if near is None else np.append(near, 0.0)
        yield from (coef[:-1] for coef in problem.solutions(l2s, start, is_precise=is_precise))


def average(coefs: Sequence[Vector], share: Vector, rows: LabeledRows) -> Vector:
    """Average models, scaled such that their predictions have the same spread."""
    # A model with less regularization has larger predictions without being better.
    scaled = [
        weight * rows.standardized(coef).coef
        for weight, coef in zip(share, coefs, strict=True)
        if weight > 0
    ]
    return np.asarray(np.sum(scaled, axis=0))

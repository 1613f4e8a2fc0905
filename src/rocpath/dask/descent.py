"""Descent on AUM for rows in parts: `minimize_aum`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rocpath.arguments import finite_number, nonnegative_number, one_of, whole_number
from rocpath.dask.parts import examined, make_parts
from rocpath.dask.passes import Passes
from rocpath.dask.samples import PartedMatrix, PartedSamples
from rocpath.descent import Descent, descend
from rocpath.linear_model import LinearPredictor, checked_initial

if TYPE_CHECKING:
    from collections.abc import Callable

    from distributed import Client
    from numpy.typing import ArrayLike


def minimize_aum(
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    coef: ArrayLike | None = None,
    step: str = "best_aum",
    max_steps: int = 1000,
    tol: float = 1e-5,
    unit_norm: bool = False,
    margin: float = 0.0,
    progress: Callable[[int, float, float], None] | None = None,
    client: Client | None = None,
) -> Descent:
    """Descend along minus the gradient of AUM, each step to the smallest AUM.

    It takes the steps of :func:`rocpath.minimize_aum` with ``step="best_aum"`` and the
    breakpoints ``ErrorBreakpoints.from_labels(y, sample_weight=sample_weight,
    margin=margin)``, for any partition of the rows. A step reads X twice; the start and
    the end read it once each.

    Parameters
    ----------
    X : Dask array or data frame, shape (n_rows, n_features)
        Features; blocks may be CSR matrices, and their sizes unknown.
    y : Dask array or series, shape (n_rows,)
        Labels of exactly two values; the larger is the positive class.
    sample_weight : Dask array or series, shape (n_rows,), optional
        How much each row counts; rows of weight 0 are left out.
    coef : array-like, shape (n_features,), optional
        Weights to start from; by default zero.
    step : {"best_aum"}
        How to choose the size of each step. Others need all rows in one place.
    max_steps, tol, unit_norm
        As for :func:`rocpath.minimize_aum`.
    margin : float
        Breakpoints stand at +margin for positives and -margin for negatives.
    progress : callable, optional
        Called after each step with its number, AUM and AUC.
    client : Client, optional
        Whose workers compute; by default the last one made, or none.

    Returns
    -------
    Descent

    Examples
    --------
    >>> import dask.array as da
    >>> from rocpath.dask import minimize_aum
    >>> X = da.from_array([[0.0, 1.0], [1.0, 3.0], [2.0, 1.0], [3.0, 2.0]], chunks=2)
    >>> descent = minimize_aum(X, da.from_array([0, 0, 1, 1]), coef=[-1.0, 0.0])
    >>> float(descent.auc[0]), float(descent.auc[-1])
    (0.0, 1.0)
    """
    one_of("step", step, ("best_aum",))
    max_steps = whole_number("max_steps", max_steps, least=0)
    tol = nonnegative_number("tol", tol)
    margin = finite_number("margin", margin)
    with Passes(client) as passes:
        parts = make_parts("X", X, y, sample_weight)
        parts, facts = examined(passes, "X", parts, n_classes=2)
        if coef is None:
            coef = np.zeros(facts.n_columns)
        initial = checked_initial(coef, facts.n_columns, unit_norm=unit_norm)
        samples = PartedSamples.of_parts(passes, parts, facts, margin)
        matrix = PartedMatrix(samples, (sum(facts.n_rows), facts.n_columns))
        model = LinearPredictor((matrix,), unit_norm=bool(unit_norm))
        return descend(
            samples, model, initial, max_steps=max_steps, tol=tol, progress=progress
        )

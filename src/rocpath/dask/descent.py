"""Descent on AUM for partitioned rows: `minimize_aum`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rocpath.arguments import finite_number, nonnegative_number, one_of, whole_number
from rocpath.dask.partitions import PartitionedRows
from rocpath.dask.passes import Passes
from rocpath.dask.samples import PartitionedMatrix, PartitionedSamples
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
    """Descend along the negative gradient of AUM, with exact line searches.

    The steps are those of :func:`rocpath.minimize_aum` with ``step="best_aum"`` and
    the breakpoints ``ErrorBreakpoints.from_labels(y, sample_weight=sample_weight,
    margin=margin)``, for any partitioning of the rows. Each step reads X twice; the
    initialization and the end read it once each.

    Parameters
    ----------
    X : Dask array or data frame, shape (n_rows, n_features)
        Features. Blocks may be CSR matrices, and chunk sizes may be unknown.
    y : Dask array or series, shape (n_rows,)
        Labels of exactly two values; the larger is the positive class.
    sample_weight : Dask array or series, shape (n_rows,), optional
        Weights of the rows. Rows of weight 0 are dropped.
    coef : array-like, shape (n_features,), optional
        Initial weights. The default is the difference of the class means, which takes
        another pass over X.
    step : {"best_aum"}
        Step size. The other choices of :func:`rocpath.minimize_aum` need all rows in
        one place.
    max_steps, tol, unit_norm
        Same as for :func:`rocpath.minimize_aum`.
    margin : float
        Position of the breakpoints: +margin for positives and -margin for negatives.
    progress : callable, optional
        Function called after each step with its number, AUM and AUC.
    client : Client, optional
        Client whose workers compute. By default the most recent client; without one,
        Dask's local scheduler.

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
        rows = PartitionedRows.read(passes, "X", X, y, sample_weight, is_binary=True)
        samples = PartitionedSamples.of(rows, margin)
        matrix = PartitionedMatrix(samples, (samples.n_rows, rows.n_columns))
        if coef is None:
            coef = matrix.difference_of_means()
        initial = checked_initial(coef, rows.n_columns, unit_norm=unit_norm)
        model = LinearPredictor((matrix,), unit_norm=bool(unit_norm))
        return descend(samples, model, initial, max_steps=max_steps, tol=tol, progress=progress)

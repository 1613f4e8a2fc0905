"""AUC of partitioned scores: exact, or certified to a tolerance by counts alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rocpath.arguments import nonnegative_number
from rocpath.dask.buckets import Buckets
from rocpath.dask.passes import Passes
from rocpath.dask.scores import PartitionedScores

if TYPE_CHECKING:
    from distributed import Client

_N_BINS = (2**10, 2**14, 2**17)  # tried in turn, until the tolerance is met


def auc(
    y: Any,
    scores: Any,
    *,
    sample_weight: Any = None,
    tol: float | None = None,
    client: Client | None = None,
) -> float:
    """Compute the area under the ROC curve of partitioned scores.

    Ties count one half. Scores are sorted into buckets, so that pairs of different
    buckets need only counts. Without weights, or with weights that are multiples of a
    common unit, the result equals that of :func:`rocpath.auc` to the last bit; with
    other weights the relative difference is about 1e-15, by rounding.

    Parameters
    ----------
    y : Dask array or series, shape (n_rows,)
        Labels of exactly two values; the larger is the positive class.
    scores : Dask array or series, shape (n_rows,)
        Scores, larger for rows that are more likely positive.
    sample_weight : Dask array or series, shape (n_rows,), optional
        Weights of the rows. Rows of weight 0 are dropped.
    tol : float, optional
        Maximum difference to the exact AUC. If counts prove that it is met, no score
        leaves its worker. By default the result is exact.
    client : Client, optional
        Client whose workers compute. By default the most recent client; without one,
        Dask's local scheduler.

    Returns
    -------
    float

    Examples
    --------
    >>> import dask.array as da
    >>> from rocpath.dask import auc
    >>> y = da.from_array([0, 0, 1, 1], chunks=2)
    >>> auc(y, da.from_array([7, 2, 9, 4], chunks=2))
    0.75
    """
    with Passes(client) as passes:
        labeled = PartitionedScores.read(passes, y, scores, sample_weight=sample_weight)
        if tol is not None:
            certified = certified_auc(labeled, nonnegative_number("tol", tol))
            if certified is not None:
                return certified
        return Buckets.of(labeled).auc()


def certified_auc(scores: PartitionedScores, tol: float) -> float | None:
    """Bound the AUC by counts in increasingly small bins; None if ``tol`` is not met."""
    for n_bins in _N_BINS:
        bins = scores.bins(n_bins)
        negative, positive = bins.sums[:, 1]
        below = np.cumsum(negative) - negative
        within = negative * positive
        n_pairs = negative.sum() * positive.sum()
        # In a bin of one score, all pairs are ties.
        uncertain = within[bins.low < bins.high].sum()
        if 0.5 * uncertain <= tol * n_pairs:
            return float((positive @ below + 0.5 * within.sum()) / n_pairs)
    return None

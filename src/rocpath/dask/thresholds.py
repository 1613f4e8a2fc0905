"""Choice of a threshold for partitioned scores under constraints on error rates."""

from typing import Any

import numpy as np
from distributed import Client
from numpy.typing import NDArray

from rocpath.dask.passes import Passes
from rocpath.dask.scored_rows import ScoredPartition
from rocpath.dask.scores import GroupedRows, PartitionedScores, ScoreBins
from rocpath.dask.weights import ClassUnit, WeightUnits
from rocpath.evaluation.operating_points import OperatingPoint, RankedRows, Unit
from rocpath.evaluation.thresholds import check_targets, choose_operating_point
from rocpath.validation import share_between

_N_BINS = 2**14  # bins near the threshold are then split into single scores


def choose_threshold(
    y: Any,
    scores: Any,
    *,
    max_fpr: float | None = None,
    min_tpr: float | None = None,
    min_precision: float | None = None,
    top: int | None = None,
    cost: tuple[float, float] | None = None,
    confidence: float | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    client: Client | None = None,
) -> OperatingPoint:
    """Choose a threshold that satisfies constraints, for partitioned scores.

    The result equals that of :func:`rocpath.choose_threshold` for ``max_fpr``,
    ``min_tpr`` and ``top``, and for all constraints if there are at most 16,384
    distinct scores. Otherwise, ``min_precision`` and ``cost`` are evaluated at 16,384
    quantiles of the scores, and then at all scores close to the best quantile.

    Parameters
    ----------
    y, scores : Dask arrays or series, shape (n_rows,)
        Labels and scores, as for :func:`auc`, of rows that were not used to fit the
        model.
    max_fpr, min_tpr, min_precision, top, cost, confidence
        Same as for :func:`rocpath.choose_threshold`.
    sample_weight, groups : Dask arrays or series, shape (n_rows,), optional
        Weight and group of each row, as for :func:`rocpath.choose_threshold`. Rows of
        a group may be in different partitions.
    client : Client, optional
        Dask client, as for :func:`auc`.

    Returns
    -------
    OperatingPoint

    Examples
    --------
    >>> import dask.array as da
    >>> from rocpath.dask import choose_threshold
    >>> y = da.arange(400, chunks=100) % 2
    >>> choose_threshold(y, da.arange(400, chunks=100) + 150 * y, max_fpr=0.1).fpr
    0.1
    """
    targets = check_targets(
        max_fpr=max_fpr, min_tpr=min_tpr, min_precision=min_precision, top=top, cost=cost
    )
    if confidence is not None:
        confidence = share_between("confidence", confidence)
    with Passes(client) as passes:
        columns = {"sample_weight": sample_weight, "groups": groups}
        labeled = PartitionedScores.read(passes, y, scores, **columns)
        labeled, unit = _in_units(labeled, is_grouped=groups is not None)
        bins = labeled.bins(_N_BINS)
        while True:
            bins = bins.nonempty()
            point = choose_operating_point(_ranked(bins, labeled.units, unit), targets, confidence)
            # Bins next to the threshold are split if they contain several scores.
            place = int(np.searchsorted(bins.low, point.threshold))
            near = np.arange(max(place - 1, 0), min(place + 1, bins.low.size))
            wide = near[bins.low[near] < bins.high[near]]
            if wide.size == 0:
                return point
            ranges = np.column_stack((bins.low[wide], bins.high[wide]))
            inside = passes.run("splitting bins", _scores_inside, labeled.tasks, ranges=ranges)
            bins = labeled.bins_between(np.union1d(bins.low, np.concatenate(inside)))


def _in_units(labeled: PartitionedScores, *, is_grouped: bool) -> tuple[PartitionedScores, Unit]:
    """Weight scores by the unit in which error rates are counted, and return both."""
    if labeled.is_weighted:
        if is_grouped:
            raise ValueError("groups must be None with unequal sample_weight.")
        return labeled, "weight"
    grouped = GroupedRows.from_scores(labeled) if is_grouped else None
    if grouped is None:
        return labeled, "row"
    tasks = labeled.passes.keep(labeled.passes.each(_shares, grouped.tasks))
    return labeled._replace(tasks=tasks, units=WeightUnits(ClassUnit(0), ClassUnit(0))), "group"


def _shares(rows: ScoredPartition) -> ScoredPartition:
    """Divide a weight of one equally among the rows of each group and class."""
    code = np.unique(np.asarray(rows.group), return_inverse=True)[1]
    key = 2 * code + rows.is_positive
    share = 1.0 / np.bincount(key)[key]
    return ScoredPartition(rows.score, np.where(rows.is_positive, share, -share))


def _ranked(bins: ScoreBins, units: WeightUnits, unit: Unit) -> RankedRows:
    """Convert bins to ranked rows, each with the smallest score of its bin."""
    score = np.append(np.nextafter(bins.high[-1], np.inf), bins.low[::-1])
    counts, sums = (
        np.pad(np.cumsum(bins.sums[:, power, ::-1], axis=1), ((0, 0), (1, 0))) for power in (0, 1)
    )
    n_false, n_true = n_rows = counts.astype(np.int64)
    fp, tp = n_rows if unit == "row" else sums * [[one.unit] for one in units]
    return RankedRows(score, tp, fp, n_true + n_false, unit, n_true)


def _scores_inside(rows: ScoredPartition, ranges: NDArray[np.float64]) -> NDArray[np.float64]:
    score = rows.score
    inside = [score[(score >= low) & (score <= high)] for low, high in ranges]
    return np.unique(np.concatenate(inside))

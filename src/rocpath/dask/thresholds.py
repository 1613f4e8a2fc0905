"""Thresholds of partitioned scores that satisfy constraints on error rates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rocpath.arguments import share_between
from rocpath.auc_statistics.operating_points import RankedRows
from rocpath.auc_statistics.thresholds import check_targets, choose_place
from rocpath.dask.auc_pairs import labeled_scores
from rocpath.dask.buckets import splitters
from rocpath.dask.passes import Passes

if TYPE_CHECKING:
    from distributed import Client
    from numpy.typing import NDArray

    from rocpath.auc_statistics.operating_points import OperatingPoint
    from rocpath.dask.buckets import LabeledScores

_N_BINS = 2**14  # of the scores, of which some are then split into single scores


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
    client: Client | None = None,
) -> OperatingPoint:
    """Choose a threshold of partitioned scores that satisfies constraints.

    The result is that of :func:`rocpath.choose_threshold` for ``max_fpr``, ``min_tpr``
    and ``top``, and for all constraints if there are at most 16,384 distinct scores.
    Otherwise ``min_precision`` and ``cost`` are evaluated at 16,384 quantiles of the
    scores and at all scores around the best one of them.

    Parameters
    ----------
    y, scores : Dask arrays or series, shape (n_rows,)
        Labels and scores, as for :func:`auc`, of rows that the scores were not fitted
        to.
    max_fpr, min_tpr, min_precision, top, cost, confidence
        Same as for :func:`rocpath.choose_threshold`.
    client : Client, optional
        Client whose workers compute, as for :func:`auc`.

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
        labeled, _ = labeled_scores(passes, y, scores)
        bins = _Bins.from_scores(passes, labeled, splitters(passes, labeled, _N_BINS))
        while True:
            point = choose_place(bins.ranked(), targets, confidence)
            wide = bins.wide_around(point.threshold)
            if wide.size == 0:
                return point
            bins = bins.split(passes, labeled, wide)


class _Bins(NamedTuple):
    """Counts of both classes by bins of the scores, from the largest scores down."""

    low: NDArray[np.float64]  # smallest score of each bin
    high: NDArray[np.float64]  # largest score
    tp: NDArray[np.int64]
    fp: NDArray[np.int64]

    @classmethod
    def from_scores(cls, passes: Passes, labeled: list[Any], edge: NDArray[np.float64]) -> _Bins:
        """Count scores in bins that begin at the edges, in one pass."""
        tasks = passes.each(_count, labeled, state=edge)
        bins: _Bins = passes.total("counting scores", tasks, _combine)
        is_used = bins.tp + bins.fp > 0
        columns: list[Any] = [one[is_used][::-1] for one in bins]
        return cls(*columns)

    def ranked(self) -> RankedRows:
        """Return the bins as rows of one score each, their smallest."""
        score = np.append(np.nextafter(self.high[0], np.inf), self.low)
        tp, fp = (np.append(0, np.cumsum(one)) for one in (self.tp, self.fp))
        return RankedRows(score, tp, fp, tp + fp)

    def wide_around(self, threshold: float) -> NDArray[np.intp]:
        """Return the bins of several scores next to a threshold."""
        n_above = int(np.count_nonzero(self.low >= threshold))
        near = np.arange(max(n_above - 1, 0), min(n_above + 1, self.low.size))
        return near[self.low[near] < self.high[near]]

    def split(self, passes: Passes, labeled: list[Any], wide: NDArray[np.intp]) -> _Bins:
        """Split bins into bins of one score each, in one pass."""
        ranges = np.column_stack((self.low[wide], self.high[wide]))
        tasks = passes.each(_scores_inside, labeled, state=ranges)
        inside = np.unique(np.concatenate(passes.results("near the threshold", tasks)))
        edge = np.union1d(self.low, inside)
        return self.from_scores(passes, labeled, edge)


def _count(labeled: LabeledScores, edge: NDArray[np.float64]) -> _Bins:
    score, (is_positive, _) = labeled
    index, n_bins = np.searchsorted(edge, score, side="right"), edge.size + 1
    low, high = np.full(n_bins, np.inf), np.full(n_bins, -np.inf)
    np.minimum.at(low, index, score)
    np.maximum.at(high, index, score)
    tp = np.bincount(index[is_positive], minlength=n_bins)
    fp = np.bincount(index[~is_positive], minlength=n_bins)
    return _Bins(low, high, tp.astype(np.int64), fp.astype(np.int64))


def _combine(bins: list[_Bins]) -> _Bins:
    low, high, tp, fp = (np.stack(column) for column in zip(*bins, strict=True))
    return _Bins(low.min(axis=0), high.max(axis=0), tp.sum(axis=0), fp.sum(axis=0))


def _scores_inside(labeled: LabeledScores, ranges: NDArray[np.float64]) -> NDArray[np.float64]:
    score = labeled.score
    inside = [score[(score >= low) & (score <= high)] for low, high in ranges]
    return np.unique(np.concatenate(inside))

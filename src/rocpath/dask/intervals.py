"""AUC of partitioned scores, with confidence intervals and tests.

AUCs are exact, or within a tolerance that is verified from counts alone. Standard errors
depend on the structural component of each row, which depends on its rank. Ranks are
computed from counts in at most 2¹⁵ bins, with a separate bin for each frequent score. If
there are fewer distinct scores, ranks are exact; otherwise the relative difference from
the in-memory standard error is less than 10⁻⁶.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from distributed import Client
from numpy.typing import NDArray

from rocpath.dask.passes import Passes
from rocpath.dask.scores import Buckets, GroupedRows, PartitionedScores, ScoreBins, ScoredPartition
from rocpath.evaluation.comparisons import checked_margin
from rocpath.evaluation.curves import ScoreCurve
from rocpath.evaluation.differences import compared
from rocpath.evaluation.groups import GroupSums, pairs_within_groups
from rocpath.evaluation.influence import ScoreBlocks, block_components, place_rows
from rocpath.evaluation.results import AUCComparison, AUCInterval
from rocpath.validation import nonnegative_number, rate_up_to_one, share_between

_N_BINS = 2**14  # number of bins before frequent scores get separate bins
_N_BINS_OF_BOUNDS = (2**10, 2**14, 2**17)  # tried in turn until the tolerance is met


def auc(
    y: Any,
    scores: Any,
    *,
    sample_weight: Any = None,
    tol: float | None = None,
    client: Client | None = None,
) -> float:
    """Compute the area under the ROC curve of partitioned scores.

    Ties count as one half. Scores are sorted into buckets, so that pairs of scores in
    different buckets are counted from the bucket sizes. Without weights, or with
    weights that are multiples of a common unit, the result is bitwise identical to that
    of :func:`rocpath.auc`; with other weights, the relative difference is about 1e-15,
    due to rounding.

    Parameters
    ----------
    y : Dask array or series, shape (n_rows,)
        Labels of exactly two values; the larger is the positive class.
    scores : Dask array or series, shape (n_rows,)
        Scores; higher scores indicate the positive class.
    sample_weight : Dask array or series, shape (n_rows,), optional
        Sample weights. Rows with weight 0 are dropped.
    tol : float, optional
        Maximum difference from the exact AUC. If counts in bins guarantee it, scores
        are not shuffled. By default, the result is exact.
    client : Client, optional
        Dask client that runs the computation. The default is the most recent client
        or, if there is none, Dask's local scheduler.

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
        return Buckets.from_scores(labeled).auc()


def auc_interval(
    y: Any,
    scores: Any,
    *,
    confidence: float = 0.95,
    max_fpr: float | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    client: Client | None = None,
) -> AUCInterval:
    """Compute the AUC of partitioned scores with a confidence interval.

    The method is that of :func:`rocpath.auc_interval`.

    Parameters
    ----------
    y, scores : Dask arrays or series, shape (n_rows,)
        Labels and scores, as for :func:`auc`.
    confidence : float
        Confidence level, between 0 and 1.
    max_fpr : float, optional
        Maximum false positive rate of the partial AUC. The default is the full AUC.
    sample_weight : Dask array or series, shape (n_rows,), optional
        Sample weights. Rows with weight 0 are dropped.
    groups : Dask array or series, shape (n_rows,), optional
        Group of each row, such as a patient, for cluster-robust standard errors. Rows
        of a group may be in different partitions.
    client : Client, optional
        Dask client, as for :func:`auc`.

    Returns
    -------
    AUCInterval

    Examples
    --------
    >>> import dask.array as da
    >>> from rocpath.dask import auc_interval
    >>> y = da.from_array([0, 0, 0, 1, 1, 1], chunks=2)
    >>> auc_interval(y, da.from_array([1, 2, 4, 3, 5, 6], chunks=2))
    AUC 0.889 (95% CI 0.305 to 0.990), 3 positives, 3 negatives
    """
    columns = {"sample_weight": sample_weight, "groups": groups}
    with _curves(client, y, scores, confidence, max_fpr, **columns) as (curve,):
        return curve.interval


def compare_auc(
    y: Any,
    scores: Any,
    other_scores: Any,
    *,
    confidence: float = 0.95,
    max_fpr: float | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    margin: float | None = None,
    client: Client | None = None,
) -> AUCComparison:
    """Compare the AUCs of two scores of the same partitioned rows by DeLong's test.

    The method is that of :func:`rocpath.compare_auc`.

    Parameters
    ----------
    y, scores, other_scores : Dask arrays or series, shape (n_rows,)
        Labels and both scores, as for :func:`auc`.
    confidence, max_fpr, sample_weight, groups, client
        Same as for :func:`auc_interval`.
    margin : float, optional
        Positive margin for tests of non-inferiority and equivalence.

    Returns
    -------
    AUCComparison

    Examples
    --------
    >>> import dask.array as da
    >>> from rocpath.dask import compare_auc
    >>> y, score = da.arange(8, chunks=4) // 4, da.from_array([1, 2, 3, 5, 4, 6, 7, 8])
    >>> compare_auc(y, score, da.from_array([1, 5, 3, 7, 2, 4, 8, 6]))
    AUC 0.938 and 0.625: difference +0.3125 (95% CI -0.1016 to +0.7266), p = 0.065
    """
    margin = checked_margin(margin)
    columns = {"other_scores": other_scores, "sample_weight": sample_weight, "groups": groups}
    with _curves(client, y, scores, confidence, max_fpr, **columns) as (one, two):
        return compared(one, two, margin)


def certified_auc(scores: PartitionedScores, tol: float) -> float | None:
    """Return the AUC from counts in bins, or None if they do not guarantee ``tol``."""
    for n_bins in _N_BINS_OF_BOUNDS:
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


class _Deviation(NamedTuple):
    """Structural components of one score, or their difference between two scores.

    A term consists of the name of a score, its bins, and its components by class and
    bin.
    """

    terms: tuple[tuple[str, ScoreBins, NDArray[np.float64]], ...]

    def __sub__(self, other: Self) -> Self:
        return type(self)((*self.terms, *other.terms))

    def of_rows(self, rows: ScoredPartition) -> NDArray[np.float64]:
        """Return the deviations of the rows of a partition."""
        label = rows.is_positive.astype(np.intp)
        each = [by_bin[label, bins.index_of(rows, name)] for name, bins, by_bin in self.terms]
        return np.asarray(np.subtract.reduce(each))


class _Sample(NamedTuple):
    """Partitioned rows, with the interface of `Sample`."""

    scores: PartitionedScores
    unit: GroupedRows | None

    @property
    def counts(self) -> dict[str, int | None]:
        """Numbers of rows and groups, under the field names of the results."""
        n_positives = self.scores.n_positives
        return {
            "n_positives": n_positives,
            "n_negatives": self.scores.n_rows - n_positives,
            "n_groups": None if self.unit is None else self.unit.n_groups,
        }

    def squared_influences(self, deviation: _Deviation) -> list[float]:
        """Sum the squared influences of the positives and of the negatives."""
        passes = self.scores.passes
        tasks = passes.each(_square_sums, self.scores.tasks, deviation=deviation)
        squares = np.sum(passes.results("computing variances", tasks), axis=0)
        totals = np.array([float(unit.total) for unit in self.scores.units])
        return [float(one) for one in (squares / totals**2)[::-1]]


@dataclass(frozen=True)
class _PartitionedCurve(ScoreCurve):
    """ROC curve of one score of partitioned rows."""

    name: str
    bins: ScoreBins

    @classmethod
    def read(cls, sample: Any, name: str, max_fpr: float, confidence: float) -> Self:
        """Compute the exact AUC of one score, and its structural components by bin."""
        scores = sample.scores._replace(name=name)
        area, bins = Buckets.from_scores(scores).auc(max_fpr), scores.bins(_N_BINS)
        # Blocks are in order of decreasing scores.
        fp, tp = bins.sums[:, 1, ::-1]
        _, positive, negative = block_components(tp, fp, max_fpr)
        no_rows: Any = np.zeros(0, dtype=np.intp)
        blocks = ScoreBlocks(area, positive, negative, tp, fp, no_rows, no_rows)
        return cls(sample, np.zeros(0), max_fpr, confidence, blocks, name, bins)

    @cached_property
    def deviation(self) -> Any:
        """Structural components, as a function of the rows of a partition."""
        components = np.stack((self.blocks.negative, self.blocks.positive))[:, ::-1]
        return _Deviation(((self.name, self.bins, components),))

    @cached_property
    def square_sums(self) -> Any:
        """Sums of squared weights of positives and negatives, by block."""
        return self.bins.sums[::-1, 2, ::-1]

    @cached_property
    def _by_group(self) -> tuple[GroupSums, NDArray[np.float64]]:
        """Sums of the components, and of correctly ordered pairs, within each group."""
        sample: Any = self.sample
        passes, given = sample.scores.passes, {"deviation": self.deviation, "name": self.name}
        found = passes.run("summing groups", _group_sums, sample.unit.tasks, **given)
        *sums, concordant = np.concatenate(found, axis=1)
        return GroupSums(np.array(sums[:2]), np.array(sums[2:])), concordant

    @property
    def group_sums(self) -> GroupSums:
        """Sums of the components by group, if rows are grouped."""
        return self._by_group[0]

    def _concordant_within(self) -> NDArray[np.float64]:
        return self._by_group[1]


@contextmanager
def _curves(
    client: Client | None, y: Any, scores: Any, level: float, max_fpr: float | None, **columns: Any
) -> Iterator[list[_PartitionedCurve]]:
    """Check all columns in one pass, and yield the curve of each score."""
    limit = rate_up_to_one("max_fpr", max_fpr)
    confidence = share_between("confidence", level)
    with Passes(client) as passes:
        labeled = PartitionedScores.read(passes, y, scores, **columns)
        grouped = None if columns["groups"] is None else GroupedRows.from_scores(labeled)
        sample, names = (
            _Sample(labeled, grouped),
            ["score", *(["other_score"] if "other_scores" in columns else [])],
        )
        yield [_PartitionedCurve.read(sample, name, limit, confidence) for name in names]


def _square_sums(rows: ScoredPartition, deviation: _Deviation) -> NDArray[np.float64]:
    """Sum the squared influences of negatives and of positives."""
    square = (rows.jump * deviation.of_rows(rows)) ** 2
    return np.asarray(np.bincount(rows.is_positive, square, 2), dtype=float)


def _group_sums(rows: ScoredPartition, deviation: _Deviation, name: str) -> NDArray[np.float64]:
    """Return the sums of `GroupSums` and of correctly ordered pairs, by group."""
    if rows.score.size == 0:
        return np.zeros((5, 0))
    score = getattr(rows, name)
    is_positive = rows.is_positive
    weight = rows.weight
    code = np.unique(np.asarray(rows.group), return_inverse=True)[1]
    sums = GroupSums.of(code, is_positive, weight, deviation.of_rows(rows))
    # Components are undefined if a class is absent, but only the order of rows is used.
    with np.errstate(invalid="ignore", divide="ignore"):
        blocks = place_rows(score, is_positive, weight, 1.0)
    concordant = pairs_within_groups(code, blocks, score, is_positive, weight).concordant
    return np.vstack((*sums, concordant))

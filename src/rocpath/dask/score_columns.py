"""The ROC curve of partitioned scores: what the designs of `rocpath.evaluation` ask for."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from rocpath.dask.scored_rows import ScoredPartition
from rocpath.dask.scores import Buckets, GroupedRows, PartitionedScores, ScoreBins
from rocpath.evaluation.groups import GroupSums, pairs_within_groups
from rocpath.evaluation.influence import ScoreBlocks, block_components, place_rows
from rocpath.evaluation.metrics.auc import AreaColumn, excess_of_weights
from rocpath.evaluation.metrics.metric import ClassVariance, Column, class_variance_of_sums
from rocpath.validation import Floats

_N_BINS = 2**14  # number of bins before frequent scores get separate bins
_NO_ROWS: Any = np.zeros(0, dtype=np.intp)


class Deviation(NamedTuple):
    """Structural components of one score, or their difference between two scores.

    A term consists of the name of a score, its bins, and its components by class and
    bin, multiplied by a weight.
    """

    terms: tuple[tuple[str, ScoreBins, NDArray[np.float64]], ...]

    def of_rows(self, rows: ScoredPartition) -> NDArray[np.float64]:
        """Return the deviations of the rows of a partition."""
        label = rows.is_positive.astype(np.intp)
        each = [by_bin[label, bins.index_of(rows, name)] for name, bins, by_bin in self.terms]
        return np.asarray(np.sum(each, axis=0))


class PartitionedSample(NamedTuple):
    """Partitioned rows, with the interface of `Sample`."""

    scores: PartitionedScores
    unit: GroupedRows | None
    classes: tuple[Any, Any] = (None, None)

    @property
    def outcome(self) -> str:
        """Kind of the outcome."""
        return "labels"

    @property
    def counts(self) -> dict[str, int | None]:
        """Numbers of rows and groups, under the field names of the results."""
        n_positives = self.scores.n_positives
        return {
            "n_positives": n_positives,
            "n_negatives": self.scores.n_rows - n_positives,
            "n_groups": None if self.unit is None else self.unit.n_groups,
        }

    @property
    def class_masks(self) -> Iterator[tuple[str, None]]:
        """Names of the classes; their masks are in the partitions."""
        yield from (("negative", None), ("positive", None))


@dataclass(frozen=True, eq=False)
class PartitionedColumn(AreaColumn):
    """ROC curve of one score of partitioned rows."""

    name: str

    @classmethod
    def from_sample(cls, metric: Any, sample: Any, name: str) -> Self:
        """Return the column of a score, given by its name in the partitions."""
        return cls(metric, sample, np.zeros(0), name)

    @cached_property
    def _scores(self) -> PartitionedScores:
        sample: Any = self.sample
        return sample.scores._replace(name=self.name)

    @cached_property
    def bins(self) -> ScoreBins:
        """Sums of weights between splitters of the scores."""
        return self._scores.bins(_N_BINS)

    @cached_property
    def blocks(self) -> ScoreBlocks:
        """The exact AUC of the score, and its structural components by bin."""
        region = self.metric.region
        # Blocks are in order of decreasing scores.
        fp, tp = self.bins.sums[:, 1, ::-1]
        area, positive, negative = block_components(tp, fp, **region)
        if region["min_tpr"] <= 0:
            area = Buckets.from_scores(self._scores).auc(region["max_fpr"])
        return ScoreBlocks(area, positive, negative, tp, fp, _NO_ROWS, _NO_ROWS)

    @cached_property
    def deviation(self) -> Any:
        """Structural components, as a function of the rows of a partition."""
        return Deviation((self._term(1.0),))

    def _term(self, weight: float) -> tuple[str, ScoreBins, Floats]:
        components = np.stack((self.blocks.negative, self.blocks.positive))[:, ::-1]
        return self.name, self.bins, weight * self._factor * components

    @cached_property
    def square_sums(self) -> Any:
        """Sums of squared weights of positives and negatives, by block."""
        return self.bins.sums[::-1, 2, ::-1]

    @cached_property
    def weight_excess(self) -> float:
        """Variance for rows that could have large weights but were not sampled."""
        scores = self._scores
        if not scores.is_weighted:
            return 0.0
        tasks = scores.passes.each(_weight_sizes, scores.tasks)
        found = np.array(scores.passes.results("reading weights", tasks))
        largest, n_rows = found[:, 0].max(axis=0), found[:, 1].sum(axis=0)
        totals = [float(unit.total) for unit in scores.units]
        return sum(map(excess_of_weights, largest, totals, n_rows))

    def contrast_variances(self, panel: Sequence[Column], weight: Floats) -> list[ClassVariance]:
        """Return the variances of the classes of a weighted sum of columns of these rows."""
        columns: Any = panel
        used = np.flatnonzero(weight).tolist()
        deviation = Deviation(tuple(columns[k]._term(float(weight[k])) for k in used))
        passes = self._scores.passes
        tasks = passes.each(_power_sums, self._scores.tasks, deviation=deviation)
        squares, fourths = np.sum(passes.results("computing variances", tasks), axis=0)
        totals = np.array([float(unit.total) for unit in self._scores.units])
        parts = []
        for c, free in enumerate(self.n_free):
            single = sum(float(weight[k] ** 2) * panel[k].single_variances[c] for k in used)
            factor = (free + 1.0) / free if free > 0 else 0.0
            sums = factor * squares[c] / totals[c] ** 2, factor**2 * fourths[c] / totals[c] ** 4
            parts.append(class_variance_of_sums(*sums, free, single))
        return parts

    @cached_property
    def _by_group(self) -> tuple[GroupSums, NDArray[np.float64], list[int]]:
        """Sums of the components and of correctly ordered pairs by group.

        The last item is the number of groups in each task.
        """
        sample: Any = self.sample
        passes, given = sample.scores.passes, {"deviation": self.deviation, "name": self.name}
        found = passes.run("summing groups", _group_sums, sample.unit.tasks, **given)
        *sums, concordant = np.concatenate(found, axis=1)
        n_groups = [part.shape[1] for part in found]
        return GroupSums(np.array(sums[:2]), np.array(sums[2:])), concordant, n_groups

    @property
    def group_sums(self) -> GroupSums:
        """Sums of the components by group, if rows are grouped."""
        return self._by_group[0]

    def _concordant_within(self) -> NDArray[np.float64]:
        return self._by_group[1]

    def without_group(self, group: int) -> float:
        """Return the value without the rows of a group, from counts in bins."""
        sample: Any = self.sample
        end = np.cumsum(self._by_group[2])
        task = int(np.searchsorted(end, group, side="right"))
        index = group - int(end[task]) + self._by_group[2][task]
        given = {"bins": self.bins, "name": self.name, "index": index}
        (sums,) = sample.scores.passes.run(
            "deleting a group", _bins_of_group, [sample.unit.tasks[task]], **given
        )
        fp, tp = (self.bins.sums[:, 1] - sums)[:, ::-1]
        return self.scaled(block_components(tp, fp, **self.metric.region)[0])


def _weight_sizes(rows: ScoredPartition) -> NDArray[np.float64]:
    """Return the largest weight and the number of weighted rows, by class."""
    sides = [rows.weight[~rows.is_positive], rows.weight[rows.is_positive]]
    largest = [side.max(initial=0.0) for side in sides]
    return np.array([largest, [np.count_nonzero(side) for side in sides]], dtype=float)


def _power_sums(rows: ScoredPartition, deviation: Deviation) -> NDArray[np.float64]:
    """Sum the second and fourth powers of the influences of negatives and of positives."""
    square = (rows.jump * deviation.of_rows(rows)) ** 2
    return np.array([np.bincount(rows.is_positive, each, 2) for each in (square, square**2)])


def _group_sums(rows: ScoredPartition, deviation: Deviation, name: str) -> NDArray[np.float64]:
    """Return the sums of `GroupSums` and of correctly ordered pairs, by group."""
    if rows.score.size == 0:
        return np.zeros((5, 0))
    score = getattr(rows, name)
    is_positive = rows.is_positive
    weight = rows.weight
    code = np.unique(np.asarray(rows.group), return_inverse=True)[1]
    sums = GroupSums.from_rows(code, is_positive, weight, deviation.of_rows(rows))
    # Components are undefined if a class is absent, but only the order of rows is used.
    with np.errstate(invalid="ignore", divide="ignore"):
        blocks = place_rows(score, is_positive, weight, 1.0)
    concordant = pairs_within_groups(code, blocks, score, is_positive, weight).concordant
    return np.vstack((*sums, concordant))


def _bins_of_group(
    rows: ScoredPartition, bins: ScoreBins, name: str, index: int
) -> NDArray[np.float64]:
    """Sum the weights of one group of a task by class and bin."""
    members = rows.take(np.flatnonzero(rows.group == np.unique(np.asarray(rows.group))[index]))
    n_bins = bins.sums.shape[2]
    place = bins.index_of(members, name)
    sides = (~members.is_positive, members.is_positive)
    return np.array([np.bincount(place[side], members.weight[side], n_bins) for side in sides])

"""Averages of a metric over strata: only rows of the same stratum are compared."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocpath.evaluation.groups import Jackknife, pairs_within_groups
from rocpath.evaluation.influence import place_rows
from rocpath.evaluation.metrics.auc import AUC
from rocpath.evaluation.metrics.average_areas import AverageAreaScale
from rocpath.evaluation.metrics.metric import ClassVariance, Column, Estimate, column_of
from rocpath.evaluation.metrics.partial_auc import PartialAUC
from rocpath.evaluation.metrics.scales import LogitScale
from rocpath.evaluation.score_interval import binormal_table
from rocpath.sample import Sample
from rocpath.validation import Floats

# With fewer strata, such as a few sites, intervals are by default for these strata.
_MIN_SAMPLED_STRATA = 10

Weighting = Literal["pairs", "rows", "equal"]
Population = Literal["these", "like these"]


class _Strata(NamedTuple):
    """The value of each stratum, its share, and the influence of rows within it."""

    value: Floats
    share: Floats
    influence: Floats


@dataclass(frozen=True)
class WithinStrata:
    """A metric that is computed in each stratum and averaged."""

    metric: Any
    weighting: Weighting

    @property
    def name(self) -> str:
        """Name of the metric, with the strata."""
        return f"{self.metric.name} within strata"

    @property
    def scale(self) -> Any:
        """How intervals are formed."""
        if isinstance(self.metric, AUC):
            return AverageAreaScale()
        # The scale of a partial AUC needs the ROC curve of a single sample.
        return LogitScale() if isinstance(self.metric, PartialAUC) else self.metric.scale

    @property
    def outcome(self) -> Literal["labels", "survival"]:
        """Kind of outcome that is needed."""
        return self.metric.outcome  # type: ignore[no-any-return]

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest possible value."""
        return self.metric.bounds  # type: ignore[no-any-return]

    @property
    def digits(self) -> int:
        """Number of decimals in sentences."""
        return int(self.metric.digits)

    def estimate(self, sample: Sample, score: Floats) -> Estimate:
        """Compute the average, and the influence of each row."""
        column = self.column(sample, score)
        return column.estimate

    def column(self, sample: Sample, score: Floats) -> "StratifiedColumn":
        """Compute the metric in each stratum."""
        return StratifiedColumn(self, sample, score)


def with_population(
    sample: Sample, population: Population | None
) -> tuple[Sample, NDArray[np.bool_], Population]:
    """Keep the strata with both classes, and make strata the units if they were sampled.

    Returns the sample, a mask of the rows that it has, and the population.
    """
    code: Any = sample.stratum
    weight = sample.weights
    n_codes = int(code.max()) + 1
    has_both = np.ones(n_codes, dtype=bool)
    for _, mask in sample.class_masks:
        has_both &= np.bincount(code[mask], weight[mask], n_codes) > 0
    n_used = int(np.count_nonzero(has_both))
    if n_used == 0:
        raise ValueError("strata must have at least one stratum with both classes, got none.")
    is_used = has_both[code]
    used = sample if is_used.all() else sample.take(is_used)
    if population is None:
        is_sampled = n_used >= _MIN_SAMPLED_STRATA and sample.unit is None
        population = "like these" if is_sampled else "these"
    if population == "these":
        return used, is_used, population
    if n_used < 2:
        raise ValueError('population="like these" needs at least two strata, got one.')
    unit, stratum = used.unit, used.stratum
    if unit is not None:
        pairs = np.unique(np.stack((unit, stratum)), axis=1)  # type: ignore[arg-type]
        if np.unique(pairs[0]).size < pairs.shape[1]:
            raise ValueError(
                'groups must each be in one stratum with population="like these", got a group '
                'in several: use population="these".'
            )
    return replace(used, group=stratum, copy=None, time=None), is_used, population


@dataclass(frozen=True, eq=False)
class StratifiedColumn(Column):
    """The average of a metric over the strata of a sample."""

    @cached_property
    def _strata(self) -> _Strata:
        is_area = isinstance(self.metric.metric, AUC)
        return self._areas() if is_area else self._values()

    def _areas(self) -> _Strata:
        """Compute the AUCs of all strata from one sort."""
        sample, code = self.sample, self._code
        blocks = place_rows(self.score, sample.is_positive, sample.weight, 1.0)
        within = pairs_within_groups(code, blocks, self.score, sample.is_positive, sample.weight)
        used = within.pairs > 0
        area = np.divide(within.concordant, within.pairs, out=np.zeros(used.size), where=used)
        component = sample.weights * (within.component - area[code])
        total = np.bincount(self._cell, sample.weights, 2 * used.size)
        return _Strata(area, self._shares(used), component / np.maximum(total[self._cell], 1e-300))

    def _values(self) -> _Strata:
        """Compute the metric in one stratum after the other."""
        sample, code = self.sample, self._code
        n_codes = int(code.max()) + 1
        order = np.argsort(code, kind="stable")
        ends = np.searchsorted(code[order], np.arange(n_codes + 1))
        value, influence = np.full(n_codes, np.nan), np.zeros(code.size)
        n_pairs = np.full(n_codes, np.nan)
        plain = replace(sample, group=None, stratum=None, copy=None, time=None)
        for stratum in np.flatnonzero(np.diff(ends)):
            rows = order[ends[stratum] : ends[stratum + 1]]
            try:
                part = column_of(self.metric.metric, plain.take(rows), self.score[rows])
                value[stratum] = part.value
            except ValueError:
                continue  # undefined in this stratum, such as without comparable pairs
            if np.isfinite(value[stratum]):
                influence[rows] = part.influence
                # Not all pairs of rows with and without an event are comparable.
                n_pairs[stratum] = getattr(part, "n_pairs", np.nan)
        used = np.isfinite(value)
        shares = self._shares(used, n_pairs if np.isfinite(n_pairs).any() else None)
        return _Strata(np.where(used, value, 0.0), shares, influence)

    def _shares(self, used: NDArray[np.bool_], n_pairs: Floats | None = None) -> Floats:
        """Return the share of each stratum in the average.

        ``n_pairs`` are the pairs that a metric compares, if not all of both classes.
        """
        weight, n_codes = self.sample.weights, used.size
        if self.metric.weighting == "equal":
            size: Any = np.ones(n_codes)
        elif self.metric.weighting == "rows":
            size = np.bincount(self._code, weight, n_codes)
        elif n_pairs is not None:
            size = n_pairs
        else:
            size = np.ones(n_codes)
            for _, mask in self.sample.class_masks:
                size = size * np.bincount(self._code[mask], weight[mask], n_codes)
        size = np.where(used, size, 0.0)
        total = float(size.sum())
        return size / total if total > 0 else np.full(n_codes, np.nan)

    @property
    def _code(self) -> NDArray[np.intp]:
        return self.sample.stratum  # type: ignore[return-value]

    @cached_property
    def _cell(self) -> NDArray[np.intp]:
        """Code of the stratum and class of each row; negatives come first."""
        return np.where(self.sample.is_positive, self._code + int(self._code.max()) + 1, self._code)

    @property
    def n_strata(self) -> int:
        """Number of strata in the average."""
        return int(np.count_nonzero(self._strata.share))

    @cached_property
    def estimate(self) -> Estimate:
        """The average, and the influence of each row for these strata."""
        strata = self._strata
        value = float(strata.share @ strata.value)
        return Estimate(
            min(value, self.metric.bounds[1]), strata.share[self._code] * strata.influence
        )

    @cached_property
    def jackknife(self) -> Jackknife | None:
        """The average without each stratum, if strata are the independent units."""
        if self.sample.group is not self.sample.stratum:
            return None
        strata = self._strata
        rest = np.maximum(1.0 - strata.share, 1e-9)
        return Jackknife(self.value, (self.value - strata.share * strata.value) / rest)

    @cached_property
    def row_factor(self) -> Floats:
        """Factor of each influence: the square root of n / (n - 1) of its stratum and class."""
        n_rows = self._cell_sizes
        factor = np.where(n_rows < 1.0001, 0.0, n_rows / np.maximum(n_rows - 1.0, 1e-9))
        return np.asarray(np.sqrt(factor)[self._cell])

    @cached_property
    def _cell_sizes(self) -> Floats:
        """Effective number of rows of each stratum and class."""
        weight, n_cells = self.sample.weights, 2 * (int(self._code.max()) + 1)
        total, square = (np.bincount(self._cell, weight**k, n_cells) for k in (1, 2))
        return np.asarray(total**2 / np.maximum(square, 1e-300))

    @cached_property
    def single_variances(self) -> list[float]:
        """Variances of the classes that have a single row in their stratum."""
        # The sample variance of a single row is undefined, so that of the normal model is used.
        if not isinstance(self.metric.metric, AUC):
            return [0.0, 0.0]
        strata, n_rows = self._strata, self._cell_sizes.reshape(2, -1)
        of_positive, of_negative, _ = binormal_table(1.0).at(strata.value)
        model = strata.share**2 * np.stack((of_negative, of_positive))
        return np.where(n_rows < 1.0001, model, 0.0).sum(axis=1).tolist()  # type: ignore[no-any-return]

    @cached_property
    def class_variances(self) -> list[ClassVariance]:
        """The variances that negatives and positives contribute, if rows are independent."""
        return self.variances_of(self.influence, self.single_variances)

    @property
    def n_free(self) -> list[float]:
        """Degrees of freedom of the variance of each class."""
        n_rows = self._cell_sizes.reshape(2, -1)[:, self._strata.share > 0]
        return np.maximum(n_rows - 1.0, 0.0).sum(axis=1).tolist()  # type: ignore[no-any-return]

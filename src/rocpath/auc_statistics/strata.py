"""AUCs within strata: only pairs of rows of the same stratum count."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rocpath.auc_statistics.groups import pairs_within_groups
from rocpath.auc_statistics.influence import place_rows
from rocpath.auc_statistics.results import AUCInterval
from rocpath.auc_statistics.score_interval import binormal_table, scaled_interval

if TYPE_CHECKING:
    from typing import Literal

    from numpy.typing import NDArray

    from rocpath.auc_statistics.curves import LabeledSample
    from rocpath.auc_statistics.groups import WithinGroups

    Weighting = Literal["pairs", "strata"]

# With fewer strata, such as a few sites, rows are the independent units, not strata.
MIN_SAMPLED_STRATA = 10


class _Variance(NamedTuple):
    value: float
    freedom: float


def stratified_interval(
    sample: LabeledSample,
    score: NDArray[np.float64],
    code: NDArray[np.intp],
    *,
    weighting: Weighting,
    confidence: float,
) -> AUCInterval:
    """Average the AUCs of the strata that have both classes."""
    blocks = place_rows(score, sample.is_positive, sample.weight, 1.0)
    inside = pairs_within_groups(code, blocks, score, sample.is_positive, sample.weight)
    is_used = inside.pairs > 0
    n_strata = int(np.count_nonzero(is_used))
    if n_strata == 0:
        raise ValueError("strata must have a stratum with rows of both classes, got none.")
    share = np.where(is_used, inside.pairs if weighting == "pairs" else 1.0, 0.0)
    share = share / share.sum()
    area = np.divide(inside.won, inside.pairs, out=np.zeros(share.size), where=is_used)
    value = min(float(share @ area), 1.0)
    if sample.groups is None and n_strata >= MIN_SAMPLED_STRATA:
        # Strata are the sampled units: a ratio of two sums over strata.
        square = float(((share * (area - value)) ** 2).sum())
        variance = _Variance(square * n_strata / (n_strata - 1), 1.0 / float(share @ share) - 1.0)
    else:
        variance = _within_variance(sample, code, inside, share, area)
    counts = sample.counts
    sizes = counts["n_positives"] or 0, counts["n_negatives"] or 0
    low, high = scaled_interval(value, *variance, sizes, confidence=confidence)
    return AUCInterval(
        value,
        float(np.sqrt(variance.value)),
        low,
        high,
        confidence,
        **counts,
        n_strata=n_strata,
        n_skipped_strata=int(np.count_nonzero(np.bincount(code))) - n_strata,
    )


def _within_variance(
    sample: LabeledSample,
    code: NDArray[np.intp],
    inside: WithinGroups,
    share: NDArray[np.float64],
    area: NDArray[np.float64],
) -> _Variance:
    """Sum DeLong's variances of the strata, or Obuchowski's over groups."""
    component = inside.component - area[code]
    weight = np.ones(code.size) if sample.weight is None else sample.weight
    key = np.where(sample.is_positive, code + area.size, code)
    total = np.bincount(key, weight, 2 * area.size)
    influence = np.where(inside.pairs[code] > 0, share[code] * weight * component, 0.0)
    influence = influence / total[key]
    if sample.groups is not None:
        # Components of a group are correlated, within a stratum and across strata.
        by_group = np.bincount(sample.groups.code, influence)
        square = by_group**2
        n_groups = sample.groups.n_groups
        size = float(square.sum())
        freedom = size**2 / float(square @ square) if size > 0 else 1.0
        return _Variance(size * n_groups / (n_groups - 1), freedom)
    squares = np.bincount(key, influence**2, 2 * area.size)
    n_rows = total**2 / np.maximum(np.bincount(key, weight**2, total.size), 1e-300)
    is_single = n_rows < 2.0
    variance = squares * np.where(is_single, 1.0, n_rows / np.maximum(n_rows - 1.0, 1))
    # A single row shows no variance: that of two normal distributions instead.
    table = binormal_table(1.0)
    model = [np.interp(area, table.area, side) for side in (table.negative, table.positive)]
    shares = np.concatenate([share, share])
    variance = np.where(is_single, shares**2 * np.concatenate(model), variance)
    n_free = np.maximum(n_rows[shares > 0] - 1.0, 0.0).reshape(2, -1).sum(axis=1)
    return _Variance(float(variance.sum()), max(float(n_free.min()), 1.0))

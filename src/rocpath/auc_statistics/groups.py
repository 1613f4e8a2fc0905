"""Rows that belong together: Obuchowski's (1997) variance for clustered ROC data.

The structural components of the rows of one group are correlated, but groups are
independent of each other. So components are summed by group before they are squared.
With few or very uneven groups that sum of squares has hardly any degrees of freedom:
intervals then mix it with the variance that an equal correlation of all rows of a
group implies, and take the degrees of freedom from the shares of the groups in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rocpath.arguments import check_count, describe, refuse_any, refuse_masked
from rocpath.auc_statistics.influence import class_sums, falling_order

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rocpath.auc_statistics.influence import ScoreBlocks

# Weight of the exchangeable model, in groups (benchmarks/interval_groups.py).
_PRIOR_GROUPS = 5.0
# Degrees of freedom added to those of the groups, by the same simulation.
_PRIOR_FREEDOM = 4.0
# The model's variance is not below this fraction of that without covariances.
_LEAST_FRACTION = 0.05


class RowGroups(NamedTuple):
    """The group of each row as a code, and the number of different groups."""

    code: NDArray[np.intp]
    n_groups: int

    @classmethod
    def of(cls, name: str, labels: ArrayLike, n_rows: int) -> RowGroups:
        """Encode labels of any type, or raise if there are not two groups."""
        refuse_masked(name, labels)
        label = np.asarray(labels)
        if label.ndim != 1:
            raise ValueError(f"{name} must be one-dimensional, got {label.shape}.")
        check_count(f"{name} must have an entry", label.size, n_rows, "rows")
        code = _codes(name, label)
        n_groups = int(np.count_nonzero(np.bincount(code)))
        if n_groups < 2:
            raise ValueError(
                f"{name} must have at least two different values, got only "
                f"{describe(label[0].item() if label.size else None)}."
            )
        return cls(code, n_groups)

    def class_key(self, is_positive: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Return codes that separate the negatives and positives of each group."""
        key = 2 * self.code
        key += is_positive
        return key


def _codes(name: str, label: NDArray[Any]) -> NDArray[np.intp]:
    """Return non-negative integers that are equal where labels are."""
    kind = label.dtype.kind
    if kind in "mM":
        refuse_any(np.isnat(label), f"{name} must be complete", label)
        label = label.view(np.int64)
    elif kind == "f":
        refuse_any(~np.isfinite(label), f"{name} must be finite and complete", label)
    elif kind not in "bui":
        is_missing = np.array([x is None or x != x for x in label], dtype=bool)
        refuse_any(is_missing, f"{name} must be complete", label)
        return np.asarray(np.unique(label.astype(str), return_inverse=True)[1])
    low, high = (label.min(), label.max()) if label.size else (0, 0)
    if kind in "bui" and int(high) - int(low) <= 2 * label.size:
        # Whole numbers without large gaps are codes already.
        return np.asarray(label.astype(np.intp) - int(low))
    if kind in "ui" and max(abs(int(low)), abs(int(high))) > 2**53:
        return np.asarray(np.unique(label, return_inverse=True)[1])
    value = np.ascontiguousarray(label, dtype=np.float64)
    order = falling_order(value)
    is_new = np.append(False, value[order][1:] != value[order][:-1])
    code = np.empty(label.size, dtype=np.intp)
    code[order] = np.cumsum(is_new)
    return code


class GroupSums(NamedTuple):
    """Sums over the rows of each group; columns are the negatives and the positives."""

    weight: NDArray[np.float64]
    n_rows: NDArray[np.float64]  # Kish's effective number of rows
    first: NDArray[np.float64]  # of weighted deviations
    second: NDArray[np.float64]  # of weighted squared deviations

    @classmethod
    def of(
        cls,
        groups: RowGroups,
        is_positive: NDArray[np.bool_],
        weight: NDArray[np.float64] | None,
        deviation: NDArray[np.float64],
    ) -> GroupSums:
        """Sum over the rows, or raise if a class is in one group only."""
        key = groups.class_key(is_positive)
        size = 2 * (int(groups.code.max()) + 1)

        def summed(values: NDArray[np.float64] | None) -> NDArray[np.float64]:
            sums = np.bincount(key, values, size).astype(np.float64, copy=False)
            return sums.reshape(-1, 2)

        weighted = deviation if weight is None else weight * deviation
        total = summed(weight)
        n_rows = total
        if weight is not None:
            square = summed(weight**2)
            n_rows = np.divide(
                total**2, square, out=np.zeros_like(total), where=square > 0
            )
        for name, count in zip(
            ("negative", "positive"), (total > 0).sum(axis=0), strict=True
        ):
            if count < 2:
                raise ValueError(
                    f"groups must have {name} rows in at least two groups, got {count}."
                )
        return cls(total, n_rows, summed(weighted), summed(weighted * deviation))


class ClusterVariance(NamedTuple):
    """The variance of an estimate whose rows are clustered.

    ``variance`` is Obuchowski's, ``stable`` the same mixed with the exchangeable model,
    for intervals and tests, and ``freedom`` its degrees of freedom.
    """

    variance: float
    stable: float
    freedom: float

    @classmethod
    def of(cls, sums: GroupSums) -> ClusterVariance:
        """Compute the variance from sums by group."""
        total = sums.weight.sum(axis=0)
        share = sums.weight / total
        influence = sums.first / total
        has_rows = sums.weight > 0
        n_groups = has_rows.sum(axis=0)
        n_all = int(has_rows.any(axis=1).sum())
        # Obuchowski (1997): S10 / M + S01 / N + 2 S11 / (M N).
        squares = (influence**2).sum(axis=0)
        product = float((influence[:, 0] * influence[:, 1]).sum())
        variance = float(squares @ (n_groups / (n_groups - 1)))
        variance += 2.0 * product * n_all / (n_all - 1)
        of_group = _exchangeable_variance(sums, share)
        model = float(of_group.sum())
        n_effective = model**2 / float((of_group**2).sum()) if model > 0 else 1.0
        stable = n_effective * variance + _PRIOR_GROUPS * model
        stable /= n_effective + _PRIOR_GROUPS
        freedom = max(n_effective - 1.0, 0.0) + _PRIOR_FREEDOM
        return cls(max(variance, 0.0), max(stable, 0.0), freedom)


def _exchangeable_variance(
    sums: GroupSums, share: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the variance by group if all rows of a group are equally correlated.

    Components of variance come from unweighted group means, so that a few large groups
    do not decide them.
    """
    has_rows = sums.weight > 0
    weight = np.where(has_rows, sums.weight, 1.0)
    n_rows = np.where(has_rows, sums.n_rows, 1.0)
    mean = sums.first / weight
    n_groups = has_rows.sum(axis=0)
    # Within groups: a mean square on n_rows - 1 degrees of freedom for each group.
    inside = sums.second / weight - mean**2
    freedom = (n_rows - 1.0).sum(axis=0)
    within = (n_rows * inside).sum(axis=0) / np.where(freedom > 0, freedom, 1.0)
    within = np.where(freedom > 1e-9, np.maximum(within, 0.0), 0.0)
    center = mean.sum(axis=0) / n_groups
    spread = np.where(has_rows, (mean - center) ** 2, 0.0).sum(axis=0) / (n_groups - 1)
    correction = within * np.where(has_rows, 1.0 / n_rows, 0.0).sum(axis=0) / n_groups
    between = np.maximum(spread - correction, 0.0)
    by_class = np.where(has_rows, share**2 * (between + within / n_rows), 0.0)
    of_group: NDArray[np.float64] = by_class.sum(axis=1)
    least = _LEAST_FRACTION * of_group
    has_both = has_rows.all(axis=1)
    if np.count_nonzero(has_both) > 1:
        most = float(np.sqrt(between[0] * between[1]))
        covariance = float((mean[has_both, 0] * mean[has_both, 1]).mean())
        covariance = min(max(covariance, -most), most)
        of_group = of_group + 2.0 * covariance * share[:, 0] * share[:, 1]
    return of_group if of_group.sum() > least.sum() else least


class WithinGroups(NamedTuple):
    """Weights of correctly ordered pairs and of all pairs, by group code."""

    won: NDArray[np.float64]
    pairs: NDArray[np.float64]


def pairs_within_groups(
    code: NDArray[np.intp],
    blocks: ScoreBlocks,
    score: NDArray[np.float64],
    is_positive: NDArray[np.bool_],
    weight: NDArray[np.float64] | None,
) -> WithinGroups:
    """Count the pairs of a positive and a negative row of the same group."""
    ranked = score[blocks.order]
    rank = np.empty(score.size)
    rank[blocks.order] = np.cumsum(np.append(0.0, ranked[1:] != ranked[:-1]))
    # One sort by group and, within a group, from the largest score down.
    key = code * (float(rank.max()) + 1.0) + rank
    order = falling_order(-key)
    ordered = key[order]
    start = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    tp, fp = class_sums(is_positive, weight, order, start)
    of_block = code[order[start]]
    n_codes = int(code.max()) + 1
    n_positive = np.bincount(of_block, tp, n_codes)
    n_negative = np.bincount(of_block, fp, n_codes)
    # Positives above a block in its own group are those above it in all minus those of
    # the groups before.
    before = np.cumsum(n_positive) - n_positive
    above = np.cumsum(tp) - tp - before[of_block]
    won = np.bincount(of_block, fp * (above + 0.5 * tp), n_codes)
    return WithinGroups(np.asarray(won), np.asarray(n_positive * n_negative))

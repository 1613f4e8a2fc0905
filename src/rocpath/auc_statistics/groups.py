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
    def of(cls, name: str, labels: ArrayLike, n_rows: int, *, least: int = 2) -> RowGroups:
        """Encode labels of any type, or raise if there are fewer groups."""
        refuse_masked(name, labels)
        label = np.asarray(labels)
        if label.ndim != 1:
            raise ValueError(f"{name} must be one-dimensional, got {label.shape}.")
        check_count(f"{name} must have an entry", label.size, n_rows, "rows")
        code = _codes(name, label)
        n_groups = int(np.count_nonzero(np.bincount(code)))
        if n_groups < least:
            raise ValueError(
                f"{name} must have at least two different values, got only "
                f"{describe(label[0].item() if label.size else None)}."
            )
        return cls(code, n_groups)


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
    """Sums over the rows of each group, in one row for each class, negatives first."""

    weight: NDArray[np.float64]
    n_rows: NDArray[np.float64]  # Kish's effective number of rows
    first: NDArray[np.float64]  # of weighted deviations
    second: NDArray[np.float64]  # of weighted squared deviations

    @classmethod
    def of(
        cls,
        code: NDArray[np.intp],
        is_positive: NDArray[np.bool_],
        weight: NDArray[np.float64] | None,
        deviation: NDArray[np.float64],
    ) -> GroupSums:
        """Sum over the rows, or raise if a class is in one group only."""
        n_codes = int(code.max()) + 1
        key = np.where(is_positive, code + n_codes, code)

        def summed(values: NDArray[np.float64] | None) -> NDArray[np.float64]:
            sums = np.bincount(key, values, 2 * n_codes).astype(float, copy=False)
            return sums.reshape(2, n_codes)

        weighted = deviation if weight is None else weight * deviation
        total = summed(weight)
        square = total if weight is None else summed(weight**2)
        return cls.from_sums(total, square, summed(weighted), summed(weighted * deviation))

    @classmethod
    def from_sums(
        cls,
        total: NDArray[np.float64],
        square: NDArray[np.float64],
        first: NDArray[np.float64],
        second: NDArray[np.float64],
    ) -> GroupSums:
        """Check sums of weights, of their squares, and of both powers of deviations."""
        n_rows = total
        if square is not total:
            n_rows = np.divide(total**2, square, out=np.zeros_like(total), where=square > 0)
        for name, count in zip(("negative", "positive"), (total > 0).sum(axis=1), strict=True):
            if count < 2:
                raise ValueError(
                    f"groups must have {name} rows in at least two groups, got {count}."
                )
        return cls(total, n_rows, first, second)


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
        total = sums.weight.sum(axis=1, keepdims=True)
        influence = sums.first / total
        has_rows = sums.weight > 0
        n_groups = has_rows.sum(axis=1)
        n_all = int(np.count_nonzero(has_rows[0] | has_rows[1]))
        # Obuchowski (1997): S10 / M + S01 / N + 2 S11 / (M N).
        squares = (influence**2).sum(axis=1)
        product = float(influence[0] @ influence[1])
        variance = float(squares @ (n_groups / (n_groups - 1)))
        variance += 2.0 * product * n_all / (n_all - 1)
        of_group = _exchangeable_variance(sums, sums.weight / total, has_rows)
        model = float(of_group.sum())
        n_effective = model**2 / float(of_group @ of_group) if model > 0 else 1.0
        stable = n_effective * variance + _PRIOR_GROUPS * model
        stable /= n_effective + _PRIOR_GROUPS
        freedom = max(n_effective - 1.0, 0.0) + _PRIOR_FREEDOM
        return cls(max(variance, 0.0), max(stable, 0.0), freedom)


def _exchangeable_variance(
    sums: GroupSums, share: NDArray[np.float64], has_rows: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the variance by group if all rows of a group are equally correlated.

    Components of variance come from unweighted group means, so that a few large groups
    do not decide them.
    """
    by_class = np.zeros(share.shape)
    mean = np.zeros(share.shape)
    between = [0.0, 0.0]
    for k in (0, 1):
        here = np.flatnonzero(has_rows[k])
        weight, n_rows = sums.weight[k, here], sums.n_rows[k, here]
        average = sums.first[k, here] / weight
        mean[k, here] = average
        # Within groups: a mean square on n_rows - 1 degrees of freedom for each group.
        freedom = float(n_rows.sum()) - here.size
        inside = float(n_rows @ (sums.second[k, here] / weight - average**2))
        within = max(inside, 0.0) / freedom if freedom > 1e-9 else 0.0
        correction = within * float((1.0 / n_rows).mean())
        between[k] = max(float(average.var(ddof=1)) - correction, 0.0)
        by_class[k, here] = share[k, here] ** 2 * (between[k] + within / n_rows)
    of_group: NDArray[np.float64] = by_class[0] + by_class[1]
    least = _LEAST_FRACTION * of_group
    has_both = has_rows[0] & has_rows[1]
    n_both = np.count_nonzero(has_both)
    if n_both > 1:
        most = float(np.sqrt(between[0] * between[1]))
        # Groups without one of the classes have a mean of zero there.
        covariance = min(max(float(mean[0] @ mean[1]) / n_both, -most), most)
        of_group = of_group + 2.0 * covariance * share[0] * share[1]
    return of_group if of_group.sum() > least.sum() else least


def n_won_within_groups(ranked_code: NDArray[np.intp], ranked_label: NDArray[np.bool_]) -> float:
    """Count correctly ordered pairs of the same group, where no classes are tied.

    Rows are given from the largest score down.
    """
    n_rows = ranked_code.size
    n_codes = int(ranked_code.max()) + 1
    # A stable sort by group: the core's sort of whole numbers is faster than NumPy's.
    place = ranked_code * np.float64(n_rows) + np.arange(n_rows, dtype=np.float64)
    order = falling_order(-place)
    label = ranked_label[order]
    # Positives above a negative in its own group are those above it in all minus those
    # of the groups before.
    above = np.cumsum(label)[~label]
    n_positive = np.bincount(ranked_code, ranked_label, n_codes)
    n_negative = np.bincount(ranked_code, minlength=n_codes) - n_positive
    before = np.cumsum(n_positive) - n_positive
    return float(above.sum()) - float(before @ n_negative)


class WithinGroups(NamedTuple):
    """Pairs of a positive and a negative row of the same group.

    ``won`` and ``pairs`` are the weights of correctly ordered and of all pairs, by
    group code; ``component`` is the fraction of the pairs of each row that are won.
    """

    won: NDArray[np.float64]
    pairs: NDArray[np.float64]
    component: NDArray[np.float64]


def pairs_within_groups(
    code: NDArray[np.intp],
    blocks: ScoreBlocks,
    score: NDArray[np.float64],
    is_positive: NDArray[np.bool_],
    weight: NDArray[np.float64] | None,
) -> WithinGroups:
    """Count the pairs of each group, ties counting one half."""
    ranked = score[blocks.order]
    rank = np.empty(score.size)
    rank[blocks.order] = np.cumsum(np.append(0.0, ranked[1:] != ranked[:-1]))
    # One sort by group and, within a group, from the largest score down.
    order = np.lexsort((rank, code)).astype(np.uint64)
    tie, group = rank[order], code[order]
    is_new = (tie[1:] != tie[:-1]) | (group[1:] != group[:-1])
    start = np.flatnonzero(np.append(True, is_new))
    tp, fp = class_sums(is_positive, weight, order, start)
    of_block = group[start]
    n_codes = int(code.max()) + 1
    total = [np.bincount(of_block, sums, n_codes) for sums in (tp, fp)]
    # Rows above a block in its own group are those above it in all minus those of the
    # groups before.
    above, fp_above = (
        np.cumsum(sums) - sums - (np.cumsum(each) - each)[of_block]
        for sums, each in zip((tp, fp), total, strict=True)
    )
    above = above + 0.5 * tp
    won = np.bincount(of_block, fp * above, n_codes)
    below = total[1][of_block] - fp_above - 0.5 * fp
    component = np.empty(score.size)
    size = np.diff(np.append(start, score.size))
    shares = (
        np.repeat(sums / np.maximum(each, 1e-300)[of_block], size)
        for sums, each in ((below, total[1]), (above, total[0]))
    )
    component[order] = np.where(is_positive[order], *shares)
    return WithinGroups(np.asarray(won), np.asarray(total[0] * total[1]), component)

"""Variances of clustered ROC data.

The structural components of the rows of one group are correlated, but groups are
independent of each other. Components are therefore summed by group before they are
squared (Obuchowski, 1997). With few or uneven groups this variance is too small, like
any sandwich variance, so intervals and tests use the jackknife over groups and
Student's t distribution instead. Both variances converge to the same value.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rocpath.evaluation.influence import ScoreBlocks, Variance, class_sums
from rocpath.validation import Floats


class GroupSums(NamedTuple):
    """Sums over the rows of each group; one array row per class, negatives first."""

    weight: Floats
    deviation: Floats  # multiplied by the weights

    @classmethod
    def from_rows(
        cls,
        code: NDArray[np.intp],
        is_positive: NDArray[np.bool_],
        weight: Floats | None,
        deviation: Floats,
    ) -> Self:
        """Sum weights and weighted deviations by class and group."""
        n_codes = int(code.max()) + 1
        key = np.where(is_positive, code + n_codes, code)
        weighted = deviation if weight is None else weight * deviation
        sums = [np.bincount(key, values, 2 * n_codes) for values in (weight, weighted)]
        return cls(*(one.astype(float, copy=False).reshape(2, n_codes) for one in sums))

    def __sub__(self, other: Self) -> Self:
        """Return the sums of the difference of two estimates."""
        return self._replace(deviation=self.deviation - other.deviation)

    @property
    def total(self) -> Floats:
        """The total weight of each class, as a column."""
        return np.asarray(self.weight.sum(axis=1, keepdims=True))

    @property
    def variance(self) -> float:
        """Obuchowski's variance; raises if a class is in one group only."""
        n_groups = np.count_nonzero(self.weight, axis=1)
        for name, count in zip(("negative", "positive"), n_groups, strict=True):
            if count < 2:
                raise ValueError(
                    f"groups must include at least two groups with {name} rows, got {count}."
                )
        n_all = int(np.count_nonzero(self.weight.any(axis=0)))
        influence = self.deviation / self.total
        # S10 / M + S01 / N + 2 S11 / (M N), in the notation of Obuchowski (1997).
        variance = float((influence**2).sum(axis=1) @ (n_groups / (n_groups - 1)))
        variance += 2.0 * float(influence[0] @ influence[1]) * n_all / (n_all - 1)
        return max(variance, 0.0)


class Jackknife(NamedTuple):
    """An estimate, and its leave-one-group-out replicates."""

    center: float
    replicates: Floats

    @classmethod
    def from_sums(cls, sums: GroupSums, area: float, concordant: Floats | None) -> Self:
        """Compute the AUC over pairs from different groups, or a partial AUC.

        ``concordant`` is the total weight of the concordant pairs within each group. It
        is None for a partial AUC, which is not a sum over pairs: the estimate is then
        that of all rows, and excluding a group does not change the structural
        components of the other rows.
        """
        if concordant is None:
            change = (sums.deviation / (sums.total - sums.weight)).sum(axis=0)
            return cls(area, area - change)
        (n, m), (n_all, m_all) = sums.weight, sums.total[:, 0]
        all_pairs, all_concordant = m_all * n_all - n @ m, area * m_all * n_all - concordant.sum()
        # A pair within a group is counted twice, once for each of its rows.
        pairs = n * m_all + m * n_all - 2.0 * n * m
        component = sums.deviation + area * sums.weight
        concordant_pairs = component[0] * m_all + component[1] * n_all - 2.0 * concordant
        center = min(max(float(all_concordant / all_pairs), 0.0), 1.0)
        replicates = np.full(pairs.size, center)
        rest = all_pairs - pairs
        np.divide(
            all_concordant - concordant_pairs, rest, out=replicates, where=rest > 1e-9 * all_pairs
        )
        return cls(center, replicates)

    def __sub__(self, other: Self) -> Self:
        """Return the jackknife of the difference of two estimates of the same rows."""
        return type(self)(self.center - other.center, self.replicates - other.replicates)

    @property
    def variance(self) -> Variance:
        """The variance of the estimate, and its degrees of freedom."""
        freedom = float(np.count_nonzero(self.replicates != self.center)) - 1.0
        return Variance(float(((self.replicates - self.center) ** 2).sum()), max(freedom, 1.0))


def _group_order(ranked_code: NDArray[np.intp]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Sort rows by group, with a stable sort; return their order and the group ends.

    The ends are ordered by group code, after a leading 0.
    """
    # The conversion of a sparse matrix from COO to CSR is a counting sort.
    entries = np.ones(ranked_code.size, dtype=bool)
    rows = sparse.csr_array((entries, (ranked_code, np.arange(ranked_code.size))))
    return rows.indices, rows.indptr


def concordant_within_groups(
    ranked_code: NDArray[np.intp], ranked_label: NDArray[np.bool_]
) -> Floats:
    """Count the concordant pairs in each group, without ties between classes.

    Rows must be in descending order of score.
    """
    order, end = _group_order(ranked_code)
    label = ranked_label[order]
    # The positives of the same group above a negative are all positives above it in this
    # order, minus those of the preceding groups.
    n_above = np.cumsum(label)
    n_positive, n_concordant = (
        np.append(0, sums)[end] for sums in (n_above, np.cumsum(np.where(label, 0, n_above)))
    )
    n_negative = np.diff(end) - np.diff(n_positive)
    return np.asarray(np.diff(n_concordant) - n_positive[:-1] * n_negative)


class WithinGroups(NamedTuple):
    """Pairs of a positive and a negative row of the same group.

    ``concordant`` and ``pairs`` are the weights of concordant and of all pairs, by
    group code; ``component`` is, for each row, the fraction of its pairs that are
    concordant.
    """

    concordant: Floats
    pairs: Floats
    component: Floats


def pairs_within_groups(
    code: NDArray[np.intp],
    blocks: ScoreBlocks,
    score: Floats,
    is_positive: NDArray[np.bool_],
    weight: Floats | None,
) -> WithinGroups:
    """Sum the weights of the pairs within each group, with ties counting one half."""
    order = blocks.order[_group_order(code[blocks.order])[0]]
    ranked, group = score[order], code[order]
    is_new = (ranked[1:] != ranked[:-1]) | (group[1:] != group[:-1])
    start = np.flatnonzero(np.append(True, is_new))
    label = is_positive[order]
    tp, fp = class_sums(label, None if weight is None else weight[order], start)
    of_block = group[start]
    n_codes = int(code.max()) + 1
    total = [np.bincount(of_block, sums, n_codes) for sums in (tp, fp)]
    # The rows of the same group above a block are all rows above it in this order, minus
    # those of the preceding groups.
    above, fp_above = (
        np.cumsum(sums) - sums - (np.cumsum(each) - each)[of_block]
        for sums, each in zip((tp, fp), total, strict=True)
    )
    above = above + 0.5 * tp
    below = total[1][of_block] - fp_above - 0.5 * fp
    size = np.diff(np.append(start, score.size))
    shares = (
        np.repeat(sums / np.maximum(each, 1e-300)[of_block], size)
        for sums, each in ((below, total[1]), (above, total[0]))
    )
    component = np.empty(score.size)
    component[order] = np.where(label, *shares)
    concordant = np.bincount(of_block, fp * above, n_codes)
    return WithinGroups(np.asarray(concordant), np.asarray(total[0] * total[1]), component)

"""Several scores of the same rows: intervals, pairwise tests, and one overall test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import special

from rocpath.arguments import rate_up_to_one, share_between
from rocpath.auc_statistics.curves import Curve, LabeledSample
from rocpath.auc_statistics.differences import compared
from rocpath.auc_statistics.multiclass import score_columns
from rocpath.auc_statistics.results import html_table, p_text, percent, text_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from rocpath.auc_statistics.results import AUCComparison, AUCInterval


# Below this ratio to the sum of two variances, that of the difference is summed by row.
_CANCELLATION = 1e-6


class PairComparison(NamedTuple):
    """Two scores by name, their comparison, and its p-value adjusted by Holm."""

    first: str
    second: str
    comparison: AUCComparison
    holm_p_value: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AUCComparisons:
    """Hold the AUCs of several scores of the same rows, and their comparisons.

    Attributes
    ----------
    intervals : dict of AUCInterval
        AUC of each score with its interval, by name.
    pairs : list of PairComparison
        All pairs: ``first``, ``second``, ``comparison`` and ``holm_p_value``, which
        controls the family-wise error rate over all pairs.
    statistic, degrees_of_freedom, p_value : float
        DeLong's overall test of the hypothesis that all AUCs are equal: a chi-squared
        statistic, or for grouped rows an F statistic, whose degrees of freedom are
        those of the numerator.
    """

    intervals: dict[str, AUCInterval]
    pairs: list[PairComparison]
    statistic: float
    degrees_of_freedom: int
    p_value: float

    def _tables(self) -> list[tuple[list[str], list[list[str]]]]:
        level = percent(next(iter(self.intervals.values())).confidence)
        scores = [
            [name, f"{one.value:.4f}", f"{one.low:.4f} to {one.high:.4f}"]
            for name, one in self.intervals.items()
        ]
        pairs = [
            [
                f"{pair.first} - {pair.second}",
                f"{one.difference:+.4f}",
                f"{one.low:+.4f} to {one.high:+.4f}",
                p_text(one.p_value).removeprefix("p = "),
                p_text(pair.holm_p_value).removeprefix("p = "),
            ]
            for pair in self.pairs
            for one in (pair.comparison,)
        ]
        interval = f"{level} CI"
        return [
            (["score", "AUC", interval], scores),
            (["pair", "difference", interval, "p", "Holm's p"], pairs),
        ]

    def _overall(self) -> str:
        return (
            f"All AUCs equal: statistic {self.statistic:.3g} on "
            f"{self.degrees_of_freedom} degrees of freedom, {p_text(self.p_value)}"
        )

    def __repr__(self) -> str:
        tables = [text_table(*table) for table in self._tables()]
        return "\n\n".join([*tables, self._overall()])

    def _repr_html_(self) -> str:
        tables = [html_table(*table) for table in self._tables()]
        return "".join([*tables, f"<p>{self._overall()}</p>"])


def compare_aucs(
    y: ArrayLike,
    S: ArrayLike | Mapping[str, ArrayLike],
    *,
    names: Sequence[str] | None = None,
    confidence: float = 0.95,
    max_fpr: float | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    positive: Any = None,
) -> AUCComparisons:
    """Compare the AUCs of several scores of the same rows.

    Parameters
    ----------
    y : array-like, shape (n_rows,)
        Labels of exactly two values.
    S : array-like or data frame, shape (n_rows, n_scores), or dict of array-like
        Scores, one in each column; larger for rows that are more likely positive.
    names : list of str, optional
        Names of the columns. By default they are those of the data frame or dict, or
        numbers from 0.
    confidence, max_fpr, sample_weight, groups, positive
        As for :func:`auc_interval`.

    Returns
    -------
    AUCComparisons

    Examples
    --------
    >>> import rocpath as rp
    >>> y = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> S = {"a": [1, 2, 3, 5, 4, 6, 7, 8], "b": [1, 5, 3, 7, 2, 4, 8, 6]}
    >>> print(rp.compare_aucs(y, S))
    score     AUC            95% CI
    a      0.9375  0.3991 to 0.9948
    b      0.6250  0.2516 to 0.8848
    <BLANKLINE>
    pair   difference              95% CI      p  Holm's p
    a - b     +0.3125  -0.0626 to +0.6435  0.065     0.065
    <BLANKLINE>
    All AUCs equal: statistic 3.41 on 1 degrees of freedom, p = 0.065
    """
    sample = LabeledSample.of(y, sample_weight, positive, groups)
    confidence = share_between("confidence", confidence)
    max_fpr = rate_up_to_one("max_fpr", max_fpr)
    columns = named_columns(S, names, sample.is_positive.size)
    curves = {name: Curve.of(sample, score, max_fpr, confidence) for name, score in columns.items()}
    covariance = _covariance(sample, list(curves.values()))
    found = []
    for (i, one), (j, two) in combinations(enumerate(curves), 2):
        variance = _pair_variance(sample, covariance, i, j)
        pair = compared(curves[one], curves[two], variance=variance)
        found.append((one, two, pair))
    adjusted = holm([comparison.p_value for *_, comparison in found])
    return AUCComparisons(
        {name: curve.interval for name, curve in curves.items()},
        [PairComparison(*pair, p) for pair, p in zip(found, adjusted, strict=True)],
        *_overall_test(sample, list(curves.values()), covariance),
    )


def named_columns(
    S: Any, names: Sequence[str] | None, n_rows: int
) -> dict[str, NDArray[np.float64]]:
    """Return contiguous columns by name, or raise with the column that is wrong."""
    if isinstance(S, Mapping):
        names = list(S) if names is None else names
        values = list(S.values())
        for name, value in zip(names, values, strict=False):
            if np.shape(value) != (n_rows,):
                raise ValueError(
                    f"scores {name!r} must have one entry for each of the {n_rows} "
                    f"labels, got shape {np.shape(value)}."
                )
        S = np.column_stack(values) if values else np.empty((n_rows, 0))
    elif names is None and hasattr(S, "columns"):
        names = list(S.columns)
    columns = np.ascontiguousarray(score_columns(S, n_rows).T)
    names = [str(k) for k in (range(len(columns)) if names is None else names)]
    if len(names) != len(columns) or len(set(names)) < len(names):
        raise ValueError(
            f"names must be different, one for each of the {len(columns)} columns, got {names}."
        )
    if len(names) < 2:
        raise ValueError(f"S must have at least two columns, got {len(names)}.")
    for name, column in zip(names, columns, strict=True):
        if column.min() == column.max():
            raise ValueError(
                f"scores {name!r} must not be constant, got only {column[0]:g}: it "
                "does not rank any rows."
            )
    return dict(zip(names, columns, strict=True))


def holm(p_value: Sequence[float]) -> list[float]:
    """Adjust p-values such that the family-wise error rate is controlled (Holm)."""
    # The k-th smallest of n is multiplied by n - k + 1; the results must not decrease.
    order = np.argsort(p_value, kind="stable")
    times = np.arange(order.size, 0, -1)
    adjusted = np.empty(order.size)
    adjusted[order] = np.maximum.accumulate(times * np.asarray(p_value)[order])
    return np.minimum(adjusted, 1.0).tolist()  # type: ignore[no-any-return]


def _pair_variance(
    sample: LabeledSample, covariance: NDArray[np.float64], i: int, j: int
) -> float | None:
    """Return DeLong's variance of a difference, or None if it must be summed by row."""
    counts = sample.counts["n_positives"], sample.counts["n_negatives"]
    total = float(covariance[i, i] + covariance[j, j])
    variance = total - 2.0 * float(covariance[i, j])
    # Nearly equal rankings would lose their digits in the subtraction.
    if sample.groups is not None or 1 in counts or variance < _CANCELLATION * total:
        return None
    return variance


def _overall_test(
    sample: LabeledSample, curves: list[Curve], covariance: NDArray[np.float64]
) -> tuple[float, int, float]:
    """Test that all AUCs are equal, by their differences to the last one."""
    area = np.array([curve.blocks.area for curve in curves])
    difference = area[:-1] - area[-1]
    contrast = np.eye(len(curves))[:-1]
    contrast[:, -1] = -1.0
    apart = contrast @ covariance @ contrast.T
    # Scores that rank alike make it singular: its rank is the degrees of freedom.
    scale = max(float(np.abs(apart).max()), 1e-300)
    rank = int(np.linalg.matrix_rank(apart / scale, tol=1e-10, hermitian=True))
    if rank == 0:
        return 0.0, 0, 1.0
    inverse = np.linalg.pinv(apart / scale, rcond=1e-10, hermitian=True) / scale
    statistic = float(difference @ inverse @ difference)
    if sample.groups is None:
        return statistic, rank, float(special.chdtrc(rank, statistic))
    # Hotelling's T squared on as many degrees of freedom as groups.
    freedom = max(sample.groups.n_groups - rank, 1)
    statistic *= freedom / (rank * max(sample.groups.n_groups - 1, 1))
    return statistic, rank, float(special.fdtrc(rank, freedom, statistic))


def _covariance(sample: LabeledSample, curves: list[Curve]) -> NDArray[np.float64]:
    """Return the covariance matrix of the AUCs from their structural components."""
    sides = sample.is_positive, ~sample.is_positive
    weight = np.ones(sides[0].size) if sample.weight is None else sample.weight
    totals = [float(weight @ side) for side in sides]
    share = weight / np.where(sides[0], *totals)
    deviation = np.array([curve.deviation for curve in curves])
    if sample.groups is None:
        parts = np.sqrt(np.maximum(sample.unbiased_parts, 1e-300))
        deviation *= share / np.where(sides[0], *parts)
        return np.asarray(deviation @ deviation.T)
    deviation *= share
    code, n_all = sample.groups.code, sample.groups.n_groups
    total, by_group = np.zeros((len(curves),) * 2), []
    for side in sides:
        rows = np.flatnonzero(side)
        own, n_codes = code[rows], int(code.max()) + 1
        sums = np.array([np.bincount(own, one[rows], n_codes) for one in deviation])
        count = np.unique(own).size
        total += sums @ sums.T * (count / max(count - 1, 1))
        by_group.append(sums)
    cross = by_group[0] @ by_group[1].T
    total += (cross + cross.T) * (n_all / (n_all - 1))
    return total

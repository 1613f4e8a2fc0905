"""Several scores of the same rows: intervals, pairwise tests, and one overall test."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from rocpath.evaluation.comparisons import holm
from rocpath.evaluation.curves import ScoreCurve
from rocpath.evaluation.differences import compared
from rocpath.evaluation.results import AUCComparison, AUCInterval, TextTable, p_text, percent
from rocpath.sample import Sample, count_groups
from rocpath.validation import Floats, check_masked

# Below this fraction of the sum of both variances, the variance of a difference is
# computed by summing over rows.
_CANCELLATION = 1e-6


class PairComparison(NamedTuple):
    """Names of two scores, their comparison, and its Holm-adjusted p-value."""

    first: str
    second: str
    comparison: AUCComparison
    holm_p_value: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AUCComparisons(TextTable):
    """The AUCs of several scores of the same rows, and their comparisons.

    Attributes
    ----------
    intervals : dict of AUCInterval
        AUC of each score with its interval, by name.
    pairs : list of PairComparison
        Comparisons of all pairs, with ``first``, ``second``, ``comparison`` and
        ``holm_p_value``, which controls the family-wise error rate over all pairs.
    statistic, degrees_of_freedom, p_value : float
        DeLong's overall test of the hypothesis that all AUCs are equal. The statistic
        is chi-squared; for grouped rows it is an F statistic, and the degrees of
        freedom are those of its numerator.
    """

    intervals: dict[str, AUCInterval]
    pairs: list[PairComparison]
    statistic: float
    degrees_of_freedom: int
    p_value: float

    def _tables(self) -> list[tuple[list[str], list[list[str]]]]:
        area = next(iter(self.intervals.values()))
        interval = f"{percent(area.confidence)} CI"
        scores = [
            [name, f"{one.value:.4f}", f"{one.low:.4f} to {one.high:.4f}"]
            for name, one in self.intervals.items()
        ]
        pairs = [
            [
                f"{first} - {second}",
                f"{one.difference:+.4f}",
                f"{one.low:+.4f} to {one.high:+.4f}",
                *(p_text(p).removeprefix("p ").removeprefix("= ") for p in (one.p_value, adjusted)),
            ]
            for first, second, one, adjusted in self.pairs
        ]
        return [
            (["score", area.name, interval], scores),
            (["pair", "difference", interval, "p", "Holm's p"], pairs),
        ]

    def _below(self) -> list[str]:
        area = next(iter(self.intervals.values()))
        kind = "AUCs" if area.max_fpr is None else "partial AUCs"
        return [
            f"Test of equal {kind}: statistic {self.statistic:.3g}, degrees of freedom "
            f"{self.degrees_of_freedom}, {p_text(self.p_value)}"
        ]


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
        Labels with exactly two distinct values.
    S : array-like or data frame, shape (n_rows, n_scores), or dict of array-like
        Scores, one per column, larger for rows that are more likely to be positive.
    names : list of str, optional
        Names of the columns. By default, the names in the data frame or dict, or
        column numbers starting at 0.
    confidence, max_fpr, sample_weight, groups, positive
        As in :func:`auc_interval`.

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
    b      0.6250  0.2464 to 0.8874
    <BLANKLINE>
    pair   difference              95% CI      p  Holm's p
    a - b     +0.3125  -0.1016 to +0.7266  0.065     0.065
    <BLANKLINE>
    Test of equal AUCs: statistic 3.41, degrees of freedom 1, p = 0.065
    """
    sample = Sample.from_labels(y, sample_weight=sample_weight, groups=groups, positive=positive)
    curves = {
        name: ScoreCurve.of(sample, score, max_fpr=max_fpr, confidence=confidence)
        for name, score in _named_columns(sample, S, names).items()
    }
    covariance = _covariance(sample, list(curves.values()))
    found = []
    for (i, one), (j, two) in combinations(enumerate(curves), 2):
        variance = _pair_variance(curves[one], covariance[np.ix_([i, j], [i, j])])
        found.append((one, two, compared(curves[one], curves[two], variance=variance)))
    adjusted = holm([comparison.p_value for *_, comparison in found])
    return AUCComparisons(
        {name: curve.interval for name, curve in curves.items()},
        [PairComparison(*pair, p) for pair, p in zip(found, adjusted, strict=True)],
        *_overall_test(sample, list(curves.values()), covariance, min(adjusted)),
    )


def _named_columns(sample: Sample, S: Any, names: Sequence[str] | None) -> dict[str, Floats]:
    """Return columns by name; errors name the invalid column."""
    check_masked("S", S)
    if not isinstance(S, Mapping) and not hasattr(S, "columns"):
        table = np.asarray(S)
        if table.ndim != 2:
            raise ValueError(f"S must be two-dimensional, got shape {table.shape}.")
        S = dict(enumerate(np.ascontiguousarray(table.T)))
    given = [S[name] for name in getattr(S, "columns", S)]
    names = [str(name) for name in (getattr(S, "columns", S) if names is None else names)]
    if len(names) != len(given) or len(set(names)) < len(names):
        raise ValueError(
            f"names must be distinct, one for each of the {len(given)} columns, got {names}."
        )
    if len(names) < 2:
        raise ValueError(f"S must have at least two columns, got {len(names)}.")
    columns = {}
    for name, values in zip(names, given, strict=True):
        column = columns[name] = sample.scores(f"scores {name!r}", values)
        if column.min() == column.max():
            raise ValueError(
                f"scores {name!r} must not be constant, got only {column[0]:g}: "
                "constant scores do not rank the rows."
            )
    return columns


def _pair_variance(curve: ScoreCurve, covariance: Floats) -> float | None:
    """Return DeLong's variance of a difference, or None if rows must be summed."""
    total = float(np.trace(covariance))
    variance = total - 2.0 * float(covariance[0, 1])
    is_known = curve.sample.unit is None and not any(one.is_single for one in curve.spreads)
    # For nearly equal rankings, most digits would cancel in the subtraction.
    return variance if is_known and variance > _CANCELLATION * total else None


def _overall_test(
    sample: Sample, curves: list[ScoreCurve], covariance: Floats, least_p_value: float
) -> tuple[float, int, float]:
    """Test whether all AUCs are equal, using their differences from the last one.

    ``least_p_value`` is the smallest adjusted p-value of the pairs.
    """
    center = np.array([curve.center for curve in curves])
    contrast = covariance - covariance[-1] - covariance[:, -1:] + covariance[-1, -1]
    # The covariance matrix of the differences is singular if rankings are equal; its rank
    # gives the degrees of freedom.
    variance, direction = np.linalg.eigh(contrast[:-1, :-1])
    difference = (center[:-1] - center[-1]) @ direction
    # Contrasts have a rounding error relative to the variances of the AUCs.
    rounding = 1e-13 * float(np.diagonal(covariance).max())
    tolerance = max(1e-10 * float(variance[-1]), rounding, 1e-300)
    is_tested = variance > tolerance
    rank = int(np.count_nonzero(is_tested))
    if (np.abs(difference[~is_tested]) > 10.0 * np.sqrt(tolerance)).any():
        # Differences without variance have no chi-squared test.
        return float("inf"), max(rank, 1), least_p_value
    if rank == 0:
        return 0.0, 0, 1.0
    statistic = float((difference[is_tested] ** 2 / variance[is_tested]).sum())
    if sample.unit is None:
        return statistic, rank, float(special.chdtrc(rank, statistic))
    # Hotelling's T-squared test, with groups as the independent units.
    n_groups = count_groups(sample.unit)
    freedom = max(n_groups - rank, 1)
    statistic *= freedom / (rank * max(n_groups - 1, 1))
    return statistic, rank, float(special.fdtrc(rank, freedom, statistic))


def _covariance(sample: Sample, curves: list[ScoreCurve]) -> Floats:
    """Return the covariance matrix of the AUCs."""
    if sample.unit is not None:
        replicates = np.array([curve.jackknife.replicates for curve in curves])
        return np.asarray(np.cov(replicates, bias=True) * (replicates.shape[1] - 1.0))
    first = curves[0]
    # Each deviation is divided by the total weight of its class, and each sum of squares
    # by 1 - 1/n (Bessel's correction).
    positive, negative = (
        1.0 / total.sum() / np.sqrt(max(1.0 - 1.0 / spread.n_rows, 1e-9))
        for total, spread in zip((first.blocks.tp, first.blocks.fp), first.spreads, strict=True)
    )
    factor = np.where(sample.is_positive, positive, negative)
    if sample.weight is not None:
        factor *= sample.weight
    influence = np.array([factor * curve.deviation for curve in curves])
    return np.asarray(influence @ influence.T)

"""Differences of a metric between scores, printed as a sentence or as tables."""

from dataclasses import dataclass
from itertools import islice
from typing import Any

from rocpath.evaluation.results import (
    Limits,
    MetricInterval,
    Sentence,
    TextTable,
    frame_of,
    p_text,
    percent,
)

_LEVEL = 0.05  # significance level for Holm-adjusted p-values


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class MetricDifference(Sentence):
    """The difference of a metric between two scores.

    Attributes
    ----------
    value, low, high : float
        Difference, the first value minus the second, and limits of its interval.
    standard_error : float
        Standard error that the interval and the test use.
    freedom : float
        Degrees of freedom of Student's t distribution.
    p_value : float
        Two-sided p-value of the hypothesis that both values are equal.
    adjusted_p_value : float
        Holm's p-value, which controls the family-wise error rate over all pairs.
    asymptotic_standard_error : float
        Standard error from the influences alone, without corrections for small samples;
        for AUCs of independent rows, it is DeLong's.
    margin : float or None
        Margin of non-inferiority and equivalence.
    non_inferiority_p_value, equivalence_p_value : float or None
        P-value of the hypothesis that the first value is worse by ``margin`` or more, and
        of the hypothesis that the values differ by ``margin`` or more.
    """

    value: float
    low: float
    high: float
    standard_error: float
    freedom: float
    p_value: float
    adjusted_p_value: float
    asymptotic_standard_error: float
    confidence: float
    margin: float | None = None
    non_inferiority_p_value: float | None = None
    equivalence_p_value: float | None = None

    def __repr__(self) -> str:
        return (
            f"difference {self.value:+.4f} ({percent(self.confidence)} CI {self.low:+.4f} to "
            f"{self.high:+.4f}), {p_text(self.p_value)}{self.margin_text()}"
        )

    def margin_text(self) -> str:
        """State the tests of non-inferiority and equivalence, if there is a margin."""
        if self.non_inferiority_p_value is None or self.equivalence_p_value is None:
            return ""
        return (
            f"; margin {self.margin:g}: non-inferiority "
            f"{p_text(self.non_inferiority_p_value)}, equivalence "
            f"{p_text(self.equivalence_p_value)}"
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class MetricComparison(TextTable):
    """A metric of several scores, and all differences.

    Attributes
    ----------
    name : str
        Name of the metric.
    intervals : dict of MetricInterval
        Interval of each score, by name.
    differences : dict of MetricDifference
        All pairwise differences, by the names of both scores.
    p_value : float
        P-value of the hypothesis that all values are equal; for two scores, that of
        their difference.
    statistic, n_contrasts, freedom : float
        F statistic of this test, and its degrees of freedom; for two scores, the square
        of Student's t statistic.
    confidence : float
        Nominal coverage of each interval.
    margin : float or None
        Margin of non-inferiority and equivalence.
    subgroups : dict of MetricComparison, or None
        Comparison in each subgroup, if ``by`` was given.
    equality_p_value : float or None
        P-value of the interaction: the hypothesis that the differences between the
        scores are the same in all subgroups.
    largest_gap : Limits or None
        For two scores, largest gap between the differences of two subgroups, and limits
        that hold simultaneously for all pairs of subgroups.
    warnings : tuple of str
        Reasons to doubt the intervals and tests.
    """

    name: str
    intervals: dict[str, MetricInterval]
    differences: dict[tuple[str, str], MetricDifference]
    statistic: float
    n_contrasts: int
    freedom: float
    p_value: float
    confidence: float
    margin: float | None = None
    subgroups: dict[Any, Any] | None = None
    equality_p_value: float | None = None
    largest_gap: Limits | None = None
    warnings: tuple[str, ...] = ()

    @property
    def _only(self) -> MetricDifference:
        if len(self.differences) != 1:
            raise AttributeError(
                "difference is defined for two scores, got "
                f"{len(self.intervals)}: use differences[first, second]."
            )
        return next(iter(self.differences.values()))

    @property
    def difference(self) -> float:
        """The first value minus the second, if there are two scores."""
        return self._only.value

    @property
    def low(self) -> float:
        """Lower limit of the difference, if there are two scores."""
        return self._only.low

    @property
    def high(self) -> float:
        """Upper limit of the difference, if there are two scores."""
        return self._only.high

    @property
    def standard_error(self) -> float:
        """Standard error of the difference, if there are two scores."""
        return self._only.standard_error

    @property
    def non_inferiority_p_value(self) -> float | None:
        """P-value of the test of non-inferiority, if there are two scores."""
        return self._only.non_inferiority_p_value

    @property
    def equivalence_p_value(self) -> float | None:
        """P-value of the test of equivalence, if there are two scores."""
        return self._only.equivalence_p_value

    @property
    def findings(self) -> list[str]:
        """Each significant difference in a sentence, or the absence of any."""
        sentences = []
        for (first, second), pair in self.differences.items():
            if pair.adjusted_p_value < _LEVEL:
                better, worse = (first, second) if pair.value > 0 else (second, first)
                sentences.append(
                    f"{better!r} has a significantly higher {self.name} than {worse!r} "
                    f"(difference {abs(pair.value):.4f} ± {pair.standard_error:.4f}, "
                    f"Holm-adjusted {p_text(pair.adjusted_p_value)})."
                )
        return sentences or [f"No significant difference in {self.name}."]

    def _tables(self) -> list[tuple[list[str], list[list[str]]]]:
        level = f"{percent(self.confidence)} CI"
        scores = [
            [name, f"{part.value:.4f}", f"{part.low:.4f} to {part.high:.4f}"]
            for name, part in self.intervals.items()
        ]
        pairs = [
            [
                f"{first} - {second}",
                f"{part.value:+.4f}",
                f"{part.low:+.4f} to {part.high:+.4f}",
                *(_p_cell(p) for p in (part.p_value, part.adjusted_p_value)),
            ]
            for (first, second), part in self.differences.items()
        ]
        tables = [
            (["score", self.name, level], scores),
            (["pair", "difference", level, "p", "Holm's p"], pairs),
        ]
        return tables if self.subgroups is None else [*tables, self._subgroup_table(level)]

    def _subgroup_table(self, level: str) -> tuple[list[str], list[list[str]]]:
        rows = []
        for label, part in (self.subgroups or {}).items():
            for (first, second), one in part.differences.items():
                counts = next(iter(part.intervals.values()))
                sizes = [", ".join(counts.sizes)]
                limits = f"{one.low:+.4f} to {one.high:+.4f}"
                rows.append(
                    [str(label), f"{first} - {second}", f"{one.value:+.4f}", limits, *sizes]
                )
        return ["subgroup", "pair", "difference", level, "rows"], rows

    def _below(self) -> list[str]:
        lines = []
        if len(self.intervals) > 2:
            lines.append(
                f"Test of equal values: F({self.n_contrasts}, {self.freedom:.3g}) = "
                f"{self.statistic:.3g}, {p_text(self.p_value)}"
            )
        else:
            lines += [text for one in self.differences.values() if (text := one.margin_text()[2:])]
        if self.equality_p_value is not None:
            lines.append(f"Interaction with the subgroups: {p_text(self.equality_p_value)}")
        if self.largest_gap is not None:
            value, low, high = (f"{x:.4f}" for x in self.largest_gap)
            level = percent(self.confidence)
            lines.append(f"Largest gap {value} (simultaneous {level} CI {low} to {high})")
        first = next(islice(self.intervals.values(), 1))
        return [
            *lines,
            f"{', '.join(first.sizes)}.",
            *(f"Warning: {text}" for text in self.warnings),
        ]

    def to_frame(self) -> Any:
        """Return a data frame with a row for each pairwise difference."""
        parts = {"all": self, **(self.subgroups or {})}
        columns = ("value", "low", "high", "standard_error", "p_value", "adjusted_p_value")
        return frame_of(
            [
                {"subgroup": str(label), "metric": self.name, "first": first, "second": second}
                | {column: getattr(one, column) for column in columns}
                for label, part in parts.items()
                for (first, second), one in part.differences.items()
            ]
        )


def _p_cell(p_value: float) -> str:
    return p_text(p_value).removeprefix("p ").removeprefix("= ")

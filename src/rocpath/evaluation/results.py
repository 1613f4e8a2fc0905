"""Results of one metric of one score, printed as they would be reported in a paper."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from operator import call
from typing import Any, NamedTuple

_UNITS = {
    "positive": "positives",
    "negative": "negatives",
    "event": "events",
    "censored": "censored",
    "group": "groups",
    "stratum": "strata",
}


class Sentence:
    """Mixin that shows the ``repr`` of a result as a paragraph in notebooks."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self))}</p>"


class TextTable(ABC):
    """Base class of results that are shown as tables, with optional text below them."""

    __slots__ = ()

    @abstractmethod
    def _tables(self) -> list[tuple[list[str], list[list[str]]]]:
        """Return the header and the rows of each table."""

    def _below(self) -> list[str]:
        return []

    def __repr__(self) -> str:
        return "\n\n".join([*(text_table(*table) for table in self._tables()), *self._below()])

    def _repr_html_(self) -> str:
        tables = [html_table(*table) for table in self._tables()]
        return "".join([*tables, *(f"<p>{escape(line)}</p>" for line in self._below())])


def percent(confidence: float) -> str:
    """Format a confidence level, such as "95%"."""
    return f"{100 * confidence:g}%"


def p_text(p_value: float) -> str:
    """Format a p-value, such as "p = 0.03"."""
    return "p < 0.0001" if p_value < 1e-4 else f"p = {p_value:.2g}"


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, n_left: int = 1) -> str:
    """Format a text table; the first columns are left-aligned, others right-aligned."""
    cells = [header, *rows]
    width = [max(map(len, column)) for column in zip(*cells, strict=True)]
    align = [str.ljust if k < n_left else str.rjust for k in range(len(width))]
    return "\n".join("  ".join(map(call, align, row, width)).rstrip() for row in cells)


def html_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format an HTML table; all text is escaped."""
    body = "".join(
        "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in line) + "</tr>"
        for tag, lines in (("th", [header]), ("td", rows))
        for line in lines
    )
    return f"<table>{body}</table>"


def frame_of(rows: Sequence[dict[str, Any]]) -> Any:
    """Return a pandas data frame, or one of polars if only that is installed."""
    try:
        import pandas as pd  # type: ignore[import-untyped]
    except ImportError:
        import polars as pl

        return pl.DataFrame(rows)
    return pd.DataFrame(rows)


class Limits(NamedTuple):
    """An estimate, and the limits of its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class MetricInterval(Sentence):
    """A metric with its standard error and confidence interval.

    Attributes
    ----------
    name : str
        Name of the metric, with its region or threshold.
    value, low, high : float
        Estimate, and limits of the interval.
    standard_error : float
        Standard error of the estimate.
    confidence : float
        Nominal coverage of the interval.
    positive, negative : label
        Positive and negative class.
    n_positives, n_negatives : int or None
        Number of rows of each class.
    n_events, n_censored : int or None
        Number of rows with and without an event, for censored times.
    n_groups : int or None
        Number of groups, if rows are grouped.
    n_strata, n_skipped_strata : int or None
        Number of strata that were evaluated, and number of skipped strata, which have
        only one class.
    population : {"these", "like these"} or None
        Strata for which the interval holds: those of the sample, or the population from
        which they were sampled.
    subgroups : dict of MetricInterval, or None
        Interval of each subgroup, by its label, if ``by`` was given. Subgroups for which
        the metric is undefined have NaN.
    equality_p_value : float or None
        P-value of the hypothesis that all subgroups have the same value.
    largest_gap : Limits or None
        Largest difference between two subgroups, and limits that hold simultaneously
        for all pairs.
    warnings : tuple of str
        Reasons to doubt the interval.
    """

    name: str
    value: float
    low: float
    high: float
    confidence: float
    standard_error: float = float("nan")
    positive: Any = None
    negative: Any = None
    n_positives: int | None = None
    n_negatives: int | None = None
    n_events: int | None = None
    n_censored: int | None = None
    n_groups: int | None = None
    n_strata: int | None = None
    n_skipped_strata: int | None = None
    population: str | None = None
    digits: int = 3
    subgroups: dict[Any, Any] | None = None
    equality_p_value: float | None = None
    largest_gap: Limits | None = None
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        lines = [self._sentence()]
        if self.subgroups is not None:
            lines += [f"{label}: {part!r}" for label, part in self.subgroups.items()]
        if self.equality_p_value is not None:
            lines.append(f"Test of equal values: {p_text(self.equality_p_value)}")
        if self.largest_gap is not None:
            value, low, high = (f"{x:.{self.digits}f}" for x in self.largest_gap)
            level = percent(self.confidence)
            lines.append(f"Largest gap {value} (simultaneous {level} CI {low} to {high})")
        return "\n".join([*lines, *(f"Warning: {text}" for text in self.warnings)])

    @property
    def sizes(self) -> list[str]:
        """Numbers of rows, groups and strata with their names, such as "3 positives"."""
        return [
            f"{count:,} {singular if count == 1 else plural}"
            for singular, plural in _UNITS.items()
            if (count := getattr(self, f"n_{plural}")) is not None
        ]

    @property
    def contrast(self) -> str:
        """Which class is positive, such as " of 'case' vs 'control'"; empty for 0 and 1."""
        if self.negative is None or is_plain_label(self.positive):
            return ""
        return f" of {self.positive!r} vs {self.negative!r}"

    def _sentence(self) -> str:
        """State the estimate, its interval and the sizes of the sample."""
        value, low, high = (f"{x:.{self.digits}f}" for x in (self.value, self.low, self.high))
        sizes = self.sizes
        text = f"{self.name}{self.contrast} {value} ({percent(self.confidence)} CI {low} to {high})"
        if self.population == "like these":
            text += " in strata like these"
        text = ", ".join([text, *sizes])
        if self.n_skipped_strata:
            strata = "stratum" if self.n_skipped_strata == 1 else "strata"
            text += f" ({self.n_skipped_strata:,} {strata} with one class skipped)"
        return text

    def to_frame(self) -> Any:
        """Return a data frame with a row for all rows, and one for each subgroup."""
        parts = {"all": self, **(self.subgroups or {})}
        return frame_of([{"subgroup": str(label), **part.row()} for label, part in parts.items()])

    def row(self) -> dict[str, Any]:
        """Return the estimate, its interval and the sizes, by column name."""
        columns = ("value", "low", "high", "standard_error", "confidence")
        counts = ["n_positives", "n_negatives", "n_groups"]
        if self.n_events is not None:
            counts[:2] = ["n_events", "n_censored"]
        row = {column: getattr(self, column) for column in (*columns, *counts)}
        return {"metric": self.name, "positive": self.positive, **row}


def is_plain_label(label: Any) -> bool:
    """Return whether a positive label need not be named: 1 or True."""
    return label is None or label in (1, True)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class AUCInterval(MetricInterval):
    """An AUC with its standard error and confidence interval.

    Attributes
    ----------
    value : float
        AUC, or partial AUC up to ``max_fpr``.
    standard_error : float
        DeLong's standard error, or Obuchowski's if rows are grouped. It is 0 at an AUC
        of exactly 1 or 0, where the interval still has a positive width. For a class
        with a single row, the variance of two normal distributions is used.
    low, high : float
        Limits of the interval, between 0 and the largest possible area.
    max_fpr : float or None
        Upper limit of the false positive rate, for a partial AUC.

    See Also
    --------
    MetricInterval : The attributes that intervals of all metrics have.
    """

    max_fpr: float | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AUCComparison(Sentence):
    """The difference between two AUCs.

    Attributes
    ----------
    value, other_value : float
        The two AUCs, or partial AUCs up to ``max_fpr``.
    difference : float
        ``value - other_value``.
    standard_error : float
        Standard error of the difference that the interval and the test use.
    low, high : float
        Limits of the confidence interval of the difference.
    p_value : float
        Two-sided p-value of the hypothesis that both AUCs are equal.
    confidence : float
        Nominal coverage of the interval.
    margin : float or None
        Margin of non-inferiority and equivalence.
    non_inferiority_p_value : float or None
        One-sided p-value of the hypothesis that the first AUC is smaller than the
        second by ``margin`` or more.
    equivalence_p_value : float or None
        P-value of the two one-sided tests of the hypothesis that the AUCs differ by
        ``margin`` or more.
    asymptotic_standard_error : float
        Standard error from the influences alone, without corrections for small samples:
        DeLong's for independent rows.
    name : str
        "AUC", with the region of a partial AUC.
    """

    value: float
    other_value: float
    difference: float
    standard_error: float
    low: float
    high: float
    p_value: float
    confidence: float
    margin: float | None = None
    non_inferiority_p_value: float | None = None
    equivalence_p_value: float | None = None
    asymptotic_standard_error: float = float("nan")
    name: str = "AUC"

    def __repr__(self) -> str:
        text = (
            f"{self.name} {self.value:.3f} and {self.other_value:.3f}: difference "
            f"{self.difference:+.4f} ({percent(self.confidence)} CI {self.low:+.4f} to "
            f"{self.high:+.4f}), {p_text(self.p_value)}"
        )
        if self.non_inferiority_p_value is None or self.equivalence_p_value is None:
            return text
        return (
            f"{text}; margin {self.margin:g}: non-inferiority "
            f"{p_text(self.non_inferiority_p_value)}, equivalence "
            f"{p_text(self.equivalence_p_value)}"
        )

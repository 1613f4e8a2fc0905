"""Results of AUC statistics, printed as they would be reported in a paper."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from operator import call

_UNITS = {"positive": "positives", "negative": "negatives", "group": "groups", "stratum": "strata"}


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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MetricInterval(Sentence):
    """A metric with its confidence interval.

    Attributes
    ----------
    name : str
        Name of the metric.
    value, low, high : float
        Estimate, and limits of the interval.
    confidence : float
        Nominal coverage of the interval.
    n_positives, n_negatives : int
        Number of rows of each class.
    n_groups : int or None
        Number of groups, if rows are grouped.
    """

    name: str
    value: float
    low: float
    high: float
    confidence: float
    n_positives: int | None = None
    n_negatives: int | None = None
    n_groups: int | None = None

    def __repr__(self) -> str:
        return self._sentence(3)

    def _sentence(self, digits: int) -> str:
        """State the estimate, its interval and the sizes of the sample."""
        value, low, high = (f"{one:.{digits}f}" for one in (self.value, self.low, self.high))
        sizes = [
            f"{count:,} {singular if count == 1 else plural}"
            for singular, plural in _UNITS.items()
            if (count := getattr(self, f"n_{plural}", None)) is not None
        ]
        text = f"{self.name} {value} ({percent(self.confidence)} CI {low} to {high})"
        return ", ".join([text, *sizes])


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class AUCInterval(MetricInterval):
    """An AUC with its standard error and confidence interval.

    Attributes
    ----------
    name : str
        Name of the metric: "AUC", with its kind if it is partial or an average.
    value : float
        AUC, or partial AUC up to ``max_fpr``.
    standard_error : float
        DeLong's standard error, or Obuchowski's if rows are grouped. It is 0 at an AUC
        of exactly 1 or 0, where the interval still has a positive width. For a class
        with a single row, the variance of two normal distributions is used.
    low, high : float
        Limits of the interval, between 0 and the largest possible area.
    confidence : float
        Nominal coverage of the interval.
    n_positives, n_negatives : int
        Number of rows of each class.
    n_groups : int or None
        Number of groups, if rows are grouped.
    n_strata, n_skipped_strata : int or None
        Number of strata with both classes, and number of strata with only one class.
    max_fpr : float or None
        Upper limit of the false positive rate, for a partial AUC.
    """

    standard_error: float
    n_strata: int | None = None
    n_skipped_strata: int | None = None
    max_fpr: float | None = None

    def __repr__(self) -> str:
        text = self._sentence(3 if self.max_fpr is None else 4)
        if self.n_skipped_strata:
            strata = "stratum" if self.n_skipped_strata == 1 else "strata"
            text += f" ({self.n_skipped_strata:,} {strata} with one class skipped)"
        return text


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
        DeLong's standard error of the difference, or Obuchowski's if rows are grouped.
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

    def __repr__(self) -> str:
        text = (
            f"AUC {self.value:.3f} and {self.other_value:.3f}: difference "
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

"""What each column of a table is taken for, and why, before anything is fitted."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

KINDS = ("number", "category", "date", "drop")
DECIMAL_POINT, DECIMAL_COMMA = "decimal point", "decimal comma"
_LEAST_READ = 0.95  # of its values that must be readable for a column to be no text
_MOST_UNREADABLE = 20  # different texts of such a column that are taken as missing
# Dots stand in days first everywhere; slashes and dashes do not.
_DATES = (
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%m-%d-%Y",
)
_SIGNS = r"[$€£¥₹]|\b(?:USD|EUR|GBP|CHF)\b"
_SPACES = " '\u2019\u00a0\u202f"  # a space, an apostrophe, and their typeset forms
# What stands between thousands, and before decimals.
_MARKS = {
    DECIMAL_POINT: (f"[,{_SPACES}]", r"\."),
    DECIMAL_COMMA: (f"[.{_SPACES}]", ","),
}


class Reading(NamedTuple):
    """How the text of a column becomes numbers, and which text is taken as missing."""

    format: str
    number: pl.Series
    unreadable: tuple[str, ...]


class ColumnAudit(NamedTuple):
    """What a column is taken for: a number, category or date, or dropped."""

    column: str
    kind: str
    why: str
    n_missing: int
    n_levels: int
    n_unreadable: int = 0
    is_suspect: bool = False  # ranks almost perfectly on its own


def parsed_types(assignments: Sequence[str]) -> dict[str, str]:
    """Read ``column=kind``; a date may have its format, as in ``date:%d/%m/%Y``."""
    types = {}
    for assignment in assignments:
        name, _, kind = assignment.rpartition("=")
        is_date = kind.startswith("date:%")
        if not name or not (is_date or kind in KINDS):
            raise ValueError(
                f"--type must be COLUMN=KIND with a kind of {', '.join(KINDS)} or "
                f"date:FORMAT, got {assignment!r}."
            )
        types[name] = kind
    return types


def reading_of(series: pl.Series, kind: str | None) -> Reading | None:
    """Find how a column of text is to be read; None if it is best left as text."""
    text = series.str.strip_chars()
    numbers, dates = _readings(text, kind)
    if numbers and (kind == "number" or _is_read(text, numbers[0])):
        return numbers[0]
    kept = [one for one in dates if kind is not None or _is_read(text, one)]
    # Where one day is found in two ways, more rows would tell which; these do not.
    most = max((one.number.count() for one in kept), default=0)
    kept = [one for one in kept if one.number.count() == most]
    if len(kept) > 1 and not kept[0].number.equals(kept[1].number):
        raise ValueError(
            f"column {series.name!r} may hold dates as {kept[0].format} or as "
            f"{kept[1].format}, as {text.drop_nulls()[0]!r} shows: say which with "
            f"--type '{series.name}=date:{kept[0].format}', or leave the column out "
            f"with --type '{series.name}=drop'."
        )
    if kept:
        return kept[0]
    if kind not in (None, "category"):
        raise ValueError(
            f"column {series.name!r} has no value that can be read as a "
            f"{kind.split(':')[0]}, got {text.drop_nulls()[:1].to_list()}."
        )
    return None


def read_text(series: pl.Series, style: str) -> pl.Series:
    """Read text as numbers, and dates as days; null where it cannot be read."""
    text = series.str.strip_chars()
    if style.startswith("%"):
        days = text.str.to_date(style, strict=False).cast(pl.Int32)
        return days.cast(pl.Float64)
    group, point = _MARKS[style]
    text = text.str.replace_all(_SIGNS, "").str.strip_chars()
    # A column may mix 5% and 0.05.
    is_percent = text.str.ends_with("%")
    text = text.str.strip_suffix("%").str.strip_chars()
    # Groups of three only: 1,5 is no fifteen, and 03.04.2024 is no number.
    shape = rf"^[+-]?(\d{{1,3}}({group}\d{{3}})+|\d+)?({point}\d*)?([eE][+-]?\d+)?$"
    plain = text.str.replace_all(group, "").str.replace(point, ".")
    number = plain.cast(pl.Float64, strict=False).set(~text.str.contains(shape), None)
    return number.zip_with(~is_percent.fill_null(False), number / 100.0)


def _readings(text: pl.Series, kind: str | None) -> tuple[list[Reading], list[Reading]]:
    """Try every format that the kind allows, those that read most values first."""
    numbers, dates = [DECIMAL_POINT, DECIMAL_COMMA], list(_DATES)
    if kind is not None:
        numbers = numbers if kind == "number" else []
        dates = dates if kind == "date" else []
        if kind.startswith("date:"):
            dates = [kind.removeprefix("date:")]
    found = [[_reading(text, one) for one in formats] for formats in (numbers, dates)]
    for readings in found:
        readings.sort(key=lambda one: -one.number.count())
    numbers_read, dates_read = (
        [one for one in readings if one.number.count()] for readings in found
    )
    return numbers_read, dates_read


def _reading(text: pl.Series, style: str) -> Reading:
    number = read_text(text, style)
    is_lost = number.is_null() & text.is_not_null()
    return Reading(style, number, tuple(text.filter(is_lost).unique().sort()))


def _is_read(text: pl.Series, reading: Reading) -> bool:
    return (
        reading.number.count() >= _LEAST_READ * text.count()
        and len(reading.unreadable) <= _MOST_UNREADABLE
    )

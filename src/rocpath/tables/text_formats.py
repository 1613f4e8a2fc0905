"""Formats of numbers and dates that are written as text."""

from collections.abc import Mapping
from typing import NamedTuple

import polars as pl

_NUMBERS = DECIMAL_POINT, DECIMAL_COMMA = "decimal point", "decimal comma"
DECIMALS = {"number:.": DECIMAL_POINT, "number:,": DECIMAL_COMMA}
_MIN_GROUPED = 5  # distinct numbers; fewer fractions may all have three digits by chance
_MIN_READABLE = 0.95  # minimum share of readable values in a column of numbers or dates
_MAX_UNREADABLE = 20  # maximum number of distinct unreadable values, treated as missing
# Dates with dots always begin with the day; with slashes or dashes, the month may be first.
_DATES = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y")
_SIGNS = r"[$€£¥₹]|\b(?:USD|EUR|GBP|CHF)\b"
_SPACES = " '\u2019\u00a0\u202f"  # a space, an apostrophe, and their typeset forms
# Patterns of the thousands separator and the decimal separator.
_SEPARATORS = {DECIMAL_POINT: (f"[,{_SPACES}]", r"\."), DECIMAL_COMMA: (f"[.{_SPACES}]", ",")}


class ColumnReading(NamedTuple):
    """Values of a column, their format if they are text, and those treated as missing."""

    number: pl.Series
    format: str = ""
    unreadable: tuple[str, ...] = ()
    codes: tuple[float, ...] = ()


def read_format(series: pl.Series, kind: str | None, decimal: str = "") -> ColumnReading | None:
    """Find the format of a column of text; return None if it should stay text.

    Parameters
    ----------
    series : pl.Series
        Column of text.
    kind : str or None
        ``"number"``, ``"number:."``, ``"number:,"``, ``"date"`` or ``"date:FORMAT"``;
        None for any kind that fits at least 95% of the values.
    decimal : str
        Format of numbers in the other columns of the table; empty if it is unknown.
    """
    text = series.str.strip_chars()
    for formats in _formats(kind):
        numbers = {one: parse_text(text, one) for one in formats}
        n_read = max(number.count() for number in numbers.values())
        first, *others = (one for one in formats if numbers[one].count() == n_read)
        if others and formats is _NUMBERS and not numbers[first].equals(numbers[others[0]]):
            first = grouped_format(text) or decimal or _raise_ambiguous(text, numbers)
        number = numbers[first]
        if n_read == 0 or (kind is None and n_read < _MIN_READABLE * text.count()):
            continue
        unreadable = text.filter(number.is_null() & text.is_not_null()).unique()
        if kind is None and unreadable.len() > _MAX_UNREADABLE:
            continue
        # If two formats read the dates differently, only the user knows which one is right.
        if formats is _DATES and others and not number.equals(numbers[others[0]]):
            raise ValueError(
                f"column {series.name!r} is ambiguous: dates such as "
                f"{text.drop_nulls()[0]!r} can be {first} or {others[0]}; "
                f"specify its type as 'date:{first}', 'date:{others[0]}' or 'drop'."
            )
        return ColumnReading(number.alias(series.name), first, tuple(unreadable.sort()))
    if kind is not None:
        raise ValueError(
            f"column {series.name!r} has no value that can be read as a "
            f"{kind.split(':')[0]}, got {text.drop_nulls()[:1].to_list()}."
        )
    return None


def decimal_format(series: pl.Series) -> str:
    """Return the only format in which a column of text can be read as numbers, if any."""
    text = series.drop_nulls().unique().str.strip_chars()
    n_read = {style: parse_text(text, style).count() for style in _NUMBERS}
    most = max(n_read.values())
    if most == 0 or most < _MIN_READABLE * text.len():
        return ""
    best = [style for style in _NUMBERS if n_read[style] == most]
    return best[0] if len(best) == 1 else grouped_format(text)


def grouped_format(text: pl.Series) -> str:
    """Return the format of numbers of which some are grouped and some are too small for it.

    Numbers such as 950 and 1.250 are whole: of fractions, not all that are shown would
    have three digits. Returns an empty string if too few numbers are grouped.
    """
    values = text.drop_nulls().unique().str.replace_all(_SIGNS, "").str.strip_chars()
    for style, symbol in ((DECIMAL_POINT, ","), (DECIMAL_COMMA, ".")):
        is_grouped = values.str.contains(rf"^[+-]?[1-9]\d{{0,2}}(\{symbol}\d{{3}})+$")
        is_small = values.str.contains(r"^[+-]?\d{1,3}$")
        if (is_grouped | is_small).all() and is_small.any() and is_grouped.sum() >= _MIN_GROUPED:
            return style
    return ""


def _raise_ambiguous(text: pl.Series, numbers: Mapping[str, pl.Series]) -> str:
    """Raise an error that shows both readings of a number."""
    point, comma = (numbers[style] for style in _NUMBERS)
    row = int((point != comma).arg_true()[0])
    raise ValueError(
        f"column {text.name!r} is ambiguous: numbers such as {text[row]!r} can be "
        f"{point[row]:g} or {comma[row]:g}; specify its type as 'number:.' or 'number:,', after "
        "the decimal separator."
    )


def parse_text(series: pl.Series, style: str) -> pl.Series:
    """Parse text as numbers, and dates as days; null where it cannot be read."""
    text = series.str.strip_chars()
    if style.startswith("%"):
        days = text.str.to_date(style, strict=False).cast(pl.Int32)
        return days.cast(pl.Float64)
    group, point = _SEPARATORS[style]
    text = text.str.replace_all(_SIGNS, "").str.strip_chars()
    # A column may contain both 5% and 0.05.
    is_percent = text.str.ends_with("%")
    text = text.str.strip_suffix("%").str.strip_chars()
    # Groups have three digits and no leading zero: 1,5 is not fifteen, 0,734 is not 734,
    # and 03.04.2024 is not a number.
    shape = rf"^[+-]?([1-9]\d{{0,2}}({group}\d{{3}})+|\d+)?({point}\d*)?([eE][+-]?\d+)?$"
    plain = text.str.replace_all(group, "").str.replace(point, ".")
    number = plain.cast(pl.Float64, strict=False).set(~text.str.contains(shape), None)
    return number.zip_with(~is_percent.fill_null(False), number / 100.0)


def mixed_date_formats(text: pl.Series) -> list[str]:
    """Return an example of each format if values are dates of several formats."""
    is_read = {style: parse_text(text, style).is_not_null() for style in _DATES}
    rest, examples = pl.Series([True] * text.len(), dtype=pl.Boolean), []
    for one in sorted(is_read.values(), key=lambda mask: -mask.sum()):
        if (new := one & rest).any():
            examples.append(text.filter(new)[0])
            rest &= ~one
    n_read = text.len() - int(rest.sum())
    return examples[:2] if len(examples) > 1 and n_read >= _MIN_READABLE * text.len() else []


def has_leading_zeros(series: pl.Series) -> bool:
    """Return whether all values are digits and some begin with a zero, as in zip codes."""
    known = series.drop_nulls().str.strip_chars()
    return bool(
        len(known) and known.str.contains(r"^0\d").any() and known.str.contains(r"^\d+$").all()
    )


def _formats(kind: str | None) -> list[tuple[str, ...]]:
    """Return the formats of a kind; numbers come first if it is None."""
    if kind is None:
        return [_NUMBERS, _DATES]
    if kind.startswith("date:"):
        return [(kind.removeprefix("date:"),)]
    if kind in DECIMALS:
        return [(DECIMALS[kind],)]
    return [_NUMBERS if kind == "number" else _DATES]

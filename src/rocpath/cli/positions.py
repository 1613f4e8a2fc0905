"""Positions of observations: numbers or times, as they are written in a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping

_DAY = "%Y-%m-%d"
# To fractions of a second, to the second or the minute, with and without a time zone.
_TIME_FORMATS = (
    *(
        f"{_DAY}{between}{time}{zone}"
        for zone in ("%:z", "")
        for between in ("T", " ")
        for time in ("%H:%M:%S%.f", "%H:%M:%S", "%H:%M")
    ),
    _DAY,
)
_EXAMPLE = "2024-05-01T10:20"


class Positions(NamedTuple):
    """Positions as numbers, null if unreadable; times are microseconds since 1970."""

    number: pl.Series
    is_time: bool

    @property
    def rule(self) -> str:
        """The requirement, for messages."""
        numbers = "" if self.is_time else "numbers, or "
        return f"must be {numbers}times such as {_EXAMPLE}"

    @property
    def is_bad(self) -> pl.Series:
        """Whether each position cannot be read."""
        return self.number.is_null() | ~self.number.is_finite()


def parsed_positions(series: pl.Series) -> Positions:
    """Read positions as numbers or as times, whichever fits more of them."""
    if series.dtype.is_temporal():
        # One unit for all, as labels and sequences may come with different ones.
        if series.dtype == pl.Date:
            series = series.cast(pl.Datetime("us"))
        elif isinstance(series.dtype, pl.Datetime):
            series = series.dt.cast_time_unit("us")
        return Positions(series.to_physical().cast(pl.Float64), is_time=True)
    if series.dtype != pl.String:
        number = series.cast(pl.Float64, strict=False).fill_nan(None)
        return Positions(number, is_time=False)
    text = series.str.strip_chars()
    number = text.cast(pl.Float64, strict=False).fill_nan(None)
    # Parsing times is slow, and unnecessary if all positions are numbers.
    if number.null_count() == text.null_count():
        return Positions(number, is_time=False)
    # By majority: one bad row must not turn a column of times into bad numbers.
    time = _times(text)
    if time.null_count() < number.null_count():
        return Positions(time, is_time=True)
    return Positions(number, is_time=False)


def _times(text: pl.Series) -> pl.Series:
    """Return microseconds since 1970, null where the text is not a time."""
    # 10:20Z and 10:20+0200 as 10:20+00:00 and 10:20+02:00.
    text = text.str.replace("[zZ]$", "+00:00")
    text = text.str.replace(r"(:\d\d\S*[+-]\d\d):?(\d\d)?$", "${1}:${2}")
    text = text.str.replace(r"([+-]\d\d):$", "${1}:00")
    time = pl.Series(text.name, [None] * len(text), dtype=pl.Int64)
    for style in _TIME_FORMATS:
        # Times without a zone are read in UTC, so that they are comparable.
        zone = None if style.endswith("z") else "UTC"
        # Only what the formats before could not read: a column may mix them.
        rest = text.to_frame().select(
            pl.when(time.is_null()).then(pl.col(text.name)).alias(text.name)
        )[text.name]
        if rest.null_count() == len(rest):
            break
        read = rest.str.to_datetime(
            style, strict=False, time_unit="us", time_zone=zone, ambiguous="null"
        )
        time = pl.select(pl.coalesce(time, read.to_physical())).to_series()
    return time.alias(text.name).cast(pl.Float64)


def with_number_type(shown: pl.Series) -> pl.Series:
    """Convert text to numbers if they would be written in the same way."""
    # "007" and "1.50" stay text, so that they match the original table.
    if shown.dtype == pl.String:
        for kind in (pl.Int64, pl.Float64):
            number = shown.cast(kind, strict=False)
            if (number.cast(pl.String) == shown).all() and (
                number.null_count() == shown.null_count()
            ):
                return number
    return shown


def with_original_text(message: str, texts: Mapping[float, str]) -> str:
    """Replace numbers in a message by the positions as they were written."""
    # Long numbers first, as a short one may be the start of another.
    for number, text in sorted(texts.items(), key=lambda one: -len(repr(one[0]))):
        message = message.replace(repr(number), text)
    return message

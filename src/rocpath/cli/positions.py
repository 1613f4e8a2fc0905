"""Positions in the form they were written in, numbers or times, and as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping

# With a time zone, to the second or its parts, to the minute, and days.
_TIME_FORMATS = (
    "%+",
    "%Y-%m-%d %H:%M:%S%.f%:z",
    "%Y-%m-%dT%H:%M:%S%.f",
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%d",
)
_EXAMPLE = "2024-05-01T10:20"


class Places(NamedTuple):
    """Positions as numbers, null where they cannot be read; times in microseconds."""

    number: pl.Series
    is_time: bool

    @property
    def rule(self) -> str:
        """What positions must be, for messages."""
        return f"must be {'' if self.is_time else 'numbers, or '}times as {_EXAMPLE}"


def places(series: pl.Series) -> Places:
    """Read positions as numbers or as times, whichever more of them are."""
    if series.dtype.is_temporal():
        # One unit for all, as labels may come with another than the sequences.
        if series.dtype == pl.Date:
            series = series.cast(pl.Datetime("us"))
        elif isinstance(series.dtype, pl.Datetime):
            series = series.dt.cast_time_unit("us")
        return Places(series.to_physical().cast(pl.Float64), is_time=True)
    if series.dtype != pl.String:
        number = series.cast(pl.Float64, strict=False).fill_nan(None)
        return Places(number, is_time=False)
    text = series.str.strip_chars()
    number = text.cast(pl.Float64, strict=False).fill_nan(None)
    # Times take long to try, and all can be read already.
    if number.null_count() == text.null_count():
        return Places(number, is_time=False)
    # By the majority: one bad row must not turn a column of times into bad numbers.
    time = _times(text)
    if time.null_count() < number.null_count():
        return Places(time, is_time=True)
    return Places(number, is_time=False)


def _times(text: pl.Series) -> pl.Series:
    """Return microseconds since 1970, null where the text is no time."""
    time = pl.Series(text.name, [None] * len(text), dtype=pl.Int64)
    for style in _TIME_FORMATS:
        # Times without a zone are told apart from each other as those of one zone.
        zone = None if "z" in style or style == "%+" else "UTC"
        # Only what no format before could read: one column may mix them.
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


def typed(shown: pl.Series) -> pl.Series:
    """Give text the type of numbers where that leaves it as it was written."""
    # "007" and "1.50" stay text: written back, they must be found again.
    if shown.dtype == pl.String:
        for kind in (pl.Int64, pl.Float64):
            number = shown.cast(kind, strict=False)
            if (number.cast(pl.String) == shown).all() and (
                number.null_count() == shown.null_count()
            ):
                return number
    return shown


def in_their_form(message: str, forms: Mapping[float, str]) -> str:
    """Show positions in a message as they were written."""
    # Long numbers first, as a short one may be the start of another.
    for number, form in sorted(forms.items(), key=lambda one: -len(repr(one[0]))):
        message = message.replace(repr(number), form)
    return message

"""Parse positions of observations, which are numbers or times."""

import re
from collections.abc import Iterable
from typing import NamedTuple

import polars as pl

_DAY = "%Y-%m-%d"
# Times have fractions of a second or only minutes, and may have a time zone.
_TIMES = [f"{between}{time}" for between in "T " for time in ("%H:%M:%S%.f", "%H:%M")]
# Days with dots are written day first; with slashes, the order depends on the country.
_DOTTED_DAY = "%d.%m.%Y"
_TIME_FORMATS = [_DAY + time + zone for zone in ("%#z", "") for time in _TIMES] + [
    _DAY,
    *(_DOTTED_DAY + time for time in _TIMES[len(_TIMES) // 2 :]),
    _DOTTED_DAY,
]


class Positions(NamedTuple):
    """Positions as numbers, null if they cannot be parsed; times are in microseconds since 1970."""

    number: pl.Series
    is_time: bool

    @property
    def rule(self) -> str:
        """Requirement, for error messages."""
        numbers = "" if self.is_time else "numbers, or "
        return f"must be {numbers}times such as 2024-05-01T10:20"

    @property
    def is_bad(self) -> pl.Series:
        """Whether each position is invalid."""
        return self.number.is_null() | ~self.number.is_finite()


def parsed_positions(series: pl.Series) -> Positions:
    """Parse positions as numbers or as times, whichever succeeds for more of them."""
    if series.dtype in (pl.Date, pl.Datetime):
        # Labels and sequences may have different units, so a common one is used.
        return Positions(series.dt.epoch("us").cast(pl.Float64), is_time=True)
    text = series
    if series.dtype == pl.String:
        # A month, such as 2024-05, is read as its first day.
        text = series.str.strip_chars().str.replace(r"^(\d{4}-\d\d)$", "${1}-01")
        # So is a quarter, such as 2024Q1.
        for quarter in range(1, 5):
            month = f"${{1}}-{3 * quarter - 2:02}-01"
            text = text.str.replace(rf"^(\d{{4}})[ -]?[Qq]{quarter}$", month)
    number = text.cast(pl.Float64, strict=False).fill_nan(None)
    # Parsing times is slow, and unnecessary if all positions are numbers.
    if series.dtype == pl.String and number.null_count() > text.null_count():
        time = _times(text)
        # The majority decides, so that one invalid row does not make a column of times numeric.
        if time.null_count() < number.null_count():
            return Positions(time, is_time=True)
    return Positions(number, is_time=False)


def _times(text: pl.Series) -> pl.Series:
    """Return microseconds since 1970, null where the text is not a time."""
    time = pl.Series(text.name, [None] * len(text), dtype=pl.Int64)
    for style in _TIME_FORMATS:
        # A column may mix formats, so each format is tried on the values not parsed so far.
        rest = text.set(time.is_not_null(), None)
        if rest.null_count() == len(rest):
            break
        # Times without a zone are read in UTC, so that they are comparable.
        zone = None if style.endswith("z") else "UTC"
        read = rest.str.to_datetime(style, strict=False, time_unit="us", time_zone=zone)
        time = time.zip_with(time.is_not_null(), read.to_physical())
    return time.cast(pl.Float64)


def with_written_positions(message: str, numbers: Iterable[float], written: Iterable[str]) -> str:
    """Replace numbers in a message by positions as written in the table."""
    shown = dict(zip(map(repr, numbers), written, strict=True))
    return re.sub(r"-?\d[\d.e+]*\d", lambda found: shown.get(found[0], found[0]), message)

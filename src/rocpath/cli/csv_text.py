"""The text of CSV as a table. Rows are counted from 1, the header not included."""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable

_SEPARATORS = (",", ";", "\t", "|")
_LINES_TO_LOOK_AT = 50  # in which the separator must leave as many fields
_FEWEST_CODES = 3  # different ones; fewer may be any words
# Only with the year in front: 03/04 may be in April or in March, and so stays text, to
# be read in a format that someone has stated.
_TIMES: dict[str, Any] = {
    r"^\d{4}-\d\d?-\d\d?$": pl.Date,
    r"^\d{4}-\d\d?-\d\d?[T ]": pl.Datetime,
    r"^\d\d?:\d\d": pl.Time,
}
_MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"]


def parsed_csv(
    source: str,
    content: bytes,
    separator: str | None,
    text: set[str],
    codes: Iterable[str] = (),
) -> pl.DataFrame:
    """Parse CSV, with numbers in quotes and after spaces taken as numbers.

    Where columns are separated in another way than told, that one is taken. ``NA`` is
    a value in columns named as ``codes``, and where codes of two letters stand.
    """
    content = _as_utf8(source, content).strip(b"\r\n")
    if not content.strip():
        raise ValueError(f"{source} is empty: it must have a header and rows.")
    separator = _separator(content, separator)
    names, rows = _header_and_rows(source, content, separator)
    # Polars does not take doubled quotes of a name as one: it gets plain numbers.
    header = separator.join(str(place) for place in range(len(names)))
    is_text = {str(place) for place, name in enumerate(names) if name in text}
    try:
        table = _parsed(f"{header}\n{rows}", separator, is_text)
        told = {str(place) for place, name in enumerate(names) if name in codes}
        coded = told | {one.name for one in table if _has_codes(one)}
        if coded:
            raw = _parsed(f"{header}\n{rows}", separator, coded, is_na_missing=False)
            table = table.with_columns(raw[name] for name in coded)
    except pl.exceptions.PolarsError as error:
        reason = _odd_row(content, separator, len(names)) or first_line(error)
        raise ValueError(f"{source} cannot be read: {reason}.") from None
    table.columns = names
    return table.with_columns(
        _typed(column)
        for column in table
        if column.dtype == pl.String and column.name not in text
    )


def _as_utf8(source: str, content: bytes) -> bytes:
    """Undo what other programs do to text: byte order marks, UTF-16, CR line ends."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            content = content.decode("utf-16").encode("utf-8")
        except UnicodeDecodeError:
            raise ValueError(
                f"{source} starts as UTF-16 text, but is none: save it as UTF-8."
            ) from None
    content = content.removeprefix(codecs.BOM_UTF8)
    # Polars would take it for a part of a word.
    nul = content.find(b"\0")
    if nul >= 0:
        row = content.count(b"\n", 0, nul)
        place = f"row {row}" if row else "the header"
        raise ValueError(
            f"{source} has a NUL byte in {place}: it is damaged, or no text."
        )
    return content if b"\n" in content else content.replace(b"\r", b"\n")


def _separator(content: bytes, told: str | None) -> str:
    """Return what separates columns: as told, unless it leaves one and another more."""
    lines = content.splitlines()[:_LINES_TO_LOOK_AT]
    shown = [line.decode("utf-8", errors="replace") for line in lines]
    n_fields = {}
    for one in _SEPARATORS:
        try:
            found = [len(row) for row in csv.reader(shown, delimiter=one) if row]
        except csv.Error:
            continue
        n_fields[one] = found[0] if found and len(set(found)) == 1 else 1
    # A table of one column has none; only a better one by far overrules the user.
    if told is not None and (told in shown[0] or max(n_fields.values(), default=1) < 2):
        return told
    return max(n_fields, key=n_fields.__getitem__, default=told or ",")


def _has_codes(series: pl.Series) -> bool:
    """Tell whether text is codes of two letters, among which NA is one (Namibia)."""
    if series.dtype != pl.String or not series.null_count():
        return False
    known = series.drop_nulls()
    # A yes or no of two letters each would pass, but for the number of different ones.
    is_code = known.str.contains(r"^[A-Z]{2}$")
    return bool(is_code.all()) and known.n_unique() >= _FEWEST_CODES


def _parsed(
    content: str, separator: str, text: set[str], *, is_na_missing: bool = True
) -> pl.DataFrame:
    return pl.read_csv(
        io.BytesIO(content.encode()),
        separator=separator,
        null_values=[one for one in _MISSING if is_na_missing or one != "NA"],
        infer_schema_length=None,  # all rows: a late value may be text
        schema_overrides=dict.fromkeys(text, pl.String),
    )


def _header_and_rows(
    source: str, content: bytes, separator: str
) -> tuple[list[str], str]:
    """Return the names of the columns, and the text below them."""
    try:
        lines = io.StringIO(content.decode("utf-8"), newline="")
    except UnicodeDecodeError as error:
        row = content.count(b"\n", 0, error.start)
        raise ValueError(
            f"{source} is not UTF-8 text: byte {content[error.start]:#04x} in "
            f"{f'row {row}' if row else 'the header'}; save it as UTF-8."
        ) from None
    try:
        names = [name.strip() for name in next(csv.reader(lines, delimiter=separator))]
    except csv.Error as error:
        raise ValueError(f"{source} has no readable header: {error}.") from None
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise ValueError(
            f"{source} has more than one column {repeated[0]!r}: rename them."
        )
    # One column is fine, unless its name looks like several.
    if len(names) == 1 and set(names[0]) & set(";\t|"):
        raise ValueError(
            f"{source} has one column {names[0]!r}, and its rows do not have as many "
            "fields: separate all columns by commas."
        )
    rows = lines.read()
    return names, f"{rows}\n" if rows else ""


def _odd_row(content: bytes, separator: str, n_columns: int) -> str:
    """Name the first row with too many or few fields, if that is the trouble."""
    # Only after a failure: Polars says less, and this reads all rows in Python.
    lines = io.StringIO(content.decode("utf-8"), newline="")
    try:
        for row, fields in enumerate(csv.reader(lines, delimiter=separator)):
            if fields and len(fields) != n_columns:
                return f"row {row} has {len(fields)} fields, the header {n_columns}"
    except csv.Error:
        pass
    return ""


def _typed(column: pl.Series) -> pl.Series:
    """Give text the type that all of it has, if it has one."""
    # All or nothing: one word makes the column text, and is named where numbers are
    # needed.
    text, n_missing = column.str.strip_chars(), column.null_count()
    number = text.cast(pl.Float64, strict=False)
    if number.null_count() == n_missing:
        return number
    for shape, kind in _TIMES.items():
        if text.str.contains(shape).all():
            try:
                time = text.str.strptime(kind, strict=False)
            except pl.exceptions.PolarsError:  # no format that Polars knows
                continue
            if time.null_count() == n_missing:
                return time
    return column


def first_line(error: Exception) -> str:
    """Return what an error says first."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")

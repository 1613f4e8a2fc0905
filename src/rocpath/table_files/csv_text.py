"""Parse CSV text. Messages count rows from 1, without the header."""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterable
from functools import partial
from typing import Any

import polars as pl

from rocpath.table_files.memory import check_memory

_SEPARATORS = (",", ";", "\t", "|")
_LINES_TO_LOOK_AT = 50  # in which a separator must give equal numbers of fields
_MAX_TO_LOOK_AT = 10_000_000  # bytes
_MIN_CODES = 3  # distinct codes; fewer may be ordinary words
_MAX_COLUMNS = 200_000  # more would take minutes, and are probably a mistake
_LEADING_ZERO = re.compile(rb'[,;\t|"\n]0\d')  # in codes, but also in some dates
# Only with the year first: 03/04 may be in April or in March, and stays text until a
# format is specified.
_TIMES: dict[str, Any] = {
    r"^\d{4}-\d\d?-\d\d?$": pl.Date,
    r"^\d{4}-\d\d?-\d\d?[T ]": pl.Datetime,
    r"^\d\d?:\d\d": pl.Time,
}
_MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"]


def parse_table(
    source: str,
    content: bytes,
    separator: str | None = ",",
    *,
    text: Iterable[str] = (),
    codes: Iterable[str] = (),
    encoding: str | None = None,
) -> pl.DataFrame:
    """Parse CSV; numbers may be in quotes and have spaces around them.

    A separator that does not fit is replaced by one that does. ``NA`` is a value in
    the columns listed in ``codes``, and among two-letter codes. Digits with leading zeros,
    such as zip codes, stay text.
    """
    check_memory(source, len(content))
    content = _as_utf8(source, content, encoding).strip(b"\r\n")
    if not content.strip():
        raise ValueError(f"{source} is empty: it must have a header and rows.")
    separator = _separator(content, separator)
    names, rows = _header_and_rows(source, content, separator)
    # Columns are numbered, since Polars does not unescape doubled quotes in names.
    kept = {str(place) for place, name in enumerate(names) if name in set(text)}
    coded = {str(place) for place, name in enumerate(names) if name in set(codes)}
    parse = partial(_parsed, len(names), rows, separator)
    try:
        table = parse(kept)
        integers = {one.name for one in table if one.dtype.is_integer()}
        if integers and (rows.startswith(b"0") or _LEADING_ZERO.search(rows)):
            as_text = parse(integers | kept)
            zeros = {n for n in integers if as_text[n].str.contains(r"^\s*0\d").any()}
            table = table.with_columns(as_text[name] for name in zeros)
            kept |= zeros
        coded |= {one.name for one in table if _has_codes(one)}
        if coded:
            raw = parse(coded, is_na_missing=False)
            table = table.with_columns(raw[name] for name in coded)
    except pl.exceptions.PolarsError as error:
        reason = _odd_row(content, separator, len(names)) or first_line(error)
        raise ValueError(f"{source} cannot be read: {reason}.") from None
    words = table.select(pl.col(pl.String).exclude(kept))
    table = table.with_columns(_typed(column) for column in words)
    table.columns = names
    return table


def _as_utf8(source: str, content: bytes, encoding: str | None) -> bytes:
    """Convert to UTF-8 without a byte order mark or CR line ends, or raise."""
    if encoding is None and content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    try:
        decoded = content.decode(encoding or "utf-8")
    except LookupError:
        raise ValueError(
            f"encoding must be one that Python knows, such as latin-1, got {encoding!r}."
        ) from None
    except UnicodeDecodeError as error:
        if encoding is not None:
            reason = first_line(error)
            raise ValueError(f"{source} is not {encoding} text: {reason}.") from None
        start = error.start
        raise ValueError(
            f"{source} is not UTF-8 text: byte {content[start]:#04x} in "
            f"{_place(content, start)}; save it as UTF-8, or specify its encoding, such as latin-1."
        ) from None
    if encoding is not None:
        content = decoded.encode()
    content = content.removeprefix(codecs.BOM_UTF8)
    # Polars would read a NUL byte as part of a value.
    nul = content.find(b"\0")
    if nul >= 0:
        place = _place(content, nul)
        raise ValueError(f"{source} has a NUL byte in {place}: it is damaged, or not text.")
    return content if b"\n" in content else content.replace(b"\r", b"\n")


def _place(content: bytes, position: int) -> str:
    row = content.count(b"\n", 0, position)
    return f"row {row}" if row else "the header"


def _separator(content: bytes, given: str | None) -> str:
    """Return the given separator, unless only another one separates columns."""
    # The first lines only: one cell may have hundreds of megabytes.
    lines = content[:_MAX_TO_LOOK_AT].splitlines()[:_LINES_TO_LOOK_AT]
    shown = [line.decode("utf-8", errors="replace") for line in lines]
    n_fields = {}
    for one in _SEPARATORS:
        try:
            found = [len(row) for row in csv.reader(shown, delimiter=one) if row]
        except csv.Error:
            continue
        n_fields[one] = found[0] if found and len(set(found)) == 1 else 1
    # A table of one column has no separator; the given one is kept if it may be right.
    most = max(n_fields.values(), default=1)
    if given is not None and (given in shown[0] or most < 2):
        return given
    return max(n_fields, key=n_fields.__getitem__, default=given or ",")


def _has_codes(series: pl.Series) -> bool:
    """Return whether a column has two-letter codes, in which NA is one (Namibia)."""
    if series.dtype != pl.String or not series.null_count():
        return False
    known = series.drop_nulls()
    # Two words of two letters each would pass without the minimum number of codes.
    is_code = known.str.contains(r"^[A-Z]{2}$")
    return bool(is_code.all()) and known.n_unique() >= _MIN_CODES


def _parsed(
    n_columns: int, rows: bytes, separator: str, text: set[str], *, is_na_missing: bool = True
) -> pl.DataFrame:
    header = separator.join(map(str, range(n_columns))).encode()
    return pl.read_csv(
        io.BytesIO(b"\n".join((header, rows))),
        separator=separator,
        null_values=[one for one in _MISSING if is_na_missing or one != "NA"],
        infer_schema_length=None,  # all rows: a late value may be text
        schema_overrides=dict.fromkeys(text, pl.String),
    )


def _header_and_rows(source: str, content: bytes, separator: str) -> tuple[list[str], bytes]:
    """Return the column names, and the text after the header."""
    file = io.BytesIO(content)
    lines = (line.decode() for line in file)
    try:
        names = [name.strip() for name in next(csv.reader(lines, delimiter=separator))]
    except csv.Error as error:
        raise ValueError(f"{source} has no readable header: {error}.") from None
    if len(names) > _MAX_COLUMNS:
        raise ValueError(
            f"{source} has {len(names):,} columns, more than the {_MAX_COLUMNS:,} that can be read."
        )
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise ValueError(f"{source} has more than one column {repeated[0]!r}: rename them.")
    # One column is fine, unless its name looks like several columns.
    if len(names) == 1 and set(names[0]) & set(";\t|"):
        raise ValueError(
            f"{source} has one column {names[0]!r}, and its rows do not have as many "
            "fields: separate all columns by commas."
        )
    rows = file.read()
    return names, rows + b"\n" if rows else b""


def _odd_row(content: bytes, separator: str, n_columns: int) -> str:
    """Describe the first row with too many or too few fields, if there is one."""
    # Called only after a failure, since it reads all rows in Python.
    lines = io.StringIO(content.decode("utf-8"), newline="")
    try:
        for row, fields in enumerate(csv.reader(lines, delimiter=separator)):
            if fields and len(fields) != n_columns:
                return f"row {row} has {len(fields)} fields, the header {n_columns}"
    except csv.Error:
        pass
    return ""


def _typed(column: pl.Series) -> pl.Series:
    """Convert text to numbers or times if all values can be converted."""
    # With a single word, the column stays text; the word is reported where numbers are
    # required.
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


def inert_csv(table: pl.DataFrame, separator: str = ",") -> str:
    """Return a table as CSV, with a quote before text that looks like a formula."""
    return table.with_columns(
        pl.when(text.str.contains(r"^[=+@\t\r-]") & text.cast(pl.Float64, strict=False).is_null())
        .then("'" + text)
        .otherwise(text)
        .alias(text.name)
        for text in table.select(pl.col(pl.String))
    ).write_csv(separator=separator)


def first_line(error: Exception) -> str:
    """Return the first line of an error."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")

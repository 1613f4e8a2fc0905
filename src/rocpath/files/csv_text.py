"""Parse CSV text. Messages count rows from 1, without the header."""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import polars as pl

from rocpath.files.unpacking import check_memory

_SEPARATORS = (",", ";", "\t", "|")
_SNIFFED_LINES = 50  # in which a separator must give equal numbers of fields
_MAX_SNIFFED = 10_000_000  # bytes
_MIN_CODES = 3  # distinct codes; fewer may be ordinary words
_MAX_COLUMNS = 200_000  # more would take minutes, and are probably a mistake
# The year must come first: 03/04 may be in April or in March, and stays text until a
# format is specified.
_TIMES: dict[str, Any] = {
    r"^\d{4}-\d\d?-\d\d?$": pl.Date,
    r"^\d{4}-\d\d?-\d\d?[T ]": pl.Datetime,
    r"^\d\d?:\d\d": pl.Time,
}
_NUMBERS = (pl.Int64, pl.Int128, pl.Float64)  # the first that can represent all values
_BOOLEANS = {"true": True, "false": False}
# Spreadsheets skip leading spaces and invisible characters, and read full-width signs.
_FORMULA = r"^(?:[\t\r\n]|[\s\x{200b}\x{feff}]*[=+@\x{ff1d}\x{ff0b}\x{ff20}\x{ff0d}-])"
_MISSING = ["", "N/A", "NaN", "nan", "null", "NULL", "None", "?"]


def parse_table(
    source: str,
    content: bytes,
    separator: str | None = ",",
    *,
    text: Iterable[str] = (),
    codes: Iterable[str] = (),
    encoding: str | None = None,
) -> pl.DataFrame:
    """Parse CSV text, in which numbers may be quoted or surrounded by spaces.

    A separator that does not fit is replaced by one that does. ``NA`` is a value in
    the columns listed in ``codes``, and among two-letter codes. Digits with leading zeros,
    such as zip codes, stay text, and so do numbers such as 1.250 if columns are not
    separated by commas.
    """
    check_memory(source, len(content))
    content = _as_utf8(source, content, encoding).strip(b"\r\n")
    if not content.strip():
        raise ValueError(f"{source} is empty: it must have a header and rows.")
    separator = _separator(content, separator)
    names, rows = _header_and_rows(source, content, separator)
    # Columns are numbered, since Polars does not unescape doubled quotes in names.
    header = separator.join(map(str, range(len(names)))).encode()
    try:
        # Columns are converted later, since it takes longer to infer types from all rows.
        table = pl.read_csv(
            io.BytesIO(b"\n".join((header, rows))),
            separator=separator,
            null_values=_MISSING,
            infer_schema=False,
        )
    except pl.exceptions.PolarsError as error:
        reason = (
            _open_quote(content, separator)
            or _odd_row(content, separator, len(names))
            or first_line(error)
        )
        raise ValueError(f"{source} cannot be read: {reason}.") from None
    table.columns = names
    kept, coded = set(text), set(codes)
    table = table.with_columns(_without_na(one) for one in table if one.name not in coded)
    # Where the decimal separator may be a comma, 1.250 may be a thousand and more.
    if separator != ",":
        kept |= {one.name for one in table if _may_be_grouped(one)}
    return table.with_columns(typed(one) for one in table if one.name not in kept)


def _may_be_grouped(column: pl.Series) -> bool:
    """Return whether points in a column of numbers may separate thousands, as in 1.250."""
    text = column.str.strip_chars().drop_nulls()
    pointed = text.filter(text.str.contains(".", literal=True))
    return bool(
        pointed.len()
        and pointed.str.contains(r"^[+-]?[1-9]\d{0,2}(\.\d{3})+$").all()
        and text.str.contains(r"^[+-]?[\d.]+$").all()
    )


def _as_utf8(source: str, content: bytes, encoding: str | None) -> bytes:
    """Convert to UTF-8 without a byte order mark or CR line ends, or raise."""
    if encoding is None and content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    try:
        decoded = content.decode(encoding or "utf-8")
    except LookupError:
        raise ValueError(
            f"encoding must be known to Python, such as latin-1, got {encoding!r}."
        ) from None
    except UnicodeDecodeError as error:
        place = _place(content, error.start)
        raise ValueError(
            f"{source} is not {encoding or 'UTF-8'} text: byte {content[error.start]:#04x} in "
            f"{place}; save it as UTF-8, or specify its encoding, such as latin-1."
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
    # Only the first lines are read: one cell may have hundreds of megabytes.
    lines = content[:_MAX_SNIFFED].splitlines()[:_SNIFFED_LINES]
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


def _without_na(column: pl.Series) -> pl.Series:
    """Replace NA by null, unless it is one of several two-letter codes, as for countries."""
    is_na = column == "NA"
    if is_na.any():
        codes = column.filter(~is_na)
        # The minimum excludes columns with one or two words of two letters.
        if not codes.str.contains(r"^[A-Z]{2}$").all() or codes.n_unique() < _MIN_CODES:
            return column.set(is_na, None)
    return column


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
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ValueError(f"{source} has more than one column {repeated[0]!r}: rename all but one.")
    # A single column is valid, unless its name looks like several columns.
    if len(names) == 1 and set(names[0]) & set(";\t|"):
        raise ValueError(
            f"{source} has one column {names[0]!r}, and no separator gives all rows the same "
            "number of fields: use commas in all rows."
        )
    rows = file.read()
    if not rows and (reason := _open_quote(content, separator)):
        raise ValueError(f"{source} cannot be read: {reason}.")
    return names, rows + b"\n" if rows else b""


def _open_quote(content: bytes, separator: str) -> str:
    """Describe the first row with a quote that is not closed, if there is one."""
    # Called only after a failure, since it visits all separators in Python.
    mark = separator.encode()
    row = opened = 0
    is_inside = False
    for found in re.finditer(rb'""|"|\n|' + re.escape(mark), content):
        token = found[0]
        start = found.start()
        end = found.end()
        is_field_start = start == 0 or content[start - 1 : start] in (mark, b"\n")
        if token == b'"' and not is_inside and is_field_start:
            is_inside, opened = True, row
        elif token == b'"' and is_inside:
            is_inside = False
            if content[end : end + 1] not in (b"", mark, b"\n", b"\r"):
                break
        elif token == b'"':
            opened = row
            break
        elif token == b"\n" and not is_inside:
            row += 1
    else:
        if not is_inside:
            return ""
    place = f"row {opened}" if opened else "the header"
    return f"{place} has a quote that is not closed"


def _odd_row(content: bytes, separator: str, n_columns: int) -> str:
    """Describe the first row with too many or too few fields, if there is one."""
    # Called only after a failure, since it reads all rows in Python.
    lines = io.StringIO(content.decode("utf-8"), newline="")
    with suppress(csv.Error):
        for row, fields in enumerate(csv.reader(lines, delimiter=separator)):
            if fields and len(fields) != n_columns:
                return f"row {row} has {len(fields)} fields, but the header has {n_columns}"
    return ""


def typed(column: pl.Series) -> pl.Series:
    """Convert text to numbers or times if all values can be converted."""
    # A column with a single word stays text; the word is reported where numbers are
    # required.
    text, n_missing = column.str.strip_chars(), column.null_count()
    for number in (text.cast(kind, strict=False) for kind in _NUMBERS):
        if number.null_count() == n_missing:
            has_zeros = number.dtype.is_integer() and text.str.contains(r"^0\d").any()
            return column if has_zeros else number
    is_true = text.str.to_lowercase().replace_strict(_BOOLEANS, default=None)
    if is_true.null_count() == n_missing:
        return is_true
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
    """Return a table as CSV, with an apostrophe before text that looks like a formula."""
    columns = table.select(pl.col(pl.String, pl.Categorical, pl.Enum).cast(pl.String))
    inert = table.with_columns(map(_inert, columns))
    header = _inert(pl.Series(table.columns, dtype=pl.String)).to_list()
    return inert.rename(dict(zip(table.columns, header, strict=True))).write_csv(
        separator=separator
    )


def _inert(text: pl.Series) -> pl.Series:
    number = text.str.strip_chars().cast(pl.Float64, strict=False)
    is_formula = text.str.contains(_FORMULA) & number.is_null()
    return (
        pl.select(pl.when(is_formula).then("'" + text).otherwise(text)).to_series().alias(text.name)
    )


def first_line(error: Exception) -> str:
    """Return the first line of an error."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")

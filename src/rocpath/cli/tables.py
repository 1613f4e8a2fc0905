"""Read and write tables and results: the only module that touches files.

What is written appears whole or not at all: it goes to a sibling of the target, which
then takes the target's name. Rows are counted from 1, the header not included.
"""

from __future__ import annotations

import csv
import io
import os
import shutil
import sys
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

STANDARD_STREAM = "-"
_SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_PARQUET = (".parquet", ".pq")
_EXTENSIONS = ".csv, .tsv or .parquet"
_MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"]


def read_table(source: str, *, text: Iterable[str] = ()) -> pl.DataFrame:
    """Read a table by the extension of its name, or as CSV from standard input.

    Parameters
    ----------
    source : str
        A file of CSV, TSV or Parquet, or ``-``.
    text : iterable of str
        Columns to keep as text even where they look like numbers.

    Returns
    -------
    polars.DataFrame
        With at least one row, and no column name twice.
    """
    if source == STANDARD_STREAM:
        table = _parsed(shown_name(source), sys.stdin.buffer.read(), ",", set(text))
    else:
        extension = _extension(source)
        content = _content(source)
        if extension in _PARQUET:
            table = _parquet(source, content)
        else:
            table = _parsed(repr(source), content, _SEPARATORS[extension], set(text))
    if table.height == 0:
        raise ValueError(f"{shown_name(source)!r} has a header but no rows.")
    return table


def shown_name(source: str) -> str:
    """Name a table to the user."""
    return "standard input" if source == STANDARD_STREAM else source


def write_table(table: pl.DataFrame, target: str, *, force: bool) -> None:
    """Write a table by the extension of its name, or as CSV to standard output."""
    if target == STANDARD_STREAM:
        write_text(table.write_csv(), target, force=force)
        return
    extension = _extension(target)
    if extension in _PARQUET:
        _write_file(Path(target), table.write_parquet, force=force)
    else:

        def write_csv(path: Path) -> None:
            table.write_csv(path, separator=_SEPARATORS[extension])

        _write_file(Path(target), write_csv, force=force)


def write_text(text: str, target: str, *, force: bool) -> None:
    """Write a text to a file or to standard output."""
    if target == STANDARD_STREAM:
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    _write_file(
        Path(target), lambda path: _write(path, text.encode("utf-8")), force=force
    )


def write_folder(
    folder: str, contents: Mapping[str, bytes | str], *, force: bool
) -> None:
    """Write files into a new folder, or with force into an old one.

    Other files of an old folder are left alone.
    """
    target = Path(folder)
    check_folder(folder, force=force)
    # Inside an old folder, as the one around it may not be ours to write to.
    partial = _partial_sibling(target / "results" if target.exists() else target)
    try:
        partial.mkdir()
        for name, content in contents.items():
            _write(
                partial / name,
                content if isinstance(content, bytes) else content.encode("utf-8"),
            )
        if target.exists():
            for name in contents:
                (partial / name).replace(target / name)
        else:
            partial.rename(target)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def check_folder(folder: str, *, force: bool) -> None:
    """Raise if results could not be written there, before they are computed."""
    target = Path(folder)
    if target.exists() and not target.is_dir():
        raise ValueError(f"{folder!r} is a file: name a folder with --out.")
    _check_target(target, force=force)


def check_file(target: str, *, force: bool) -> None:
    """Raise if a text could not be written there, before it is computed."""
    if target == STANDARD_STREAM:
        return
    path = Path(target)
    if path.is_dir():
        raise ValueError(f"{target!r} is a directory: name a file with --out.")
    if path.exists() and not path.is_file():
        raise ValueError(
            f"{target!r} is not a regular file: name another with --out, or - for "
            "standard output."
        )
    _check_target(path, force=force)


def check_table_file(target: str, *, force: bool) -> None:
    """Raise if a table could not be written there, before it is computed."""
    if target != STANDARD_STREAM:
        _extension(target)
    check_file(target, force=force)


def read_model(source: str) -> bytes:
    """Read a model file, or that of a folder that `write_folder` has written."""
    path = Path(source)
    return _content(str(path / "model.skops" if path.is_dir() else path))


def _check_target(target: Path, *, force: bool) -> None:
    if target.exists() and not force:
        raise ValueError(
            f"{str(target)!r} already exists: choose another with --out, or "
            "overwrite it with --force."
        )
    parent = target if target.is_dir() else target.absolute().parent
    if not parent.is_dir():
        raise ValueError(
            f"{str(target)!r} cannot be written: there is no directory "
            f"{str(target.parent)!r}; make it first."
        )
    if not os.access(parent, os.W_OK):
        raise ValueError(
            f"{str(target)!r} cannot be written: no permission to write into "
            f"{str(parent)!r}."
        )


def _write_file(target: Path, write: Callable[[Path], Any], *, force: bool) -> None:
    check_file(str(target), force=force)
    partial = _partial_sibling(target)
    try:
        write(partial)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def _partial_sibling(target: Path) -> Path:
    target = target.absolute()
    return target.with_name(f".{target.name}.{os.getpid()}.partial")


def _extension(name: str) -> str:
    extension = Path(name).suffix.lower()
    if extension not in (*_SEPARATORS, *_PARQUET):
        raise ValueError(
            f"{name!r} must end in {_EXTENSIONS}, which tells its format; - is CSV "
            "from standard input or to standard output."
        )
    return extension


def _content(source: str) -> bytes:
    path = Path(source)
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise ValueError(f"{source!r} does not exist.") from None
    except IsADirectoryError:
        raise ValueError(f"{source!r} is a directory: name a file in it.") from None
    except OSError as error:
        raise ValueError(f"{source!r} cannot be read: {error.strerror}.") from None


def _parquet(source: str, content: bytes) -> pl.DataFrame:
    try:
        with _native_silence():
            return pl.read_parquet(io.BytesIO(content))
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = _first_line(error)
    except pl.exceptions.PanicException:
        reason = "it is damaged"
    raise ValueError(f"{source!r} is not readable Parquet: {reason}.")


@contextmanager
def _native_silence() -> Iterator[None]:
    """Send to nowhere what compiled code writes on standard error, as panics do."""
    stderr, kept = 2, os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, stderr)
        yield
    finally:
        os.dup2(kept, stderr)
        os.close(kept)
        os.close(nowhere)


def _parsed(
    source: str, content: bytes, separator: str, text: set[str]
) -> pl.DataFrame:
    """Parse CSV, with numbers in quotes and after spaces taken as numbers."""
    content = content.removeprefix(b"\xef\xbb\xbf").strip(b"\r\n")
    if not content.strip():
        raise ValueError(f"{source} is empty: it must have a header and rows.")
    names, rows = _header_and_rows(source, content, separator)
    # Polars does not take doubled quotes of a name as one: it gets plain numbers.
    header = separator.join(str(place) for place in range(len(names)))
    try:
        table = pl.read_csv(
            io.BytesIO(f"{header}\n{rows}".encode()),
            separator=separator,
            null_values=_MISSING,
            try_parse_dates=True,
            infer_schema_length=None,
            schema_overrides={
                str(place): pl.String
                for place, name in enumerate(names)
                if name in text
            },
        )
    except pl.exceptions.PolarsError as error:
        reason = _odd_row(content, separator, len(names)) or _first_line(error)
        raise ValueError(f"{source} cannot be read: {reason}.") from None
    table.columns = names
    return table.with_columns(
        _number_if_possible(column)
        for column in table
        if column.dtype == pl.String and column.name not in text
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
    if len(names) == 1 and set(names[0]) & set(";\t|"):
        raise ValueError(
            f"{source} has one column {names[0]!r}: separate columns by commas, or by "
            "tabs in a file that ends in .tsv."
        )
    rows = lines.read()
    return names, f"{rows}\n" if rows else ""


def _odd_row(content: bytes, separator: str, n_columns: int) -> str:
    """Name the first row with too many or few fields, if that is the trouble."""
    lines = io.StringIO(content.decode("utf-8"), newline="")
    try:
        for row, fields in enumerate(csv.reader(lines, delimiter=separator)):
            if fields and len(fields) != n_columns:
                return f"row {row} has {len(fields)} fields, the header {n_columns}"
    except csv.Error:
        pass
    return ""


def _number_if_possible(column: pl.Series) -> pl.Series:
    number = column.str.strip_chars().cast(pl.Float64, strict=False)
    return number if number.null_count() == column.null_count() else column


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


@contextmanager
def temporary_table(table: pl.DataFrame, name: str) -> Iterator[str]:
    """Give the name of a file that holds the table for a while."""
    with TemporaryDirectory() as folder:
        target = str(Path(folder) / name)
        write_table(table, target, force=False)
        yield target

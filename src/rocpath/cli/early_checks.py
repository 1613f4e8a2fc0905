"""Check files and column names before any rows are read.

Neither numpy nor polars is imported, so that a mistyped name is reported at once.
"""

import csv
import gzip
import os
import zlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from rocpath.files.table_names import file_names, partition_values
from rocpath.tables.column_names import KINDS, check_found, is_kind

STANDARD_STREAM = "-"
_SEPARATORS = ",;\t|"
_TEXT = (".csv", ".tsv", ".tab", ".txt")
_WRITABLE = (".csv", ".tsv", ".tab", ".parquet", ".pq")
_MAX_HEADER = 1_000_000  # characters; longer headers are checked when the table is read


def parsed_types(assignments: Sequence[str]) -> dict[str, str]:
    """Parse ``column=kind``; a date may have a format, as in ``date:%d/%m/%Y``."""
    types = {}
    for assignment in assignments:
        name, _, kind = assignment.rpartition("=")
        if not name or not is_kind(kind):
            raise ValueError(
                f"--type must be COLUMN=KIND with a kind of {', '.join(KINDS)}, number:., number:, "
                f"or date:FORMAT, got {assignment!r}."
            )
        types[name] = kind
    return types


def check_exists(*names: str) -> None:
    """Raise if a file or folder does not exist."""
    for name in names:
        if name != STANDARD_STREAM and not os.path.exists(name):
            raise ValueError(f"{name!r} does not exist.")


def shown_name(source: str) -> str:
    """Return the name of a table as shown to the user."""
    return "standard input" if source == STANDARD_STREAM else source


def check_columns_exist(table: str, columns: Mapping[str, Collection[str | None]]) -> None:
    """Raise if a file does not exist or its header lacks a column.

    ``columns`` maps each role to column names, or None for a column that was not given.
    """
    first = file_names(table)[0]
    check_exists(first)
    # The separator that gives the most columns is used in messages.
    partitions = [*partition_values(first)]
    headers = sorted((one + partitions for one in _possible_headers(first)), key=len)
    for role, wanted in columns.items() if headers else ():
        for name in wanted:
            if name is not None and not any(name in header for header in headers):
                check_found(name, headers[-1], role)


def check_folder(folder: str, *, force: bool) -> None:
    """Raise if results cannot be written to a folder, before they are computed."""
    target = Path(folder)
    if target.exists() and not target.is_dir():
        raise ValueError(f"{folder!r} is a file: name a folder with --out.")
    _check_target(target, force=force)


def check_file(target: str, *, force: bool, is_table: bool = False) -> None:
    """Raise if a file cannot be written, before its content is computed."""
    if target == STANDARD_STREAM:
        return
    path = Path(target)
    if is_table and path.suffix.lower() not in _WRITABLE:
        raise ValueError(f"{target!r} must end in .csv, .tsv or .parquet.")
    if path.is_dir():
        raise ValueError(f"{target!r} is a directory: name a file with --out.")
    # A pipe or a device cannot be replaced by a file.
    if path.exists() and not path.is_file():
        raise ValueError(
            f"{target!r} is not a regular file: name another with --out, or - for standard output."
        )
    _check_target(path, force=force)


def _check_target(target: Path, *, force: bool) -> None:
    if os.path.lexists(target) and not force:
        raise ValueError(
            f"{str(target)!r} already exists: choose another name with --out, or "
            "overwrite it with --force."
        )
    # Checked before the results are computed, which may take a long time.
    parent = target if target.is_dir() else target.absolute().parent
    if not parent.is_dir():
        raise ValueError(
            f"{str(target)!r} cannot be written: there is no directory "
            f"{str(target.parent)!r}; create it first."
        )
    if not os.access(parent, os.W_OK):
        raise ValueError(
            f"{str(target)!r} cannot be written: no permission to write into {str(parent)!r}."
        )


def _possible_headers(name: str) -> list[list[str]]:
    """Return the header split by each separator; empty if it cannot be read as text."""
    plain = name.lower().removesuffix(".gz")
    if not plain.endswith(_TEXT):
        return []
    opened = gzip.open if plain != name.lower() else open
    try:
        with opened(name, "rt", encoding="utf-8-sig", newline="") as file:
            start = file.read(_MAX_HEADER).lstrip("\r\n")
        lines = start.splitlines(keepends=True)
        # If the header is missing or cut off, reading the table gives a better error.
        if not lines or (len(lines) == 1 and len(start) == _MAX_HEADER):
            return []
        headers = [next(csv.reader(lines, delimiter=one), []) for one in _SEPARATORS]
    except (OSError, UnicodeDecodeError, EOFError, csv.Error, zlib.error):
        return []
    return [[one.strip() for one in header] for header in headers]

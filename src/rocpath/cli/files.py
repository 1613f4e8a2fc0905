"""Read tables from standard input, and write results if no file is in the way."""

import io
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from rocpath.cli.early_checks import STANDARD_STREAM, check_file, check_folder
from rocpath.files import tables, writer
from rocpath.files.csv_text import inert_csv
from rocpath.files.table_names import PARQUET


def opened(source: str) -> Any:
    """Return standard input for ``-``, and otherwise the file name."""
    return sys.stdin.buffer if source == STANDARD_STREAM else source


def write_table(table: pl.DataFrame, target: str, *, force: bool) -> None:
    """Write a table in the format of its extension, or as CSV to standard output."""
    check_file(target, force=force, is_table=True)
    extension = ".csv" if target == STANDARD_STREAM else Path(target).suffix.lower()
    if extension in PARQUET:
        # Encoded in memory first: on a full disk, Polars does not raise an OSError.
        content = io.BytesIO()
        table.write_parquet(content)
        _write_file(target, content.getvalue(), force=force)
    else:
        separator = tables.SEPARATORS[extension]
        write_text(inert_csv(table, separator), target, force=force)


def write_text(text: str, target: str, *, force: bool) -> None:
    """Write text to a file or to standard output."""
    if target == STANDARD_STREAM:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        _write_file(target, text, force=force)


def write_folder(folder: str, contents: Mapping[str, writer.Content], *, force: bool) -> None:
    """Write files into a new folder, or with ``force`` into an existing one."""
    check_folder(folder, force=force)
    writer.write_files(folder, contents)


def _write_file(target: str, content: bytes | str, *, force: bool) -> None:
    check_file(target, force=force)
    writer.write_file(target, content)

"""Read tables from standard input, and write results completely or not at all.

Results are written to a temporary path, which is then renamed.
"""

import io
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import polars as pl

from rocpath.cli.early_checks import STANDARD_STREAM, check_file, check_folder
from rocpath.files import tables
from rocpath.files.csv_text import first_line, inert_csv
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
        _write_file(target, text.encode("utf-8"), force=force)


def write_folder(
    folder: str, contents: Mapping[str, bytes | str | Callable[[Path], object]], *, force: bool
) -> None:
    """Write files into a new folder, or with ``force`` into an existing one.

    Other files in an existing folder are kept.
    """
    target = Path(folder)
    check_folder(folder, force=force)
    # The parent of an existing folder may not be writable, so results are first written
    # inside the folder.
    near = target / "results" if target.exists() else target
    with _unfinished(near, folder) as unfinished:
        unfinished.mkdir()
        for name, content in contents.items():
            if os.path.dirname(name):
                (unfinished / name).parent.mkdir(parents=True, exist_ok=True)
            if callable(content):
                content(unfinished / name)
                continue
            encoded = content.encode("utf-8") if isinstance(content, str) else content
            (unfinished / name).write_bytes(encoded)
        if target.exists():
            # Renamed one by one: each file is complete, even if an error occurs.
            for name in contents:
                if os.path.dirname(name):
                    (target / name).parent.mkdir(parents=True, exist_ok=True)
                (unfinished / name).replace(target / name)
        else:
            unfinished.rename(target)


def _write_file(target: str, content: bytes, *, force: bool) -> None:
    check_file(target, force=force)
    with _unfinished(Path(target), target) as unfinished:
        unfinished.write_bytes(content)
        unfinished.replace(target)


@contextmanager
def _unfinished(near: Path, target: str) -> Iterator[Path]:
    """Yield a temporary path next to ``near``, and remove it at the end.

    An OSError is converted to a ValueError that names the target.
    """
    # The path is in the same folder, since renaming is atomic only within a file system,
    # and contains the process ID, since two fits may write to the same folder.
    near = near.absolute()
    unfinished = near.with_name(f".{near.name}.{os.getpid()}.partial")
    try:
        yield unfinished
    except OSError as error:
        reason = error.strerror or first_line(error)
        raise ValueError(f"{target!r} cannot be written: {reason}.") from None
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
        with suppress(OSError):
            unfinished.unlink()

"""Read and write tables and results: the only module that touches files.

What is written appears whole or not at all: it goes to a sibling of the target, which
then takes the target's name.
"""

from __future__ import annotations

import gzip
import io
import os
import shutil
import sys
import zlib
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from rocpath.cli.csv_text import first_line, parsed_csv

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

STANDARD_STREAM = "-"
_SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_ANY_SEPARATOR = ".txt"
_PARQUET = (".parquet", ".pq")
_PACKED = ".gz"
_EXTENSIONS = ".csv, .tsv or .parquet"


def read_table(
    source: str, *, text: Iterable[str] = (), codes: Iterable[str] = ()
) -> pl.DataFrame:
    """Read a table by the extension of its name, or as CSV from standard input.

    It has at least one row, and no column name twice. Columns named as text stay text
    even where they look like numbers, and of those named as codes ``NA`` is one.
    """
    if source == STANDARD_STREAM:
        content = sys.stdin.buffer.read()
        table = parsed_csv(shown_name(source), content, ",", set(text), codes)
    else:
        packed = source.lower().endswith(_PACKED)
        plain = source[: -len(_PACKED)] if packed else source
        # Before the content: a name that tells no format may be that of a large file.
        extension = _extension(plain, (_ANY_SEPARATOR,))
        content = _unpacked(source, _content(source)) if packed else _content(source)
        if extension in _PARQUET:
            table = _parquet(source, content)
        else:
            separator = _SEPARATORS.get(extension)
            table = parsed_csv(repr(source), content, separator, set(text), codes)
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
        # By way of memory: on a full disk Polars raises what is no OSError.
        content = io.BytesIO()
        table.write_parquet(content)
        coded = content.getvalue()
        _write_file(target, lambda path: path.write_bytes(coded), force=force)
    else:
        write = partial(table.write_csv, separator=_SEPARATORS[extension])
        _write_file(target, write, force=force)


def write_text(text: str, target: str, *, force: bool) -> None:
    """Write a text to a file or to standard output."""
    if target == STANDARD_STREAM:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        content = text.encode("utf-8")
        _write_file(target, lambda path: path.write_bytes(content), force=force)


def write_folder(
    folder: str,
    contents: Mapping[str, bytes | str | Callable[[Path], object]],
    *,
    force: bool,
) -> None:
    """Write files into a new folder, or with force into an old one.

    Other files of an old folder are left alone.
    """
    target = Path(folder)
    check_folder(folder, force=force)
    # Inside an old folder, as the one around it may not be ours to write to.
    unfinished = _unfinished_sibling(target / "results" if target.exists() else target)
    try:
        with _named(target):
            unfinished.mkdir()
            for name, content in contents.items():
                if callable(content):
                    content(unfinished / name)
                    continue
                coded = content.encode("utf-8") if isinstance(content, str) else content
                (unfinished / name).write_bytes(coded)
            if target.exists():
                # Renamed one by one: each file is whole, if not all are of one fit.
                for name in contents:
                    (unfinished / name).replace(target / name)
            else:
                unfinished.rename(target)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def check_folder(folder: str, *, force: bool) -> None:
    """Raise if results could not be written there, before they are computed."""
    target = Path(folder)
    if target.exists() and not target.is_dir():
        raise ValueError(f"{folder!r} is a file: name a folder with --out.")
    _check_target(target, force=force)


def check_file(target: str, *, force: bool, is_table: bool = False) -> None:
    """Raise if a file could not be written there, before it is computed."""
    if target == STANDARD_STREAM:
        return
    if is_table:
        _extension(target)
    path = Path(target)
    if path.is_dir():
        raise ValueError(f"{target!r} is a directory: name a file with --out.")
    # A pipe or a device cannot be replaced by a file.
    if path.exists() and not path.is_file():
        raise ValueError(
            f"{target!r} is not a regular file: name another with --out, or - for "
            "standard output."
        )
    _check_target(path, force=force)


def _check_target(target: Path, *, force: bool) -> None:
    if target.exists() and not force:
        raise ValueError(
            f"{str(target)!r} already exists: choose another with --out, or "
            "overwrite it with --force."
        )
    # Before the work, which may take long.
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


def _write_file(target: str, write: Callable[[Path], Any], *, force: bool) -> None:
    check_file(target, force=force)
    unfinished = _unfinished_sibling(Path(target))
    try:
        with _named(target):
            write(unfinished)
            unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def _named(target: str | Path) -> Iterator[None]:
    """Say which file could not be written, where the system says only why."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or first_line(error)
        raise ValueError(f"{str(target)!r} cannot be written: {reason}.") from None


def _unfinished_sibling(target: Path) -> Path:
    # Beside the target, as a name moves only within one file system; with the number
    # of the process, as two fits may write there.
    target = target.absolute()
    return target.with_name(f".{target.name}.{os.getpid()}.partial")


def _extension(name: str, others: tuple[str, ...] = ()) -> str:
    extension = Path(name).suffix.lower()
    if extension not in (*_SEPARATORS, *_PARQUET, *others):
        raise ValueError(
            f"{name!r} must end in {_EXTENSIONS}, which tells its format; - is CSV "
            "from standard input or to standard output."
        )
    return extension


def _content(source: str) -> bytes:
    try:
        return Path(source).read_bytes()
    except FileNotFoundError:
        raise ValueError(f"{source!r} does not exist.") from None
    except IsADirectoryError:
        raise ValueError(f"{source!r} is a directory: name a file in it.") from None
    except OSError as error:
        raise ValueError(f"{source!r} cannot be read: {error.strerror}.") from None


def _unpacked(source: str, content: bytes) -> bytes:
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(
            f"{source!r} is not readable gzip: {first_line(error)}."
        ) from None


def _parquet(source: str, content: bytes) -> pl.DataFrame:
    try:
        with _native_silence():
            return pl.read_parquet(io.BytesIO(content))
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = first_line(error)
    # Which is no Exception but a BaseException, and so is named.
    except pl.exceptions.PanicException:
        reason = "it is damaged"
    raise ValueError(f"{source!r} is not readable Parquet: {reason}.")


@contextmanager
def _native_silence() -> Iterator[None]:
    """Send to nowhere what compiled code writes on standard error, as panics do."""
    # The file descriptor, as sys.stderr knows nothing of compiled code.
    stderr, kept = 2, os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, stderr)
        yield
    finally:
        os.dup2(kept, stderr)
        os.close(kept)
        os.close(nowhere)

"""Read a table from a file by its extension."""

from __future__ import annotations

import io
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from rocpath.table_files.csv_text import first_line, parsed_csv
from rocpath.table_files.memory import check_memory, unpacked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
PARQUET = (".parquet", ".pq")
_FEATHER = (".feather", ".arrow", ".ipc")
_EXCEL = ".xlsx"
_ANY_SEPARATOR = ".txt"
_PACKED = ".gz"
_READABLE = (*SEPARATORS, *PARQUET, *_FEATHER, _EXCEL, _ANY_SEPARATOR)


def read_table(
    path: str | os.PathLike[str],
    *,
    text: Iterable[str] = (),
    codes: Iterable[str] = (),
    encoding: str | None = None,
) -> pl.DataFrame:
    r"""Read a table as other programs write it.

    CSV may be packed (``.gz``), separated by commas, semicolons, tabs or bars, and
    coded as UTF-8 or UTF-16. Numbers may be in quotes. ``NA`` and similar words are
    missing values, except in columns of two-letter codes.

    Parameters
    ----------
    path : path
        File that ends in ``.csv``, ``.tsv``, ``.txt``, ``.parquet``, ``.feather`` or
        ``.xlsx``; text may end in ``.gz``, too.
    text : list of str
        Columns that stay text, even if they look like numbers.
    codes : list of str
        Columns in which ``NA`` is a value.
    encoding : str, optional
        Encoding of text, such as ``"latin-1"``.

    Returns
    -------
    polars.DataFrame
        Table with at least one row and distinct column names.

    Raises
    ------
    ValueError
        If the file cannot be read; the message says where and why.
    MemoryError
        If the table does not fit into memory.

    Examples
    --------
    >>> import rocpath as rp
    >>> with open("doctest_table.csv", "w") as file:
    ...     _ = file.write("zip;price\n00501;1,5\n10001;2,5\n")
    >>> rp.read_table("doctest_table.csv").rows()
    [('00501', '1,5'), ('10001', '2,5')]
    >>> import os
    >>> os.remove("doctest_table.csv")
    """
    source = str(path)
    is_packed = source.lower().endswith(_PACKED)
    plain = source[: -len(_PACKED)] if is_packed else source
    # Before the content: a name without a known format may be that of a large file.
    extension = known_extension(plain, _READABLE)
    content = _content(source)
    if is_packed:
        content = unpacked(source, content)
    if extension in PARQUET or extension in _FEATHER or extension == _EXCEL:
        table = _binary(source, content, extension)
    else:
        separator = SEPARATORS.get(extension)
        table = parse_table(
            repr(source), content, separator, text=text, codes=codes, encoding=encoding
        )
    if table.height == 0:
        raise ValueError(f"{source!r} has a header but no rows.")
    return table


def parse_table(
    name: str,
    content: bytes,
    separator: str | None = ",",
    *,
    text: Iterable[str] = (),
    codes: Iterable[str] = (),
    encoding: str | None = None,
) -> pl.DataFrame:
    """Parse CSV; the name is that of its source in messages."""
    check_memory(name, len(content))
    if encoding is not None:
        try:
            content = content.decode(encoding).encode()
        except (LookupError, UnicodeDecodeError) as error:
            reason = first_line(error)
            raise ValueError(f"{name} is not {encoding} text: {reason}.") from None
    return parsed_csv(name, content, separator, set(text), codes)


def known_extension(name: str, extensions: tuple[str, ...]) -> str:
    """Return the extension of a file, or raise if it is not one of these."""
    extension = Path(name).suffix.lower()
    if extension not in extensions:
        raise ValueError(
            f"{name!r} must end in .csv, .tsv or .parquet, which tells its format"
            f"{'; .feather and .xlsx can be read too' if _EXCEL in extensions else ''}."
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


def _binary(source: str, content: bytes, extension: str) -> pl.DataFrame:
    format_, file = "Parquet", io.BytesIO(content)
    try:
        with _native_silence():
            if extension in PARQUET:
                return pl.read_parquet(file)
            if extension in _FEATHER:
                format_ = "Feather"
                return pl.read_ipc(file)
            format_ = "Excel"
            return pl.read_excel(file, engine="calamine")
    except ModuleNotFoundError:
        raise ImportError(
            f"{source!r} needs fastexcel; install it with: pip install 'rocpath[excel]'"
        ) from None
    except (pl.exceptions.PolarsError, OSError, ValueError) as error:
        reason = first_line(error)
    # Not an Exception but a BaseException, and so named here.
    except pl.exceptions.PanicException:
        reason = "it is damaged"
    except Exception as error:  # errors of calamine have no class of their own
        if format_ != "Excel":
            raise
        reason = first_line(error)
    raise ValueError(f"{source!r} is not readable {format_}: {reason}.")


@contextmanager
def _native_silence() -> Iterator[None]:
    """Discard what compiled code writes to standard error, such as panics."""
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

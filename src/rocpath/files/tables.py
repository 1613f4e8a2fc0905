"""Read a table from one or several files by their extension."""

import io
import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from rocpath.files.csv_text import first_line, parse_table, typed
from rocpath.files.table_names import PARQUET, check_local, file_names, is_many, partition_values
from rocpath.files.unpacking import memory_limit, unpacked

SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_EXCEL = ".xlsx"
_ANY_SEPARATOR = ".txt"
_PACKED = ".gz"
_BINARY: dict[str, Any] = {
    **dict.fromkeys(PARQUET, ("Parquet", pl.read_parquet)),
    **dict.fromkeys((".feather", ".arrow", ".ipc"), ("Feather", pl.read_ipc)),
    _EXCEL: ("Excel", partial(pl.read_excel, engine="calamine", sheet_id=0, raise_if_empty=False)),
}
_READABLE = (*SEPARATORS, *_BINARY, _ANY_SEPARATOR)
_EXPANSION = 3  # ratio of memory to file size, typical of Parquet
_SHARE_OF_MEMORY = 0.5  # for the rows of several files; the rest is for the fit
_MAX_LISTED = 10  # column names in an error message


def read_table(
    path: str | os.PathLike[str] | BinaryIO,
    *,
    text: Iterable[str] = (),
    codes: Iterable[str] = (),
    encoding: str | None = None,
) -> pl.DataFrame:
    r"""Read a table from CSV, Parquet, Feather or Excel files.

    CSV may be compressed (``.gz``), separated by commas, semicolons, tabs or vertical
    bars, and encoded as UTF-8 or UTF-16. Numbers may be in quotes. ``NA`` and similar
    words are missing values, except in columns of two-letter codes.

    The rows of several files are concatenated if they fit into memory. Folders named
    ``column=value``, as Spark and Hive write them, add a column to the files in them.

    Parameters
    ----------
    path : path or binary file
        File that ends in ``.csv``, ``.tsv``, ``.txt``, ``.parquet``, ``.feather`` or
        ``.xlsx``; text files may also be compressed (``.gz``). A pattern such as
        ``"parts/*.csv"``, or a folder of Parquet files, stands for several files. An
        open file, such as ``sys.stdin.buffer``, must contain CSV.
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
        If the file cannot be read; the message gives the place and the reason.
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
    options: dict[str, Any] = {"text": text, "codes": codes, "encoding": encoding}
    if isinstance(path, str | os.PathLike):
        if is_many(str(path)):
            return _read_files(str(path), options)
        check_local(str(path))
        name, table = repr(str(path)), _read_file(str(path), options)
    else:
        name = {"<stdin>": "standard input"}.get(path.name, repr(path.name))
        table = parse_table(name, path.read(), **options)
    if table.height == 0:
        raise ValueError(f"{name} has a header but no rows.")
    return table


def read_part(path: str, **options: Any) -> pl.DataFrame:
    """Read one file of a partitioned table, with the columns that its path names."""
    return _with_partition_types(_read_untyped_part(path, options), [path], options["text"])


def _read_files(pattern: str, options: dict[str, Any]) -> pl.DataFrame:
    """Read and concatenate several files, or raise if they may not fit into memory."""
    names = file_names(pattern)
    # A rough estimate: an exact one would take as long as reading the files.
    needed, limit = _EXPANSION * sum(map(os.path.getsize, names)), memory_limit()
    if needed > _SHARE_OF_MEMORY * limit:
        raise MemoryError(
            f"{pattern!r} has {len(names):,} files, which may need {needed / 1e9:.1f} GB of the "
            f"{limit / 1e9:.1f} GB of available memory: read them with dask.dataframe and use "
            "rocpath.dask, or use fewer files."
        )
    # Sets, because the first file would exhaust iterators.
    options |= {name: set(options[name]) for name in ("text", "codes")}
    tables = {name: _read_untyped_part(name, options) for name in names}
    return _with_partition_types(_concatenated(tables), names, options["text"])


def _read_untyped_part(path: str, options: dict[str, Any]) -> pl.DataFrame:
    """Read a file, with its partition columns as text."""
    table = read_table(path, **options)
    values = partition_values(path).items()
    return table.with_columns(
        pl.lit(value, pl.String).alias(column)
        for column, value in values
        if column not in table.columns
    )


def _concatenated(tables: dict[str, pl.DataFrame]) -> pl.DataFrame:
    """Concatenate the rows of several tables, or raise if their columns differ."""
    first, *_ = tables.values()
    for name, table in tables.items():
        missing = [column for column in first.columns if column not in table.columns]
        added = [column for column in table.columns if column not in first.columns]
        if missing or added:
            raise ValueError(
                f"{name!r} must have the columns of the first file, {next(iter(tables))!r}: it "
                f"lacks {missing[:_MAX_LISTED]} and adds {added[:_MAX_LISTED]}."
            )
    aligned = [table.select(first.columns) for table in tables.values()]
    return pl.concat(aligned, how="vertical_relaxed")


def _with_partition_types(
    table: pl.DataFrame, names: list[str], text: Iterable[str]
) -> pl.DataFrame:
    """Convert the partition columns to numbers or dates, unless they are to stay text."""
    columns = {column for name in names for column in partition_values(name)} - set(text)
    return table.with_columns(
        typed(one) for one in table if one.name in columns and one.dtype == pl.String
    )


def _read_file(source: str, options: dict[str, Any]) -> pl.DataFrame:
    is_packed = source.lower().endswith(_PACKED)
    plain = source[: -len(_PACKED)] if is_packed else source
    # Checked before reading, since a file of unknown format may be large.
    extension = Path(plain).suffix.lower()
    if extension not in _READABLE:
        raise ValueError(f"{plain!r} must end in .csv, .tsv, .txt, .parquet, .feather or .xlsx.")
    content = _content(source)
    if is_packed:
        content = unpacked(source, content)
    if extension in _BINARY:
        return _binary(source, content, extension)
    return parse_table(repr(source), content, SEPARATORS.get(extension), **options)


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
    format_, read = _BINARY[extension]
    try:
        with _without_native_stderr():
            found = read(io.BytesIO(content))
        return _first_sheet(source, found) if extension == _EXCEL else found
    except ModuleNotFoundError:
        raise ImportError(
            f"{source!r} needs fastexcel; install it with: pip install 'rocpath[excel]'"
        ) from None
    # A panic is not an Exception but a BaseException, and errors of calamine have no
    # class of their own.
    except (Exception, pl.exceptions.PanicException) as error:
        is_panic = isinstance(error, pl.exceptions.PanicException)
        reason = "it is damaged" if is_panic else first_line(error)
    raise ValueError(f"{source!r} is not readable {format_}: {reason}.")


def _first_sheet(source: str, sheets: dict[str, pl.DataFrame]) -> pl.DataFrame:
    """Return the first sheet that has rows, and warn if there are others."""
    filled = [name for name, sheet in sheets.items() if sheet.height]
    if len(filled) > 1:
        warnings.warn(
            f"{source!r} has {len(filled)} sheets with rows: only {filled[0]!r} is read.",
            stacklevel=2,
        )
    return sheets[filled[0]] if filled else pl.DataFrame()


@contextmanager
def _without_native_stderr() -> Iterator[None]:
    """Discard what compiled code writes to standard error, such as panics."""
    # The file descriptor is replaced, since compiled code does not use sys.stderr.
    stderr, saved = 2, os.dup(2)
    null_device = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null_device, stderr)
        yield
    finally:
        os.dup2(saved, stderr)
        os.close(saved)
        os.close(null_device)

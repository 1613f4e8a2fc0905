"""Find the files of a table: one file, a pattern, or a folder of Parquet files.

Neither numpy nor polars is imported, so that a mistyped name is reported at once.
"""

import os
import re
from collections.abc import Collection
from glob import glob, has_magic
from pathlib import Path
from urllib.parse import unquote

_MAX_LISTED = 20  # names listed in a message

PARQUET = (".parquet", ".pq")
_REMOTE = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]+://")  # a drive such as C: has one letter
_NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"


def is_many(table: str) -> bool:
    """Return whether a table is a glob pattern or a folder."""
    # The name of an existing file may contain brackets.
    return not os.path.isfile(table) and (has_magic(table) or os.path.isdir(table))


def file_names(table: str) -> list[str]:
    """Return the sorted names of the files of a table, or raise if there are none."""
    check_local(table)
    if not is_many(table):
        return [table]
    if os.path.isdir(table):
        names = [name for name in _files_below(table) if name.lower().endswith(PARQUET)]
        if not names:
            raise ValueError(
                f"{table!r} is a folder without Parquet files: name a file, or quote a pattern "
                f"such as '{os.path.join(table, '*.csv')}'."
            )
        return names
    names = []
    for name in sorted(glob(table, recursive=True)):
        # Spark writes each table to a folder, so a pattern may match several folders.
        names += _files_below(name) if os.path.isdir(name) else [name]
    if not names:
        raise ValueError(f"{table!r} matches no file.")
    return names


def check_local(table: str) -> None:
    """Raise if a name is the address of a remote file."""
    if _REMOTE.match(table):
        raise ValueError(
            f"{table!r} is a remote address: copy the files to this machine first, or, for data "
            "larger than memory, read them with dask.dataframe and use rocpath.dask."
        )


def partition_values(name: str) -> dict[str, str | None]:
    """Return the values of the Hive columns in a path, such as ``year=2024/part.parquet``."""
    pairs = [part.split("=", 1) for part in Path(name).parent.parts if part.count("=") == 1]
    values = {unquote(column): unquote(value) for column, value in pairs if column}
    return {column: None if one == _NULL_PARTITION else one for column, one in values.items()}


def names_below(names: list[str]) -> list[str]:
    """Return file names relative to the folder that contains all of them."""
    folders = [os.path.dirname(name) for name in names]
    folder = os.path.commonpath(folders) if all(folders) else ""
    return [os.path.relpath(name, folder) if folder else name for name in names]


def _files_below(folder: str) -> list[str]:
    """Return the files in a folder and its subfolders, without hidden ones."""
    found = []
    for parent, folders, names in os.walk(folder):
        # Spark marks its own files, such as _SUCCESS, by an underscore.
        folders[:] = [name for name in folders if name[0] not in "._"]
        found += [os.path.join(parent, name) for name in names if name[0] not in "._"]
    return sorted(found)


def listed(names: Collection[str]) -> str:
    """Join names for a message."""
    more = f", ... ({len(names)} in all)" if len(names) > _MAX_LISTED else ""
    return ", ".join([*names][:_MAX_LISTED]) + more

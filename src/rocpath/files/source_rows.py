"""Read rows from tables, data frames, BED files and bedGraph files."""

import os
from typing import Any, BinaryIO

import numpy as np
import polars as pl

from rocpath.files.frames import as_table
from rocpath.files.tables import read_table

Source = str | os.PathLike[str] | BinaryIO | Any
_LAST_COLUMNS = {".bed": "kind", ".bedgraph": "value", ".bdg": "value", ".bg": "value"}
_FIELDS = r"^\s*(\S+)\s+(\S+)\s+(\S+)\s+(\S+)"
_COMMENT = r"^(#|track|browser|\s*$)"


def genome_column(source: Source) -> str | None:
    """Return the name of the fourth column of a BED or bedGraph file; None for others."""
    is_path = hasattr(source, "__fspath__") or isinstance(source, str)
    name = str(source).lower().removesuffix(".gz") if is_path else ""
    return _LAST_COLUMNS.get(os.path.splitext(name)[1])


def as_rows(source: Source, text: set[str | None]) -> pl.DataFrame:
    """Return the source as a data frame; the columns in ``text`` of a file are read as text."""
    fourth = genome_column(source)
    if fourth is not None:
        return _genome_rows(str(source), fourth)
    if hasattr(source, "columns"):
        frame: Any = source
        # Data frames of pandas often have their times in the index.
        if getattr(getattr(frame, "index", None), "dtype", np.dtype(float)).kind == "M":
            name = frame.index.name if frame.index.name in text - {None} else "timestamp"
            frame = frame.reset_index(names=name)
        return as_table(frame)
    return read_table(source, text=[name for name in text if name is not None])


def _genome_rows(path: str, fourth: str) -> pl.DataFrame:
    """Read the first four fields of each line, except comments and headers."""
    # Fields are separated by tabs or spaces, so each line is first read as one field.
    schema = {"line": pl.String}
    lines = pl.scan_csv(
        path, separator="\1", has_header=False, quote_char=None, schema=schema, raise_if_empty=False
    )
    line = pl.col("line")
    lines = lines.filter(~line.str.contains(_COMMENT))
    rows = lines.select(line.str.extract_groups(_FIELDS)).unnest("line").collect()
    rows.columns = ["sequence", "start", "end", fourth]
    name = os.path.basename(path)
    if rows.is_empty():
        raise ValueError(f"{name} must have at least one row, got none.")
    if rows["sequence"].null_count():
        bad = lines.filter(~line.str.contains(_FIELDS)).first().collect().item()
        raise ValueError(f"{name} must have four columns in each row, got {bad!r}.")
    # Numbers take less memory; a column with an invalid one stays text for the message.
    types = {"start": pl.Int64, "end": pl.Int64, "value": pl.Float64}
    typed = [rows[one].cast(types[one], strict=False) for one in rows.columns if one in types]
    return rows.with_columns(one for one in typed if not one.null_count())

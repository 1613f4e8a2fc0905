"""Data frames and columns of pandas or polars as those of polars."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl


def as_table(frame: Any) -> pl.DataFrame:
    """Return a data frame of pandas or polars as one of polars."""
    if isinstance(frame, pl.DataFrame):
        return frame
    if isinstance(frame, pl.LazyFrame):
        return frame.collect()
    if not (hasattr(frame, "columns") and hasattr(frame, "dtypes")):
        raise TypeError(
            "X must be a data frame of pandas or polars with named columns, got "
            f"{type(frame).__name__}."
        )
    # Column by column: polars would need pyarrow for the whole frame.
    return pl.DataFrame([_pandas_column(str(name), frame[name]) for name in frame])


def as_series(name: str, values: Any) -> pl.Series:
    """Return one value per row as a column of polars; its own name, if it has one."""
    if isinstance(values, pl.Series):
        return values if values.name else values.alias(name)
    if hasattr(values, "iloc"):
        return _pandas_column(str(values.name or name), values)
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}.")
    if array.dtype.kind in "OSU":
        known = [None if _is_missing(one) else one for one in array.tolist()]
        return pl.Series(name, known, strict=False)
    return pl.Series(name, array)


def _pandas_column(name: str, column: Any) -> pl.Series:
    kind = getattr(column.dtype, "kind", "O")
    if kind == "M":
        times = column.to_numpy(dtype="datetime64[us]")
        return pl.Series(name, times).dt.cast_time_unit("us")
    if isinstance(column.dtype, np.dtype) and kind in "iufb":
        return pl.Series(name, column.to_numpy())
    # Objects, categories and extension types: polars knows all their Python values.
    values = [None if _is_missing(one) else one for one in column.tolist()]
    return pl.Series(name, values, strict=False)


def _is_missing(value: Any) -> bool:
    """Return whether a value is one of pandas' representations of a missing value."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value

"""Convert data frames and columns from pandas to polars."""

from collections import Counter
from typing import Any

import numpy as np
import polars as pl

from rocpath.validation import check_masked


def as_table(frame: Any) -> pl.DataFrame:
    """Convert a pandas or polars data frame to polars."""
    if isinstance(frame, pl.DataFrame):
        return frame
    if isinstance(frame, pl.LazyFrame):
        return frame.collect()
    check_masked("X", frame)
    if not (hasattr(frame, "columns") and hasattr(frame, "dtypes")):
        raise TypeError(
            "X must be a pandas or polars data frame with named columns, got "
            f"{type(frame).__name__}."
        )
    names = [str(name) for name in frame]
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ValueError(f"X must have distinct column names, got {repeated[0]!r} twice.")
    # Column by column, since polars needs pyarrow to convert a whole frame.
    columns = [as_series(name, frame[name]).alias(str(name)) for name in frame]
    return pl.DataFrame(columns)


def as_series(name: str, values: Any) -> pl.Series:
    """Convert one value per row to a polars series, whose own name takes precedence."""
    if isinstance(values, pl.Series):
        return values if values.name else values.alias(name)
    check_masked(name, values)
    name = str(getattr(values, "name", None) or name)
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}.")
    if array.dtype.kind == "M":
        array = array.astype("datetime64[us]")
    if array.dtype.kind in "OSU":
        # Categories and extension types are converted from their Python values, too.
        known = [None if _is_missing(one) else one for one in array.tolist()]
        return pl.Series(name, known, strict=False)
    return pl.Series(name, array)


def _is_missing(value: Any) -> bool:
    """Return whether a value is one of pandas' representations of a missing value."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value

"""Convert columns to numbers or text, with errors that name the first invalid row."""

import polars as pl

LARGEST_NUMBER = 1e100  # sums of its square do not overflow


def cast_numbers(series: pl.Series) -> pl.Series:
    """Convert a column to float64, with null for text that is not a number."""
    try:
        # Polars does not parse " 1" as a number.
        text = series.str.strip_chars() if series.dtype == pl.String else series
        return text.cast(pl.Float64, strict=False)
    except pl.exceptions.PolarsError:
        raise ValueError(f"column {series.name!r} must be numbers, got {series.dtype}.") from None


def complete(series: pl.Series, role: str = "column") -> pl.Series:
    """Return the column, or raise an error that names the first row without a value."""
    if series.null_count():
        row = series.is_null().arg_max() + 1  # type: ignore[operator]
        raise ValueError(
            f"{role} {series.name!r} has a missing value in row {row}: fill it in or remove the "
            "row."
        )
    return series


def check_rows(series: pl.Series, is_bad: pl.Series, rule: str) -> None:
    """Raise an error that names the first row that violates a rule, if any."""
    if is_bad.any():
        row = int(is_bad.arg_true()[0])
        raise ValueError(f"column {series.name!r} {rule}, got {series[row]!r} in row {row + 1}.")


def text_of(series: pl.Series) -> pl.Series:
    """Convert values to stripped text; whole numbers have no decimal point."""
    if series.dtype == pl.String:
        # Surrounding whitespace is not part of a value; whitespace alone is missing.
        stripped = series.str.strip_chars()
        return stripped.set(stripped == "", None)
    if series.dtype.is_float():
        series = series.fill_nan(None)
        # Missing values turn integers into floats, and labels 0 and 1 into 0.0 and 1.0.
        if (series == series.round()).all() and (series.abs() < 2.0**53).all():
            series = series.cast(pl.Int64)
    return series.cast(pl.String)


def is_plain(series: pl.Series) -> bool:
    """Return whether values are scalars, such as numbers, text or dates."""
    return not (series.dtype.is_nested() or series.dtype in (pl.Binary, pl.Object, pl.Unknown))

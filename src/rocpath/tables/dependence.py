"""Signs that rows are not independent: copies, repeated entities, and drift in time."""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rocpath.evaluation.intervals import auc_interval
from rocpath.hashing import INCREMENT, mixed_bits
from rocpath.sample import Sample
from rocpath.tables.column_names import is_identifier_name
from rocpath.tables.columns import MIN_ROWS_PER_ENTITY

# Maximum expected number of rows that equal a given row by chance, if columns are
# independent. Tables with a few categories have equal rows that are not copies.
_MAX_CHANCE = 0.05
_MIN_DISTINCT = 20  # rows; the counts of this many rarely have a common divisor by chance
_MAX_HASHES = 100_000  # hashes in a saved model, or 0.8 MB
_MIN_ENTITIES = 10
_DRIFT = 4.0  # minimum distance of the AUC of a date from 1/2, in standard errors


def find_copies(frame: pl.DataFrame, is_positive: NDArray[np.bool_]) -> NDArray[np.intp] | None:
    """Assign a number to each row that only copies share.

    Identical rows with the same label are copies if at most 0.05 such rows are expected
    by chance in a table with independent columns, or if the counts of all distinct rows
    have a common divisor. Returns None if there are no copies.
    """
    _, number = np.unique(row_hashes(frame, is_positive), return_inverse=True)
    count = np.bincount(number)
    if count.max() == 1:
        return None
    is_copy = count[number] > 1
    if count.size < _MIN_DISTINCT or np.gcd.reduce(count) == 1:
        is_copy &= _is_distinctive(frame, is_positive)
    if not is_copy.any():
        return None
    # Rows that are equal by chance are independent: each has a number of its own.
    number = np.where(is_copy, number, count.size + np.arange(number.size))
    return np.unique(number, return_inverse=True)[1]


def distinctive_hashes(frame: pl.DataFrame, is_positive: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return the hashes of the rows that are unlikely to equal other rows by chance.

    At most 100,000 hashes are returned: the smallest ones, which are a random sample.
    """
    code = row_hashes(frame, is_positive)[_is_distinctive(frame, is_positive)]
    return np.unique(code)[:_MAX_HASHES]


def count_known_rows(
    frame: pl.DataFrame, is_positive: NDArray[np.bool_], known: NDArray[np.uint64]
) -> int:
    """Count the rows with a known hash, or estimate the count from a sample of hashes."""
    code = row_hashes(frame, is_positive)
    n_known = np.isin(code, known).sum()
    if known.size < _MAX_HASHES:
        return int(n_known)
    return round(float(n_known * code.size / max((code <= known[-1]).sum(), 1)))


def row_hashes(frame: pl.DataFrame, is_positive: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Hash the features and the label of each row, identically on every platform."""
    code = is_positive.astype(np.uint64)
    for series in frame:
        # The order of the columns matters, since each step changes all bits.
        code = mixed_bits((code ^ cell_bits(series)) + INCREMENT)
    return code


def cell_bits(series: pl.Series) -> NDArray[np.uint64]:
    """Return 64 bits for each value: those of a number, or a digest of text."""
    if series.dtype != pl.String:
        number = series.to_numpy() + 0.0  # so that -0 equals 0
        return np.where(np.isnan(number), np.nan, number).view(np.uint64)
    values = series.unique()
    digests = [blake2b((one or "").encode(), digest_size=8).digest() for one in values]
    code = pl.Series(np.frombuffer(b"".join(digests), dtype="<u8"))
    return series.replace_strict(values, code, return_dtype=pl.UInt64).to_numpy()


def _is_distinctive(frame: pl.DataFrame, is_positive: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which rows are unlikely to equal other rows by chance.

    If columns are independent, the expected number of rows that equal a given row is
    the product of the number of rows and the shares of its values in their columns.
    """
    n_rows = is_positive.size
    chance = n_rows * np.where(is_positive, is_positive.mean(), 1.0 - is_positive.mean())
    for name in frame.columns:
        if (chance <= _MAX_CHANCE).all():
            break
        chance *= frame.select(pl.len().over(name)).to_series().to_numpy() / n_rows
    return np.asarray(chance <= _MAX_CHANCE)


def suspected_groups(table: pl.DataFrame) -> list[str]:
    """List the columns that look like identifiers of entities with several rows.

    Such a column is named like an identifier and contains integers or text, with at
    least ten distinct values and at least 1.5 rows per value on average.
    """
    names = []
    for series in table:
        is_code = series.dtype.is_integer() or series.dtype == pl.String
        if not is_code or not is_identifier_name(series.name):
            continue
        n_values = series.drop_nulls().n_unique()
        if _MIN_ENTITIES <= n_values <= series.count() / MIN_ROWS_PER_ENTITY:
            names.append(series.name)
    return names


def drifting_dates(frame: pl.DataFrame, dates: Sequence[str], sample: Sample) -> list[str]:
    """List the date columns along which the share of positives changes."""
    names = []
    for name in dates:
        number = frame[name].to_numpy()
        is_known = np.isfinite(number)
        label = sample.is_positive[is_known]
        if min(label.sum(), label.size - label.sum()) < 2:
            continue
        groups = None if sample.unit is None else sample.unit[is_known]
        area = auc_interval(label, number[is_known], groups=groups, positive=True)
        if abs(area.value - 0.5) > _DRIFT * area.standard_error:
            names.append(name)
    return names

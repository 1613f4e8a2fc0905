"""Signs that rows are not independent: copies, repeated entities, and drift in time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rocpath.auc_statistics.intervals import auc_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# A row has a copy by chance with about this probability or less, if its columns are
# independent; tables of a few categories have equal rows that are not copies.
_MAX_CHANCE = 0.05
_MIN_DISTINCT = 20  # rows whose counts have a common divisor by chance about never
_MIN_ENTITIES = 10
# Words at the end of the names of columns that identify people or things.
_ENTITY = re.compile(
    r"(^|[_\s.-])(id|ids|uuid|guid|ssn|customer|client|patient|subject|user|person|"
    r"account|household|family|member|employee|student|device|machine|session|visitor|"
    r"company|store|hospital|school)(_?(id|no|nr|num|number|code|key|name))?$"
)
_DRIFT = 4.0  # standard errors between the AUC of a date and 1/2


def find_copies(frame: pl.DataFrame, is_positive: NDArray[np.bool_]) -> NDArray[np.intp] | None:
    """Assign a number to each row, the same only to copies.

    Rows with identical features and label are copies if their values coincide by
    chance in at most 5% of tables with independent columns, or if the counts of all
    distinct rows have a common divisor. Returns None if there are no copies.
    """
    rows = frame.with_columns(pl.Series("\0label", is_positive))
    _, number = np.unique(rows.hash_rows().to_numpy(), return_inverse=True)
    count = np.bincount(number)
    if count.max() == 1:
        return None
    is_copy = count[number] > 1
    if count.size < _MIN_DISTINCT or np.gcd.reduce(count) == 1:
        # The expected number of rows that equal a row by chance is the product of the
        # number of rows and the shares of its values in their columns.
        chance = np.full(number.size, float(number.size))
        for name in rows.columns:
            share = rows.select(pl.len().over(name)).to_series() / number.size
            chance *= share.to_numpy()
            if (chance[is_copy] <= _MAX_CHANCE).all():
                break
        is_copy &= chance <= _MAX_CHANCE
    if not is_copy.any():
        return None
    # Rows that are equal by chance are independent: each has a number of its own.
    number = np.where(is_copy, number, count.size + np.arange(number.size))
    return np.unique(number, return_inverse=True)[1]


def suspected_groups(table: pl.DataFrame) -> list[str]:
    """Name columns that look like identifiers of entities with several rows.

    They are named like one, and their values, whole numbers or text, repeat: at least
    ten distinct values, and at least 1.5 rows per value on average.
    """
    names = []
    for series in table:
        is_code = series.dtype.is_integer() or series.dtype == pl.String
        if not is_code or not _ENTITY.search(series.name.lower()):
            continue
        n_values = series.drop_nulls().n_unique()
        if _MIN_ENTITIES <= n_values <= series.count() / 1.5:
            names.append(series.name)
    return names


def drifting_dates(
    frame: pl.DataFrame,
    dates: Sequence[str],
    is_positive: NDArray[np.bool_],
    unit: NDArray[np.intp] | None = None,
) -> list[str]:
    """Name columns of dates, as numbers, with which the share of positives drifts."""
    names = []
    for name in dates:
        number = frame[name].to_numpy()
        is_known = np.isfinite(number)
        label = is_positive[is_known]
        if min(label.sum(), label.size - label.sum()) < 2:
            continue
        groups = None if unit is None else unit[is_known]
        area = auc_interval(label, number[is_known], groups=groups, positive=True)
        if abs(area.value - 0.5) > _DRIFT * area.standard_error:
            names.append(name)
    return names

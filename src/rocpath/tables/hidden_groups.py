"""Find columns whose values may be groups of dependent rows, such as customers.

Names of such columns differ from table to table. Their values have two signs: other
columns are constant within each value, as an age is for all rows of a customer; and
rows with the same value have similar residuals, which other columns do not explain.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rocpath.tables.column_names import is_identifier_name
from rocpath.tables.columns import MIN_ROWS_PER_ENTITY

Codes = NDArray[np.intp]

_MIN_ENTITIES = 10
_MAX_CANDIDATES = 20  # columns with the most values
_MAX_COMPARED = 200  # columns that may be constant within groups
_MIN_LEVELS = 10  # distinct values of a number that is evidence of a group
_NEARLY_CONSTANT = 0.9  # minimum intraclass correlation of the ranks of a number
_MIN_AGREEMENT, _MAX_CHANCE = 0.95, 0.5  # of neighbors within groups, and of random rows
_SMOOTH = 0.6  # correlation of adjacent values above which a number is a function of another
_MAX_RESIDUAL_Z = 4.0  # standard errors


def repeated_codes(table: pl.DataFrame) -> dict[str, Codes]:
    """Return the codes of columns that may be groups: text or integers that repeat.

    They have at least ten distinct values and at least 1.5 rows per value on average.
    Missing values are groups of one row.
    """
    candidates = {}
    for series in table:
        is_code = series.dtype.is_integer() or series.dtype == pl.String
        if series.dtype.is_float():
            known = series.fill_nan(None).drop_nulls()
            is_code = bool(len(known) and (known == known.round()).all())
        if not is_code:
            continue
        n_values = series.drop_nulls().n_unique()
        if _MIN_ENTITIES <= n_values <= series.count() / MIN_ROWS_PER_ENTITY:
            candidates[series.name] = n_values
    names = sorted(candidates, key=lambda name: -candidates[name])[:_MAX_CANDIDATES]
    return {name: _code(table[name]) for name in names}


def _code(series: pl.Series) -> Codes:
    """Return the rank of each value, and a code of its own for each missing one."""
    known = series.fill_nan(None) if series.dtype.is_float() else series
    code = known.rank("dense").cast(pl.Int64).to_numpy().astype(float)
    is_missing = np.isnan(code)
    code[is_missing] = np.nanmax(code) + np.arange(1, is_missing.sum() + 1)
    return code.astype(np.intp)


def constant_within(frame: pl.DataFrame, name: str, code: Codes, *, is_ordered: bool) -> list[str]:
    """Return the columns that are constant, or nearly so, within the values of a column.

    Columns that are a smooth function of an ordered column are excluded.
    """
    order = np.argsort(code, kind="stable")
    is_same = code[order][1:] == code[order][:-1]
    if not is_same.any():
        return []
    names = []
    for series in frame[:, :_MAX_COMPARED]:
        if series.name == name:
            continue
        rank = series.rank("average").to_numpy().astype(float)
        rank = np.where(np.isnan(rank), 0.0, rank)[order]
        spread = 2.0 * rank.var()
        change = np.diff(rank) ** 2
        if spread <= 0:
            continue
        if series.dtype != pl.String and series.n_unique() >= _MIN_LEVELS:
            is_constant = 1.0 - change[is_same].mean() / spread >= _NEARLY_CONSTANT
            between = change[~is_same]
            is_smooth = is_ordered and 1.0 - between.mean() / spread > _SMOOTH
            if is_constant and not is_smooth:
                names.append(series.name)
        else:
            _, count = np.unique(rank, return_counts=True)
            chance = float(((count / rank.size) ** 2).sum())
            agreement = float((change[is_same] == 0).mean())
            if chance <= _MAX_CHANCE and agreement >= _MIN_AGREEMENT:
                names.append(series.name)
    return names


def entity_columns(
    table: pl.DataFrame, frame: pl.DataFrame, codes: Mapping[str, Codes]
) -> list[str]:
    """Return the columns within whose values at least two other columns are constant.

    At least one of these is a number with ten or more values: several categories are
    also constant within a finer category, as a state is within a city.
    """
    names = []
    for name, code in codes.items():
        is_ordered = table[name].dtype != pl.String
        constant = constant_within(frame, name, code, is_ordered=is_ordered)
        is_number = [
            frame[one].dtype != pl.String and frame[one].n_unique() >= _MIN_LEVELS
            for one in constant
        ]
        if len(constant) >= 2 and any(is_number):
            names.append(name)

    # Of a patient and a visit, the patient is the group.
    def order(name: str) -> tuple[int, bool, bool]:
        is_text = table[name].dtype == pl.String
        return np.unique(codes[name]).size, not is_identifier_name(name), not is_text

    return sorted(names, key=order)


def dependent_residuals(codes: Mapping[str, Codes], residual: NDArray[Any]) -> list[str]:
    """Return the columns within whose values residuals of held-out rows are correlated.

    The statistic is the sum of products of residuals of pairs of rows of a group, which
    has mean 0 for independent rows.
    """
    names = []
    for name, code in codes.items():
        total, square, fourth = (np.bincount(code, residual**k) for k in (1, 2, 4))
        products = float((total**2 - square).sum())
        variance = 2.0 * float((square**2 - fourth).sum())
        if variance > 0 and products > _MAX_RESIDUAL_Z * np.sqrt(variance):
            names.append(name)
    return names


def without_aliases(names: Iterable[str], codes: Mapping[str, Codes]) -> list[str]:
    """Return names of columns without those that an earlier one determines, or is determined by."""
    kept: list[str] = []
    for name in names:
        pairs = (np.unique(np.stack((codes[name], codes[one])), axis=1).shape[1] for one in kept)
        sizes = (max(np.unique(codes[x]).size for x in (name, one)) for one in kept)
        if not any(n_pairs <= size for n_pairs, size in zip(pairs, sizes, strict=True)):
            kept.append(name)
    return kept

"""Columns that predict the label too well: they may be known only after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy.stats import rankdata

from rocpath.auc_statistics.influence import place_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rocpath.tables.columns import ColumnAudit, TableFeatures

_SUSPICIOUS = 0.99  # AUC of a column alone
_MIN_ROWS = 10  # of a class; fewer are ranked perfectly by chance
_ROWS_PER_CATEGORY = 20  # on average, to estimate the share of positives in each
_LARGEST_BLOCK = 4_000_000  # entries ranked at once


def suspect_leaks(
    table: pl.DataFrame,
    features: TableFeatures,
    audits: list[ColumnAudit],
    is_positive: NDArray[np.bool_],
) -> list[ColumnAudit]:
    """Mark columns that rank the rows almost perfectly on their own."""
    if min(is_positive.sum(), (~is_positive).sum()) < _MIN_ROWS:
        return audits
    frame = features.of(table)
    areas = dict(zip(features.number, _number_aucs(frame, features, is_positive), strict=True))
    areas |= {name: _category_auc(frame[name], is_positive) for name in features.category}
    # Marked, not dropped: only the user knows when the values become known.
    return [_marked(audit, areas.get(audit.column, 0.0)) for audit in audits]


def _marked(audit: ColumnAudit, area: float) -> ColumnAudit:
    if area < _SUSPICIOUS:
        return audit
    why = f"{audit.why}; possible leak: its AUC alone is {area:.3f}"
    note = (
        f"possible leak: its AUC alone is {area:.3f}; drop it if it is known only after the label"
    )
    return audit._replace(why=why, is_suspect=True, note=note)


def _number_aucs(
    frame: pl.DataFrame, features: TableFeatures, is_positive: NDArray[np.bool_]
) -> list[float]:
    """Return the AUC of each number, in its better direction, or of its missingness."""
    n_positive = int(is_positive.sum())
    n_pairs = n_positive * (is_positive.size - n_positive)
    areas: list[float] = []
    # Columns are ranked in blocks: one by one, thousands would take a minute.
    n_block = max(1, _LARGEST_BLOCK // is_positive.size)
    for first in range(0, len(features.number), n_block):
        X = frame.select(features.number[first : first + n_block]).to_numpy()
        is_missing = np.isnan(X)
        # Below all numbers; missingness alone has an AUC of its own.
        rank = rankdata(np.where(is_missing, -np.inf, X), axis=0)
        above = rank[is_positive].sum(axis=0) - n_positive * (n_positive + 1) / 2
        values = np.abs(above / n_pairs - 0.5)
        share = [is_missing[rows].mean(axis=0) for rows in (is_positive, ~is_positive)]
        areas += (0.5 + np.maximum(values, np.abs(share[0] - share[1]) / 2)).tolist()
    return areas


def _category_auc(series: pl.Series, is_positive: NDArray[np.bool_]) -> float:
    """Return the AUC of categories, each scored by its share of positives."""
    # Frequent ones only: the share of a rare category is the label of its rows.
    if series.n_unique() > series.len() / _ROWS_PER_CATEGORY:
        return 0.0
    rows = pl.DataFrame({"category": series, "label": is_positive})
    share = pl.col("label").cast(pl.Float64).mean().over("category")
    score = rows.select(share).to_series().to_numpy()
    return place_rows(score, is_positive, None, 1.0).area

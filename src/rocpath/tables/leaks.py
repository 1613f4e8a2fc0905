"""Columns that tell the label too well: they may be known only after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy.stats import rankdata

from rocpath.auc_statistics.influence import place_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rocpath.tables.audit import ColumnAudit
    from rocpath.tables.columns import FeatureColumns

_SUSPICIOUS = 0.99  # AUC of a column alone
_FEWEST_TO_SUSPECT = 10  # rows of a class; fewer are ranked perfectly by chance
_ROWS_A_WORD = 20  # of a column, at least, to learn what its words tell
_LARGEST_BLOCK = 4_000_000  # entries ranked at once


def suspect_leaks(
    table: pl.DataFrame,
    features: FeatureColumns,
    audits: list[ColumnAudit],
    is_positive: NDArray[np.bool_],
) -> list[ColumnAudit]:
    """Mark columns that rank the rows almost perfectly on their own."""
    if min(is_positive.sum(), (~is_positive).sum()) < _FEWEST_TO_SUSPECT:
        return audits
    frame = features.of(table)
    areas = dict(
        zip(features.number, _areas_alone(frame, features, is_positive), strict=True)
    )
    areas |= {
        name: _area_of_words(frame[name], is_positive) for name in features.category
    }
    marked = []
    # Marked, not left out: only the user knows when a column is known.
    for audit in audits:
        area = areas.get(audit.column, 0.0)
        if area >= _SUSPICIOUS:
            why = f"{audit.why}; leak? alone it ranks with an AUC of {area:.3f}"
            marked.append(audit._replace(why=why, is_suspect=True))
        else:
            marked.append(audit)
    return marked


def _areas_alone(
    frame: pl.DataFrame, features: FeatureColumns, is_positive: NDArray[np.bool_]
) -> list[float]:
    """Return the AUC of each number, in its better direction, or of its gaps."""
    n_positive = int(is_positive.sum())
    n_pairs = n_positive * (is_positive.size - n_positive)
    areas: list[float] = []
    # All columns of a block at once: one by one, thousands would take a minute.
    n_block = max(1, _LARGEST_BLOCK // is_positive.size)
    for first in range(0, len(features.number), n_block):
        X = frame.select(features.number[first : first + n_block]).to_numpy()
        is_gap = np.isnan(X)
        # Below all numbers: what gaps tell has an area of its own.
        rank = rankdata(np.where(is_gap, -np.inf, X), axis=0)
        above = rank[is_positive].sum(axis=0) - n_positive * (n_positive + 1) / 2
        seen = np.abs(above / n_pairs - 0.5)
        gaps = is_gap[is_positive].mean(axis=0) - is_gap[~is_positive].mean(axis=0)
        areas += (0.5 + np.maximum(seen, np.abs(gaps) / 2)).tolist()
    return areas


def _area_of_words(series: pl.Series, is_positive: NDArray[np.bool_]) -> float:
    """Return the AUC of words, each as the share of positives among its rows."""
    # Frequent ones only: rows of a rare one would tell their own label.
    if series.n_unique() > series.len() / _ROWS_A_WORD:
        return 0.0
    rows = pl.DataFrame({"word": series, "label": is_positive})
    share = pl.col("label").cast(pl.Float64).mean().over("word")
    score = rows.select(share).to_series().to_numpy()
    return place_rows(score, is_positive, None, 1.0).area

"""Find possible leaks: columns that predict the label suspiciously well."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rocpath.evaluation.influence import place_rows
from rocpath.tables.columns import ColumnAudit, TableFeatures

_SUSPICIOUS = 0.99  # minimum AUC of a column alone
_MIN_ROWS = 10  # per class; fewer may be ranked perfectly by chance
_ROWS_PER_CATEGORY = 20  # minimum mean, to estimate the share of positives in a category


def suspect_leaks(
    frame: pl.DataFrame,
    features: TableFeatures,
    audits: list[ColumnAudit],
    is_positive: NDArray[np.bool_],
) -> list[ColumnAudit]:
    """Mark columns that rank the rows almost perfectly on their own."""
    if min(is_positive.sum(), (~is_positive).sum()) < _MIN_ROWS:
        return audits
    areas = {name: _number_auc(frame[name].to_numpy(), is_positive) for name in features.number}
    areas |= {name: _category_auc(frame[name], is_positive) for name in features.category}
    marked = []
    for audit in audits:
        area = areas.get(audit.column, 0.0)
        # The column is not dropped: only the user knows when its values become available.
        if area >= _SUSPICIOUS:
            leak = f"possible leak: its AUC alone is {area:.3f}"
            note = f"{leak}; drop it if it is known only after the label"
            audit = audit._replace(why=f"{audit.why}; {leak}", is_suspect=True, note=note)
        marked.append(audit)
    return marked


def _number_auc(number: NDArray[np.float64], is_positive: NDArray[np.bool_]) -> float:
    """Return the AUC of a number, in its better direction, or of its missingness."""
    is_missing = np.isnan(number)
    # The first score ranks missing values below all numbers; the second ignores numbers.
    scores = [np.where(is_missing, -np.inf, number), is_missing.astype(np.float64)]
    areas = [place_rows(score, is_positive, None, 1.0).area for score in scores]
    return max(max(area, 1.0 - area) for area in areas)


def _category_auc(series: pl.Series, is_positive: NDArray[np.bool_]) -> float:
    """Return the AUC of categories, each scored by its share of positives."""
    # Categories must be frequent: the share of a rare one is the label of its rows.
    if series.n_unique() > series.len() / _ROWS_PER_CATEGORY:
        return 0.0
    rows = pl.DataFrame({"category": series, "label": is_positive})
    share = pl.col("label").cast(pl.Float64).mean().over("category")
    score = rows.select(share).to_series().to_numpy()
    return place_rows(score, is_positive, None, 1.0).area

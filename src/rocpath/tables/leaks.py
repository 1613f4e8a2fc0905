"""Find possible leaks: columns that predict the label suspiciously well."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rocpath.evaluation.influence import place_rows
from rocpath.tables.columns import ColumnAudit, TableFeatures

_SUSPICIOUS = 0.99  # minimum AUC of a column alone
_SUSPICIOUS_FLAG = 0.95  # the same, for a column of two values
# A column that is present, missing, or of one category in at least 20 rows and a fifth of
# one class, and in 1% of other rows at most, is probably entered after the label is known.
_MIN_ROWS_OF_STATE = 20
_MIN_SHARE_OF_CLASS = 0.2
_PURE = 0.99
_MAX_CHANCE = 1e-6
_MIN_ROWS = 10  # per class; fewer may be ranked perfectly by chance
_MAX_LEVELS = 50  # categories whose shares of positives are checked
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
    areas = column_areas(frame, features, is_positive)
    marked = []
    for audit in audits:
        leak = ""
        if audit.column in areas:
            leak = _leak(frame[audit.column], areas[audit.column], is_positive)
        # The column is not dropped: only the user knows when its values become available.
        if leak:
            note = f"possible leak: {leak}; drop it if it is known only after the label"
            why = f"{audit.why}; possible leak: {leak}"
            audit = audit._replace(why=why, is_suspect=True, note=note)
        marked.append(audit)
    return marked


def column_areas(
    frame: pl.DataFrame, features: TableFeatures, is_positive: NDArray[np.bool_]
) -> dict[str, float]:
    """Return the AUC of each column alone, in its better direction."""
    areas = {name: _number_auc(frame[name].to_numpy(), is_positive) for name in features.number}
    return areas | {name: _category_auc(frame[name], is_positive) for name in features.category}


def _leak(series: pl.Series, area: float, is_positive: NDArray[np.bool_]) -> str:
    """Describe why a column may reveal the label; return an empty string otherwise."""
    is_flag = series.n_unique() <= 2
    if area >= (_SUSPICIOUS_FLAG if is_flag else _SUSPICIOUS):
        return f"its AUC alone is {area:.3f}"
    # Values that are entered only for one class reveal it.
    states = {"it is present": series.is_not_null(), "it is missing": series.is_null()}
    if series.dtype == pl.String and series.n_unique() <= _MAX_LEVELS:
        states |= {f"it is {level!r}": series == level for level in series.drop_nulls().unique()}
    for state, rows in states.items():
        is_state = rows.fill_null(False).to_numpy()
        for name, is_class in (("positive", is_positive), ("negative", ~is_positive)):
            if not is_state.all() and _is_pure(is_state, is_class):
                share = 100.0 * (is_state & is_class).sum() / is_state.sum()
                return f"{share:.3g}% of the rows in which {state} are {name}"
    return ""


def _is_pure(is_state: NDArray[np.bool_], is_class: NDArray[np.bool_]) -> bool:
    """Return whether rows are of one class to an extent that is no coincidence."""
    n_rows, n_class = int(is_state.sum()), int((is_state & is_class).sum())
    is_large = n_class >= max(_MIN_ROWS_OF_STATE, _MIN_SHARE_OF_CLASS * is_class.sum())
    chance = n_rows * np.log(max(is_class.mean(), 1e-300))
    return bool(is_large and n_class >= _PURE * n_rows and chance < np.log(_MAX_CHANCE))


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

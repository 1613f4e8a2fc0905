"""Permutation importance of the columns of a table."""

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rocpath.search.roc import auc

_MAX_SHUFFLED = 2000  # rows
_MAX_COLUMNS = 300  # columns: each requires a prediction


def importance(
    pipeline: Any, frame: pl.DataFrame, is_positive: NDArray[np.bool_]
) -> list[tuple[str, float]]:
    """Return the decrease in AUC when each column is permuted, largest first.

    The rows should not be those that the model was fitted to, on which an
    overfitted column looks important. The list is empty for more than 300 columns,
    which would take minutes.
    """
    # Decreases are comparable, since the rows are the same for every column.
    rng = np.random.default_rng(0)
    rows = rng.permutation(is_positive.size)[:_MAX_SHUFFLED]
    frame, y = frame[rows], is_positive[rows]
    if y.all() or not y.any() or frame.width > _MAX_COLUMNS:
        return []
    area = auc(y, pipeline.decision_function(frame))
    decrease = {}
    for name in frame.columns:
        shuffled = frame.with_columns(frame[name].shuffle(seed=0))
        decrease[name] = area - auc(y, pipeline.decision_function(shuffled))
    return sorted(decrease.items(), key=lambda pair: -pair[1])

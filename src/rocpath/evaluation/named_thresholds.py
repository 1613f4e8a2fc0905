"""Thresholds by name: "youden", "closest", "fpr=0.05", "tpr=0.95", "top=100", "cost=1:20"."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rocpath.evaluation.operating_points import RankedRows
from rocpath.evaluation.thresholds import check_targets, choose_operating_point
from rocpath.sample import Sample
from rocpath.validation import Floats, describe, finite_number

_TARGETS = {"fpr": "max_fpr", "tpr": "min_tpr", "precision": "min_precision", "top": "top"}
_FORMS = (
    '"youden", "closest", "fpr=0.05", "tpr=0.95", "precision=0.8", "top=100", "cost=1:20" or, '
    'with time, "alerts=50"'
)


class NamedThreshold(NamedTuple):
    """A threshold, its name, and whether it was chosen by a rule."""

    threshold: float
    name: str
    is_chosen: bool


def named_thresholds(
    sample: Sample, score: Floats, thresholds: Any, *, n_days: int | None = None
) -> list[NamedThreshold]:
    """Return numbers as they are, and choose the named thresholds on these rows."""
    if isinstance(thresholds, str) or np.ndim(thresholds) == 0:
        thresholds = ["youden" if thresholds is None else thresholds]
    requested: Sequence[Any] = list(thresholds)
    if not requested:
        raise ValueError("thresholds must have at least one entry, got none.")
    is_named = any(isinstance(threshold, str) for threshold in requested)
    rows = RankedRows.from_scores(sample.is_positive, score, sample.weight) if is_named else None
    found = []
    for threshold in requested:
        if isinstance(threshold, str) and rows is not None:
            found.append(NamedThreshold(_chosen(rows, threshold, n_days), threshold, True))
        else:
            number = finite_number("thresholds", threshold)
            found.append(NamedThreshold(number, f"{number:g}", False))
    return found


def _chosen(rows: RankedRows, name: str, n_days: int | None) -> float:
    """Choose the threshold with a name."""
    rule, _, text = name.partition("=")
    if rule in ("youden", "closest") and not text:
        # The first of several equally good thresholds is the largest.
        tp, fp = rows.tp, rows.fp
        if rule == "youden":
            gain = tp * rows.n_negative - fp * rows.n_positive
            return rows.threshold(int(np.argmax(gain)))
        missed = rows.n_positive - tp
        distance = (missed / rows.n_positive) ** 2 + (fp / rows.n_negative) ** 2
        return rows.threshold(int(np.argmin(distance)))
    return choose_operating_point(rows, _target(name, rule, text, n_days), None).threshold


def _target(name: str, rule: str, text: str, n_days: int | None) -> dict[str, Any]:
    """Return the constraint or cost that a name states."""
    try:
        if rule == "cost":
            false_positive, false_negative = text.split(":")
            return check_targets(cost=(float(false_positive), float(false_negative)))
        if rule == "alerts" and n_days is not None:
            # The capacity of all days together; a busy day may have more.
            return check_targets(top=int(float(text) * n_days))
        number = int(text) if rule == "top" else float(text)
        keyword = _TARGETS[rule]
    except (KeyError, ValueError) as error:
        if not isinstance(error, KeyError) and "must be" in str(error):
            raise
        message = f"thresholds must be numbers or {_FORMS}, got {describe(name)}."
        raise ValueError(message) from error
    return check_targets(**{keyword: number})

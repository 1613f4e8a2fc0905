"""Data of the charts of one score, for the scripts of pages."""

from typing import Any

import numpy as np

from rocpath.evaluation.operating_points import RankedRows
from rocpath.evaluation.score_decisions import ScoreDecisions
from rocpath.sample import Sample
from rocpath.search.step_view import drawn_curve
from rocpath.validation import Floats

_RATIO = 1.02  # ratio of the numbers of rows of consecutive points of a drawn curve


def score_chart(
    name: str, sample: Sample, score: Floats, decisions: ScoreDecisions
) -> dict[str, Any]:
    """Return the chart data of one score."""
    rows = RankedRows.from_scores(sample.is_positive, score)
    grid = decisions.grid
    benefit = decisions.net_benefit
    smooth = decisions.smooth
    return {
        **drawn_curve(name, rows.fp / rows.n_negative, rows.tp / rows.n_positive),
        "band": decisions.band._asdict(),
        **precision_and_gains(rows),
        "threshold": grid.threshold,
        "tp": grid.tp,
        "fp": grid.fp,
        # NaN is not valid JSON; a rate without rows has no limits.
        "limits": {rate: _limits(limits) for rate, limits in grid.limits.items()},
        "calibration": [point._asdict() for point in decisions.bins or []],
        "smooth": None if smooth is None else smooth._asdict(),
        "decision": None
        if benefit is None
        else {
            column: benefit.column(column)
            for column in ("threshold", "value", "low", "high", "treat_all")
        },
    }


def precision_and_gains(rows: RankedRows) -> dict[str, dict[str, Floats]]:
    """Return the precision-recall curve, and the gains curve."""
    index = rows.grid(ratio=_RATIO)[1:]
    tp, n_predicted = rows.tp[index], rows.n_predicted[index]
    recall = tp / rows.n_positive
    share = np.append(0.0, n_predicted / rows.n_rows)
    return {
        "precision": {"recall": recall, "precision": tp / n_predicted},
        "gains": {"share": share, "recall": np.append(0.0, recall)},
    }


def _limits(limits: Floats) -> list[list[float] | None]:
    return [None if np.isnan(low) else [low, high] for low, high in limits.tolist()]

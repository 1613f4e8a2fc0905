"""Evaluation page: intervals, tests, ROC bands, thresholds and calibration."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath.evaluation.calibration import calibration_bins
from rocpath.evaluation.operating_points import RankedRows
from rocpath.evaluation.results import p_text, percent
from rocpath.evaluation.roc_bands import roc_band
from rocpath.evaluation.score_evaluation import ScoreEvaluation
from rocpath.pages.page import page_html
from rocpath.sample import Sample
from rocpath.search.step_view import drawn_curve


def evaluation_report(
    y: ArrayLike,
    scores: Mapping[str, ArrayLike],
    *,
    path: str | Path,
    max_fpr: float | None = None,
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
    positive: Any = None,
    title: str = "Evaluation of scores",
) -> Path:
    """Write a self-contained HTML page that evaluates and compares scores.

    Parameters
    ----------
    y : array-like, shape (n_rows,)
        Labels with exactly two distinct values.
    scores : dict of array-like, shape (n_rows,)
        Scores by name, larger for rows that are more likely to be positive. Calibration
        is shown for scores between 0 and 1.
    path : str or Path
        File to write.
    max_fpr : float, optional
        Compare partial AUCs up to this false positive rate.
    groups : array-like, shape (n_rows,), optional
        Group of each row, as in :func:`rocpath.auc_interval`.
    confidence : float
        Nominal coverage of intervals and bands.
    positive : label, optional
        Positive class; by default, the larger of the two labels.
    title : str
        Title of the page.

    Returns
    -------
    Path
        Path of the written page.

    Examples
    --------
    >>> import tempfile
    >>> import rocpath as rp
    >>> y = [0, 0, 1, 0, 1, 1]
    >>> scores = {"old": [1, 4, 2, 3, 5, 6], "new": [1, 2, 3, 4, 5, 6]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rp.evaluation_report(y, scores, path=f"{folder}/evaluation.html").name
    'evaluation.html'
    """
    settings: dict[str, Any] = {"max_fpr": max_fpr, "groups": groups, "positive": positive}
    evaluation = ScoreEvaluation.from_scores(y, scores, confidence=confidence, **settings)
    return evaluation.report(path, title=title)


def evaluation_html(evaluation: ScoreEvaluation, *, title: str) -> str:
    """Return a self-contained page about the evaluation of scores."""
    sample, confidence = evaluation.sample, evaluation.confidence
    models = [
        {"name": name, "auc": area, "ap": evaluation.average_precision[name]}
        for name, area in evaluation.intervals.items()
    ]
    charts = [_chart(sample, name, score, confidence) for name, score in evaluation.scores.items()]
    return page_html(
        "evaluation.html",
        title=title,
        scripts=["evaluation"],
        classes=evaluation.classes,
        level=percent(confidence),
        metric=evaluation.metric,
        max_fpr=evaluation.max_fpr,
        facts=_facts(sample, evaluation.classes),
        models=models,
        comparison=evaluation.comparison,
        findings=evaluation.findings,
        p_text=p_text,
        charts={
            "n_positive": sample.counts["n_positives"],
            "n_negative": sample.counts["n_negatives"],
            "models": charts,
        },
    )


def _facts(sample: Sample, classes: tuple[str, str]) -> dict[str, str]:
    """Return the numbers of rows and groups, by name."""
    counts = {
        "Rows": sample.is_positive.size,
        f"{classes[1]} (positive)": sample.counts["n_positives"],
        classes[0]: sample.counts["n_negatives"],
        "Groups": sample.counts["n_groups"],
    }
    return {name: f"{count:,}" for name, count in counts.items() if count is not None}


def _chart(
    sample: Sample, name: str, score: NDArray[np.float64], confidence: float
) -> dict[str, Any]:
    """Return the chart data of one score."""
    rows = RankedRows.of(sample.is_positive, score)
    curve = drawn_curve(name, rows.fp / rows.n_negative, rows.tp / rows.n_positive)
    band = roc_band(sample.is_positive, score, confidence, groups=sample.unit)
    index = rows.grid()
    is_probability = bool(score.min() >= 0 and score.max() <= 1)
    bins = []
    if is_probability:
        bins = calibration_bins(sample.is_positive, score, confidence, sample.unit)
    return {
        **curve,
        "band": band._asdict(),
        "threshold": np.array([rows.threshold(int(one)) for one in index]),
        "tp": rows.tp[index],
        "fp": rows.fp[index],
        "calibration": [one._asdict() for one in bins],
    }

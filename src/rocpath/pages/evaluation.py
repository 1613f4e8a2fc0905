"""Evaluation page: intervals, tests, ROC bands, thresholds and calibration."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath.evaluation.calibration import calibration_bins
from rocpath.evaluation.intervals import auc_interval
from rocpath.evaluation.many_curves import AUCComparisons, compare_aucs
from rocpath.evaluation.operating_points import RankedRows
from rocpath.evaluation.other_metrics import average_precision_interval
from rocpath.evaluation.results import p_text, percent
from rocpath.evaluation.roc_bands import roc_band, threshold_grid
from rocpath.pages.page import page_html
from rocpath.sample import Sample
from rocpath.search.step_view import drawn_curve
from rocpath.validation import share_between

_LEVEL = 0.05  # significance level for Holm-adjusted p-values


def evaluation_report(
    y: ArrayLike,
    scores: Mapping[str, ArrayLike],
    *,
    path: str | Path,
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
    confidence = share_between("confidence", confidence)
    sample = Sample.from_labels(y, groups=groups, positive=positive)
    columns = {name: sample.scores(name, score) for name, score in scores.items()}
    if not columns:
        raise ValueError("scores must have at least one entry, got an empty dict.")
    labels = np.asarray(y)
    classes = [str(labels[side][0]) for side in (~sample.is_positive, sample.is_positive)]
    given: dict[str, Any] = {"groups": groups, "confidence": confidence, "positive": True}
    is_several = len(columns) > 1
    comparison = compare_aucs(sample.is_positive, columns, **given) if is_several else None
    page = page_html(
        "evaluation.html",
        title=title,
        scripts=["evaluation"],
        classes=classes,
        level=percent(confidence),
        facts=_facts(sample, classes),
        models=[_intervals(sample, name, score, given) for name, score in columns.items()],
        comparison=comparison,
        findings=[] if comparison is None else significant_differences(comparison),
        p_text=p_text,
        charts={
            "n_positive": sample.counts["n_positives"],
            "n_negative": sample.counts["n_negatives"],
            "models": [_chart(sample, name, score, confidence) for name, score in columns.items()],
        },
    )
    target = Path(path)
    target.write_text(page, encoding="utf-8")
    return target


def _facts(sample: Sample, classes: list[str]) -> dict[str, str]:
    """Return the numbers of rows and groups, by name."""
    counts = {
        "Rows": sample.is_positive.size,
        f"{classes[1]} (positive)": sample.counts["n_positives"],
        classes[0]: sample.counts["n_negatives"],
        "Groups": sample.counts["n_groups"],
    }
    return {name: f"{count:,}" for name, count in counts.items() if count is not None}


def _intervals(
    sample: Sample, name: str, score: NDArray[np.float64], given: dict[str, Any]
) -> dict[str, Any]:
    """Return the AUC and the average precision of a score, with intervals."""
    area = auc_interval(sample.is_positive, score, **given)
    precision = average_precision_interval(sample.is_positive, score, **given)
    return {"name": name, "auc": area, "ap": precision}


def significant_differences(comparison: AUCComparisons, metric: str = "AUC") -> list[str]:
    """Describe each significant difference in a sentence, or state that there is none."""
    lines = []
    for first, second, one, p_value in comparison.pairs:
        if p_value < _LEVEL:
            better, worse = (first, second) if one.difference > 0 else (second, first)
            lines.append(
                f"{better!r} has a significantly higher {metric} than {worse!r} (difference "
                f"{abs(one.difference):.4f} ± {one.standard_error:.4f}, Holm-adjusted "
                f"{p_text(p_value)})."
            )
    return lines or ["No significant difference."]


def _chart(
    sample: Sample, name: str, score: NDArray[np.float64], confidence: float
) -> dict[str, Any]:
    """Return the chart data of one score."""
    rows = RankedRows.of(sample.is_positive, score)
    curve = drawn_curve(name, rows.fp / rows.n_negative, rows.tp / rows.n_positive)
    band = roc_band(sample.is_positive, score, confidence, groups=sample.unit)
    index = threshold_grid(rows)
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

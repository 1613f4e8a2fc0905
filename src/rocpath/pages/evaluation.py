"""Evaluation page: comparison, curves, thresholds, calibration, decisions and subgroups."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from rocpath.evaluation.results import p_text, percent
from rocpath.evaluation.score_evaluation import ScoreEvaluation
from rocpath.evaluation.survival_evaluation import SurvivalEvaluation
from rocpath.pages.page import page_html
from rocpath.pages.score_charts import score_chart
from rocpath.sample import Sample
from rocpath.survival import Survival
from rocpath.validation import describe


def evaluation_report(
    y: ArrayLike,
    scores: Mapping[str, ArrayLike],
    *,
    path: str | Path | None = None,
    metric: Any = "auc",
    max_fpr: float | None = None,
    thresholds: Any = ("youden", "fpr=0.05", "tpr=0.95"),
    groups: ArrayLike | None = None,
    by: ArrayLike | None = None,
    confidence: float = 0.95,
    positive: Any = None,
    title: str = "Evaluation of scores",
) -> ScoreEvaluation | SurvivalEvaluation:
    """Evaluate and compare scores, and write a self-contained HTML page.

    The page shows the metric with intervals and tests, ROC, precision-recall and gains
    curves, rates at thresholds, calibration, decision curves, subgroups, and a paragraph
    about the methods.

    Parameters
    ----------
    y : array-like, shape (n_rows,), or Survival
        Labels with exactly two distinct values, or censored times. For these, the page
        shows concordance indices and time-dependent AUCs instead.
    scores : dict of array-like, shape (n_rows,)
        Scores by name, larger for rows that are more likely to be positive. Calibration
        and net benefit are shown for scores between 0 and 1.
    path : str or Path, optional
        File to write. By default, no page is written.
    metric : str or metric
        Metric to compare, as in :func:`rocpath.interval`.
    max_fpr : float, optional
        Upper limit of the false positive rate: partial AUCs are compared.
    thresholds : float, str, or list of these
        Thresholds whose rates are shown, as in :func:`rocpath.threshold_table`.
    groups : array-like, shape (n_rows,), optional
        Group of each row, as in :func:`rocpath.auc_interval`.
    by : array-like, shape (n_rows,), optional
        Subgroup of each row.
    confidence : float
        Nominal coverage of intervals and bands.
    positive : label, optional
        Positive class; by default, the larger of the two labels.
    title : str
        Title of the page.

    Returns
    -------
    ScoreEvaluation or SurvivalEvaluation
        The results, printed as ``rocpath compare`` prints them. Its method ``report``
        writes the page.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import rocpath as rp
    >>> y = [0, 0, 1, 0, 1, 1]
    >>> scores = {"old": [1, 4, 2, 3, 5, 6], "new": [1, 2, 3, 4, 5, 6]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     evaluation = rp.evaluation_report(y, scores, path=f"{folder}/evaluation.html")
    ...     Path(f"{folder}/evaluation.html").exists()
    True
    >>> evaluation.findings
    ['No significant difference in AUC.']
    """
    if Survival.from_outcome(y) is not None:
        for name, value in (("max_fpr", max_fpr), ("by", by), ("positive", positive)):
            if value is not None:
                raise ValueError(f"{name} must be None for censored times, got {describe(value)}.")
        survival = SurvivalEvaluation.from_scores(y, scores, groups=groups, confidence=confidence)
        if path is not None:
            survival.report(path, title=title)
        return survival
    evaluation = ScoreEvaluation.from_scores(
        y,
        scores,
        metric=metric,
        max_fpr=max_fpr,
        thresholds=thresholds,
        groups=groups,
        by=by,
        confidence=confidence,
        positive=positive,
    )
    if path is not None:
        evaluation.report(path, title=title)
    return evaluation


def evaluation_html(evaluation: ScoreEvaluation, *, title: str) -> str:
    """Return a self-contained page about the evaluation of scores."""
    sample = evaluation.sample
    models = [
        {"name": name, "value": value, "ap": evaluation.average_precision[name]}
        for name, value in evaluation.intervals.items()
    ]
    charts = [
        score_chart(name, sample, score, evaluation.decisions[name])
        for name, score in evaluation.scores.items()
    ]
    return page_html(
        "evaluation.html",
        title=title,
        scripts=["decision_charts", "evaluation"],
        evaluation=evaluation,
        classes=evaluation.classes,
        level=percent(evaluation.confidence),
        metric=evaluation.metric,
        facts=_facts(sample, evaluation.classes),
        models=models,
        scale=_common_scale([model["value"] for model in models], evaluation.max_fpr),
        p_text=p_text,
        charts={
            "n_positive": sample.counts["n_positives"],
            "n_negative": sample.counts["n_negatives"],
            "models": charts,
        },
    )


def _common_scale(values: list[Any], max_fpr: float | None) -> tuple[float, float]:
    """Return the ends of the scale on which all intervals are drawn."""
    low = min([0.0 if max_fpr else 0.5, *(value.low for value in values)])
    return low, max([max_fpr or 1.0, *(value.high for value in values)])


def _facts(sample: Sample, classes: tuple[str, str]) -> dict[str, str]:
    """Return the numbers of rows and groups, by name."""
    counts = {
        "Rows": sample.is_positive.size,
        f"{classes[1]} (positive)": sample.counts["n_positives"],
        classes[0]: sample.counts["n_negatives"],
        "Groups": sample.counts["n_groups"],
    }
    return {name: f"{count:,}" for name, count in counts.items() if count is not None}

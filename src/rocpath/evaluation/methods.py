"""A paragraph about the methods of an evaluation, to be pasted into a paper."""

from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING

from rocpath.evaluation.results import percent

if TYPE_CHECKING:
    from rocpath.evaluation.score_evaluation import ScoreEvaluation


def methods_paragraph(evaluation: "ScoreEvaluation") -> str:
    """Describe the estimates, intervals, tests, rows, software and date."""
    parts = [_rows, _estimate, _comparison, _decisions, _calibration]
    today = datetime.now(tz=UTC).date().isoformat()
    software = f"Computed with rocpath {version('rocpath')} on {today}."
    return " ".join([*(text for part in parts if (text := part(evaluation))), software])


def _rows(evaluation: "ScoreEvaluation") -> str:
    sample, counts = evaluation.sample, evaluation.sample.counts
    negative, positive = evaluation.classes
    rows = f"{len(sample):,} rows, {counts['n_positives']:,} of {positive!r} (the positive class) "
    rows += f"and {counts['n_negatives']:,} of {negative!r}"
    if sample.unit is not None:
        rows += f", in {counts['n_groups']:,} groups"
    return f"Scores were evaluated on {rows}."


def _estimate(evaluation: "ScoreEvaluation") -> str:
    level = percent(evaluation.confidence)
    is_grouped = evaluation.sample.unit is not None
    if "AUC" in evaluation.metric:
        method = "by the delete-one-group jackknife" if is_grouped else "from structural components"
        return (
            f"The {evaluation.metric} was estimated nonparametrically, with ties counted as one "
            f"half; {level} confidence intervals invert a score test with variances {method}."
        )
    return (
        f"The {evaluation.metric} is reported with {level} confidence intervals, with variances "
        f"{'by the delete-one-group jackknife' if is_grouped else 'from influence functions'}."
    )


def _comparison(evaluation: "ScoreEvaluation") -> str:
    texts = []
    if evaluation.comparison is not None:
        adjusted = ", with Holm's adjustment for the number of pairs"
        adjusted = adjusted if len(evaluation.scores) > 2 else ""
        texts.append(f"Paired differences were tested by Student's t tests{adjusted}.")
    if evaluation.subgroups is not None:
        texts.append(
            "Subgroups were compared by a test of equal values, and the largest gap has a "
            "simultaneous interval."
        )
    return " ".join(texts)


def _decisions(evaluation: "ScoreEvaluation") -> str:
    effective = "" if evaluation.sample.unit is None else " with effective sample sizes"
    return (
        f"Rates at thresholds have {percent(evaluation.confidence)} Wilson intervals{effective}, "
        "and likelihood ratios intervals by the method of variance estimates recovery."
    )


def _calibration(evaluation: "ScoreEvaluation") -> str:
    if all(decisions.calibration is None for decisions in evaluation.decisions.values()):
        return ""
    return (
        "Calibration was summarized by the intercept and slope of a logistic recalibration, the "
        "ratio of observed to expected positives, and the Brier score."
    )

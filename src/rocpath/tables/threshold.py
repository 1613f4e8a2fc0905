"""Choose the threshold of a model, and describe what holds for new rows."""

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rocpath.evaluation.operating_points import DEFAULT_CONFIDENCE
from rocpath.evaluation.threshold_targets import ThresholdTargets, describe_target, target_point
from rocpath.sample import Sample

# Rows on which a threshold is chosen: calibration rows, which are scored by the model
# itself; held-out rows of the folds whose linear models are averaged; or held-out rows
# of the folds of a model that is then fitted to all rows.
Basis: TypeAlias = Literal["calibration", "averaged folds", "folds"]
# For larger limits, thresholds for averaged models missed their limit in more tables
# (benchmarks/coverage/table_thresholds.py).
_MAX_ESTIMATED_FPR = 0.2


def can_be_estimated(targets: ThresholdTargets, sample: Sample) -> bool:
    """Return whether averaged linear models meet the target for new rows in most tables."""
    is_alone = list(targets.given) == ["max_fpr"]
    is_low = is_alone and targets.max_fpr is not None and targets.max_fpr <= _MAX_ESTIMATED_FPR
    return is_low and sample.weight is None and sample.time is None


def claim(basis: Basis, sample: Sample) -> str:
    """Describe what a threshold with a confidence bound means for new rows or groups."""
    units = "rows" if sample.group is None else "groups"
    if basis == "calibration":
        return f"guaranteed for new {units}"
    if basis == "averaged folds":
        return f"estimated for new {units}"
    return "observed on held-out rows with a margin for chance"


def choose_model_threshold(
    sample: Sample, score: NDArray[np.float64], targets: ThresholdTargets, basis: Basis
) -> tuple[float | None, str]:
    """Choose a threshold that meets all targets with a confidence bound, if possible.

    Returns the threshold and a sentence that describes it.
    """
    if targets.n_given == 0:
        return None, ""
    reason = ""
    for confidence in (None,) if list(targets.given) == ["top"] else (DEFAULT_CONFIDENCE, None):
        try:
            point = target_point(sample.is_positive, score, targets, confidence, **sample.arguments)
        except ValueError as error:
            reason = _reason(error, targets, sample)
            continue
        note = f"Scores of at least {point.threshold:.4g} are predicted positive: "
        if confidence is not None:
            rules = " and ".join(describe_target(*one) for one in targets.given.items())
            note += f"{rules}, {claim(basis, sample)}{_addition(basis, sample)}"
        elif not reason:
            note += "as many held-out rows as requested."
        else:
            note += f"observed on held-out rows, not guaranteed: {reason}"
        return point.threshold, note
    return None, f"No threshold is saved: {reason}"


def _addition(basis: Basis, sample: Sample) -> str:
    """Complete the sentence about a bound with its confidence or with a remedy."""
    if basis == "calibration":
        end = "." if sample.time is None else ", unless the data change with time."
        return f" with 95% confidence{end}"
    return "; calibration_size gives a guarantee."


def _reason(error: ValueError, targets: ThresholdTargets, sample: Sample) -> str:
    """Explain why a threshold could not be chosen, without naming arguments."""
    if sample.weight is not None:
        return "bounds on error rates are known only for equal weights."
    if sample.unit is not None and targets.min_precision is not None:
        return "no bound on the precision is known for rows that depend on each other."
    return str(error)

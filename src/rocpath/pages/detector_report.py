"""HTML report of a fitted LearnedDetector."""

from collections.abc import Sequence

import numpy as np

from rocpath.changepoint.error_functions import target_interval
from rocpath.changepoint.features import FEATURE_NAMES
from rocpath.changepoint.labels import label_outcomes
from rocpath.changepoint.learned_detector import LearnedDetector
from rocpath.changepoint.observations import drawn_values
from rocpath.changepoint.worth import change_gains
from rocpath.matrices import Columns
from rocpath.pages.penalty_report import (
    PenaltyReport,
    RegularizationPath,
    ReportedSequence,
    penalty_report_html,
)


def detector_report(
    detector: LearnedDetector,
    *,
    title: str,
    names: Sequence[str] | None,
    is_time: bool,
    notes: Sequence[str],
) -> str:
    """Return the HTML report of a fitted detector."""
    evaluation, regressor = detector.evaluate(), detector.regressor_
    X = evaluation.problem.X
    coefficients = _coefficients(detector)
    path = None
    if hasattr(regressor, "monitor_mean_"):
        path = RegularizationPath(
            regressor.alphas_,
            regressor.monitor_mean_,
            regressor.monitor_error_,
            regressor.alpha_,
            len(coefficients),
        )
    return penalty_report_html(
        PenaltyReport(
            title=title,
            headline=detector.evaluate().headline(),
            comparison=evaluation.comparison,
            roc=evaluation.roc,
            sequences=_reported(detector, names),
            coefficients=coefficients,
            intercept=float(regressor.predict(X).mean()),
            path=path,
            settings=_settings(detector),
            is_time=is_time,
            notes=tuple(notes),
        )
    )


def _settings(detector: LearnedDetector) -> dict[str, str]:
    evaluation = detector.evaluate()
    settings = {
        "cost": detector.cost,
        "constraint": detector.constraint or "none",
        "maximum number of changes": f"{detector.max_changes:,}",
        "minimum segment length": f"{detector.min_length:,}",
        "unit of penalties": "noise variance" if (evaluation.problem.unit != 1).any() else "none",
        "sequences": f"{detector.n_labeled_:,}",
        "labels": f"{detector.n_labels_:,}",
        "cross-validation folds": str(evaluation.n_folds),
    }
    if evaluation.problem.groups is not None:
        settings["groups"] = evaluation.problem.sample_size
    return settings


def _coefficients(detector: LearnedDetector) -> list[tuple[str, float]]:
    """Return the selected features and their coefficients per standard deviation."""
    coef = detector.regressor_.coef_
    # The scale is computed as in the fit, so that values up to 1e300 do not overflow.
    scale = Columns.from_matrix(detector.evaluate().problem.X).scale
    used, name = np.flatnonzero(coef), (*FEATURE_NAMES, "log.noise_variance")
    return [(name[k], float(coef[k] * scale[k])) for k in used]


def _reported(detector: LearnedDetector, names: Sequence[str] | None) -> list[ReportedSequence]:
    evaluation = detector.evaluate()
    # These penalties are cross-validated, so the page shows the errors of the comparison.
    log_penalty = evaluation.log_penalty[evaluation.fitted_rule]
    final = detector.regressor_.predict(evaluation.problem.X)
    reported = []
    for k, sequence in enumerate(detector._training):
        errors = evaluation.problem.functions[k]
        index = np.arange(len(sequence.value))
        position = np.asarray(
            index if sequence.position is None else sequence.position, dtype=np.float64
        )
        penalty = float(np.exp(log_penalty[k]) * evaluation.problem.unit[k])
        (best,) = detector._segmentations([sequence.value], [penalty], [sequence.weight])
        changes = best.changes
        value, (mean,) = drawn_values(sequence.value, [best.mean])
        reported.append(
            ReportedSequence(
                name=str(sequence.index) if names is None else names[sequence.index],
                group=None if sequence.group is None else str(sequence.group),
                position=position,
                value=value,
                labels=sequence.labels,
                outcomes=label_outcomes(changes, sequence.labels, position),
                changes=changes,
                gain=change_gains(
                    sequence.value, changes, cost=detector.cost, weights=sequence.weight
                ),
                mean=mean,
                errors=errors,
                target=target_interval(errors),
                log_penalty=float(log_penalty[k]),
                final_log_penalty=float(final[k]),
            )
        )
    return reported

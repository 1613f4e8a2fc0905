"""Settings of the fit of a table."""

from dataclasses import dataclass

from rocpath.evaluation.threshold_targets import NO_TARGETS, ThresholdTargets
from rocpath.tables.rankers import ModelChoice


@dataclass(frozen=True, slots=True)
class FitSettings:
    """Models to compare, targets of the threshold, and folds.

    Attributes
    ----------
    model : str
        Model to fit, or ``"auto"``.
    targets : ThresholdTargets
        Targets of the threshold of the fitted model.
    cv : int
        Maximum number of cross-validation folds, or of time windows.
    fast : bool
        Whether to fit one model without a comparison.
    random_state : int or None
        Seed of all random choices.
    calibration_size : float or None
        Share of the rows or groups on which the threshold is chosen, or None to choose
        it on cross-validated scores.
    """

    model: ModelChoice = "auto"
    targets: ThresholdTargets = NO_TARGETS
    cv: int = 5
    fast: bool = False
    random_state: int | None = None
    calibration_size: float | None = None

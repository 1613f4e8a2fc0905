"""Content of a saved LearnedDetector."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from rocpath.changepoint.interval_regression import IntervalRegression
from rocpath.changepoint.penalty_regressor import PenaltyRegressor

# Fitted attributes that predictions need, besides the penalty model.
_LEARNED = ("has_runs_", "n_labeled_", "n_labels_", "n_columns_")
_NOT_SAVED = ("search", "regressor", "random_state")


@dataclass(frozen=True, slots=True, eq=False)
class SavedDetector:
    """Fitted penalty model and segmentation settings of a detector."""

    kind: ClassVar = "changepoint"
    regressor: PenaltyRegressor | IntervalRegression
    settings: Mapping[str, Any]
    learned: Mapping[str, Any]
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Reject estimators from other packages, and models from other versions."""
        if set(self.learned) != set(_LEARNED):
            raise ValueError(f"learned must have the entries {', '.join(_LEARNED)}.")
        if type(self.regressor) not in (PenaltyRegressor, IntervalRegression):
            raise ValueError(
                "regressor must be a PenaltyRegressor or an IntervalRegression to be "
                f"saved, got {type(self.regressor).__name__}."
            )

    @classmethod
    def from_detector(cls, detector: Any, metadata: Mapping[str, Any]) -> Self:
        """Collect the settings and fitted attributes of a detector."""
        if detector.search is not None:
            raise ValueError(
                "search must be None to save a detector, got "
                f"{type(detector.search).__name__}: use pickle instead."
            )
        settings = detector.get_params(deep=False)
        settings = {k: v for k, v in settings.items() if k not in _NOT_SAVED}
        learned = {name: getattr(detector, name) for name in _LEARNED}
        return cls(detector.regressor_, settings, learned, dict(metadata))

    def detector(self) -> Any:
        """Return the fitted detector."""
        from rocpath.changepoint.learned_detector import LearnedDetector

        detector = LearnedDetector(**self.settings)
        detector.regressor_ = self.regressor
        detector.metadata_ = dict(self.metadata)
        for name in _LEARNED:
            setattr(detector, name, self.learned[name])
        return detector

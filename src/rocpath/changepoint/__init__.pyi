from .agreement import covering, f1_score
from .change_table import changes_table
from .detection import detect_changes
from .error_functions import (
    PenaltyErrors,
    error_breakpoints,
    errors_by_penalty,
    penalty_errors,
    target_interval,
)
from .features import SequenceFeatures, sequence_features
from .interval_regression import IntervalRegression
from .labeling import labeling_page
from .labels import LabelErrors, Labels, label_errors
from .learned_detector import LearnedDetector
from .penalty_default import default_penalty
from .penalty_regressor import PenaltyRegressor
from .segmentation import segment, segment_penalty
from .segmentation_results import ModelSelection, Segmentation, Segmentations, model_selection
from .segmented_table import SegmentedTable, segment_table
from .worth import ChangeWorth, change_worth, changes_worth

__all__ = [
    "ChangeWorth",
    "IntervalRegression",
    "LabelErrors",
    "Labels",
    "LearnedDetector",
    "ModelSelection",
    "PenaltyErrors",
    "PenaltyRegressor",
    "Segmentation",
    "Segmentations",
    "SegmentedTable",
    "SequenceFeatures",
    "change_worth",
    "changes_table",
    "changes_worth",
    "covering",
    "default_penalty",
    "detect_changes",
    "error_breakpoints",
    "errors_by_penalty",
    "f1_score",
    "label_errors",
    "labeling_page",
    "model_selection",
    "penalty_errors",
    "segment",
    "segment_penalty",
    "segment_table",
    "sequence_features",
    "target_interval",
]

"""Changepoints: sequences and labeled regions to segmentations and label errors."""

from rocpath.changepoint.agreement import covering, f1_score
from rocpath.changepoint.change_worth import ChangeWorth, change_worth, changes_worth
from rocpath.changepoint.default_penalty import default_penalty
from rocpath.changepoint.error_functions import (
    PenaltyErrors,
    error_breakpoints,
    errors_by_penalty,
    penalty_errors,
    target_interval,
)
from rocpath.changepoint.features import SequenceFeatures, sequence_features
from rocpath.changepoint.interval_regression import IntervalRegression
from rocpath.changepoint.labeling import detect_changes, labeling_page
from rocpath.changepoint.labels import LabelErrors, Labels, label_errors
from rocpath.changepoint.learned_detector import LearnedDetector
from rocpath.changepoint.penalty_regressor import PenaltyRegressor
from rocpath.changepoint.pieces import (
    Piece,
    SequencePieces,
    array_pieces,
    bed_labels,
    bedgraph_pieces,
)
from rocpath.changepoint.segmentation import segment, segment_penalty
from rocpath.changepoint.segmentation_results import Segmentation, Segmentations
from rocpath.changepoint.selection import ModelSelection, model_selection

__all__ = [
    "ChangeWorth",
    "IntervalRegression",
    "LabelErrors",
    "Labels",
    "LearnedDetector",
    "ModelSelection",
    "PenaltyErrors",
    "PenaltyRegressor",
    "Piece",
    "Segmentation",
    "Segmentations",
    "SequenceFeatures",
    "SequencePieces",
    "array_pieces",
    "bed_labels",
    "bedgraph_pieces",
    "change_worth",
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
    "sequence_features",
    "target_interval",
]

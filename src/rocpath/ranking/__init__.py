"""Rankings: linear ones, blends of any models, and thresholds for both."""

from rocpath.ranking.auc_blender import AUCBlender
from rocpath.ranking.auc_classifier import AUCClassifier
from rocpath.ranking.blend import BlendHistory
from rocpath.ranking.fit import History
from rocpath.ranking.held_out import HeldOutAUC
from rocpath.ranking.starts import ConvexStart
from rocpath.ranking.threshold_classifier import ThresholdClassifier

__all__ = [
    "AUCBlender",
    "AUCClassifier",
    "BlendHistory",
    "ConvexStart",
    "HeldOutAUC",
    "History",
    "ThresholdClassifier",
]

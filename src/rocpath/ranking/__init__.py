"""Rankings: linear ones, blends of any models, and thresholds for both."""

from rocpath.ranking.auc_ascent import Ascent
from rocpath.ranking.auc_blender import AUCBlender
from rocpath.ranking.auc_classifier import AUCClassifier
from rocpath.ranking.blend import BlendHistory
from rocpath.ranking.fit import History, Ranking, Settings, fit_ranking
from rocpath.ranking.held_out import HeldOutAUC
from rocpath.ranking.labelled_rows import LabelledRows
from rocpath.ranking.starts import ConvexStart
from rocpath.ranking.threshold_classifier import ThresholdClassifier

__all__ = [
    "AUCBlender",
    "AUCClassifier",
    "Ascent",
    "BlendHistory",
    "ConvexStart",
    "HeldOutAUC",
    "History",
    "LabelledRows",
    "Ranking",
    "Settings",
    "ThresholdClassifier",
    "fit_ranking",
]

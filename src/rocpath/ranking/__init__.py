"""Linear rankings, blends of models, and classifiers with a chosen threshold."""

from rocpath.ranking import scorers
from rocpath.ranking.auc_blender import AUCBlender
from rocpath.ranking.auc_classifier import AUCClassifier
from rocpath.ranking.blend import BlendHistory
from rocpath.ranking.fit import History
from rocpath.ranking.initial_models import InitialModel
from rocpath.ranking.threshold_classifier import ThresholdClassifier

__all__ = [
    "AUCBlender",
    "AUCClassifier",
    "BlendHistory",
    "History",
    "InitialModel",
    "ThresholdClassifier",
    "scorers",
]

"""Linear rankings: convex starts, then an ascent of AUC."""

from rocpath.ranking.auc_ascent import Ascent
from rocpath.ranking.auc_classifier import AUCClassifier
from rocpath.ranking.fit import History, Ranking, Settings, fit_ranking
from rocpath.ranking.held_out import HeldOutAUC
from rocpath.ranking.labelled_rows import LabelledRows
from rocpath.ranking.starts import ConvexStart
from rocpath.ranking.threshold_classifier import ThresholdClassifier

__all__ = [
    "AUCClassifier",
    "Ascent",
    "ConvexStart",
    "HeldOutAUC",
    "History",
    "LabelledRows",
    "Ranking",
    "Settings",
    "ThresholdClassifier",
    "fit_ranking",
]

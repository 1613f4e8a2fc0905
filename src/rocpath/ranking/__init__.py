"""Linear rankings: convex starts, then an ascent of AUC."""

from rocpath.ranking.auc_ascent import Ascent
from rocpath.ranking.fit import ConvexStart, History, Ranking, Settings, fit_ranking
from rocpath.ranking.labelled_rows import LabelledRows

__all__ = [
    "Ascent",
    "ConvexStart",
    "History",
    "LabelledRows",
    "Ranking",
    "Settings",
    "fit_ranking",
]

"""Linear rankings: convex starts, then an exact ascent of AUC."""

from rocpath.ranking.fit import ConvexStart, History, Ranking, Settings, fit_ranking
from rocpath.ranking.labelled_rows import LabelledRows

__all__ = [
    "ConvexStart",
    "History",
    "LabelledRows",
    "Ranking",
    "Settings",
    "fit_ranking",
]

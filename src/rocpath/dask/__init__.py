"""AUC, AUM minimization and classification on Dask, for data larger than memory.

Requires ``pip install "rocpath[dask]"``. Data may be Dask arrays, with dense or CSR
blocks, or Dask data frames. If a worker is lost, Dask recomputes its partitions.
"""

from rocpath.dask.auc_classifier import AUCClassifier
from rocpath.dask.descent import minimize_aum
from rocpath.dask.intervals import auc, auc_interval, compare, compare_auc, interval
from rocpath.dask.thresholds import choose_threshold

__all__ = [
    "AUCClassifier",
    "auc",
    "auc_interval",
    "choose_threshold",
    "compare",
    "compare_auc",
    "interval",
    "minimize_aum",
]

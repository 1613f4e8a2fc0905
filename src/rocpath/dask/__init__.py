"""The same models for rows that outgrow one machine, on Dask.

Needs the extra: ``pip install "rocpath[dask]"``. Rows are Dask arrays, dense or of CSR
blocks, or Dask data frames. Every pass is a sum over their partitions, so that Dask
computes those of a lost worker again.
"""

from rocpath.dask.auc_classifier import AUCClassifier
from rocpath.dask.auc_pairs import auc, auc_interval
from rocpath.dask.descent import minimize_aum

__all__ = ["AUCClassifier", "auc", "auc_interval", "minimize_aum"]

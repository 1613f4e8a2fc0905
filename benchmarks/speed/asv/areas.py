"""Times of AUM and AUC for one vector of predictions, and of a sort for comparison."""

import numpy as np

import rocpath as rp

from .problems import predictions


class Areas:
    """Areas of n predictions."""

    param_names = ("n",)
    params = (10**4, 10**6)

    def setup(self, n):
        self.bp, self.prediction, _ = predictions(n)

    def time_sort(self, n):
        np.argsort(self.prediction)

    def time_auc(self, n):
        rp.auc(self.bp, self.prediction)

    def time_aum(self, n):
        rp.aum(self.bp, self.prediction)

    def time_aum_gradient(self, n):
        rp.aum_gradient(self.bp, self.prediction)

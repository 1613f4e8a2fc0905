"""Times of optimal segmentations of one sequence."""

import numpy as np

from rocpath import changepoint as cp


class Segmentations:
    """Counts with a peak every 200 observations, by cost and constraint."""

    param_names = ("n", "cost", "constraint")
    params = ((10**3, 10**4), ("normal", "poisson"), (None, "up_down"))

    def setup(self, n, cost, constraint):
        level = np.where(np.arange(n) % 200 < 40, 20.0, 5.0)
        self.x = np.random.default_rng(0).poisson(level).astype(float)

    def time_segment(self, n, cost, constraint):
        cp.segment(self.x, 20, cost=cost, constraint=constraint)

    def time_segment_penalty(self, n, cost, constraint):
        cp.segment_penalty(self.x, 50.0, cost=cost, constraint=constraint)

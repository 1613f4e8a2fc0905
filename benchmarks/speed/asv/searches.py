"""Times of the four line searches."""

import rocpath as rp

from .problems import predictions


class Searches:
    """Searches that do not visit every crossing."""

    param_names = ("n",)
    params = (10**3, 10**4, 10**5)

    def setup(self, n):
        self.lines = rp.Lines.from_predictions(*predictions(n))

    def time_best_aum_step(self, n):
        rp.best_aum_step(self.lines)

    def time_aum_path(self, n):
        rp.aum_path(self.lines)

    def time_sweep_linear(self, n):
        rp.sweep(self.lines, max_crossings=n)

    def time_best_auc_step_within(self, n):
        rp.best_auc_step(self.lines, tol=1e-4)


class Exact:
    """Searches whose cost may grow with the square of n."""

    param_names = ("n",)
    params = (300, 3000)

    def setup(self, n):
        self.lines = rp.Lines.from_predictions(*predictions(n))

    def time_sweep(self, n):
        rp.sweep(self.lines)

    def time_best_auc_step(self, n):
        rp.best_auc_step(self.lines)

    def peakmem_sweep(self, n):
        rp.sweep(self.lines)

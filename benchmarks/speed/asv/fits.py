"""Times of model fits."""

import rocpath as rp

from .problems import table


class Fits:
    """Linear models fitted to a table with ten columns."""

    param_names = ("n",)
    params = (500, 5000)

    def setup(self, n):
        self.X, self.y = table(n)

    def time_auc_classifier(self, n):
        rp.AUCClassifier(random_state=0).fit(self.X, self.y)

    def time_minimize_aum(self, n):
        bp = rp.ErrorBreakpoints.from_labels(self.y)
        rp.minimize_aum(self.X, bp)

"""Time the parts of one descent step, from ten thousand to ten million rows."""

import numpy as np

import rocpath as rp
from asymptotics import median_seconds

HEAD = ("n", "part", "seconds")


def parts(is_quick):
    """Yield rows with the columns of HEAD, for ten normal features and 10% positives."""
    largest = 5 if is_quick else 7
    for n in (10**power for power in range(4, largest + 1)):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((n, 10))
        y = np.arange(n) % 10 == 0
        bp = rp.ErrorBreakpoints.from_labels(y)
        coef = rng.standard_normal(10)
        predictions = X @ coef
        gradient = rp.aum_gradient(bp, predictions)
        change = X @ -(X.T @ gradient)
        lines = rp.Lines.from_predictions(bp, predictions, change)
        for part, run in (
            ("products with X", lambda X=X, g=gradient: X @ -(X.T @ g)),
            ("gradient", lambda bp=bp, p=predictions: rp.aum_gradient(bp, p)),
            ("lines", lambda bp=bp, p=predictions, c=change: rp.Lines.from_predictions(bp, p, c)),
            ("search", lambda lines=lines: rp.best_aum_step(lines)),
        ):
            yield n, part, median_seconds(run)

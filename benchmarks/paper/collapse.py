"""Measure how shrinking weights affect AUC when AUM is minimized, and compare remedies.

AUM is proportional to the norm of the weights, so a descent can decrease it by shrinking
them, whatever happens to AUC. Descents start from standard normal weights and from
logistic regression, on the image data sets and on a table with ten columns. Every step
is recorded.
"""

import numpy as np
from sklearn.linear_model import LogisticRegression

import rocpath as rp
from data import IMAGES, images, ordinary_table, sample

HEAD = ("set", "start", "method", "step", "norm", "aum", "auc", "test_auc")
N_ROWS = 10_000
TABLE = "covtype, p = 10"
# For each method: the step rule, the margin, and other options of minimize_aum.
METHODS = {
    "plain": ("best_aum", 0.0, {}),
    "unit norm": ("best_aum", 0.0, {"unit_norm": True}),
    "margin and L2": ("best_aum", 1.0, {"l2": 1e-4}),
    "AUC steps": ("best_auc", 0.0, {"unit_norm": True}),
}


def results(is_quick):
    """Yield rows with the columns of HEAD."""
    n_rows, n_steps = (1_000, 20) if is_quick else (N_ROWS, 100)
    for name in (*IMAGES, TABLE):
        rng = np.random.default_rng(0)
        X, y, *test = split(name, n_rows, rng)
        logistic = LogisticRegression(C=0.01, max_iter=1000).fit(X, y)
        starts = {"normal": rng.standard_normal(X.shape[1]), "logistic": logistic.coef_.ravel()}
        for start, coef in starts.items():
            for method, (step, margin, options) in METHODS.items():
                bp = rp.ErrorBreakpoints.from_labels(y, margin=margin)
                path = descent(X, bp, coef, n_steps, step=step, **options)
                for k, (aum, weights) in enumerate(path):
                    areas = [area(*rows, weights) for rows in ((X, y), test)]
                    norm = np.linalg.norm(weights)
                    yield name, start, method, k, norm, aum, *areas


def split(name, n_rows, rng):
    """Return features and labels of training and test rows."""
    if name in IMAGES:
        X, y, *test = images(name)
        rows = sample(y, min(n_rows, len(y)), rng)
        return X[rows], y[rows], *test
    X, y = ordinary_table(name)
    rows = rng.permutation(sample(y, 2 * n_rows, rng))
    train, test = rows[:n_rows], rows[n_rows:]
    return X[train], y[train], X[test], y[test]


def descent(X, bp, coef, n_steps, **options):
    """Yield AUM and weights before the first step and after every step."""
    for _ in range(n_steps):
        result = rp.minimize_aum(X, bp, coef=coef, max_steps=1, tol=0.0, **options)
        yield result.aum[0], coef
        coef = result.coef
        if result.n_steps == 0 or result.step[-1] == 0:
            return
    yield result.aum[-1], coef


def area(X, y, coef):
    """Compute the AUC of a linear model."""
    return rp.auc(rp.ErrorBreakpoints.from_labels(y), X @ coef)

"""Problems that are the same for every commit."""

import numpy as np

import rocpath as rp


def table(n, n_features=10):
    """Return normal features, and labels with 10% positives."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 10 == 0
    return rng.normal(size=(n, n_features)) + 0.3 * y[:, None], y


def predictions(n):
    """Return breakpoints, predictions and a descent direction."""
    X, y = table(n)
    prediction = X @ np.random.default_rng(1).normal(size=X.shape[1])
    bp = rp.ErrorBreakpoints.from_labels(y)
    return bp, prediction, -X @ (X.T @ rp.aum_gradient(bp, prediction))

"""Problems that stay the same from one commit to the next."""

import numpy as np

import rocpath as rp


def table(n, n_features=10):
    """Give normal features and labels, one in ten positive."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 10 == 0
    return rng.normal(size=(n, n_features)) + 0.3 * y[:, None], y


def predictions(n):
    """Give breakpoints of labels, predictions and a direction of descent."""
    X, y = table(n)
    prediction = X @ np.random.default_rng(1).normal(size=X.shape[1])
    bp = rp.ErrorBreakpoints.from_labels(y)
    return bp, prediction, -X @ (X.T @ rp.aum_gradient(bp, prediction))

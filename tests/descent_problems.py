"""Problems for descents of linear models: tied features, and non-monotone errors."""

import numpy as np

import rocpath as rp


def tied_problem(seed, n=60, n_features=4):
    """Return integer features, so that many predictions are tied, and breakpoints."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 4 == 0
    X = rng.integers(-3, 4, size=(n, n_features)) + y[:, None]
    return X.astype(float), rp.ErrorBreakpoints.from_labels(y)


def changepoint_problem(seed, n=30):
    """Return features, and error functions of the log penalty that are not monotone."""
    rng = np.random.default_rng(seed)
    fp = rng.integers(0, 3, size=(n, 4))
    fp[:, -1] = 0
    fn = rng.integers(0, 3, size=(n, 4))
    fn[:, 0] = 0
    penalty = np.exp(np.cumsum(rng.random((n, 4)), axis=1))
    penalty[:, 0] = 0
    bp = rp.ErrorBreakpoints.from_penalty_errors(
        np.repeat(np.arange(n), 4), penalty.ravel(), fp.ravel(), fn.ravel()
    )
    return rng.normal(size=(n, 3)), bp

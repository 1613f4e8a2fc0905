"""What shrinking weights do to AUC in a descent on AUM, and what cures it.

AUM is proportional to the length of the weights, so a descent can lower it by
shrinking them, whatever happens to AUC. Descents on the image sets, from a standard
normal start and from logistic regression; recorded is every step.
"""

import numpy as np
from data import IMAGES, images, sample
from sklearn.linear_model import LogisticRegression

import rocpath as rp

HEAD = ("set", "start", "method", "step", "aum", "norm", "auc", "test_auc")
N_ROWS = 10_000
# Each: how a step is chosen, a margin, and options of minimize_aum.
METHODS = {
    "plain": ("best_aum", 0.0, {}),
    "unit norm": ("best_aum", 0.0, {"unit_norm": True}),
    "margin": ("best_aum", 1.0, {}),
    "margin and L2": ("best_aum", 1.0, {"l2": 1e-4}),
    "AUC steps": ("best_auc", 0.0, {"unit_norm": True}),
}


def results(is_quick):
    """Yield rows of HEAD."""
    for name in IMAGES:
        data = images(name)
        rng = np.random.default_rng(0)
        n = min(1_000 if is_quick else N_ROWS, len(data.y_train))
        rows = sample(data.y_train, n, rng)
        X, y = data.X_train[rows], data.y_train[rows]
        logistic = LogisticRegression(C=0.01, max_iter=1000).fit(X, y).coef_.ravel()
        starts = {
            "normal": rng.standard_normal(X.shape[1]),
            "logistic": logistic,
        }
        for start, coef in starts.items():
            for method, (step, margin, options) in METHODS.items():
                bp = rp.ErrorBreakpoints.from_labels(y, margin=margin)
                test = rp.ErrorBreakpoints.from_labels(data.y_test, margin=margin)
                found = rp.minimize_aum(
                    X,
                    bp,
                    coef=coef,
                    step=step,
                    tol=0.0,
                    max_steps=20 if is_quick else 100,
                    validation=(data.X_test, test),
                    **options,
                )
                history = (found.aum, found.norm, found.auc, found.validation_auc)
                for k, values in enumerate(zip(*history, strict=True)):
                    yield name, start, method, k, *values

"""Compare models with tuned logistic regression on the official image test sets.

The penalty of logistic regression on standardized columns is tuned by cross-validation
on 10,000 rows, and then the model is fitted to all rows. AUCClassifier has its default
parameters. The descent is that of the paper, with steps to the smallest AUM.
"""

import time

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rocpath as rp
from data import IMAGES, images, sample
from rocpath.evaluation.influence import auc_with_influence

HEAD = ("set", "n_train", "n_test", "model", "test_auc", "gain", "error", "seconds")
N_TO_TUNE = 10_000
PENALTIES = np.logspace(-5, 0, 6)


def results(is_quick):
    """Yield rows with the columns of HEAD.

    ``gain`` is over tuned logistic regression, and ``error`` is its standard error.
    """
    for name in IMAGES:
        data = images(name)
        X, y = data.X_train, data.y_train
        if is_quick:
            rows = sample(y, 1_000, np.random.default_rng(0))
            X, y = X[rows], y[rows]
        baseline = None
        for model, fit in MODELS.items():
            begin = time.perf_counter()
            score = fit(X, y)(data.X_test)
            seconds = time.perf_counter() - begin
            area, influence = auc_with_influence(score, data.y_test == 1, np.ones(len(score)))
            baseline = baseline or (area, influence)
            gain = area - baseline[0]
            error = np.sqrt(((influence - baseline[1]) ** 2).sum())
            yield name, len(y), len(score), model, area, gain, error, seconds


def tuned_logistic(X, y):
    """Tune C on a sample, and fit to all rows with the same penalty on the mean loss."""
    rows = sample(y, min(N_TO_TUNE, len(y)), np.random.default_rng(0))
    pipeline = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    grid = {"logisticregression__C": PENALTIES}
    search = GridSearchCV(pipeline, grid, scoring="roc_auc", cv=folds)
    best = search.fit(X[rows], y[rows]).best_estimator_
    # The penalty on the mean loss is 1 / (n C).
    best[-1].C *= len(rows) / len(y)
    return best.fit(X, y).decision_function


def auc_classifier(X, y):
    return rp.AUCClassifier(random_state=0).fit(X, y).decision_function


def paper_descent(X, y):
    """Descend from standard normal weights until AUM decreases by at most 1e-3."""
    bp = rp.ErrorBreakpoints.from_labels(y)
    start = np.random.default_rng(0).standard_normal(X.shape[1])
    found = rp.minimize_aum(X, bp, coef=start, step="best_aum", tol=1e-3)
    return lambda more: more @ found.coef


MODELS = {
    "tuned logistic regression": tuned_logistic,
    "AUCClassifier": auc_classifier,
    "descent on AUM": paper_descent,
}

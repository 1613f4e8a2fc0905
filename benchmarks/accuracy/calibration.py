"""Measure the calibration slopes of AUCClassifier and AUCBlender on simulated tables.

The slope is the coefficient of the predicted log-odds in a logistic regression of the
labels of 4,000 new rows. It is one if probabilities are calibrated, below one if they
are too extreme, and above one if they are not extreme enough. Tables have 200 or 1,000
rows, and linear and interaction effects, whose standard deviation is 1.5, 5 or 15 times
the scale of the logistic noise. Prints means with standard errors, and medians: a slope
is roughly the true strength of the effects divided by an estimate from few rows, so its
mean is above one even if the estimate is unbiased.

Run as ``calibration.py [tables] [--blend]``. The default is 40 tables; ``--blend``
evaluates AUCBlender instead of AUCClassifier.
"""

import sys
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression

import rocpath as rp

STRENGTHS = (1.5, 5, 15)


def simulate(seed, n_rows, n_test=4_000, *, n_columns=(4, 12), informative_share=0.7, strength=1.5):
    """Return features and labels of training and test rows."""
    rng = np.random.default_rng(seed)
    n_columns = int(rng.integers(*n_columns))
    X = rng.normal(size=(n_rows + n_test, n_columns))
    coef = rng.normal(size=n_columns) * (rng.random(n_columns) < informative_share)
    score = X @ coef + 0.5 * X[:, 0] * X[:, 1]
    score = strength * score / score.std() + rng.logistic(size=len(X))
    y = score > np.quantile(score, rng.choice([0.6, 0.8]))
    return X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]


def measure(model, seed, n_rows, strength):
    """Return the slope and the AUC of a model on new rows."""
    X, y, X_test, y_test = simulate(seed, n_rows, strength=strength)
    odds = model.fit(X, y).decision_function(X_test)
    slope = LogisticRegression(C=np.inf).fit(odds[:, None], y_test).coef_[0, 0]
    return slope, rp.auc(y_test, odds)


def main():
    warnings.simplefilter("ignore")
    numbers = [int(one) for one in sys.argv[1:] if one.isdigit()]
    n_tables = numbers[0] if numbers else 40
    model, sizes = rp.AUCClassifier(random_state=0), (200, 1_000)
    if "--blend" in sys.argv:
        model, sizes = rp.AUCBlender(random_state=0), (200,)
    print("| model | rows | strength | AUC | tables | mean slope | median |")
    print("|---|---|---|---|---|---|---|")
    for n_rows in sizes:
        for strength in STRENGTHS:
            found = [measure(model, seed, n_rows, strength) for seed in range(n_tables)]
            slope, area = np.transpose(found)
            error = slope.std(ddof=1) / np.sqrt(n_tables)
            print(
                f"| {type(model).__name__} | {n_rows:,} | {strength} | {area.mean():.3f} | "
                f"{n_tables} | {slope.mean():.3f} ± {error:.3f} | {np.median(slope):.3f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()

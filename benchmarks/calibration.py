"""Measure the calibration slopes of AUCClassifier and AUCBlender on simulated tables.

The slope is the coefficient of the predicted log-odds in a logistic regression of the
labels of 4,000 new rows: one if probabilities are calibrated, below one if they are too
extreme, and above one if they are not extreme enough. Tables are those of ``copies.py``,
with 200 or 1,000 rows. Prints means with standard errors, and medians: a slope is a
ratio to an estimate from few rows, so that its mean is above one even where the estimate
is unbiased.

Run as ``calibration.py [tables] [--blend]``; the default is 40 tables.
"""

import sys
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression

import rocpath as rp


def simulate(seed, n_rows, n_test=4_000):
    """Return features and labels of training and test rows."""
    rng = np.random.default_rng(seed)
    n_columns = int(rng.integers(4, 12))
    X = rng.normal(size=(n_rows + n_test, n_columns))
    coef = rng.normal(size=n_columns) * (rng.random(n_columns) < 0.7)
    score = X @ coef + 0.5 * X[:, 0] * X[:, 1]
    score = 1.5 * score / score.std() + rng.logistic(size=len(X))
    y = score > np.quantile(score, rng.choice([0.6, 0.8]))
    return X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]


def slope_of(model, seed, n_rows):
    X, y, X_test, y_test = simulate(seed, n_rows)
    odds = model.fit(X, y).decision_function(X_test)[:, None]
    return float(LogisticRegression(C=np.inf).fit(odds, y_test).coef_[0, 0])


def main():
    warnings.simplefilter("ignore")
    numbers = [int(one) for one in sys.argv[1:] if one.isdigit()]
    cells = [(rp.AUCClassifier(random_state=0), 200), (rp.AUCClassifier(random_state=0), 1_000)]
    if "--blend" in sys.argv:
        cells = [(rp.AUCBlender(random_state=0), 200)]
    print("| model | rows | tables | mean slope | median |")
    print("|---|---|---|---|---|")
    for model, n_rows in cells:
        slopes = np.array(
            [slope_of(model, seed, n_rows) for seed in range(numbers[0] if numbers else 40)]
        )
        error = slopes.std(ddof=1) / np.sqrt(slopes.size)
        print(
            f"| {type(model).__name__} | {n_rows:,} | {slopes.size} | "
            f"{slopes.mean():.3f} ± {error:.3f} | {np.median(slopes):.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()

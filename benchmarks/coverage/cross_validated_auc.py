"""Estimate the coverage of the interval of a cross-validated AUC.

Draws tables from ten designs, compares models by five-fold cross-validation as
``TableClassifier`` does, and fits the selected model to all rows. The interval is for
the AUC of this model on new rows, computed on 20,000 of them. The learners are cheap:
linear discriminant analysis with a ridge penalty, and boosting with 30 trees. Prints a
table and saves ``results/cross_validated_auc.csv``. ``unwidened`` is the coverage of the
interval without the factor of `rocpath.tables.comparison`.
"""

import argparse
import csv
from pathlib import Path
from unittest import mock

import numpy as np
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

import rocpath as rp
from rocpath.model_selection.folds import stratified_splits
from rocpath.sample import Sample
from rocpath.tables import comparison

RESULTS = Path(__file__).parent / "results"
HEADER = ("design", "tables", "coverage", "error", "unwidened", "width", "auc", "fresh_auc")
N_FRESH = 20_000


def linear(n_rows, n_columns, slope, share=0.5, n_informative=None):
    """Return a sampler of tables with a linear effect of the first columns."""
    beta = np.zeros(n_columns)
    beta[: n_informative or n_columns] = slope
    base = np.log(share / (1 - share))

    def draw(rng, n):
        X = rng.normal(size=(n, n_columns))
        return X, rng.random(n) < expit(X @ beta + base), None

    return n_rows, draw


def interaction(n_rows, n_columns):
    def draw(rng, n):
        X = rng.normal(size=(n, n_columns))
        return X, rng.random(n) < expit(1.2 * X[:, 0] * X[:, 1] + 0.8 * X[:, 2] - 1), None

    return n_rows, draw


def grouped(n_groups, size, n_columns):
    """Draw groups whose rows share half of the variance of features and labels."""

    def draw(rng, n):
        n = n_groups * size if n < N_FRESH else n
        group = np.arange(n) // size
        shared = rng.normal(size=(group[-1] + 1, n_columns + 1))[group]
        X = np.sqrt(0.5) * (shared[:, :-1] + rng.normal(size=(n, n_columns)))
        return X, rng.random(n) < expit(0.8 * X[:, 0] + shared[:, -1] - 0.5), group

    return n_groups * size, draw


def ridge(penalty):
    def fit(X, y, X_new):
        center = X.mean(axis=0)
        Z = X - center
        gram = Z.T @ Z + penalty * len(X) * np.eye(X.shape[1])
        return (X_new - center) @ np.linalg.solve(gram, Z.T @ (y - y.mean()))

    return fit


def boosted(X, y, X_new):
    model = HistGradientBoostingClassifier(
        max_iter=30, max_leaf_nodes=8, min_samples_leaf=10, early_stopping=False, max_bins=64
    )
    return model.fit(X, y).decision_function(X_new)


# Name, sampler, learners from the simplest on, and the divisor of the number of tables.
DESIGNS = [
    ("noise, 500 x 5", linear(500, 5, 0.0), {"ridge": ridge(0.01)}),
    ("14 positives of 280", linear(280, 5, 0.7, share=0.035), {"ridge": ridge(0.1)}),
    ("200 rows", linear(200, 10, 0.3), {"ridge": ridge(0.1)}),
    ("wide, 150 x 300", linear(150, 300, 0.5, n_informative=10), {"ridge": ridge(1.0)}),
    ("high AUC", linear(300, 5, 2.0), {"ridge": ridge(0.01)}),
    ("2,000 rows", linear(2000, 10, 0.2), {"ridge": ridge(0.01)}),
    ("60 groups of 5", grouped(60, 5, 5), {"ridge": ridge(0.01)}),
    ("30 groups of 20", grouped(30, 20, 5), {"ridge": ridge(0.01)}),
    ("boosting, 400 x 10", interaction(400, 10), {"boosting": boosted}),
    (
        "best of six, noise, 200 x 20",
        linear(200, 20, 0.0),
        {f"ridge {penalty}": ridge(penalty) for penalty in (10, 3, 1, 0.3, 0.1, 0.01)},
    ),
]


def one_table(draw, n_rows, learners, seed):
    """Return the interval with and without the factor, the estimate and the truth."""
    rng = np.random.default_rng(seed)
    X, y, group = draw(rng, n_rows)
    while np.unique(y).size < 2 or np.bincount(y).min() < 5:
        X, y, group = draw(rng, n_rows)
    sample = Sample(y, group=group)
    folds = stratified_splits(sample, 5, seed)
    score = {name: np.zeros(y.size) for name in learners}
    for train, test in folds:
        for name, fit in learners.items():
            score[name][test] = fit(X[train], y[train], X[test])
    held_out = comparison.CrossValidatedScores.from_folds(folds, score, sample)
    widened = comparison.compare_models(held_out, candidates=list(learners))
    with mock.patch.object(comparison, "_EXTRA_WIDTH", 0.0):
        narrow = comparison.compare_models(held_out, candidates=list(learners))
    chosen = widened.selected
    fresh, labels, _ = draw(rng, N_FRESH)
    truth = rp.auc(labels, learners[chosen](X, y, fresh))
    return widened[chosen], narrow[chosen], truth


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    rows = []
    print("".join(f"{name:>14}" for name in HEADER))
    with threadpool_limits(1):
        for name, (n_rows, draw), learners in DESIGNS:
            if given.only not in name:
                continue
            found = [one_table(draw, n_rows, learners, seed) for seed in range(given.tables)]
            hits = [one.low <= truth <= one.high for one, _, truth in found]
            coverage = np.mean(hits)
            row = (
                name,
                given.tables,
                coverage,
                np.sqrt(coverage * (1 - coverage) / given.tables),
                np.mean([one.low <= truth <= one.high for _, one, truth in found]),
                np.mean([one.high - one.low for one, _, _ in found]),
                np.mean([one.value for one, _, _ in found]),
                np.mean([truth for *_, truth in found]),
            )
            rows.append(row)
            print(f"{name:>30}" + "".join(f"{one:>10.4g}" for one in row[1:]), flush=True)
    if not given.only:
        with (RESULTS / "cross_validated_auc.csv").open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(
                [HEADER, *([one[0], one[1], *(f"{x:.4f}" for x in one[2:])] for one in rows)]
            )


if __name__ == "__main__":
    main()

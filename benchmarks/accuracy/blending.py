"""Compare ways to blend the same model scores, by test AUC.

Every table is evaluated by 5-fold cross-validation, repeated twice. The models of the
default portfolio of AUCBlender, a random forest, nearest neighbors and naive Bayes are
cross-validated on the training rows and then fitted to all of them. Every blend uses the
same held-out scores, and is evaluated on the test fold.

- best single: the model with the largest cross-validated AUC.
- mean, rank mean: the mean of the probabilities, and of the ranks.
- stacking: scikit-learn's StackingClassifier with its defaults, a logistic regression on
  the results of predict_proba (or of decision_function, for the kernel machine).
- stacking, log-odds: the same on standardized log-odds; tuned: with one of seven
  penalties, selected by AUC in 5-fold cross-validation.
- greedy: selection with replacement, 100 rounds (Caruana et al.), on probabilities and
  on standardized log-odds.
- hillclimbers: the PyPI package of that name on probabilities, if it is installed
  (``pip install --no-deps hillclimbers colorama``; nothing else here needs it).
- AUCBlender: its method fit_scores.

Where probabilities are needed, a logistic function is fitted to scores that are not
probabilities.

Prints the mean gain of each blend over the best single model, and the difference between
AUCBlender and each of them, with standard errors over tables; the same for tables that
were not used to choose the scale of AUCBlender; and the tables on which AUCBlender is
worse. Saves the results of every table in ``blending.csv``; an interrupted run continues
from there. ``--quick`` uses three tables, 500 rows, two folds and few models, and saves
``blending_quick.csv``; delete a file to start again. With ``--scores FOLDER``, scores are
saved there and reused. ``--speed`` only times a blend of 100,000 rows and 50 models,
compared with hillclimbers with the AUC of rocpath, and with as many calls of
roc_auc_score.

Tables are those of accuracy.py, one of each family (the name up to a digit or a dash),
subsampled to 3,000 rows, with at least 40 rows of the rarer class. Tables on which 50
trees have a cross-validated AUC above .995 are skipped, because nothing is left to gain;
so are some slow ones unless ``--all`` is given. ROCPATH_SETS selects the tables whose
names contain its value, and ROCPATH_REPEATS sets the number of repetitions (2 by
default).
"""

import argparse
import contextlib
import csv
import io
import os
import re
import time
import warnings
from collections import defaultdict
from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rocpath as rp
from accuracy import data_sets
from rocpath.ranking.blend import Scale
from rocpath.ranking.members import portfolio, scored_members
from rocpath.ranking.scores import class_scores

RESULTS = Path(__file__).parent / "results"
MOST_ROWS = 3_000
QUICK_ROWS = 500
FEWEST_OF_CLASS = 40
EASY = 0.995
N_ROUNDS = 100
# Tables on which the scale of AUCBlender was chosen, before the others were scored.
USED_TO_CHOOSE = (
    "breast_cancer",
    "churn 0",
    "rare levels",
    "keel abalone-17_vs_7-8-9-10",
    "keel australian",
    "keel banana",
    "keel car-good",
)
# Slow tables, which are not in the results.
SKIPPED = (
    "keel letter",
    "keel magic",
    "keel marketing",
    "keel satimage",
    "keel spambase",
    "a9a (sparse)",
    "covtype (5)",
)
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)


def estimators(X, *, is_quick):
    forest = RandomForestClassifier(100, min_samples_leaf=2, random_state=0)
    neighbors = make_pipeline(StandardScaler(), KNeighborsClassifier(25))
    bayes = make_pipeline(StandardScaler(), GaussianNB())
    extra = [("forest", forest), ("neighbors", neighbors), ("bayes", bayes)]
    chosen = [*portfolio(X, random_state=0), *extra]
    slow = ("linear", "boosting", "forest") if is_quick else ()
    return [(name, model) for name, model in chosen if name not in slow]


def area(y, score):
    """Compute AUC, ten times as fast as roc_auc_score."""
    bp = rp.ErrorBreakpoints.from_labels(y, positive=1)
    return rp.auc(bp, np.ascontiguousarray(score, dtype=float))


def greedy(scores, y):
    """Repeatedly add the model with the largest gain."""
    bp = rp.ErrorBreakpoints.from_labels(y, positive=1)
    total, count = np.zeros(len(y)), np.zeros(scores.shape[1])
    for _ in range(N_ROUNDS):
        areas = [rp.auc(bp, total + score) for score in scores.T]
        best = int(np.argmax(areas))
        total += scores[:, best]
        count[best] += 1
    return count / count.sum()


def hillclimbers_scores(scores, y, new_scores, metric=area):
    """Return the blended scores of hillclimbers, with its default precision."""
    import pandas as pd
    from hillclimbers import climb_hill

    names = [f"model {k}" for k in range(scores.shape[1])]
    with contextlib.redirect_stdout(io.StringIO()):
        return climb_hill(
            train=pd.DataFrame({"y": y}),
            oof_pred_df=pd.DataFrame(scores, columns=names),
            test_pred_df=pd.DataFrame(new_scores, columns=names),
            target="y",
            objective="maximize",
            eval_metric=partial(metric),
            negative_weights=False,
            precision=0.01,
            plot_hill=False,
            plot_hist=False,
        )


def has_hillclimbers():
    try:
        import hillclimbers  # noqa: F401
    except ImportError:
        print("hillclimbers is not installed: it is skipped")
        return False
    return True


def probabilities(scores, y, new_scores):
    """Return probabilities unchanged, and a logistic function of other scores."""
    calibrated, new = scores.copy(), new_scores.copy()
    for k in np.flatnonzero((scores.min(axis=0) < 0) | (scores.max(axis=0) > 1)):
        platt = make_pipeline(StandardScaler(), LogisticRegression(C=1e3))
        platt.fit(scores[:, [k]], y)
        calibrated[:, k] = platt.predict_proba(scores[:, [k]])[:, 1]
        new[:, k] = platt.predict_proba(new_scores[:, [k]])[:, 1]
    return calibrated, new


def blends(scores, y, new_scores, *, with_hillclimbers):
    """Yield the name of each blend and its scores for new rows."""
    scale = Scale.from_scores(scores, np.ones(len(y)))
    odds, new_odds = scale.odds_of(scores), scale.odds_of(new_scores)
    share, new_share = probabilities(scores, y, new_scores)
    yield "best single", new_scores[:, np.argmax([area(y, one) for one in scores.T])]
    yield "mean", new_share.mean(axis=1)
    yield "rank mean", scale.ranks_of(new_scores).mean(axis=1)
    logistic = LogisticRegression(max_iter=1000)
    yield "stacking", logistic.fit(scores, y).decision_function(new_scores)
    yield "stacking, log-odds", logistic.fit(odds, y).decision_function(new_odds)
    tuned = LogisticRegressionCV(
        Cs=np.logspace(-4, 2, 7), cv=FOLDS, scoring="roc_auc", max_iter=1000
    )
    yield "stacking, tuned", tuned.fit(odds, y).decision_function(new_odds)
    yield "greedy", new_share @ greedy(share, y)
    yield "greedy, log-odds", new_odds @ greedy(odds, y)
    if with_hillclimbers:
        yield "hillclimbers", hillclimbers_scores(share, y, new_share)
    blend = rp.AUCBlender(random_state=0).fit_scores(scores, y)
    yield "AUCBlender", blend.decision_function(new_scores)


def member_scores(X, y, train, test, *, is_quick):
    """Return held-out scores for the training rows, and scores for the test rows."""
    members, excluded = scored_members(
        estimators(X[train], is_quick=is_quick),
        X[train],
        y[train],
        None,
        folds=list(FOLDS.split(X[train], y[train])),
        n_jobs=None,
    )
    for name, (reason, _) in excluded.items():
        print(f"{name} is excluded: {reason}")
    return {
        "S": np.hstack([score for _, score in members.values()]),
        "y": y[train],
        "T": np.hstack([class_scores(fitted, X[test]) for fitted, _ in members.values()]),
        "z": y[test],
        "names": np.array(list(members)),
    }


def kept_scores(folder, name, make):
    """Read scores from a file, or compute and save them."""
    if folder is None:
        return make()
    path = folder / f"{name}.npz"
    if not path.exists():
        np.savez(path, **make())
    with np.load(path) as file:
        return dict(file)


def cross_validate(table, X, y, arguments, *, with_hillclimbers):
    """Yield repeat, fold, name and test AUC of every model and blend."""
    is_quick = arguments.quick
    for repeat in range(1 if is_quick else int(os.environ.get("ROCPATH_REPEATS", "2"))):
        outer = StratifiedKFold(5, shuffle=True, random_state=repeat)
        for fold, (train, test) in enumerate(outer.split(X, y)):
            if is_quick and fold >= 2:
                break
            make = partial(member_scores, X, y, train, test, is_quick=is_quick)
            made = kept_scores(arguments.scores, f"{table}_{repeat}_{fold}", make)
            for name, score in zip(made["names"], made["T"].T, strict=True):
                yield repeat, fold, str(name), area(made["z"], score)
            found = blends(made["S"], made["y"], made["T"], with_hillclimbers=with_hillclimbers)
            for name, score in found:
                yield repeat, fold, name, area(made["z"], score)


def is_easy(X, y):
    trees = ExtraTreesClassifier(50, min_samples_leaf=2, random_state=0)
    score = cross_val_predict(trees, X, y, cv=FOLDS, method="predict_proba")[:, 1]
    return area(y, score) > EASY


def chosen_tables(most_rows, skipped):
    wanted = os.environ.get("ROCPATH_SETS", "")
    families = set()
    for name, X, y in data_sets():
        family = re.split(r"[-_ 0-9(]", name.removeprefix("keel "))[0]
        if wanted not in name or family in families:
            continue
        kept = np.random.default_rng(0).permutation(len(y))[:most_rows]
        X = X[kept].toarray() if sparse.issparse(X) else np.asarray(X[kept], float)
        y = y[kept]
        if np.bincount(y).min() < FEWEST_OF_CLASS:
            continue
        families.add(family)
        if name not in skipped and not is_easy(X, y):
            yield name, X, y


def mean_and_error(values):
    error = values.std(ddof=1) / np.sqrt(values.size) if values.size > 1 else np.nan
    return values.mean(), error


def areas_by_fold(rows):
    """Return the AUC of every fold, by blend and table."""
    by_name = defaultdict(lambda: defaultdict(list))
    for table, _, _, name, value in rows:
        by_name[name][table].append(float(value))
    return by_name


def print_means(by_name, tables):
    mean = {
        name: np.array([np.mean(areas.get(table, np.nan)) for table in tables])
        for name, areas in by_name.items()
    }
    print("| | gain over best single | worst | AUCBlender minus blend | worst |")
    print("|---|---|---|---|---|")
    for name, areas in mean.items():
        is_known = np.isfinite(areas)
        gain = (areas - mean["best single"])[is_known]
        ahead = (mean["AUCBlender"] - areas)[is_known]
        print(
            f"| {name} | {'{:+.4f} ± {:.4f}'.format(*mean_and_error(gain))} "
            f"| {gain.min():+.4f} "
            f"| {'{:+.4f} ± {:.4f}'.format(*mean_and_error(ahead))} "
            f"| {ahead.min():+.4f} |"
        )


def print_losses(by_name, tables):
    print("\nAUCBlender worse by more than .003 (± standard error over folds):")
    for name in ("best single", "stacking", "greedy", "hillclimbers"):
        for table in set(tables) & set(by_name[name]):
            pair = [np.array(by_name[one][table]) for one in (name, "AUCBlender")]
            loss, error = mean_and_error(pair[0] - pair[1])
            if loss > 0.003:
                print(f"{name}, {table}: {loss:.4f} ± {error:.4f}")


def summarize(rows):
    by_name = areas_by_fold(rows)
    tables = list(by_name["AUCBlender"])
    print(f"\n{len(tables)} tables\n")
    print_means(by_name, tables)
    others = [table for table in tables if table not in USED_TO_CHOOSE]
    if 1 < len(others) < len(tables):
        print(f"\n{len(others)} of them, not used to choose the scale\n")
        print_means(by_name, others)
    print_losses(by_name, tables)


def saved_rows(path):
    with path.open(newline="") as file:
        return list(csv.reader(file))[1:]


def simulated_scores(n_rows, n_models):
    """Simulate probabilities of models with correlated errors."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_rows)
    quality = np.linspace(0.2, 0.8, n_models)
    shared = rng.normal(size=(n_rows, 1))
    scores = y[:, None] * quality + shared + rng.normal(size=(n_rows, n_models))
    return 1 / (1 + np.exp(-scores)), y


def time_blends(*, with_hillclimbers):
    n_rows = 100_000
    scores, y = simulated_scores(2 * n_rows, 50)
    old, new = (scores[:n_rows], y[:n_rows]), (scores[n_rows:], y[n_rows:])
    rp.AUCBlender(random_state=0).fit_scores(scores[:100], y[:100])  # imports
    start = time.process_time()
    blend = rp.AUCBlender(random_state=0).fit_scores(*old)
    ours = time.process_time() - start
    area_of_new = roc_auc_score(new[1], blend.decision_function(new[0]))
    print(f"AUCBlender: {ours:.1f} CPU s, AUC of new rows {area_of_new:.5f}")
    if not with_hillclimbers:
        return
    bp = rp.ErrorBreakpoints.from_labels(old[1], positive=1)
    n_areas = 0

    def quick_area(_, score):
        nonlocal n_areas
        n_areas += 1
        return rp.auc(bp, np.asarray(score))

    start = time.process_time()
    climbed = hillclimbers_scores(*old, new[0], quick_area)
    theirs = time.process_time() - start
    start = time.process_time()
    for score in old[0].T[:20]:
        roc_auc_score(old[1], score)
    usual = n_areas * (time.process_time() - start) / 20
    area_of_new = roc_auc_score(new[1], climbed)
    print(
        f"hillclimbers: {n_areas} AUCs, AUC of new rows {area_of_new:.5f}\n"
        f"{theirs:.0f} CPU s with rocpath's AUC, {theirs / ours:.0f} times as long\n"
        f"{usual:.0f} CPU s for as many calls of roc_auc_score, {usual / ours:.0f} times as long"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--scores", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    with_hillclimbers = has_hillclimbers()
    if arguments.speed:
        time_blends(with_hillclimbers=with_hillclimbers)
        return
    path = RESULTS / ("blending_quick.csv" if arguments.quick else "blending.csv")
    if not path.exists():
        path.write_text("table,repeat,fold,name,auc\n")
    done = [row[0] for row in saved_rows(path)]
    most_rows = QUICK_ROWS if arguments.quick else MOST_ROWS
    skipped = done if arguments.all else [*SKIPPED, *done]
    for number, (table, X, y) in enumerate(chosen_tables(most_rows, skipped)):
        if arguments.quick and number == 3:
            break
        made = cross_validate(table, X, y, arguments, with_hillclimbers=with_hillclimbers)
        rows = [(table, *row[:-1], f"{row[-1]:.5f}") for row in made]
        with path.open("a", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
        print(table, X.shape, y.sum(), flush=True)
    summarize(saved_rows(path))


if __name__ == "__main__":
    main()

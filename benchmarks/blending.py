"""Compare ways to blend models by test AUC, all given the same scores.

Every table is split into folds. The models of the default portfolio of AUCBlender and a
forest, neighbours and naive Bayes score the training rows out of fold and are fitted to
all of them; every blend is then made from the same scores, and judged on the test fold.

- best single: the model with the largest AUC out of fold.
- mean, rank mean: of standardised log-odds, of ranks.
- stacking: what scikit-learn's StackingClassifier does, a logistic regression on
  probabilities; stacking, logits: the same on standardised log-odds.
- greedy: selection with replacement, 100 rounds, on log-odds (Caruana et al.).
- hillclimbers: the PyPI package of that name, where it is installed.
- AUCBlender: fit_scores.

Prints for each way the mean gain over the best single model, and how far AUCBlender is
ahead of it, with standard errors over tables, and saves ``blending.csv`` beside this
script (``blending_quick.csv`` with ``--quick``: three tables, two folds, small models).
With ``--speed`` only a blend of 100,000 rows and 50 models is timed.

Tables are those of accuracy.py, at most 2,000 rows of each. Set ROCPATH_SETS for only
the sets whose name has these letters.
"""

import argparse
import contextlib
import csv
import io
import os
import time
import warnings
from collections import defaultdict
from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rocpath as rp
from accuracy import data_sets
from rocpath.ranking.blend import Scale
from rocpath.ranking.members import class_scores, portfolio, scored_members

HERE = Path(__file__).parent
MOST_ROWS = 2_000
N_ROUNDS = 100


def estimators(shape, *, is_quick):
    forest = RandomForestClassifier(200, min_samples_leaf=2, random_state=0)
    neighbours = make_pipeline(StandardScaler(), KNeighborsClassifier(25))
    bayes = make_pipeline(StandardScaler(), GaussianNB())
    extra = [("forest", forest), ("neighbours", neighbours), ("bayes", bayes)]
    chosen = [*portfolio(*shape, is_dense=True, random_state=0), *extra]
    slow = ("linear", "boosting", "forest") if is_quick else ()
    return [(name, model) for name, model in chosen if name not in slow]


def weighted(weights, scale, scores):
    return scale.of(scores) @ weights


def greedy(scores, y):
    """Add the model that helps most, again and again."""
    total, count = np.zeros(len(y)), np.zeros(scores.shape[1])
    for _ in range(N_ROUNDS):
        areas = [roc_auc_score(y, total + score) for score in scores.T]
        best = int(np.argmax(areas))
        total += scores[:, best]
        count[best] += 1
    return count / count.sum()


def climbed_hill(scores, y, new_scores):
    import pandas as pd
    from hillclimbers import climb_hill

    names = [f"model {k}" for k in range(scores.shape[1])]
    with contextlib.redirect_stdout(io.StringIO()):
        predictions, _ = climb_hill(
            train=pd.DataFrame({"y": y}),
            oof_pred_df=pd.DataFrame(scores, columns=names),
            test_pred_df=pd.DataFrame(new_scores, columns=names),
            target="y",
            objective="maximize",
            eval_metric=partial(roc_auc_score),
            negative_weights=False,
            precision=0.01,
            plot_hill=False,
            plot_hist=False,
            return_oof_preds=True,
        )
    return predictions


def has_hillclimbers():
    try:
        import hillclimbers  # noqa: F401
    except ImportError:
        print("hillclimbers is not installed: it is left out")
        return False
    return True


def blends(scores, y, new_scores, *, with_hillclimbers):
    """Give the name of each blend and its scores of new rows."""
    logit, rank = (
        Scale.measured(k, scores, np.ones(len(y))) for k in ("logit", "rank")
    )
    single = [roc_auc_score(y, score) for score in scores.T]
    yield "best single", new_scores[:, int(np.argmax(single))]
    yield "mean", logit.of(new_scores).mean(axis=1)
    yield "rank mean", rank.of(new_scores).mean(axis=1)
    stack = LogisticRegression(max_iter=1000).fit(scores, y)
    yield "stacking", stack.decision_function(new_scores)
    stack = LogisticRegression(max_iter=1000).fit(logit.of(scores), y)
    yield "stacking, logits", stack.decision_function(logit.of(new_scores))
    yield "greedy", weighted(greedy(logit.of(scores), y), logit, new_scores)
    if with_hillclimbers:
        yield "hillclimbers", climbed_hill(scores, y, new_scores)
    blend = rp.AUCBlender(random_state=0).fit_scores(scores, y)
    yield "AUCBlender", blend.decision_function(new_scores)


def cross_validate(X, y, *, repeats, n_folds_used, is_quick, with_hillclimbers):
    """Yield repeat, fold, name and test AUC of every model and blend."""
    for repeat in range(repeats):
        outer = StratifiedKFold(5, shuffle=True, random_state=repeat)
        for fold, (train, test) in enumerate(outer.split(X, y)):
            if fold >= n_folds_used:
                break
            inner = StratifiedKFold(5, shuffle=True, random_state=0)
            members, left_out = scored_members(
                estimators(X[train].shape, is_quick=is_quick),
                X[train],
                y[train],
                None,
                folds=list(inner.split(X[train], y[train])),
                n_jobs=None,
                timeout=None,
            )
            for one in left_out:
                print(f"{one.name} is left out: {one.reason}")
            scores = np.hstack([member.score for member in members])
            new = np.hstack([class_scores(one.estimator, X[test]) for one in members])
            for member, score in zip(members, new.T, strict=True):
                yield repeat, fold, member.name, roc_auc_score(y[test], score)
            made = blends(scores, y[train], new, with_hillclimbers=with_hillclimbers)
            for name, score in made:
                yield repeat, fold, name, roc_auc_score(y[test], score)


def chosen_tables(*, is_quick):
    letters = os.environ.get("ROCPATH_SETS", "")
    n_given = 0
    for name, X, y in data_sets():
        if letters not in name:
            continue
        if is_quick and n_given == 3:
            return
        n_given += 1
        kept = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
        X = X[kept].toarray() if sparse.issparse(X) else X[kept]
        yield name, X, y[kept]


def summarize(rows):
    by_name = defaultdict(lambda: defaultdict(list))
    for table, _, _, name, area in rows:
        by_name[name][table].append(area)
    tables = list(by_name["AUCBlender"])
    mean = {
        name: np.array([np.mean(areas.get(table, np.nan)) for table in tables])
        for name, areas in by_name.items()
    }
    print(f"{len(tables)} tables; gain over the best single | AUCBlender ahead by")
    for name, areas in mean.items():
        gain = areas - mean["best single"]
        ahead = (mean["AUCBlender"] - areas)[np.isfinite(areas)]
        error = ahead.std(ddof=1) / np.sqrt(ahead.size) if ahead.size > 1 else np.nan
        print(
            f"{name:18s} {np.nanmean(gain):+.4f} (worst {np.nanmin(gain):+.4f}) | "
            f"{ahead.mean():+.4f} ± {error:.4f} (worst {ahead.min():+.4f})"
        )


def time_blends(*, with_hillclimbers):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 100_000)
    quality = np.linspace(0.2, 0.8, 50)
    shared = rng.normal(size=(y.size, 1))
    scores = y[:, None] * quality + shared + rng.normal(size=(y.size, 50))
    scores = 1 / (1 + np.exp(-scores))
    start = time.process_time()
    blend = rp.AUCBlender(random_state=0).fit_scores(scores, y)
    ours = time.process_time() - start
    area = roc_auc_score(y, blend.decision_function(scores))
    print(f"AUCBlender: {ours:.1f} s of CPU, AUC {area:.5f} on the same rows")
    if with_hillclimbers:
        start = time.process_time()
        climbed = climbed_hill(scores, y, scores)
        theirs = time.process_time() - start
        print(f"hillclimbers: {theirs:.1f} s, AUC {roc_auc_score(y, climbed):.5f}")
        print(f"ratio {theirs / ours:.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--speed", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    with_hillclimbers = has_hillclimbers()
    if arguments.speed:
        time_blends(with_hillclimbers=with_hillclimbers)
        return
    rows = []
    for table, X, y in chosen_tables(is_quick=arguments.quick):
        made = cross_validate(
            X,
            y,
            repeats=1 if arguments.quick else 2,
            n_folds_used=2 if arguments.quick else 5,
            is_quick=arguments.quick,
            with_hillclimbers=with_hillclimbers,
        )
        rows += [(table, *row) for row in made]
        print(table, flush=True)
    name = "blending_quick.csv" if arguments.quick else "blending.csv"
    with (HERE / name).open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("table", "repeat", "fold", "name", "auc"))
        writer.writerows((*row[:-1], f"{row[-1]:.5f}") for row in rows)
    summarize(rows)


if __name__ == "__main__":
    main()

"""Estimate how often chosen thresholds violate their constraints on new rows.

Draws normal scores whose true rates are known, chooses a threshold with and without
confidence .95, and compares the true rates with the constraints, or the true cost with
its upper bound. ``ratings`` rounds the scores down, so that most of them are tied;
``grouped`` draws groups of eight rows with an intraclass correlation of .9. ``tree``
fits a tree of depth 4 to 500 rows and computes its rates on 20,000 new rows: ``split``
uses ``ThresholdClassifier`` with a guarantee, and ``cv`` chooses the threshold on
cross-validated scores, for comparison. Prints a table and saves ``guarantees.csv``
beside this script. The guarantee is that at most 5% of the samples violate the
constraints.
"""

import argparse
import csv
from pathlib import Path

import numpy as np
from scipy.special import expit, ndtr
from sklearn.model_selection import cross_val_predict
from sklearn.tree import DecisionTreeClassifier

import rocpath as rp

RESULTS = Path(__file__).parent / "results"
DISTANCE = 2.0
COST = (1.0, 5.0)
TARGETS = {
    "max_fpr": {"max_fpr": 0.05},
    "min_tpr": {"min_tpr": 0.9},
    "min_precision": {"min_precision": 0.6},
    "cost": {"cost": COST},
    "three rates": {"max_fpr": 0.1, "min_tpr": 0.6, "min_precision": 0.5},
}
HEADER = ("kind", "target", "n_rows", "positive", "confidence", "tries")
HEADER += ("out_of_reach", "violated", "tpr")


def is_violated(target, point, tpr, fpr, share):
    precision = share * tpr / max(share * tpr + (1 - share) * fpr, 1e-300)
    cost = COST[0] * (1 - share) * fpr + COST[1] * share * (1 - tpr)
    return any(
        {
            "max_fpr": lambda rate: fpr > rate,
            "min_tpr": lambda rate: tpr < rate,
            "min_precision": lambda rate: precision < rate,
            "cost": lambda _: cost > point.expected_cost_interval[1],
        }[name](rate)
        for name, rate in target.items()
    )


def sample(kind, n_rows, share, rng):
    y = (rng.random(n_rows) < share).astype(int)
    if kind == "grouped":
        code = np.arange(n_rows) // 8
        common = np.sqrt(0.9) * rng.normal(size=code[-1] + 1)[code]
        noise = common + np.sqrt(0.1) * rng.normal(size=n_rows)
        return y, noise + DISTANCE * y, {"groups": code}
    score = rng.normal(size=n_rows) + DISTANCE * y
    return y, np.floor(score) if kind == "ratings" else score, {}


def cell(kind, target, n_rows, share, confidence, n_tries):
    rng = np.random.default_rng(n_rows)
    violated, tprs = [], []
    for _ in range(n_tries):
        y, score, more = sample(kind, n_rows, share, rng)
        try:
            point = rp.choose_threshold(y, score, **target, **more, confidence=confidence)
        except ValueError:
            continue
        # A rounded score is at least t if and only if the original score is at least ceil(t).
        at = np.ceil(point.threshold) if kind == "ratings" else point.threshold
        tpr, fpr = ndtr(DISTANCE - at), ndtr(-at)
        violated.append(is_violated(target, point, tpr, fpr, share))
        tprs.append(tpr)
    means = (np.mean(violated), np.mean(tprs)) if violated else (np.nan, np.nan)
    return 1 - len(violated) / n_tries, *means


def tree_rows(n_rows, rng):
    X = rng.normal(size=(n_rows, 5))
    return X, rng.random(n_rows) < expit(X[:, 0] + X[:, 1])


def tree_cell(how, target, n_tries):
    rng = np.random.default_rng(0)
    new_X, new_y = tree_rows(20_000, rng)
    violated, tprs = [], []
    for trial in range(n_tries):
        X, y = tree_rows(500, rng)
        tree = DecisionTreeClassifier(max_depth=4, random_state=trial)
        try:
            if how == "split":
                model = rp.ThresholdClassifier(
                    tree, **target, confidence=0.95, random_state=trial
                ).fit(X, y)
                predicted, point = model.predict(new_X), model.operating_point_
            else:
                score = cross_val_predict(tree, X, y, method="predict_proba")[:, 1]
                point = rp.choose_threshold(y, score, **target, confidence=0.95)
                fitted = tree.fit(X, y).predict_proba(new_X)[:, 1]
                predicted = fitted >= point.threshold
        except ValueError:
            continue
        tpr, fpr = predicted[new_y].mean(), predicted[~new_y].mean()
        violated.append(is_violated(target, point, tpr, fpr, new_y.mean()))
        tprs.append(tpr)
    return 1 - len(violated) / n_tries, np.mean(violated), np.mean(tprs)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tries", type=int, default=1000)
    n_tries = parser.parse_args().tries
    rows = []
    print("| " + " | ".join(HEADER) + " |\n" + "|---" * len(HEADER) + "|")

    def save(where, result):
        rows.append((*where, *(f"{x:.3f}" for x in result)))
        print("| " + " | ".join(map(str, rows[-1])) + " |", flush=True)

    for name in ("max_fpr", "min_tpr"):
        target = {"max_fpr": 0.2} if name == "max_fpr" else {"min_tpr": 0.8}
        for how in ("split", "cv"):
            where = (f"tree, {how}", name, 500, 0.5, 0.95, n_tries)
            save(where, tree_cell(how, target, n_tries))
    for kind in ("normal", "ratings", "grouped"):
        for name, target in TARGETS.items():
            if kind == "grouped" and name not in ("max_fpr", "min_tpr"):
                continue
            for n_rows, share in ((200, 0.5), (1000, 0.1), (5000, 0.1)):
                for confidence in (0.95, None):
                    where = (kind, name, n_rows, share, confidence, n_tries)
                    save(where, cell(kind, target, *where[2:]))
    with (RESULTS / "guarantees.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        writer.writerows(rows)


if __name__ == "__main__":
    main()

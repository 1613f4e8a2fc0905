"""Count how often a threshold chosen with a promise breaks it on new rows.

Draws normal scores whose true rates are known, chooses a threshold with and without
confidence .95, and compares the true rates with the promise; for costs, with the bound.
``ratings`` are the same scores rounded down, so that most are tied. Prints a table and
saves ``promises.csv`` beside this script. A share broken of at most .05 is as promised.
"""

import argparse
import csv
from pathlib import Path

import numpy as np
from scipy.special import ndtr

import rocpath as rp

HERE = Path(__file__).parent
DISTANCE = 2.0
COST = (1.0, 5.0)
PROMISES = {"max_fpr": 0.05, "min_tpr": 0.9, "min_precision": 0.6, "cost": COST}
HEADER = ("kind", "promise", "n_rows", "positive", "confidence", "tries")
HEADER += ("out_of_reach", "broken", "tpr")


def is_broken(name, promise, point, share, kind):
    # A score that was rounded down is at least t if it was at least ceil(t).
    threshold = np.ceil(point.threshold) if kind == "ratings" else point.threshold
    tpr, fpr = ndtr(DISTANCE - threshold), ndtr(-threshold)
    called = share * tpr + (1 - share) * fpr
    cost = COST[0] * (1 - share) * fpr + COST[1] * share * (1 - tpr)
    return {
        "max_fpr": lambda: fpr > promise,
        "min_tpr": lambda: tpr < promise,
        "min_precision": lambda: share * tpr / called < promise,
        "cost": lambda: cost > point.expected_cost_interval[1],
    }[name](), tpr


def cell(kind, name, n_rows, share, confidence, n_tries):
    rng = np.random.default_rng(n_rows)
    n_out_of_reach, broken, tprs = 0, [], []
    for _ in range(n_tries):
        y = (rng.random(n_rows) < share).astype(int)
        score = rng.normal(size=n_rows) + DISTANCE * y
        score = np.floor(score) if kind == "ratings" else score
        promise = {name: PROMISES[name]}
        try:
            point = rp.choose_threshold(y, score, **promise, confidence=confidence)
        except ValueError:
            n_out_of_reach += 1
            continue
        outcome, tpr = is_broken(name, PROMISES[name], point, share, kind)
        broken.append(outcome)
        tprs.append(tpr)
    means = (np.mean(broken), np.mean(tprs)) if broken else (np.nan, np.nan)
    return n_out_of_reach / n_tries, *means


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tries", type=int, default=1000)
    n_tries = parser.parse_args().tries
    rows = []
    print("| " + " | ".join(HEADER) + " |\n" + "|---" * len(HEADER) + "|")
    for kind in ("normal", "ratings"):
        for name in PROMISES:
            for n_rows, share in ((200, 0.5), (1000, 0.1), (5000, 0.1)):
                for confidence in (0.95, None):
                    where = (kind, name, n_rows, share, confidence, n_tries)
                    result = cell(*where[:5], n_tries)
                    rows.append((*where, *(f"{x:.3f}" for x in result)))
                    print("| " + " | ".join(map(str, rows[-1])) + " |", flush=True)
    with (HERE / "promises.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        writer.writerows(rows)


if __name__ == "__main__":
    main()

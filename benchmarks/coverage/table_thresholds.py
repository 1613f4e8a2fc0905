"""Estimate how often the thresholds of TableClassifier exceed their limit on new rows.

Draws tables of 400 rows and ten columns, of which three matter, one pair of them by an
interaction; ``groups`` draws 80 groups of five rows that share half of the variance.
Fits ``TableClassifier`` with a maximum false positive rate, and computes the rate of
``predict`` on 20,000 new rows. The word of the note (guaranteed, estimated or observed)
is recorded. The guarantee is that at most 5% of the tables exceed the limit. Prints a
table and saves ``results/table_thresholds.csv``; with ``--only``, its other rows are kept.
"""

import argparse
import csv
import re
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
from scipy.special import expit
from threadpoolctl import threadpool_limits

import rocpath as rp

RESULTS = Path(__file__).parent / "results"
HEADER = ("setting", "word", "tables", "exceeded", "error", "tpr")
N_FRESH = 20_000
WORDS = ("guaranteed", "estimated", "observed")
CALIBRATED = {"calibration_size": 0.4, "max_fpr": 0.2}
# Name, arguments of the classifier, whether rows are grouped, and the share of the tables.
SETTINGS = [
    ("linear, calibration", {"model": "linear", "fast": True, **CALIBRATED}, False, 0.4),
    ("logistic, calibration", {"model": "logistic", "fast": True, **CALIBRATED}, False, 1),
    ("logistic, calibration, groups", {"model": "logistic", "fast": True, **CALIBRATED}, True, 1),
    ("boosting, calibration", {"model": "boosting", "fast": True, **CALIBRATED}, False, 0.2),
    ("linear, 5 folds", {"model": "linear", "max_fpr": 0.2}, False, 0.1),
    ("linear, 3 folds", {"model": "linear", "fast": True, "max_fpr": 0.2}, False, 0.2),
    (
        "linear, 3 folds, limit 0.05",
        {"model": "linear", "fast": True, "max_fpr": 0.05},
        False,
        0.15,
    ),
    ("linear, 3 folds, groups", {"model": "linear", "fast": True, "max_fpr": 0.2}, True, 0.15),
    ("logistic, 5 folds", {"model": "logistic", "max_fpr": 0.2}, False, 0.3),
    ("auto, 5 folds", {"max_fpr": 0.2}, False, 0.03),
]


def draw(rng, n, *, is_grouped):
    X = rng.normal(size=(n, 10))
    effect, group = 0.0, None
    if is_grouped:
        group = np.arange(n) // 5
        shared = rng.normal(size=(group[-1] + 1, 11))[group]
        X = np.sqrt(0.5) * (X + shared[:, :10])
        effect = shared[:, 10]
    y = rng.random(n) < expit(1.2 * X[:, 0] * X[:, 1] + 0.8 * X[:, 2] + effect - 1)
    return pl.DataFrame(X, schema=[f"x{k}" for k in range(10)]), y, group


def one_table(given, *, is_grouped, seed):
    """Return the word of the note, and the rates on new rows."""
    rng = np.random.default_rng(seed)
    frame, y, group = draw(rng, 400, is_grouped=is_grouped)
    model = rp.TableClassifier(random_state=0, **given).fit(frame, y, groups=group)
    fresh, labels, _ = draw(rng, N_FRESH, is_grouped=is_grouped)
    predicted = model.predict(fresh)
    note = model.fit_.threshold_note
    word = next((one for one in WORDS if one in note), "none")
    if word == "observed" and "not guaranteed" in note:
        word = "observed, no bound"
    return word, predicted[~labels].mean(), predicted[labels].mean()


def write(rows):
    """Write the results, and keep those of settings that were not simulated again."""
    path = RESULTS / "table_thresholds.csv"
    kept = []
    if path.exists():
        with path.open(newline="") as file:
            kept = list(csv.reader(file))[1:]
    names = {one[0] for one in rows}
    shown = [[*one[:3], *(f"{x:.4f}" for x in one[3:])] for one in rows]
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([HEADER, *(one for one in kept if one[0] not in names), *shown])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--only", default="", help="pattern of settings")
    given = parser.parse_args()
    rows = []
    with threadpool_limits(1):
        for name, settings, is_grouped, share in SETTINGS:
            if not re.search(given.only, name):
                continue
            found = [
                one_table(settings, is_grouped=is_grouped, seed=seed)
                for seed in range(round(share * given.tables))
            ]
            limit = settings["max_fpr"]
            for word, count in Counter(word for word, _, _ in found).items():
                rates = [(fpr > limit, tpr) for one, fpr, tpr in found if one == word]
                exceeded, tpr = np.mean(rates, axis=0)
                error = np.sqrt(exceeded * (1 - exceeded) / count)
                rows.append((name, word, count, exceeded, error, tpr))
                print(
                    f"{name:<32} {word:<20} {count:5} {exceeded:.3f} ± {error:.3f} {tpr:.3f}",
                    flush=True,
                )
    write(rows)


if __name__ == "__main__":
    main()

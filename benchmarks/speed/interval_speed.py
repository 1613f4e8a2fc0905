"""Measure the time of AUC intervals and tests relative to sorting the scores.

Prints the median time of five runs and its ratio to ``np.argsort`` of 10^6 numbers in
the same process, and saves ``interval_speed.csv`` in ``results``. Times are
CPU times, which depend less on the load of the machine; all functions run on one
core. Run with OPENBLAS_NUM_THREADS=1, because idle BLAS threads use CPU time.
NumPy's default sort is about five times faster on processors with AVX-512 than without;
its stable sort is not vectorized, so ratios to it can be compared between machines.
"""

import csv
import statistics
import time
from pathlib import Path

import numpy as np

import rocpath as rp

RESULTS = Path(__file__).parent / "results"
SORTS = ("np.argsort", "np.argsort, stable")


def main():
    rng = np.random.default_rng(0)
    y = (rng.random(10**6) < 0.1).astype(int)
    score = rng.normal(size=y.size) + y
    other = score + rng.normal(size=y.size)
    rounded = np.round(score, 2)
    weighted = {"sample_weight": rng.random(y.size) + 0.5}
    group = rng.integers(0, 10**5, y.size)
    ten = np.column_stack([score + 0.1 * k * rng.normal(size=y.size) for k in range(10)])
    work = {
        "np.argsort": lambda: np.argsort(score),
        "np.argsort, stable": lambda: np.argsort(score, kind="stable"),
        "auc": lambda: rp.auc(y, score),
        "auc_interval, 100,000 groups": lambda: rp.auc_interval(y, score, groups=group),
        "compare, ten columns": lambda: rp.compare(y, ten),
        "auc_interval": lambda: rp.auc_interval(y, score),
        "auc_interval, max_fpr": lambda: rp.auc_interval(y, score, max_fpr=0.1),
        "auc_interval, ties": lambda: rp.auc_interval(y, rounded),
        "auc_interval, weights": lambda: rp.auc_interval(y, score, **weighted),
        "compare_auc": lambda: rp.compare_auc(y, score, other),
        "choose_threshold": lambda: rp.choose_threshold(y, score, max_fpr=0.1),
    }
    # The functions take turns, so that other load on the machine affects all of them.
    seconds = {name: [] for name in work}
    for _ in range(5):
        for name, function in work.items():
            start = time.process_time()
            function()
            seconds[name].append(time.process_time() - start)
    median = {name: statistics.median(times) for name, times in seconds.items()}
    rows = [
        (name, f"{value:.4f}", *(f"{value / median[sort]:.2f}" for sort in SORTS))
        for name, value in median.items()
    ]
    print("| what | seconds | ratio to np.argsort | to the stable sort |\n|---|---|---|---|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    with (RESULTS / "interval_speed.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("what", "seconds", "ratio_to_argsort", "ratio_to_stable"))
        writer.writerows(rows)


if __name__ == "__main__":
    main()

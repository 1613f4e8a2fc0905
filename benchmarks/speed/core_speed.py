"""Time AUM, AUC and the sweep relative to sorting a million numbers.

Prints a table and saves ``core_speed.csv`` in ``results``. Times are medians, and
A is the time of ``np.argsort`` on 10^6 random float64 numbers in the same run. The
column ``bar`` contains upper limits on the ratio to A.
"""

import csv
import statistics
import time
from pathlib import Path

import numpy as np

import rocpath as rp

RESULTS = Path(__file__).parent / "results"


def median_time(function, repeats=5, clock=time.perf_counter):
    """Return the median time of several runs in seconds, and the result of the last."""
    times = []
    for _ in range(repeats):
        start = clock()
        result = function()
        times.append(clock() - start)
    return statistics.median(times), result


def problem(n, n_features=10, seed=0):
    """Return breakpoints, predictions and lines of a simulated descent step."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 10 == 0
    X = rng.normal(size=(n, n_features)) + 0.3 * y[:, None]
    predictions = X @ rng.normal(size=n_features)
    bp = rp.ErrorBreakpoints.from_labels(y)
    direction = -X @ (X.T @ rp.aum_gradient(bp, predictions))
    return bp, predictions, rp.Lines.from_predictions(bp, predictions, direction)


def measured(one_sort):
    """Yield name, n, seconds, ratio to one sort, its limit, and seconds of the R package."""

    def row(name, n, function, bar="", reference="", repeats=5):
        seconds, _ = median_time(function, repeats)
        return name, n, seconds, seconds / one_sort, bar, reference

    bp, predictions, _ = problem(10**6)
    yield row(
        "aum + aum_gradient",
        10**6,
        lambda: (rp.aum(bp, predictions), rp.aum_gradient(bp, predictions)),
        bar=1,
        reference=0.30,
        repeats=15,
    )
    yield row("auc", 10**6, lambda: rp.auc(bp, predictions), bar=2, repeats=15)
    for n, reference in ((10**4, 0.017), (10**5, 0.33), (10**6, 7.4)):
        lines = problem(n)[2]
        yield row(
            "sweep, linear",
            n,
            lambda lines=lines: rp.sweep(lines, max_crossings=len(lines)),
            bar=15 if n == 10**6 else "",
            reference=reference,
        )
    lines = problem(3000)[2]
    yield row("sweep, all crossings", 3000, lambda: rp.sweep(lines), bar=8, reference=3.2)


def main():
    numbers = np.random.default_rng(0).random(10**6)
    one_sort, _ = median_time(lambda: np.argsort(numbers), 15)
    stable, _ = median_time(lambda: np.argsort(numbers, kind="stable"), 5)
    rows = [("np.argsort (A)", 10**6, one_sort, 1.0, "", ""), *measured(one_sort)]
    # Vector instructions accelerate A, but not a stable sort.
    rows.insert(1, ("stable np.argsort (S)", 10**6, stable, stable / one_sort, "", ""))
    header = ("what", "n", "seconds", "ratio_to_A", "bar", "R_package_seconds")
    with (RESULTS / "core_speed.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows((a, n, f"{s:.5f}", f"{r:.2f}", b, ref) for a, n, s, r, b, ref in rows)
    print("| what | n | seconds | ratio to A | bar | R package, seconds |")
    print("|---|---|---|---|---|---|")
    for what, n, seconds, ratio, bar, reference in rows:
        print(f"| {what} | {n:,} | {seconds:.4f} | {ratio:.2f} | {bar} | {reference} |")


if __name__ == "__main__":
    main()

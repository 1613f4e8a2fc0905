"""Time segmentation next to ruptures, and against the length of the sequence.

Prints two tables and saves ``segmentation_speed.csv`` beside this script. Times are
medians of five, but ruptures runs once where it takes minutes. Both find the best
segmentations with up to ``MAX_CHANGES`` changes; costs are compared.
"""

import csv
import statistics
import time
from pathlib import Path

import numpy as np
import ruptures

from rocpath import changepoint as cp

HERE = Path(__file__).parent
MAX_CHANGES = 20
LENGTHS = (1_000, 10_000, 100_000)


def median_time(function, repeats=5):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - start)
    return statistics.median(times), result


def sequence(n, kind, seed=0):
    """Make a sequence of twenty segments, of two levels with noise."""
    rng = np.random.default_rng(seed)
    level = np.arange(n) * 20 // n % 2
    if kind == "poisson":
        return rng.poisson(2 + 4 * level)
    return rng.normal(level)


def dynp(x, n_changes):
    search = ruptures.Dynp(model="l2", jump=1, min_size=1).fit(x)
    changes = search.predict(n_changes)
    return search.cost.sum_of_costs(changes)


def compare_with_ruptures(rows):
    print("| n | changes | ruptures, s | rocpath, s | ratio | cost, part more |")
    print("|---|---|---|---|---|---|")
    for n, n_changes, repeats in ((200, 5, 5), (500, 5, 5), (2_000, 5, 1)):
        x = sequence(n, "normal")
        theirs, their_cost = median_time(lambda x=x: dynp(x, 5), repeats)
        ours, models = median_time(lambda x=x: cp.segment(x, 5))
        worse = models.cost[n_changes] / their_cost - 1
        print(
            f"| {n:,} | {n_changes} | {theirs:.2f} | {ours:.5f} | {theirs / ours:,.0f} "
            f"| {worse:.1e} |"
        )
        rows.append(("ruptures Dynp", n, n_changes, "normal", "", theirs))
        rows.append(("segment", n, n_changes, "normal", "", ours))


def growth(rows):
    lengths = ", ".join(f"{n:,}" for n in LENGTHS)
    print(f"| search | cost | constraint | seconds at n = {lengths} | exponent |")
    print("|---|---|---|---|---|")
    for what in ("segment", "segment_penalty"):
        for kind in ("normal", "poisson"):
            for constraint in (None, "up_down"):
                seconds = []
                for n in LENGTHS:
                    x = sequence(n, kind)

                    def run(x=x, n=n, kind=kind, constraint=constraint, what=what):
                        settings = {"cost": kind, "constraint": constraint}
                        if what == "segment":
                            return cp.segment(x, MAX_CHANGES, **settings)
                        return cp.segment_penalty(x, 3 * np.log(n), **settings)

                    seconds.append(median_time(run)[0])
                    rows.append(
                        (what, n, MAX_CHANGES, kind, constraint or "", seconds[-1])
                    )
                slope = np.polyfit(np.log(LENGTHS), np.log(seconds), 1)[0]
                times = ", ".join(f"{second:.4f}" for second in seconds)
                print(f"| {what} | {kind} | {constraint} | {times} | {slope:.2f} |")


def main():
    rows = []
    compare_with_ruptures(rows)
    growth(rows)
    header = ("what", "n", "max_changes", "cost", "constraint", "seconds")
    with (HERE / "segmentation_speed.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows((*row[:-1], f"{row[-1]:.6f}") for row in rows)


if __name__ == "__main__":
    main()

"""Compare the speed of segmentation with ruptures and skchange, and across lengths.

Prints tables and saves ``segmentation_speed.csv`` in ``results``. Times are medians
of five runs in CPU seconds; searches that take minutes run once. If tables are named as
arguments, only these are printed, and nothing is saved:
``python benchmarks/speed/segmentation_speed.py skchange labels long``.

Install numba for a fair comparison: skchange compiles its searches with it.
"""

import csv
import resource
import statistics
import sys
import tempfile
import time
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import ruptures

from core_speed import median_time
from rocpath import changepoint as cp

# CPU time, because some searches run for minutes and other programs may use the machine.
cpu_time = partial(median_time, clock=time.process_time)
RESULTS = Path(__file__).parent / "results"
MAX_CHANGES = 20
LENGTHS = (1_000, 10_000, 100_000)


def sequence(n, kind, seed=0):
    """Return a sequence of twenty segments that alternate between two levels, with noise."""
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
    print("| n | changes | ruptures, s | rocpath, s | ratio | relative excess cost |")
    print("|---|---|---|---|---|---|")
    for n, n_changes, repeats in ((200, 5, 5), (500, 5, 5), (2_000, 5, 1)):
        x = sequence(n, "normal")
        theirs, their_cost = cpu_time(lambda x=x: dynp(x, 5), repeats)
        ours, models = cpu_time(lambda x=x: cp.segment(x, 5))
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

                    seconds.append(cpu_time(run)[0])
                    rows.append((what, n, MAX_CHANGES, kind, constraint or "", seconds[-1]))
                slope = np.polyfit(np.log(LENGTHS), np.log(seconds), 1)[0]
                times = ", ".join(f"{second:.4f}" for second in seconds)
                print(f"| {what} | {kind} | {constraint} | {times} | {slope:.2f} |")


def ratio_of_medians(theirs, ours, repeats=5):
    """Time two functions alternately, so that both run under the same load."""
    theirs(), ours()
    pairs = [(cpu_time(theirs, 1)[0], cpu_time(ours, 1)[0]) for _ in range(repeats)]
    return tuple(statistics.median(times) for times in zip(*pairs, strict=True))


def compare_with_skchange(rows, n=1_000_000):
    from skchange.detectors import FPOP

    rng = np.random.default_rng(1)
    cases = {
        "twenty segments": sequence(n, "normal"),
        "one segment": rng.normal(size=n),
        "ten thousand segments": rng.normal(np.repeat(3 * rng.normal(size=n // 100), 100)),
    }
    print("| sequence of 10^6 | skchange FPOP, s | rocpath, s | ratio | same changes |")
    print("|---|---|---|---|---|")
    for name, x in cases.items():
        penalty = 3 * np.log(n)
        column = x.reshape(-1, 1)
        search = FPOP(penalty=penalty).fit(column)
        theirs, ours = ratio_of_medians(
            lambda search=search, column=column: search.predict(column),
            lambda x=x, penalty=penalty: cp.segment_penalty(x, penalty),
        )
        same = np.array_equal(
            np.ravel(search.predict(column)), cp.segment_penalty(x, penalty).changes
        )
        print(f"| {name} | {theirs:.3f} | {ours:.3f} | {theirs / ours:.2f} | {same} |")
        rows.append((f"skchange FPOP, {name}", n, "", "normal", "", theirs))
        rows.append((f"segment_penalty, {name}", n, "", "normal", "", ours))


def compare_pelt(rows):
    """Compare with skchange's PELT for several columns, and for mean and variance."""
    from skchange.detectors import PELT
    from skchange.interval_scorers import GaussianCost, L2Cost

    print(f"numba: {'yes' if find_spec('numba') else 'no'}")
    print("| n | segments | columns | cost | skchange PELT, s | rocpath, s | ratio | changes |")
    print("|---|---|---|---|---|---|---|---|")
    rng = np.random.default_rng(0)
    for n, n_segments in ((10**4, 100), (10**4, 1000), (10**5, 100), (10**5, 1000)):
        for d, cost, scorer, penalty in (
            (3, "normal", L2Cost(), 4 * np.log(n)),
            (1, "mean_variance", GaussianCost(), 3 * np.log(n)),
        ):
            level = 5 * rng.normal(size=(n_segments, d))
            x = np.repeat(level, n // n_segments, axis=0) + rng.normal(size=(n, d))
            search = PELT(
                scorer, penalty=penalty, min_segment_length=2 if cost == "mean_variance" else 1
            )
            search.fit(x[:200]).predict(x[:200])  # compiles
            theirs, changes = cpu_time(lambda x=x, one=search: one.fit(x).predict(x), 1)
            ours, model = cpu_time(
                lambda x=x, penalty=penalty, cost=cost: cp.segment_penalty(x, penalty, cost=cost), 1
            )
            print(
                f"| {n:,} | {n_segments:,} | {d} | {cost} | {theirs:.3f} | {ours:.3f} | "
                f"{theirs / ours:.1f} | {len(changes)} and {model.n_changes} |"
            )
            what = f"{n_segments} segments, {d} columns"
            rows.append((f"skchange PELT, {what}", n, "", cost, "", theirs))
            rows.append((f"segment_penalty, {what}", n, "", cost, "", ours))


def robust_costs(rows):
    """Time robust costs by length, for numbers of changes and for a penalty."""
    lengths = (2_000, 4_000, 8_000, 16_000)
    print(f"| search | cost | CPU seconds at n = {', '.join(map(str, lengths))} | exponent |")
    print("|---|---|---|---|")
    for what, run in (
        ("segment", lambda x, cost: cp.segment(x, MAX_CHANGES, cost=cost)),
        ("segment_penalty", lambda x, cost: cp.segment_penalty(x, 3 * np.log(len(x)), cost=cost)),
    ):
        for cost in ("biweight", "huber"):
            run(sequence(1_000, "normal"), cost)  # warm up
            seconds = []
            for n in lengths:
                x = sequence(n, "normal")
                seconds.append(cpu_time(lambda x=x, run=run, cost=cost: run(x, cost), 1)[0])
                rows.append((what, n, MAX_CHANGES, cost, "", seconds[-1]))
            slope = np.polyfit(np.log(lengths), np.log(seconds), 1)[0]
            times = ", ".join(f"{second:.4f}" for second in seconds)
            print(f"| {what} | {cost} | {times} | {slope:.2f} |", flush=True)


def labels_and_lengths(rows, n=100_000, n_labels=100):
    """Time searches that are constrained by labels or by a minimum length."""
    change = np.arange(1, n_labels) * n // n_labels
    start, end = np.append(10, change - 100), np.append(300, change + 100)
    labels = cp.Labels(start, end, ["no_change"] + ["one_change"] * (n_labels - 1))
    level = np.arange(n) * n_labels // n % 2
    rng = np.random.default_rng(0)
    print("| search at n = 10^5 | unconstrained, s | 100 labels | ratio | min_length=10 | ratio |")
    print("|---|---|---|---|---|---|")
    for kind, constraint in (("normal", None), ("poisson", "up_down")):
        x = rng.normal(3 * level) if kind == "normal" else rng.poisson(2 + 4 * level)

        def run(x=x, kind=kind, constraint=constraint, **more):
            return cp.segment_penalty(x, 40.0, cost=kind, constraint=constraint, **more)

        labeled, free = ratio_of_medians(lambda run=run: run(labels=labels), run)
        longer, _ = ratio_of_medians(lambda run=run: run(min_length=10), run)
        print(
            f"| {kind} {constraint or ''} | {free:.3f} | {labeled:.3f} | "
            f"{labeled / free:.2f} | {longer:.3f} | {longer / free:.2f} |"
        )
        rows.append(("segment_penalty, 100 labels", n, "", kind, constraint, labeled))
        rows.append(("segment_penalty, length 10", n, "", kind, constraint, longer))


def long_sequences(rows, n=10_000_000):
    """Time ten million observations from disk; the peak memory is that of the process."""
    print("| ten million on disk | seconds | peak memory of the process, MB |")
    print("|---|---|---|")
    for kind, constraint in (("normal", None), ("poisson", "up_down")):
        with tempfile.NamedTemporaryFile(suffix=".npy") as file:
            on_disk = np.lib.format.open_memmap(
                file.name, "w+", np.float64 if kind == "normal" else np.int32, (n,)
            )
            for k in range(20):
                part = slice(k * n // 20, (k + 1) * n // 20)
                on_disk[part] = sequence(n // 20, kind, seed=k)
            seconds, _ = cpu_time(
                lambda x=on_disk, kind=kind, constraint=constraint: cp.segment_penalty(
                    x, 3 * np.log(n), cost=kind, constraint=constraint
                ),
                1,
            )
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"| {kind} {constraint or ''} | {seconds:.1f} | {peak:.0f} |")
        rows.append(("segment_penalty, from disk", n, "", kind, constraint, seconds))


TABLES = {
    "long": long_sequences,  # first, because the peak memory includes earlier tables
    "ruptures": compare_with_ruptures,
    "growth": growth,
    "skchange": compare_with_skchange,
    "pelt": compare_pelt,
    "robust": robust_costs,
    "labels": labels_and_lengths,
}


def main():
    rows = []
    for name in sys.argv[1:] or TABLES:
        TABLES[name](rows)
    if sys.argv[1:]:
        return
    header = ("what", "n", "max_changes", "cost", "constraint", "seconds")
    with (RESULTS / "segmentation_speed.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows((*row[:-1], f"{row[-1]:.6f}") for row in rows)


if __name__ == "__main__":
    main()

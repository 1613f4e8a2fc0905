"""Time line searches by the number of lines.

Prints a table with growth exponents, and saves ``search_speed.csv`` and
``search_speed.png`` in ``results``. Times are medians, and A is the time of
``np.argsort`` on 10^6 random float64 numbers in the same run. The column ``bar``
contains upper limits on the ratio to A. Set ROCPATH_QUICK=1 to skip the largest sizes.
"""

import csv
import os
from pathlib import Path

import matplotlib as mpl
import numpy as np

import rocpath as rp
from core_speed import median_time, problem

RESULTS = Path(__file__).parent / "results"
SIZES = {
    "best_aum_step": [10**4, 10**5, 10**6, 5 * 10**6, 10**7],
    "aum_path": [10**4, 10**5, 10**6],
    "best_auc_step": [10**4, 10**5],
    "best_auc_step, tol=1e-4": [10**4, 10**5, 10**6],
    "best_auc_step, max_fpr=.1": [10**4, 10**5],
    "sweep, first minimum": [10**3, 3000, 10**4],
}
BARS = {
    ("best_aum_step", 10**6): 1,
    ("best_aum_step", 5 * 10**6): 6,
    ("aum_path", 10**5): 50,
    ("best_auc_step", 10**4): 3,
    ("best_auc_step", 10**5): 20,
    ("best_auc_step, tol=1e-4", 10**5): 20,
    ("best_auc_step, tol=1e-4", 10**6): 150,
}
SEARCH = {
    "best_aum_step": rp.best_aum_step,
    "aum_path": rp.aum_path,
    "best_auc_step": rp.best_auc_step,
    "best_auc_step, tol=1e-4": lambda lines: rp.best_auc_step(lines, tol=1e-4),
    "best_auc_step, max_fpr=.1": lambda lines: rp.best_auc_step(lines, max_fpr=0.1),
    "sweep, first minimum": lambda lines: rp.sweep(lines, stop="first_min_aum"),
}


def measure():
    numbers = np.random.default_rng(0).random(10**6)
    one_sort, _ = median_time(lambda: np.argsort(numbers), 15)
    largest = 10**5 if os.environ.get("ROCPATH_QUICK") else 10**7
    rows = []
    for n in sorted({n for sizes in SIZES.values() for n in sizes}):
        lines = problem(n)[2] if n <= largest else None
        for what, sizes in SIZES.items():
            if lines is not None and n in sizes:
                seconds, _ = median_time(lambda s=SEARCH[what], x=lines: s(x), 5)
                rows.append((what, n, seconds, seconds / one_sort))
    return one_sort, sorted(rows, key=lambda row: list(SIZES).index(row[0]))


def exponent(rows, what):
    """Fit the slope of log time against log n."""
    n, seconds = zip(*[(n, s) for name, n, s, _ in rows if name == what], strict=True)
    return np.polyfit(np.log(n), np.log(seconds), 1)[0]


def draw(rows, one_sort):
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(9, 4.5), layout="constrained")
    colors = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9")
    for what, marker, color in zip(SIZES, "osD^vP", colors, strict=True):
        n, seconds = zip(*[(n, s) for name, n, s, _ in rows if name == what], strict=True)
        label = f"{what}: n^{exponent(rows, what):.2f}"
        ax.loglog(n, seconds, marker=marker, color=color, label=label)
    ax.axhline(one_sort, color="0.5", linestyle=":")
    ax.annotate(
        "A: np.argsort of 10⁶",
        (1e7, one_sort),
        (0, 3),
        textcoords="offset points",
        ha="right",
        color="0.3",
    )
    ax.set(xlabel="number of lines n", ylabel="seconds")
    ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1))
    ax.grid(alpha=0.3)
    figure.savefig(RESULTS / "search_speed.png", dpi=120)


def main():
    one_sort, rows = measure()
    with (RESULTS / "search_speed.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("what", "n", "seconds", "ratio_to_A", "bar"))
        for what, n, seconds, ratio in rows:
            bar = BARS.get((what, n), "")
            writer.writerow((what, n, f"{seconds:.5f}", f"{ratio:.3f}", bar))
    numbers = np.random.default_rng(0).random(10**6)
    stable, _ = median_time(lambda: np.argsort(numbers, kind="stable"), 5)
    # Vector instructions accelerate A, but not a stable sort.
    print(f"A = {one_sort:.4f} s, S = {stable:.4f} s (stable np.argsort)\n")
    print("| search | n | seconds | ratio to A | bar | growth |")
    print("|---|---|---|---|---|---|")
    for what, n, seconds, ratio in rows:
        growth = f"n^{exponent(rows, what):.2f}" if n == SIZES[what][0] else ""
        bar = BARS.get((what, n), "")
        print(f"| {what} | {n:,} | {seconds:.4f} | {ratio:.2f} | {bar} | {growth} |")
    draw(rows, one_sort)


if __name__ == "__main__":
    main()

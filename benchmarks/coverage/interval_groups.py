"""Estimate by simulation the coverage of 95% intervals for the AUC of clustered rows.

Each group has a normal random effect; scores have the given intraclass correlation, and
positives are shifted. ``rows`` draws a label for each row, ``groups`` draws a label for
each group, and ``mixed`` draws the share of positives of each group. At least ten
groups have positives, and at least ten have negatives. The true AUC is that of pairs
from different groups. Prints the settings with a coverage outside .93 to .97 and its
Monte Carlo standard error, and saves all settings in ``interval_groups.csv``, with the
coverage of the interval that ignores groups. Saved settings with other numbers of
groups are kept.
"""

import argparse
import csv
from itertools import product
from pathlib import Path

import numpy as np
from scipy.special import ndtri

import rocpath as rp

RESULTS = Path(__file__).parent / "results"
N_GROUPS = (20, 50, 200, 500)
SIZES = ("5", "1 to 50", "lognormal", "1 or 50")
ICC = (0.0, 0.5, 0.9)
LABELS = (("rows", 0.5), ("rows", 0.05), ("groups", 0.5), ("mixed", 0.3))
AREAS = (0.7, 0.9)
HEADER = ("n_groups", "sizes", "icc", "labels", "positives", "auc", "tries")
HEADER += ("coverage", "standard_error", "ignoring_groups", "width")


def group_sizes(kind, n_groups, rng):
    if kind == "1 to 50":
        return rng.integers(1, 51, n_groups)
    if kind == "lognormal":
        size = np.round(np.exp(rng.normal(0.7, 1.3, n_groups)))
        return np.clip(size, 1, 50).astype(int)
    if kind == "1 or 50":
        return np.where(rng.random(n_groups) < 0.1, 50, 1)
    return np.full(n_groups, 5)


def draw(n_groups, sizes, icc, labels, share, area, rng):
    """Draw labels, scores and groups; return None if a class is in too few groups."""
    for _ in range(300):
        code = np.repeat(np.arange(n_groups), group_sizes(sizes, n_groups, rng))
        if labels == "rows":
            y = rng.random(code.size) < share
        elif labels == "groups":
            y = (rng.random(n_groups) < share)[code]
        else:
            each = rng.beta(2 * share, 2 - 2 * share, n_groups)
            y = rng.random(code.size) < each[code]
        if min(np.unique(code[y]).size, np.unique(code[~y]).size) >= 10:
            break
    else:
        return None
    effect = rng.normal(size=n_groups)[code]
    noise = rng.normal(size=code.size)
    shift = np.sqrt(2.0) * ndtri(area) * y
    return y, np.sqrt(icc) * effect + np.sqrt(1 - icc) * noise + shift, code


def cell(setting, n_tries):
    rng = np.random.default_rng(0)
    area = setting[-1]
    held = ignoring = width = 0
    for _ in range(n_tries):
        sample = draw(*setting, rng)
        if sample is None:
            return None
        y, score, code = sample
        found = rp.auc_interval(y, score, groups=code)
        alone = rp.auc_interval(y, score)
        held += found.low <= area <= found.high
        ignoring += alone.low <= area <= alone.high
        width += found.high - found.low
    return held / n_tries, ignoring / n_tries, width / n_tries


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tries", type=int, default=400)
    parser.add_argument("--groups", type=int, nargs="+", default=N_GROUPS, choices=N_GROUPS)
    options = parser.parse_args()
    path, rows = RESULTS / "interval_groups.csv", []
    if path.exists():
        with path.open() as file:
            rows = [row for row in list(csv.reader(file))[1:] if int(row[0]) not in options.groups]
    for n_groups, sizes, icc, (labels, share), area in product(
        options.groups, SIZES, ICC, LABELS, AREAS
    ):
        coverage = cell((n_groups, sizes, icc, labels, share, area), options.tries)
        if coverage is None:
            continue
        error = np.sqrt(coverage[0] * (1 - coverage[0]) / options.tries)
        row = (n_groups, sizes, icc, labels, share, area, options.tries)
        rows.append((*row, *(f"{x:.4f}" for x in (coverage[0], error, *coverage[1:]))))
        if not 0.93 <= coverage[0] <= 0.97:
            print(*row, f"{coverage[0]:.3f} ± {error:.3f}", flush=True)
    rows.sort(key=lambda row: int(row[0]))
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        writer.writerows(rows)
    report(rows)


def report(rows):
    """Print one table row for each distribution of group sizes."""
    print("| group sizes | settings | mean | coverage | below .93 | above .97 |")
    print("|---|---|---|---|---|---|")
    for sizes in (*SIZES, "all"):
        found = [float(row[7]) for row in rows if sizes in (row[1], "all")]
        below, above = (sum(x < 0.93 for x in found), sum(x > 0.97 for x in found))
        ends = f"{min(found):.3f} to {max(found):.3f}"
        print(f"| {sizes} | {len(found)} | {np.mean(found):.3f} | {ends} | {below} | {above} |")


if __name__ == "__main__":
    main()

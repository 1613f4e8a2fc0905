"""Estimate the coverage of 95% intervals for the AUC by simulation.

Draws the scores of both classes, and counts how often ``auc_interval`` contains the
true AUC. Prints, for each kind of distribution, the smallest and largest coverage by
number of positives, and the settings with a coverage below .93. Saves all settings in
``interval_coverage.csv``, with the coverage of the DeLong interval (normal, on the
logit scale) for the same samples.

``normal`` draws from two normal distributions of equal variance, the model of the
interval; ``ratings`` rounds these scores to five levels; ``wide`` draws positives with
twice the standard deviation, and ``exponential`` draws from two exponential
distributions. ``cauchy``, ``t3``, ``lognormal`` and ``contaminated`` (one row in ten
with ten times the standard deviation) draw both classes from the same distribution,
shifted for positives. ``partial`` is ``normal`` with ``max_fpr=0.1``, and
``difference`` compares two correlated scores with ``compare_auc``.
"""

import argparse
import csv
from functools import cache
from pathlib import Path

import numpy as np
from scipy import integrate
from scipy.special import expit, logit, ndtr, ndtri
from scipy.stats import norm

import rocpath as rp

RESULTS = Path(__file__).parent / "results"
POSITIVES = (5, 10, 20, 50, 200, 500)
NEGATIVES_PER_POSITIVE = (1, 4, 20)
AREAS = (0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
SHIFTED = ("cauchy", "t3", "lognormal", "contaminated")
KINDS = ("normal", "ratings", "wide", "exponential", *SHIFTED, "partial", "difference")
HEADER = ["kind", "n_positive", "n_negative", "auc", "tries"]
HEADER += ["coverage", "delong", "width"]
LEVELS = np.array([-0.5, 0.5, 1.5, 2.5])


def noise(kind, size, rng):
    """Draw from a distribution that is shifted for positives."""
    if kind == "cauchy":
        return rng.standard_cauchy(size)
    if kind == "t3":
        return rng.standard_t(3, size)
    if kind == "lognormal":
        return np.exp(rng.normal(size=size))
    return rng.normal(size=size) * np.where(rng.random(size) < 0.1, 10.0, 1.0)


@cache
def shift_for(kind, area):
    """Return the shift with this AUC, a quantile of simulated differences."""
    rng = np.random.default_rng(0)
    difference = noise(kind, 4 * 10**6, rng) - noise(kind, 4 * 10**6, rng)
    return float(np.quantile(difference, area))


def draw(kind, area, y, rng):
    """Draw scores for labels y (0 or 1) with a true AUC of ``area``."""
    if kind in SHIFTED:
        return noise(kind, y.size, rng) + shift_for(kind, area) * y
    if kind == "exponential":
        return rng.exponential(size=y.size) * np.where(y, area / (1 - area), 1.0)
    spread = 2.0 if kind == "wide" else 1.0
    distance = np.hypot(spread, 1.0) * ndtri(area)
    score = rng.normal(size=y.size) * np.where(y, spread, 1.0) + distance * y
    return np.searchsorted(LEVELS, score) if kind == "ratings" else score


def truth(kind, area):
    """Return the true (partial) AUC."""
    distance = np.sqrt(2.0) * ndtri(area)
    if kind == "ratings":
        negative = np.diff(ndtr(np.concatenate(([-np.inf], LEVELS, [np.inf]))))
        edges = np.concatenate(([-np.inf], LEVELS, [np.inf]))
        positive = np.diff(ndtr(edges - distance))
        return positive @ (np.cumsum(negative) - 0.5 * negative)
    if kind == "partial":
        border = -ndtri(0.1)
        return integrate.quad(lambda z: ndtr(distance - z) * norm.pdf(z), border, border + 12)[0]
    return area


def delong_logit(area):
    if not 0 < area.value < 1:
        return area.value, area.value
    half = ndtri(0.975) * area.standard_error / (area.value * (1 - area.value))
    return expit(logit(area.value) - half), expit(logit(area.value) + half)


def cell(kind, n_positive, n_negative, area, n_tries, rng):
    """Return the coverage of both intervals, and the mean width of ours."""
    y = np.repeat([1, 0], [n_positive, n_negative])
    true = truth(kind, area)
    held = held_delong = width = 0
    for _ in range(n_tries):
        score = draw(kind, area, y, rng)
        if kind == "difference":
            common = rng.normal(size=y.size)
            first, second = (
                common + rng.normal(size=y.size) + 2.0 * ndtri(a) * y
                for a in (area, 0.5 + 0.8 * (area - 0.5))
            )
            result = rp.compare_auc(y, first, second)
            true = 0.2 * (area - 0.5)
            half = ndtri(0.975) * result.standard_error
            plain = result.difference - half, result.difference + half
        else:
            max_fpr = 0.1 if kind == "partial" else None
            result = rp.auc_interval(y, score, max_fpr=max_fpr)
            plain = delong_logit(result)
        held += result.low <= true <= result.high
        held_delong += plain[0] <= true <= plain[1]
        width += (result.high - result.low) / n_tries
    return held / n_tries, held_delong / n_tries, width


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tries", type=int, default=2000)
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS)
    parser.add_argument("--repeat-below", type=float, help="repeat settings below this coverage")
    options = parser.parse_args()
    if options.repeat_below is not None:
        repeat(options.repeat_below, options.tries)
        return
    rows = []
    for kind in options.kinds:
        rng = np.random.default_rng(0)
        for n_positive in POSITIVES:
            for per_positive in NEGATIVES_PER_POSITIVE:
                # Large samples are slow, and their coverage varies little.
                n_tries = options.tries // (1 if n_positive < 100 else 5)
                for area in AREAS:
                    size = n_positive, n_positive * per_positive
                    result = cell(kind, *size, area, n_tries, rng)
                    rows.append((kind, *size, area, n_tries, *result))
        report(kind, [row for row in rows if row[0] == kind])
    save(rows)


def save(rows):
    with (RESULTS / "interval_coverage.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        writer.writerows((*row[:5], *(f"{x:.4f}" for x in row[5:])) for row in rows)


def repeat(limit, n_tries):
    """Repeat the saved settings with a coverage below a limit, with more samples."""
    with (RESULTS / "interval_coverage.csv").open() as file:
        saved = list(csv.reader(file))[1:]
    rows, rng = [], np.random.default_rng(1)
    for kind, *numbers in saved:
        n_positive, n_negative, tries = (int(numbers[k]) for k in (0, 1, 3))
        area, coverage = float(numbers[2]), [float(x) for x in numbers[4:]]
        if coverage[0] < limit and tries < n_tries:
            tries = n_tries
            coverage = cell(kind, n_positive, n_negative, area, n_tries, rng)
            error = np.sqrt(coverage[0] * (1 - coverage[0]) / n_tries)
            where = f"{kind}, {n_positive} / {n_negative}, AUC {area}"
            print(f"{where}: {coverage[0]:.3f} ± {error:.3f}", flush=True)
        rows.append((kind, n_positive, n_negative, area, tries, *coverage))
    save(rows)


def report(kind, rows):
    print(f"\n{kind}\n| positives | coverage | mean | DeLong coverage |")
    print("|---|---|---|---|")
    for n_positive in POSITIVES:
        of_size = np.array([row[5:7] for row in rows if row[1] == n_positive])
        low, high = of_size.min(axis=0), of_size.max(axis=0)
        print(
            f"| {n_positive} | {low[0]:.3f} to {high[0]:.3f} | "
            f"{of_size[:, 0].mean():.3f} | {low[1]:.3f} to {high[1]:.3f} |"
        )
    outside = [row for row in rows if row[5] < 0.93]
    above = sum(row[5] > 0.97 for row in rows)
    print(f"below .93: {len(outside)}, above .97: {above} of {len(rows)}")
    for _, n_positive, n_negative, area, n_tries, coverage, *_ in outside[:40]:
        error = np.sqrt(coverage * (1 - coverage) / n_tries)
        print(f"  {n_positive} / {n_negative}, {area}: {coverage:.3f} ± {error:.3f}")


if __name__ == "__main__":
    main()

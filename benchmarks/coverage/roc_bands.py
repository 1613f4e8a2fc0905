"""Estimate the coverage of 95% confidence bands of ROC curves by simulation.

For each setting, prints the smallest, mean and largest coverage of a pointwise band over
false positive rates from .02 to .9, the share of pointwise bands that contain the whole
curve, and the coverage of simultaneous bands. The scores are normal, Student's t with two
degrees of freedom, exponential, or normal scores rounded to halves; the curve of rounded
scores has straight pieces. ``groups`` draws normal scores with an effect of each group.
Saves all settings in ``results/roc_bands.csv``.
"""

import argparse
import csv
from itertools import product
from pathlib import Path

import numpy as np
from scipy import stats

from rocpath.evaluation.roc_bands import roc_band

RESULTS = Path(__file__).parent / "results" / "roc_bands.csv"
HEADER = ["kind", "n_positive", "n_negative", "shift", "tries"]
HEADER += ["least", "mean", "largest", "whole", "simultaneous"]
LAWS = {"normal": stats.norm, "t2": stats.t(2), "exponential": stats.expon, "rounded": stats.norm}
SIZES = ((10, 20), (20, 200), (200, 1000))


def true_curve(kind, fpr, shift):
    """Return the true positive rate at each false positive rate."""
    law = LAWS.get(kind, stats.norm)
    if kind != "rounded":
        return 1 - law.cdf(law.ppf(1 - fpr) - shift)
    edge = np.arange(-8, 12, 0.5) + 0.25
    corners = [np.append(1 - law.cdf(edge - at), 0.0)[::-1] for at in (0.0, shift)]
    return np.interp(fpr, *corners)


def contains(band, kind, shift):
    """Return whether the band contains the curve at each rate."""
    tpr = true_curve(kind, band.fpr, shift)
    return (band.tpr_low <= tpr + 1e-12) & (tpr - 1e-12 <= band.tpr_high)


def simulate(kind, n_positive, n_negative, shift, tries):
    """Return the coverage of one setting."""
    rng = np.random.default_rng([n_positive, n_negative, int(10 * shift), *map(ord, kind)])
    y = np.repeat([True, False], [n_positive, n_negative])
    inside, whole = [], []
    for _ in range(tries):
        law, groups = LAWS.get(kind, stats.norm), None
        score = law.rvs(size=y.size, random_state=rng)
        if kind == "groups":
            groups = rng.permutation(y.size) // 5
            score = 0.5**0.5 * (score + rng.normal(size=y.size)[groups])
        score = score + shift * y
        score = np.round(2 * score) / 2 if kind == "rounded" else score
        band = roc_band(y, score, groups=groups)
        inside.append(contains(band, kind, shift))
        if groups is None:
            band = roc_band(y, score, is_simultaneous=True)
            whole.append(contains(band, kind, shift).all())
    rate = np.mean(inside, axis=0)[(band.fpr > 0.02) & (band.fpr < 0.9)]
    both = np.mean(np.all(inside, axis=1)), np.mean(whole) if whole else np.nan
    return [f"{one:.3f}" for one in (rate.min(), rate.mean(), rate.max(), *both)]


def main():
    """Simulate all settings, and save them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tries", type=int, default=400)
    tries = parser.parse_args().tries
    rows = []
    for shift, kind, size in product((1.5, 0.5), (*LAWS, "groups"), SIZES):
        if kind == "groups" and size[0] < 200:
            continue
        rows.append([kind, *size, shift, tries, *simulate(kind, *size, shift, tries)])
        print(*rows[-1], flush=True)
        with RESULTS.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([HEADER, *rows])


if __name__ == "__main__":
    main()

"""Estimate the coverage of 95% intervals for decisions and calibration by simulation.

``rates``: independent rows with random labels. All measures of ``threshold_table`` are
functions of the four counts of true and false predictions, which are drawn with known
sensitivity, specificity and prevalence. ``groups``: scores and prevalences vary between
groups of uneven sizes. ``calibration``: probabilities are log-normal odds, and labels are
drawn with the true probabilities; predictions are their odds to the power of 1 / slope.
``amounts``: net benefit with log-normal costs of rows.

Each part replaces its rows in ``results/decision_rates.csv``. Prints, for each part and
measure, the smallest coverage and its setting, and all settings below .93. The Monte
Carlo error is one standard error.
"""

import argparse
import csv
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri

import rocpath as rp
from rocpath.evaluation.smooth_calibration import smooth_calibration
from rocpath.sample import Sample

RESULTS = Path(__file__).parent / "results" / "decision_rates.csv"
HEADER = ["part", "setting", "measure", "tries", "coverage", "error"]
AT, SHARE = 0.2, 0.02  # threshold of the net benefit, and prevalence of another population
RATES = ("sensitivity", "specificity", "ppv", "npv", "lr_positive", "lr_negative")
RATES += ("accuracy", "predicted_positive_rate", "net_benefit")


def true_rates(sensitivity, specificity, prevalence):
    """Return the true value of each measure."""
    fpr = 1 - specificity
    positive = prevalence * sensitivity + (1 - prevalence) * fpr
    return {
        "sensitivity": sensitivity,
        "specificity": specificity,
        "ppv": prevalence * sensitivity / positive,
        "npv": (1 - prevalence) * specificity / (1 - positive),
        "lr_positive": sensitivity / fpr,
        "lr_negative": (1 - sensitivity) / specificity,
        "accuracy": prevalence * sensitivity + (1 - prevalence) * specificity,
        "predicted_positive_rate": positive,
        "net_benefit": prevalence * sensitivity - (1 - prevalence) * fpr * AT / (1 - AT),
    }


def covered(row, truth, names=RATES):
    """Return for each measure whether its interval contains the truth; None if undefined."""
    found = {}
    for name in names:
        limits = getattr(row, name)
        known = limits is not None and not np.isnan(limits.value)
        found[name] = (
            limits.low <= truth[name] + 1e-12 and truth[name] - 1e-12 <= limits.high
            if known
            else None
        )
    return found


def both_populations(y, score, sensitivity, specificity, prevalence, **design):
    """Return the coverage for the population of the rows and for another one."""
    found = covered(
        rp.threshold_table(y, score, AT, **design)[0],
        true_rates(sensitivity, specificity, prevalence),
    )
    other = rp.threshold_table(y, score, AT, prevalence=SHARE, **design)[0]
    names = ("ppv", "npv", "net_benefit")
    there = covered(other, true_rates(sensitivity, specificity, SHARE), names)
    return found | {f"{name}, other prevalence": there[name] for name in names}


@cache
def of_counts(tp, fn, fp, tn, *truth):
    """Return the coverage for a table of counts."""
    y = np.repeat([True, True, False, False], [tp, fn, fp, tn])
    score = np.repeat([0.6, 0.1, 0.6, 0.1], [tp, fn, fp, tn])
    return both_populations(y, score, *truth)


def rates(n_positive, ratio, sensitivity, specificity):
    """Draw tables of counts."""
    n_rows, prevalence = n_positive * (1 + ratio), 1 / (1 + ratio)
    share = [prevalence * sensitivity, prevalence * (1 - sensitivity)]
    share += [(1 - prevalence) * (1 - specificity), (1 - prevalence) * specificity]

    def draw(rng):
        counts = rng.multinomial(n_rows, share)
        if counts[:2].sum() == 0 or counts[2:].sum() == 0:
            return None
        return of_counts(*counts.tolist(), sensitivity, specificity, prevalence)

    return draw


def groups(n_groups, evenness, specificity):
    """Draw scores and labels that vary between groups."""
    scale, noise = 0.5, np.random.default_rng(5).normal(size=10**6)
    prevalence = float(expit(-1 + 0.7 * noise).mean())
    cut = ndtri(specificity)
    sensitivity = float(1 - ndtr(cut - 1.2))

    def draw(rng):
        size = 1 + rng.poisson(10 * np.exp(evenness * rng.normal(size=n_groups)))
        group = np.repeat(np.arange(n_groups), size)
        y = rng.random(group.size) < expit(-1 + 0.7 * rng.normal(size=n_groups))[group]
        effect = np.sqrt(scale) * rng.normal(size=n_groups)[group]
        latent = effect + np.sqrt(1 - scale) * rng.normal(size=group.size) + 1.2 * y
        if not 1 < y.sum() < y.size - 1:
            return None
        score = np.where(latent >= cut, 0.6, 0.1)
        return both_populations(y, score, sensitivity, specificity, prevalence, groups=group)

    return draw


def calibration(n_rows, base, sd, slope, n_groups=0):
    """Draw labels with known probabilities, and distorted predictions."""
    odds = base + sd * np.random.default_rng(5).normal(size=10**6)
    p, q = expit(odds), expit(odds / slope)
    brier = float(np.mean(p * (1 - q) ** 2 + (1 - p) * q**2))
    ratio = float(p.mean() / q.mean())
    low, high = -30.0, 30.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if expit(odds / slope + middle).mean() < p.mean() else (low, middle)
        )
    truth = {"intercept": low, "slope": slope, "observed_expected": ratio, "brier": brier}

    def draw(rng):
        group, log_odds = None, base + sd * rng.normal(size=n_rows)
        if n_groups:
            group = rng.integers(0, n_groups, n_rows)
            effect = rng.normal(size=n_groups)[group]
            log_odds = base + sd * (0.7**0.5 * effect + 0.3**0.5 * rng.normal(size=n_rows))
        y = rng.random(n_rows) < expit(log_odds)
        if not 1 < y.sum() < n_rows - 1:
            return None
        prediction = expit(log_odds / slope)
        found = covered(rp.calibration_summary(y, prediction, groups=group), truth, tuple(truth))
        curve = smooth_calibration(Sample.from_labels(y, groups=group), prediction)
        for name, k in {"low": 3, "middle": 30, "high": 57}.items():
            known = curve is not None
            value = expit(slope * logit(curve.probability[k])) if known else 0
            found[f"smooth curve, {name}"] = (
                curve.low[k] <= value <= curve.high[k] if known else None
            )
        return found

    return draw


def amounts(n_rows, spread):
    """Draw log-normal amounts."""
    truth = 0.2 * 0.8 * np.exp(spread**2 / 2) - 0.8 * 0.1 * np.exp(spread**2 / 2)

    def draw(rng):
        y = rng.random(n_rows) < 0.2
        score = np.where(rng.random(n_rows) < np.where(y, 0.8, 0.1), 0.6, 0.1)
        cost = np.exp(spread * rng.normal(size=n_rows))
        if not 1 < y.sum() < n_rows - 1:
            return None
        point = rp.net_benefit(y, score, AT, cost=cost)[0]
        return {"net_benefit": point.low <= truth <= point.high}

    return draw


SIZES = tuple(product((10, 50, 200), (1, 10)))
PAIRS = ((0.5, 0.9), (0.9, 0.5), (0.9, 0.98), (0.98, 0.9), (0.98, 0.98))
PARTS = {
    "rates": (rates, [(*sizes, *pair) for sizes, pair in product(SIZES, PAIRS)], 1),
    "groups": (groups, product((8, 20, 60), (0.0, 1.0), (0.5, 0.9)), 0.4),
    "calibration": (calibration, [
        *product((30, 60, 200, 1000), (-0.7, -2.0), (0.7, 1.5), (1.0,)),
        *product((30, 200), (-0.7, -2.0), (1.0,), (0.7,)),
        *product((300,), (-1.0,), (1.0,), (1.0,), (8, 20, 60)),
    ], 0.5),
    "amounts": (amounts, product((50, 200, 1000), (0.5, 1.0, 1.5)), 1),
}  # fmt: skip


def simulate(part, tries, seed):
    """Yield a row for each setting and measure of a part."""
    maker, settings, share = PARTS[part]
    for setting in settings:
        rng = np.random.default_rng([seed, *map(ord, part), *map(ord, str(setting))])
        draw, counts = maker(*setting), {}
        for _ in range(int(tries * share)):
            for name, is_covered in (draw(rng) or {}).items():
                if is_covered is not None:
                    hits, total = counts.get(name, (0, 0))
                    counts[name] = hits + bool(is_covered), total + 1
        of_counts.cache_clear()
        for name, (hits, total) in counts.items():
            rate = hits / total
            error = np.sqrt(max(rate * (1 - rate), 1e-9) / total)
            yield [part, " ".join(map(str, setting)), name, total, f"{rate:.4f}", f"{error:.4f}"]


def saved():
    """Return the rows of earlier simulations."""
    if not RESULTS.exists():
        return []
    with RESULTS.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))[1:]


def print_summary():
    """Print the number of settings, and the least and mean coverage, of each measure."""
    print("part | measure | settings | tries | least | mean")
    for key in dict.fromkeys((row[0], row[2]) for row in saved()):
        mine = [row for row in saved() if (row[0], row[2]) == key]
        rate = np.array([float(row[4]) for row in mine])
        tries = min(int(row[3]) for row in mine)
        print(*key, len(mine), tries, f"{rate.min():.3f}", f"{rate.mean():.3f}", sep=" | ")


def main():
    """Simulate all parts, print summaries, and save all settings."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tries", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--summary", action="store_true", help="Print the saved results only.")
    arguments = parser.parse_args()
    if arguments.summary:
        print_summary()
        return
    for part in arguments.parts.split(","):
        mine = list(simulate(part, arguments.tries, arguments.seed))
        for name in dict.fromkeys(row[2] for row in mine):
            least = min((row for row in mine if row[2] == name), key=lambda row: float(row[4]))
            print(f"{part:12} {name:28} least {least[4]} ± {least[5]} at {least[1]}", flush=True)
        for row in mine:
            if float(row[4]) < 0.93:
                print("  below .93:", *row, flush=True)
        rows = [row for row in saved() if row[0] != part] + mine
        with RESULTS.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([HEADER, *rows])


if __name__ == "__main__":
    main()

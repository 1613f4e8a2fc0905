"""Estimate by simulation the validity of `interval` and `compare` for metrics and designs.

Each replicate draws correlated scores of equal distribution, so that all values are
equal, and compares them once. Prints and saves, for each setting, the share of intervals
that contain the true value, the share of pairwise tests and of overall tests that reject
at 5%, and the share of pairs whose interval and test contradict each other. The true
value is that of a million independent rows of the same distribution.

``normal``, ``t3`` and ``ratings`` are the distributions of the scores: normal, Student's
with three degrees of freedom, and normal rounded to five levels. ``rows`` are
independent; ``groups`` have a random effect (half of the variance); ``weights`` give one
row in five a weight of 5 or 10, and these rows have lower scores; ``strata`` have AUCs
that differ, and the interval is for a population of strata.
"""

import argparse
import csv
import sys
from functools import cache
from pathlib import Path

import numpy as np

import rocpath as rp

RESULTS = Path(__file__).parent / "results" / "metric_coverage.csv"
LEVELS = np.array([-0.5, 0.5, 1.5, 2.5])
SHIFT = 1.2
CUT = 1.0
METRICS = {
    "auc": "auc",
    "partial auc": rp.metrics.PartialAUC(max_fpr=0.2),
    "partial auc, tpr": rp.metrics.PartialAUC(min_tpr=0.6),
    "average precision": "average_precision",
    "brier": "brier",
    "tpr at fpr .1": rp.metrics.TPRAtFPR(0.1),
    "fpr at tpr .8": rp.metrics.FPRAtTPR(0.8),
    "precision at 5%": None,  # the number of rows depends on the setting
    "sensitivity": rp.metrics.AtThreshold("sensitivity", CUT),
    "specificity": rp.metrics.AtThreshold("specificity", CUT),
    "ppv": rp.metrics.AtThreshold("ppv", CUT),
    "npv": rp.metrics.AtThreshold("npv", CUT),
}
ROWS = ((10, 200), (20, 500), (50, 50))  # positives and negatives
GROUPS = {
    "6 of 40": [40] * 6,
    "12 of 20": [20] * 12,
    "4 of 100, 36 of 1": [100] * 4 + [1] * 36,
    "8 of 50, 100 of 2": [50] * 8 + [2] * 100,
}
HEADER = ("design", "size", "kind", "metric", "scores", "tries", "coverage", "pair_size")
HEADER += ("overall_size", "contradictions", "coverage_error", "size_error")


def noise(kind, shape, rng):
    if kind == "t3":
        return rng.standard_t(3, shape) / np.sqrt(3.0)
    return rng.normal(size=shape)


def scores_of(kind, y, effect, rng, n_scores):
    """Return columns of equal distribution; rows share half of the remaining variance."""
    own = noise(kind, (n_scores, y.size), rng)
    shared = noise(kind, y.size, rng)
    score = effect + SHIFT * y + (shared + own) / np.sqrt(2.0)
    return np.searchsorted(LEVELS, score).astype(float) if kind == "ratings" else score


def labels(design, size, rng):
    """Return labels, the effect on the scores of each row, and the arguments of the design."""
    if design == "rows":
        return np.repeat([True, False], size), 0.0, {}
    if design == "weights":
        n_positive, n_negative, ratio = size
        y = np.repeat([True, False], [n_positive, n_negative])
        is_heavy = rng.random(y.size) < 0.2
        return y, -0.7 * is_heavy, {"sample_weight": np.where(is_heavy, ratio, 1.0)}
    code = np.repeat(np.arange(len(size)), size)
    if design == "strata":
        y = rng.random(code.size) < 0.3
        # The scores of positives differ between strata.
        effect = 0.8 * rng.normal(size=len(size))[code] * y
        return y, effect, {"strata": code, "population": "like these"}
    for _ in range(1000):
        y = rng.random(code.size) < 0.3
        if min(np.unique(code[y]).size, np.unique(code[~y]).size) >= 2:
            break
    effect = rng.normal(size=len(size))[code]
    return y, effect, {"groups": code}


def metric_for(name, n_rows):
    return rp.metrics.PrecisionAtK(max(n_rows // 20, 1)) if METRICS[name] is None else METRICS[name]


@cache
def truth(design, size, kind, name):
    rng = np.random.default_rng(99)
    n_rows = 10**6
    if design == "strata":
        values = []
        for _ in range(40):  # the mean AUC of two normal distributions with a random shift
            y, effect, _ = labels(design, [1000] * 100, rng)
            code = np.repeat(np.arange(100), 1000)
            score = scores_of(kind, y, effect, rng, 1)[0]
            values.append(rp.interval(y, score, strata=code, weighting="equal").value)
        return float(np.mean(values))
    weight = {}
    if design == "rows":
        y, effect = np.arange(n_rows) % sum(size) < size[0], 0.0
    elif design == "weights":
        y = np.arange(n_rows) % sum(size[:2]) < size[0]
        is_heavy = rng.random(n_rows) < 0.2
        effect, weight = -0.7 * is_heavy, {"sample_weight": np.where(is_heavy, size[2], 1.0)}
    else:
        y, effect = rng.random(n_rows) < 0.3, rng.normal(size=n_rows)
    score = scores_of(kind, y, effect, rng, 1)[0]
    metric = metric_for(name, n_rows)
    return rp.interval(y, probability(name, score), metric, **weight).value


def probability(name, score):
    return 1.0 / (1.0 + np.exp(-score)) if name == "brier" else score


def cell(design, size, kind, name, n_scores, n_tries):
    rng = np.random.default_rng(2026)
    value = truth(design, size, kind, name)
    covered = pair = overall = contradicted = used = 0
    extra = {"weighting": "equal"} if design == "strata" else {}
    for _ in range(n_tries):
        y, effect, arguments = labels(design, size, rng)
        columns = probability(name, scores_of(kind, y, effect, rng, n_scores))
        metric = metric_for(name, y.size)
        try:
            found = rp.compare(y, dict(enumerate(columns)), metric, **arguments, **extra)
        except ValueError as error:
            if "must be defined" in str(error):
                continue
            raise
        used += 1
        first, difference = found.intervals["0"], found.differences["0", "1"]
        covered += first.low <= value <= first.high
        pair += difference.p_value <= 0.05
        overall += found.p_value <= 0.05
        excludes = difference.low > 0 or difference.high < 0
        contradicted += excludes != (difference.p_value < 0.05)
    rates = [count / used for count in (covered, pair, overall, contradicted)]
    errors = [np.sqrt(rate * (1 - rate) / used) for rate in (rates[0], max(rates[1:3]))]
    return used, *rates, *errors


def settings(names):
    for kind in ("normal", "t3", "ratings"):
        for name in names:
            if kind == "ratings" and name in ("brier",):
                continue
            for size in ROWS:
                yield "rows", size, kind, name, 3
            for size in GROUPS:
                yield "groups", size, kind, name, 3
            for ratio in (5, 10):
                if METRICS[name] is not None:
                    yield "weights", (30, 200, ratio), kind, name, 3
        if "auc" in names:
            for size in ROWS:
                yield "rows", size, kind, "auc", 5
            yield "rows", (5, 50), kind, "auc", 3
            for n_strata in (9, 30):
                yield "strata", f"{n_strata} of 30", kind, "auc", 3


def sizes_of(design, size):
    if design == "groups":
        return tuple(GROUPS[size])
    if design == "strata":
        return (30,) * int(size.split()[0])
    return size


def summarize(path):
    """Print tables of the saved settings, and those that miss 93% coverage or 6.5% size."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    print("| design | metric | settings | tries | coverage | size, pairs | size, overall |")
    print("|---|---|---|---|---|---|---|")
    kinds = sorted({(row["design"], row["metric"]) for row in rows})
    for design, name in kinds:
        here = [row for row in rows if (row["design"], row["metric"]) == (design, name)]
        cells = []
        for column in ("coverage", "pair_size", "overall_size"):
            values = [float(row[column]) for row in here]
            cells.append(f"{min(values):.3f} to {max(values):.3f}")
        tries = min(float(row["tries"]) for row in here)
        print(f"| {design} | {name} | {len(here)} | {tries:,.0f} | {' | '.join(cells)} |")
    missed = [
        row
        for row in rows
        if float(row["coverage"]) < 0.93
        or max(float(row["pair_size"]), float(row["overall_size"])) > 0.065
    ]
    print(f"\n{len(missed)} of {len(rows)} settings miss a bar:")
    for row in missed:
        setting = ", ".join(row[column] for column in ("design", "size", "kind", "metric"))
        print(
            f"- {setting}, {row['scores']} scores: coverage {row['coverage']} ± "
            f"{row['coverage_error']}, size {row['pair_size']} and {row['overall_size']} ± "
            f"{row['size_error']}"
        )
    print(f"largest share of contradictions: {max(float(r['contradictions']) for r in rows)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tries", type=int, default=4000)
    parser.add_argument("--metrics", default=",".join(METRICS))
    parser.add_argument("--designs", default="rows,groups,weights,strata")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--table", action="store_true", help="print the saved settings")
    given = parser.parse_args()
    if given.table:
        summarize(given.out)
        return
    saved = []
    if given.out.exists():  # settings that were saved before are kept
        with given.out.open(newline="") as file:
            saved = [tuple(row) for row in csv.reader(file)][1:]
    done = {row[:5] for row in saved}
    for design, size, kind, name, n_scores in settings(given.metrics.split(",")):
        if design not in given.designs.split(","):
            continue
        if tuple(map(str, (design, size, kind, name, n_scores))) in done:
            continue
        result = cell(design, sizes_of(design, size), kind, name, n_scores, given.tries)
        row = (design, size, kind, name, n_scores, *(round(float(x), 4) for x in result))
        saved.append(row)
        sys.stdout.write(" | ".join(map(str, row)) + "\n")
        sys.stdout.flush()
        with given.out.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerows([HEADER, *saved])


if __name__ == "__main__":
    main()

"""Compare changepoint penalties learned from real label errors with simple rules.

The five data sets come with folds: four contain ChIP-seq and ATAC-seq peaks, with whole
genomic regions as folds, and one contains copy numbers. The rules are a constant penalty
(the one with the fewest training errors), one that is linear in log(n), interval
regression, PenaltyRegressor with its defaults, and descent on AUM after it or from zero.
Cross-validation inside the training set uses groups (regions or persons), except for one
rule. Prints a table for each set and one over all sets, and saves the results of every
fold to ``penalties.csv``. Requires ROCPATH_DATA.
"""

import csv
import time
from pathlib import Path

import numpy as np

import rocpath as rp
from penalty_sets import SETS, load
from rocpath import changepoint as cp
from rocpath.search.intercepts import fewest_errors_constant

RESULTS = Path(__file__).parent / "results"
FIELDS = ("set", "fold", "rule", "label_errors", "test_auc", "cpu_seconds")


class Constant:
    """Constant penalty with the fewest training errors."""

    def fit(self, X, y, groups):
        bp = cp.error_breakpoints(y)
        self.log_penalty = -fewest_errors_constant(bp, np.zeros(len(y)))
        return self

    def predict(self, X):
        return np.full(len(X), self.log_penalty)


def rules():
    """Return the features, the model, and whether groups are used, for each rule."""
    steps = {"max_steps": 32, "random_state": 0}
    return {
        "constant": ("X", Constant(), True),
        "log n": ("log_n", rp.IntervalRegression(alpha=0), True),
        "interval regression": ("X", rp.IntervalRegression(), True),
        "PenaltyRegressor": ("X", rp.PenaltyRegressor(random_state=0), True),
        "without groups": ("X", rp.PenaltyRegressor(random_state=0), False),
        "then AUM descent": ("X", rp.PenaltyRegressor(**steps), True),
        "AUM from zero": ("X", rp.PenaltyRegressor(start="zero", **steps), True),
    }


def evaluated_folds(name):
    """Yield the rows of the CSV file for one set."""
    data = load(name)
    for fold in np.unique(data["fold"]):
        is_test = data["fold"] == fold
        training, new = (
            [data["y"][row] for row in np.flatnonzero(rows)] for rows in (~is_test, is_test)
        )
        bp = cp.error_breakpoints(new)
        for rule, (features, model, has_groups) in rules().items():
            groups = data["group"][~is_test] if has_groups else None
            begin = time.process_time()
            model.fit(data[features][~is_test], training, groups=groups)
            seconds = time.process_time() - begin
            predicted = model.predict(data[features][is_test])
            errors = sum(int(f.at(p)) for f, p in zip(new, predicted, strict=True))
            auc = rp.auc(bp, -predicted)
            yield name, int(fold), rule, errors, round(auc, 6), round(seconds, 3)


def table_of_set(name, rows):
    """Print errors with the standard error of the difference from the constant."""
    folds = sorted({row[1] for row in rows})
    errors = {rule: [row[3] for row in rows if row[2] == rule] for rule in rules()}
    print(f"\n{name}\n\n| rule | errors by fold | sum | ratio | ± | AUC | seconds |")
    print("|---|---|---|---|---|---|---|")
    constant = np.array(errors["constant"])
    for rule, own in errors.items():
        difference = np.array(own) - constant
        spread = difference.std(ddof=1) * np.sqrt(len(folds)) / constant.sum()
        auc = np.mean([row[4] for row in rows if row[2] == rule])
        seconds = max(row[5] for row in rows if row[2] == rule)
        print(
            f"| {rule} | {', '.join(map(str, own))} | {sum(own)} | "
            f"{sum(own) / constant.sum():.3f} | {spread:.3f} | {auc:.4f} | "
            f"{seconds:.2f} |",
            flush=True,
        )


def table_over_sets(rows):
    names = list(dict.fromkeys(row[0] for row in rows))
    print("\n| rule | geometric mean of error ratios | AUC | sets with fewer / more errors |")
    print("|---|---|---|---|")
    for rule in rules():
        ratio, auc = [], []
        for name in names:
            own, constant = (
                sum(row[3] for row in rows if row[0] == name and row[2] == which)
                for which in (rule, "constant")
            )
            ratio.append(own / constant)
            auc.append(np.mean([r[4] for r in rows if r[0] == name and r[2] == rule]))
        fewer, more = np.sum(np.array(ratio) < 1), np.sum(np.array(ratio) > 1)
        mean = np.exp(np.log(ratio).mean())
        print(f"| {rule} | {mean:.3f} | {np.mean(auc):.4f} | {fewer} / {more} |")


def main():
    rows = []
    for name in SETS:
        own = list(evaluated_folds(name))
        table_of_set(name, own)
        rows += own
    table_over_sets(rows)
    with (RESULTS / "penalties.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(FIELDS)
        writer.writerows(rows)


if __name__ == "__main__":
    main()

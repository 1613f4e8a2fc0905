"""Learn changepoint penalties from real label errors, and compare with simple rules.

Five data sets with their folds: four of ChIP-seq and ATAC-seq peaks, whose folds are
whole regions of the genome, and one of copy numbers. Rules: a constant penalty (the one
with the fewest errors in training), one that is linear in log(n), interval regression,
PenaltyRegressor as it is, and with descent on AUM after it or from zero. All that
cross-validate do so over groups inside training, the regions or the persons, but for
one that is not told them. Prints a table for each set and one over sets, and saves
every fold to ``penalties.csv``. Needs ROCPATH_DATA.
"""

import csv
import gzip
import os
import time
from pathlib import Path

import numpy as np

import rocpath as rp
from rocpath import changepoint as cp
from rocpath.descent import fewest_errors_constant

HERE = Path(__file__).parent
DATA = Path(os.environ["ROCPATH_DATA"]) / "changepoint"
# Name of the column with log(n), and of the file with the folds.
SETS = {
    "ATAC_JV_adipose": ("log.data", "folds.csv"),
    "H3K36me3_TDH_immune": ("log.data", "folds.csv"),
    "H3K36me3_TDH_other": ("log.data", "folds.csv"),
    "H3K4me3_TDH_immune": ("log.data", "folds.csv"),
    "neuroblastoma_systematic": ("log.n", "folds_sequenceID.csv"),
}
FIELDS = ("set", "fold", "rule", "label_errors", "test_auc", "cpu_seconds")


def read(path):
    """Read the rows of a CSV file, compressed or not."""
    if not path.exists():
        path = path.with_name(f"{path.name}.gz")
    text = path.read_bytes()
    if path.suffix == ".gz":
        text = gzip.decompress(text)
    return list(csv.DictReader(text.decode().splitlines()))


def number(cell):
    return float(cell) if cell not in ("", "NA") else np.nan


def error_function(rows):
    rows = sorted(rows, key=lambda row: float(row["min.log.lambda"]))
    return cp.PenaltyErrors(
        np.exp([float(row["min.log.lambda"]) for row in rows]),
        [int(float(row["fp"])) for row in rows],
        [int(float(row["fn"])) for row in rows],
    )


def group_of(name):
    """Return the region of a problem, or the person of a profile."""
    return name.split("/problems/")[-1] if "/" in name else name.split("_")[0]


def load(name):
    log_n, folds = SETS[name]
    inputs = read(DATA / name / "inputs.csv")
    names = [row.pop("sequenceID") for row in inputs]
    X = np.array([[number(cell) for cell in row.values()] for row in inputs])
    pieces = {one: [] for one in names}
    for row in read(DATA / name / "evaluation.csv"):
        pieces.get(row["sequenceID"], []).append(row)
    fold = {row["sequenceID"]: int(row["fold"]) for row in read(DATA / name / folds)}
    return {
        "X": X,
        "log_n": X[:, [list(inputs[0]).index(log_n)]],
        "y": [error_function(pieces[one]) for one in names],
        "fold": np.array([fold[one] for one in names]),
        "group": np.array([group_of(one) for one in names]),
    }


class Constant:
    """The penalty with the fewest errors in training."""

    def fit(self, X, y, groups):
        bp = cp.error_breakpoints(y)
        self.log_penalty = -fewest_errors_constant(bp, np.zeros(len(y)))
        return self

    def predict(self, X):
        return np.full(len(X), self.log_penalty)


def rules():
    """Return features, model, and whether it is told the groups, by name."""
    steps = {"max_steps": 32, "random_state": 0}
    return {
        "constant": ("X", Constant(), True),
        "log n": ("log_n", rp.IntervalRegression(alpha=0), True),
        "interval regression": ("X", rp.IntervalRegression(), True),
        "PenaltyRegressor": ("X", rp.PenaltyRegressor(random_state=0), True),
        "not told the groups": ("X", rp.PenaltyRegressor(random_state=0), False),
        "then AUM descent": ("X", rp.PenaltyRegressor(**steps), True),
        "AUM from zero": ("X", rp.PenaltyRegressor(start="zero", **steps), True),
    }


def judged_folds(name):
    """Yield the rows of the CSV file for one set."""
    data = load(name)
    for fold in np.unique(data["fold"]):
        is_test = data["fold"] == fold
        known, new = (
            [data["y"][row] for row in np.flatnonzero(rows)]
            for rows in (~is_test, is_test)
        )
        bp = cp.error_breakpoints(new)
        for rule, (features, model, has_groups) in rules().items():
            groups = data["group"][~is_test] if has_groups else None
            begin = time.process_time()
            model.fit(data[features][~is_test], known, groups=groups)
            seconds = time.process_time() - begin
            predicted = model.predict(data[features][is_test])
            errors = sum(int(f.at(p)) for f, p in zip(new, predicted, strict=True))
            auc = rp.auc(bp, -predicted)
            yield name, int(fold), rule, errors, round(auc, 6), round(seconds, 3)


def table_of_set(name, rows):
    """Print errors with the standard error of their difference to the constant's."""
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
    print("\n| rule | geometric mean of error ratios | AUC | fewer / more |")
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
        own = list(judged_folds(name))
        table_of_set(name, own)
        rows += own
    table_over_sets(rows)
    with (HERE / "penalties.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(FIELDS)
        writer.writerows(rows)


if __name__ == "__main__":
    main()

"""Learn changepoint penalties from real label errors, and compare.

neuroblastoma_systematic, each fold in turn for testing: AUC and label errors of
PenaltyRegressor, interval regression, a constant penalty (the best in training) and
penalties from log(length) alone, as in BIC. Prints a table and saves
``penalties.csv``. Needs ROCPATH_DATA.
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


def read(path):
    text = path.read_bytes()
    if path.suffix == ".gz":
        text = gzip.decompress(text)
    return list(csv.DictReader(text.decode().splitlines()))


def load_neuroblastoma():
    folder = DATA / "neuroblastoma_systematic"
    rows = read(folder / "inputs.csv.gz")
    names = [row.pop("sequenceID") for row in rows]
    X = np.array([[float(cell) for cell in row.values()] for row in rows])
    columns = list(rows[0])
    pieces = {name: [] for name in names}
    for row in read(folder / "evaluation.csv.gz"):
        if row["sequenceID"] in pieces:
            pieces[row["sequenceID"]].append(row)
    functions = []
    for name in names:
        table = sorted(pieces[name], key=lambda row: float(row["min.log.lambda"]))
        functions.append(
            cp.PenaltyErrors(
                np.exp([float(row["min.log.lambda"]) for row in table]),
                [int(float(row["fp"])) for row in table],
                [int(float(row["fn"])) for row in table],
            )
        )
    folds = {
        row["sequenceID"]: int(row["fold"])
        for row in read(folder / "folds_sequenceID.csv")
    }
    return X, columns, functions, np.array([folds[name] for name in names])


def judge_fold(X, log_length, functions, is_test):
    """Yield (method, test AUC, label errors, seconds)."""
    y_train = [functions[k] for k in np.flatnonzero(~is_test)]
    y_test = [functions[k] for k in np.flatnonzero(is_test)]
    bp = cp.error_breakpoints(y_test)

    def judged(prediction):
        errors = sum(one.at(p) for one, p in zip(y_test, prediction, strict=True))
        return rp.auc(bp, -prediction), int(errors)

    no_features = np.zeros(len(y_train))
    constant = -fewest_errors_constant(cp.error_breakpoints(y_train), no_features)
    yield "constant", *judged(np.full(len(y_test), constant)), 0.0
    for method, model, features in (
        ("log length", rp.IntervalRegression(alpha=0), log_length),
        ("interval regression", rp.IntervalRegression(), X),
        ("PenaltyRegressor", rp.PenaltyRegressor(random_state=0), X),
    ):
        begin = time.perf_counter()
        model.fit(features[~is_test], y_train)
        seconds = time.perf_counter() - begin
        yield method, *judged(model.predict(features[is_test])), seconds


def main():
    X, columns, functions, fold = load_neuroblastoma()
    log_length = X[:, [columns.index("log.n")]]
    print("| test fold | constant | log length | interval regression | ours |")
    print("|---|---|---|---|---|")
    with (HERE / "penalties.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("fold", "method", "test_auc", "label_errors", "seconds"))
        for number in np.unique(fold):
            rows = list(judge_fold(X, log_length, functions, fold == number))
            writer.writerows((number, *row) for row in rows)
            cells = " | ".join(f"{row[1]:.4f}, {row[2]} errors" for row in rows)
            print(f"| {number} | {cells} |", flush=True)


if __name__ == "__main__":
    main()

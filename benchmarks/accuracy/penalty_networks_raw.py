"""Learn changepoint penalties from raw sequences with a convolutional network.

The raw sequences of neuroblastoma_systematic are not published with its features, so 600
sequences of 100 to 400 observations are simulated. Their noise differs widely in variance
and in autocorrelation, and half of their regions are labeled as having a change or not.
Each third of the sequences is the test set in turn.

Two networks are trained with ``aum_loss(breakpoints=...)``: one with filters on the raw
sequence, and one with a hidden layer on ``sequence_features``. They are compared with
interval regression and PenaltyRegressor on the same features. Prints a table and saves
``penalty_networks_raw.csv``. Requires torch, and ROCPATH_DATA for a module it imports.
"""

import csv
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn

import rocpath as rp
from penalties import Constant
from penalty_networks import evaluate_fold, standardized
from rocpath import changepoint as cp

N_SEQUENCES = 600
LONGEST = 400
N_FOLDS = 3
REGION = 20  # observations


def simulate(rng):
    """Return a sequence with up to five changes, and labels for half of its regions."""
    n = REGION * rng.integers(5, LONGEST // REGION + 1)
    noise, correlation = 10 ** rng.uniform(-1, 1), rng.uniform(0, 0.7)
    shock = noise * rng.normal(size=n + 50)
    for t in range(1, n + 50):
        shock[t] += correlation * shock[t - 1]
    place = REGION * np.arange(1, n // REGION)
    changes = np.sort(rng.choice(place, rng.integers(0, min(6, place.size))))
    changes = np.unique(changes)
    jump = rng.choice([-1.0, 1.0], changes.size) * noise * rng.uniform(1, 4)
    mean = (np.arange(n) >= changes[:, None]).T @ jump
    start = np.sort(rng.choice(place, place.size // 2, replace=False)) - REGION // 2
    kind = np.where(np.isin(start + REGION // 2, changes), "one_change", "no_change")
    return mean + shock[50:], cp.Labels(start, start + REGION, kind)


class Filters(nn.Module):
    """Network for minus the log penalty, from the log power of filtered sequences.

    A change of units adds the same constant to the log powers and to the log penalty.
    """

    def __init__(self, _):
        super().__init__()
        self.filters = nn.Conv1d(1, 16, 7, bias=False)
        self.linear = nn.Linear(16, 1)
        self.hidden = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 1))

    def forward(self, X):
        """Return the prediction of each sequence, given its values and a mask."""
        value, is_known = X[:, :1], X[:, 1:, 3:-3]
        power = (self.filters(value) ** 2 * is_known).sum(2) / is_known.sum(2)
        power = torch.log(power + 1e-12)
        return (self.linear(power) + self.hidden(power)).squeeze(1)


def padded(sequences):
    """Return centered values, and a mask of where a filter of length seven fits."""
    X = np.zeros((len(sequences), 2, LONGEST), dtype=np.float32)
    for row, x in zip(X, sequences, strict=True):
        row[0, : x.size] = x - x.mean()
        row[1, 3 : x.size - 3] = 1
    return torch.tensor(X)


def evaluate_regression(model, X, functions, is_test):
    """Return the test AUC, the label errors and the CPU time in seconds."""
    begin = time.process_time()
    train, test = ([functions[k] for k in np.flatnonzero(rows)] for rows in (~is_test, is_test))
    model.fit(X[~is_test], train, groups=np.arange(len(train)))
    log_penalty = model.predict(X[is_test])
    seconds = time.process_time() - begin
    errors = sum(one.at(v) for one, v in zip(test, log_penalty, strict=True))
    return rp.auc(cp.error_breakpoints(test), -log_penalty), int(errors), seconds


def main():
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    sequences, labels = zip(*(simulate(rng) for _ in range(N_SEQUENCES)), strict=True)
    functions = [
        cp.errors_by_penalty(x, one, max_changes=15)
        for x, one in zip(sequences, labels, strict=True)
    ]
    features, raw = cp.sequence_features(list(sequences)).value, padded(sequences)
    fold = np.arange(N_SEQUENCES) % N_FOLDS
    rows = []
    for number in range(N_FOLDS):
        is_test = fold == number
        for name, model in (
            ("constant", Constant()),
            ("interval regression", rp.IntervalRegression()),
            ("PenaltyRegressor", rp.PenaltyRegressor(random_state=0)),
        ):
            row = evaluate_regression(model, features, functions, is_test)
            rows.append((number, name, *row))
        X = standardized(features, ~is_test)
        row = evaluate_fold(X, functions, is_test)
        rows.append((number, "network on features", *row))
        row = evaluate_fold(raw, functions, is_test, Filters)
        rows.append((number, "convolution on the sequence", *row))
    n_labels = sum(len(one.start) for one in labels)
    print(f"| method ({n_labels} labels) | errors | mean AUC | seconds |\n|---|---|---|---|")
    for name in dict.fromkeys(row[1] for row in rows):
        auc, errors, seconds = zip(*(r[2:] for r in rows if r[1] == name), strict=True)
        print(f"| {name} | {sum(errors)} | {np.mean(auc):.4f} | {sum(seconds):.1f} |")
    path = Path(__file__).parent / "results" / "penalty_networks_raw.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("fold", "method", "test_auc", "label_errors", "cpu_seconds"))
        writer.writerows(rows)


if __name__ == "__main__":
    main()

"""Compare a small network that minimizes AUM with other models of changepoint penalties.

Each fold of neuroblastoma_systematic is the test set in turn. A network with one hidden
layer predicts the penalty from features, and is trained on the label errors of the
training sequences with ``aum_loss(breakpoints=...)``. One fifth of these is held out for
early stopping. The results of interval regression and PenaltyRegressor on the same folds
are read from ``penalties.csv``. Prints a table and saves ``penalty_networks.csv``.
Requires ROCPATH_DATA and torch.
"""

import copy
import csv
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn

import rocpath as rp
from penalty_sets import load
from rocpath import changepoint as cp
from rocpath.search.intercepts import fewest_errors_constant
from rocpath.torch import aum_loss

RESULTS = Path(__file__).parent / "results"
SET = "neuroblastoma_systematic"
N_STEPS = 300
EVERY = 10
N_NETWORKS = 3  # networks whose predictions are averaged
OTHERS = ("constant", "interval regression", "PenaltyRegressor")


class PenaltyNetwork(nn.Module):
    """Network for minus the log penalty: a linear function plus one hidden layer."""

    def __init__(self, n_features):
        super().__init__()
        self.linear = nn.Linear(n_features, 1)
        self.hidden = nn.Sequential(
            nn.Linear(n_features, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 1)
        )

    def forward(self, X):
        """Return the prediction of each row."""
        return (self.linear(X) + self.hidden(X)).squeeze(1)


def predict(network, X):
    network.eval()
    with torch.no_grad():
        return network(X).double().numpy()


def fit(X, functions, seed, make=PenaltyNetwork):
    """Return the network with the largest AUC on held-out sequences."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    is_out = rng.random(len(functions)) < 0.2
    parts = [
        (X[torch.tensor(mask)], cp.error_breakpoints([functions[k] for k in rows]))
        for mask in (~is_out, is_out)
        for rows in [np.flatnonzero(mask)]
    ]
    (X_train, bp), (X_out, bp_out) = parts
    network = make(X.shape[1])
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3, weight_decay=1e-3)
    best, best_auc = network, -np.inf
    for step in range(N_STEPS):
        network.train()
        optimizer.zero_grad()
        (aum_loss(network(X_train), breakpoints=bp) / len(X_train)).backward()
        optimizer.step()
        if step % EVERY == EVERY - 1:
            auc = rp.auc(bp_out, predict(network, X_out))
            if auc > best_auc:
                best, best_auc = copy.deepcopy(network), auc
    return best


def standardized(X, is_train):
    """Drop constant columns and those with non-finite values, and standardize the others."""
    X = X[:, np.isfinite(X).all(axis=0)]
    X = X[:, X[is_train].std(axis=0) > 0]
    X = (X - X[is_train].mean(axis=0)) / X[is_train].std(axis=0)
    return torch.tensor(np.clip(X, -4, 4), dtype=torch.float32)


def evaluate_fold(X, functions, is_test, make=PenaltyNetwork):
    """Return the test AUC, the label errors and the CPU time in seconds."""
    begin = time.process_time()
    train = [functions[k] for k in np.flatnonzero(~is_test)]
    test = [functions[k] for k in np.flatnonzero(is_test)]
    networks = [fit(X[~is_test], train, seed, make) for seed in range(N_NETWORKS)]
    score = np.mean([predict(network, X) for network in networks], axis=0)
    score += fewest_errors_constant(cp.error_breakpoints(train), score[~is_test])
    seconds = time.process_time() - begin
    errors = sum(one.at(-s) for one, s in zip(test, score[is_test], strict=True))
    auc = rp.auc(cp.error_breakpoints(test), score[is_test])
    return auc, int(errors), seconds


def main():
    data = load(SET)
    fold = data["fold"]
    with (RESULTS / "penalties.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["set"] == SET]
    others = {(row["fold"], row["rule"]): row for row in rows}
    print(f"| test fold | {' | '.join(OTHERS)} | network |")
    print("|---|---|---|---|---|")
    with (RESULTS / "penalty_networks.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("fold", "method", "test_auc", "label_errors", "seconds"))
        for number in np.unique(fold):
            is_test = fold == number
            row = evaluate_fold(standardized(data["X"], ~is_test), data["y"], is_test)
            writer.writerow((number, "network", *row))
            known = [others[str(number), method] for method in OTHERS]
            cells = [(float(one["test_auc"]), one["label_errors"]) for one in known]
            cells.append(row[:2])
            text = " | ".join(f"{auc:.4f}, {errors} errors" for auc, errors in cells)
            print(f"| {number} | {text} |", flush=True)


if __name__ == "__main__":
    main()

"""Compare exact steps for the last layer with training on all rows, by AUC on others.

A network of one hidden layer on six tables of 2,000 training rows: trained on half of
them by cross-entropy; refined on the other half, a third of it for validation; and
trained on all of them. Prints mean test AUC over five seeds and saves
``last_layer.csv``. Needs ROCPATH_DATA and torch.
"""

import csv
import time
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from network_tasks import MOST_ROWS, TABLES, load_table, make_network, shuffled
from rocpath.torch import BinaryAUC, refine_last_layer

N_SEEDS = 5
BATCH = 64
N_PASSES = 12


def train(X, y, seed):
    torch.manual_seed(seed)
    network = make_network(X)
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
    n_steps = N_PASSES * len(y) // BATCH
    for rows in shuffled(y, BATCH, n_steps, seed):
        optimizer.zero_grad()
        functional.binary_cross_entropy_with_logits(network(X[rows]), y[rows].float()).backward()
        optimizer.step()
    return network


def test_auc(network, task):
    metric = BinaryAUC()
    with torch.no_grad():
        metric.update(network(task.X_test), task.y_test)
    return metric.compute()


def evaluate_task(task, seed):
    """Return (method, test AUC, seconds) of the three."""
    rng = np.random.RandomState(seed)
    # Positives first, then dealt out, so that each part has its share of them.
    dealt = rng.permutation(MOST_ROWS)
    dealt = dealt[np.argsort(~task.y.numpy()[dealt], kind="stable")]
    part = np.arange(MOST_ROWS) % 6
    parts = [dealt[part < 3], dealt[(part == 3) | (part == 4)], dealt[part == 5]]
    (X, y), fresh, validation = [(task.X[rows], task.y[rows]) for rows in parts]
    begin = time.perf_counter()
    half = train(X, y, seed)
    trained = time.perf_counter()
    refined, _ = refine_last_layer(half, *fresh, validation=validation)
    ready = time.perf_counter()
    whole = train(task.X, task.y, seed)
    end = time.perf_counter()
    return [
        ("half of the rows", test_auc(half, task), trained - begin),
        ("refined on the others", test_auc(refined, task), ready - begin),
        ("all rows", test_auc(whole, task), end - ready),
    ]


def main():
    torch.set_num_threads(1)
    print("| table | half of the rows | refined on the others | all rows |")
    print("|---|---|---|---|")
    with (Path(__file__).parent / "last_layer.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("table", "seed", "method", "test_auc", "seconds"))
        for name in TABLES:
            task = load_table(name)
            rows = [evaluate_task(task, seed) for seed in range(N_SEEDS)]
            for seed, methods in enumerate(rows):
                writer.writerows((name, seed, *method) for method in methods)
            means = np.mean([[one[1] for one in methods] for methods in rows], axis=0)
            print(f"| {name} | " + " | ".join(f"{auc:.4f}" for auc in means) + " |")


if __name__ == "__main__":
    main()

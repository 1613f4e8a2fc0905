"""Time one training step with each loss of `networks.py`, in a plain loop.

Trains the network with one hidden layer on mammography by Adam, or by LibAUC's own optimizer
for its loss, and measures the median CPU milliseconds of 100 steps on one thread. Prints a
table and saves ``network_speed.csv``. Needs ROCPATH_DATA, torch and libauc.
"""

import csv
import time
from pathlib import Path

import numpy as np
import torch

from network_tasks import load_table, make_network, repeated
from network_training import LIBAUC, PESG, TRAININGS, AUCMLoss

SIZES = (64, 512)
N_STEPS = 100


def milliseconds(task, size, make):
    """Return the median time of a step in milliseconds."""
    torch.manual_seed(0)
    network = make_network(task.X)
    loss, optimizer = make(network)
    taken = []
    for rows in repeated(task.y.numpy(), size, N_STEPS, 0):
        begin = time.process_time()
        optimizer.zero_grad()
        loss(network(task.X[rows]), task.y[rows]).backward()
        optimizer.step()
        taken.append(1e3 * (time.process_time() - begin))
    return float(np.median(taken))


def by_adam(training, share):
    def make(network):
        threshold = torch.zeros((), requires_grad=True)
        loss = training.loss(share)
        optimizer = torch.optim.Adam([*network.parameters(), threshold])
        return lambda scores, target: loss(scores, target, threshold), optimizer

    return make


def by_libauc(network):
    loss = AUCMLoss()
    optimizer = PESG(network.parameters(), loss_fn=loss, verbose=False)
    return lambda scores, y: loss(torch.sigmoid(scores), y.float()), optimizer


def main():
    torch.set_num_threads(1)
    task = load_table("mammography", 0)
    share = float(task.y.float().mean())
    makers = {name: by_adam(training, share) for name, training in TRAININGS.items()} | {
        LIBAUC: by_libauc
    }
    rows = [
        (name, *(milliseconds(task, size, make) for size in SIZES)) for name, make in makers.items()
    ]
    print(f"| batch | {' | '.join(map(str, SIZES))} |\n|---|---|---|")
    for name, *taken in rows:
        print(f"| {name} | {' | '.join(f'{one:.2f}' for one in taken)} |")
    path = Path(__file__).parent / "results" / "network_speed.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([("loss", *(f"ms_{size}" for size in SIZES)), *rows])


if __name__ == "__main__":
    main()

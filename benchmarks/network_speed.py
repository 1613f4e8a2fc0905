"""Time one step of training by each loss of `networks.py`, in a plain loop.

The network of one hidden layer on mammography, by Adam, LibAUC's loss by its own
optimizer: milliseconds of the processor, on one thread, the median of 100 steps. Prints
a table and saves ``network_speed.csv``. Needs ROCPATH_DATA and torch.
"""

import csv
import time
from pathlib import Path

import numpy as np
import torch

from network_tasks import balanced, load_table, make_network
from network_training import PESG, WAYS, AUCMLoss

SIZES = (8, 64, 512)
N_STEPS = 100


def milliseconds(task, size, make):
    """Time what makes a step of a network, with batches that have both classes."""
    torch.manual_seed(0)
    network = make_network(task.X)
    loss, stepper = make(network)
    taken = []
    for rows in balanced(task.y.numpy(), size, N_STEPS, 0):
        begin = time.process_time()
        stepper.zero_grad()
        loss(network(task.X[rows]), task.y[rows]).backward()
        stepper.step()
        taken.append(1e3 * (time.process_time() - begin))
    return float(np.median(taken))


def by_adam(way, share):
    def make(network):
        threshold = torch.zeros((), requires_grad=True)
        loss = way.loss(share)
        stepper = torch.optim.Adam([*network.parameters(), threshold])
        return lambda scores, target: loss(scores, target, threshold), stepper

    return make


def by_libauc(network):
    loss = AUCMLoss()
    stepper = PESG(network.parameters(), loss_fn=loss, verbose=False)
    return lambda scores, y: loss(torch.sigmoid(scores), y.float()), stepper


def main():
    torch.set_num_threads(1)
    task = load_table("mammography")
    share = float(task.y.float().mean())
    makers = {name: by_adam(way, share) for name, way in WAYS.items()}
    if AUCMLoss is not None:
        makers["AUCM (LibAUC)"] = by_libauc
    rows = [
        (name, *(milliseconds(task, size, make) for size in SIZES)) for name, make in makers.items()
    ]
    print(f"| batch | {' | '.join(map(str, SIZES))} |\n|---|---|---|---|")
    for name, *taken in rows:
        print(f"| {name} | {' | '.join(f'{one:.2f}' for one in taken)} |")
    path = Path(__file__).parent / "network_speed.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([("loss", *(f"ms_{size}" for size in SIZES)), *rows])


if __name__ == "__main__":
    main()

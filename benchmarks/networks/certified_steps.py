"""Measure the cost of certified steps for ReLU layers, and train networks with them.

Prints the tables of docs/certified_steps.md: CPU milliseconds of a step along the negative AUM
gradient of a network after 20 steps of Adam, and the test AUC on six tables of networks trained
by Adam, by certified AUC steps, and by both. Takes about three CPU minutes on one thread.
Needs ROCPATH_DATA and torch.
"""

import copy
import time
from itertools import pairwise
from unittest import mock

import numpy as np
import torch
from torch import nn
from torch.nn import functional

import rocpath as rp
import rocpath.torch as rt
from network_tasks import load_table, make_network
from rocpath.torch import certified_steps, moved_layer

TABLES = ("abalone19", "page_blocks0", "mammography", "spambase", "a9a", "covtype")
SEEDS = range(3)
N_ROUNDS = 20  # number of rounds of certified steps, one step for each layer
RATES = (0.003, 0.01, 0.03)


def auc_of(network, X, y):
    with torch.no_grad():
        return rp.auc(y.numpy(), network(X).double().reshape(-1).numpy())


def descent_direction(network, layer, X, y, loss):
    value = loss(network(X).reshape(-1), y)
    return [-one for one in torch.autograd.grad(value, list(layer.parameters()))]


def bce(scores, y):
    share = y.double().mean()
    return functional.binary_cross_entropy_with_logits(
        scores, y.to(scores.dtype), pos_weight=(1 - share) / share
    )


def aum(scores, y):
    return rt.aum_loss(scores, y, margin=0.0)


def adam(network, X, y, rate, n_steps):
    """Yield the network after each step."""
    optimizer = torch.optim.Adam(network.parameters(), lr=rate)
    for _ in range(n_steps):
        optimizer.zero_grad()
        bce(network(X).reshape(-1), y).backward()
        optimizer.step()
        yield network


def certified(network, X, y, n_rounds):
    """Take the best AUC step along the negative gradient of each layer; yield the network."""
    for _ in range(n_rounds):
        for layer in (module for module in network if isinstance(module, nn.Linear)):
            direction = descent_direction(network, layer, X, y, bce)
            best = rt.certified_step(network, layer, X, y, direction)
            with torch.no_grad():
                for parameter, move in zip(layer.parameters(), direction, strict=True):
                    parameter += best.step * move
            yield network


def select(networks, X, y):
    """Return a copy of the network with the best AUC on validation rows, and that AUC."""
    best, best_auc = None, -1.0
    for network in networks:
        value = auc_of(network, X, y)
        if value > best_auc:
            best, best_auc = copy.deepcopy(network), value
    return best, best_auc


def train(name, seed):
    """Return the test AUC of each method."""
    task = load_table(name, seed, positive_class=5 if name == "covtype" else None)
    X, y = task.X.double(), task.y
    is_valid = torch.arange(len(y)) % 3 == 0
    rows, valid = (X[~is_valid], y[~is_valid]), (X[is_valid], y[is_valid])
    torch.manual_seed(seed)
    initial = make_network(X).double()
    by_adam = [select(adam(copy.deepcopy(initial), *rows, rate, 150), *valid) for rate in RATES]
    best_adam = max(by_adam, key=lambda pair: pair[1])
    by_steps = select(certified(copy.deepcopy(initial), *rows, N_ROUNDS), *valid)
    after = select(certified(copy.deepcopy(best_adam[0]), *rows, N_ROUNDS // 2), *valid)
    both = max(best_adam, after, key=lambda pair: pair[1])
    test = task.X_test.double(), task.y_test
    return [auc_of(pair[0], *test) for pair in (best_adam, by_steps, both)]


def print_training():
    results = np.array([[train(name, seed) for seed in SEEDS] for name in TABLES])
    means = results.mean(axis=1)
    print("| table | Adam | certified steps | Adam, then certified steps |\n|---|---|---|---|")
    for name, row in zip(TABLES, means, strict=True):
        print(f"| {name} | " + " | ".join(f"{value:.4f}" for value in row) + " |")
    difference = means[:, 1:] - means[:, :1]
    error = difference.std(axis=0, ddof=1) / len(TABLES) ** 0.5
    pairs = zip(difference.mean(axis=0), error, strict=True)
    cells = " | ".join(f"{d:+.4f} ± {e:.4f}" for d, e in pairs)
    print(f"| difference from Adam | | {cells} |")


def make_problem(n_rows, widths):
    rng = np.random.default_rng(0)
    X = torch.tensor(rng.normal(size=(n_rows, widths[0])))
    y = X[:, 0] + X[:, 1].abs() + torch.tensor(rng.normal(size=n_rows)) > 1.5
    torch.manual_seed(0)
    modules = [m for pair in pairwise(widths) for m in (nn.Linear(*pair), nn.ReLU())]
    network = nn.Sequential(*modules[:-1]).double()
    for _ in adam(network, X, y, 0.01, 20):
        pass
    return network, X, y


def print_speed():
    print("| rows | layers | metric | CPU ms | windows | kinks per row | kinks before the step |")
    print("|---|---|---|---|---|---|---|")
    shapes = [(500, (10, 16, 1)), (2000, (10, 16, 1)), (2000, (10, 64, 1))]
    shapes += [(2000, (10, 32, 32, 1)), (100_000, (10, 64, 1))]
    for n_rows, widths in shapes:
        network, X, y = make_problem(n_rows, widths)
        direction = descent_direction(network, network[0], X, y, aum)
        moved = moved_layer.MovedLayer.from_network(network, network[0], X, y, direction)
        kink = moved.ray(moved.default_max_step).kinks.step
        for metric in ("aum", "auc"):
            taken = []
            with mock.patch.object(
                certified_steps._Search,
                "_bounded",
                autospec=True,
                side_effect=certified_steps._Search._bounded,
            ) as bounded:
                for _ in range(1 if n_rows > 10_000 else 5):
                    begin = time.process_time()
                    best = rt.certified_step(network, network[0], X, y, direction, metric=metric)
                    taken.append(1e3 * (time.process_time() - begin))
            n_windows = bounded.call_count // len(taken)
            before = np.sum(kink < best.step) / n_rows
            print(
                f"| {n_rows:,} | {'-'.join(map(str, widths))} | {metric.upper()} "
                f"| {np.median(taken):.0f} | {n_windows} | {kink.size / n_rows:.1f} "
                f"| {before:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    torch.set_num_threads(1)
    print_speed()
    print()
    print_training()

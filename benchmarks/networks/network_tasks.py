"""Imbalanced tasks for small networks: images and tables, and batches of their rows.

Each task has at most 2,000 training rows and 10,000 test rows, sampled for each seed.
Needs ROCPATH_DATA and torch.
"""

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from scipy import sparse
from sklearn.datasets import load_digits, make_classification
from torch import nn

DATA = Path(os.environ["ROCPATH_DATA"])
MAX_ROWS = 2000
MAX_TEST_ROWS = 10_000
RARE = 0.2  # share of positives below which they are repeated


class Task(NamedTuple):
    """Training rows and test rows, X as float32."""

    X: torch.Tensor
    y: torch.Tensor
    X_test: torch.Tensor
    y_test: torch.Tensor


class Source(NamedTuple):
    """Family of a task, and a function that loads the task for a given seed.

    Tasks of one family share data.
    """

    family: str
    load: Callable[[int], Task]


def load_images(name, positive_class, share, seed):
    """Pool images to 14 x 14 or 16 x 16, and subsample positives to a given share.

    AUC does not depend on the share of positives, so all rows that are not used for
    training can be test rows.
    """
    with np.load(DATA / "images" / f"{name}.npz") as file:
        X = np.concatenate((file["X_test"], file["X_train"]))
        label = np.append(file["y_test"], file["y_train"])
        is_test_row = np.arange(len(label)) < len(file["y_test"])
    rng = np.random.RandomState(seed)
    is_positive = label == positive_class
    negative, positive = (
        rng.permutation(np.flatnonzero((is_positive == value) & ~is_test_row))
        for value in (False, True)
    )
    n_rows = min(MAX_ROWS, len(negative), int(len(positive) / share))
    n_positives = round(share * n_rows)
    rows = np.append(negative[: n_rows - n_positives], positive[:n_positives])
    others = np.setdiff1d(np.arange(len(label)), rows)
    # The test rows of the data set come first.
    test = others[:MAX_TEST_ROWS]
    columns = [(_pooled(X[part], name), torch.tensor(is_positive[part])) for part in (rows, test)]
    return Task(*columns[0], *columns[1])


def _pooled(X, name):
    channels = 1 if "mnist" in name else 3
    side = round((X.shape[1] / channels) ** 0.5)
    pool = 3 if side == 48 else 2
    shape = (len(X), side // pool, pool, side // pool, pool, channels)
    means = X.reshape(shape).mean(axis=(2, 4), dtype=np.float32)
    return torch.tensor((means / 255 - 0.5).transpose(0, 3, 1, 2).copy())


def load_table(name, seed, positive_class=None):
    with np.load(DATA / "tabular" / f"{name}.npz") as file:
        table = dict(file)
    if name == "a9a":
        parts = (table["X_data"], table["X_indices"], table["X_indptr"])
        table["X"] = sparse.csr_matrix(parts, shape=table["X_shape"]).toarray()
    y = table["y"] == 1 if positive_class is None else table["label"] == positive_class
    return table_task(table["X"], y, seed)


def table_task(X, y, seed, n_rows=MAX_ROWS):
    """Sample rows, and standardize them with the statistics of the training rows."""
    rows = np.random.RandomState(seed).permutation(len(y))
    train, test = rows[:n_rows], rows[n_rows : n_rows + MAX_TEST_ROWS]
    X = X.astype(np.float32)
    deviation = X[train].std(axis=0)
    X = (X - X[train].mean(axis=0)) / np.where(deviation > 0, deviation, np.inf)
    columns = (X[train], y[train], X[test], y[test])
    return Task(*(torch.tensor(column) for column in columns))


def simulated(share, seed):
    X, y = make_classification(
        *(12_000, 20),
        n_informative=8,
        n_redundant=4,
        n_clusters_per_class=3,
        weights=[1 - share],
        flip_y=share / 20,
        class_sep=0.7,
        random_state=seed,
    )
    return table_task(X, y == 1, seed)


def digits(seed):
    X, label = load_digits(return_X_y=True)
    return table_task(X, label == 8, seed, 1000)


def pima(seed):
    path = DATA / "tabular" / "ties" / "Pima.csv"
    y, *columns = np.loadtxt(path, delimiter=",", skiprows=1).T
    return table_task(np.transpose(columns), y == 1, seed, 350)


def _tables():
    yield "digits", Source("digits", digits)
    yield "Pima", Source("Pima", pima)
    for share in (0.02, 0.25):
        yield f"simulated {share:.0%}", Source("simulated", functools.partial(simulated, share))
    for name in ("abalone19", "page_blocks0", "mammography", "spambase", "a9a"):
        yield name, Source(name, functools.partial(load_table, name))
    for k in (1, 3, 5, 6, 7):
        load = functools.partial(load_table, "covtype", positive_class=k)
        yield f"covtype {k}", Source("covtype", load)


def _images():
    # Positives are airplanes or, in the two easy data sets, the class that is hardest to
    # recognize.
    for share in (0.01, 0.05):
        for name, k in (("mnist", 8), ("fashion_mnist", 6), ("cifar10_part", 0), ("stl10_part", 0)):
            load = functools.partial(load_images, name, k, share)
            yield f"{name} {share:.0%}", Source(name, load)


TASKS = {**dict(_tables()), **dict(_images())}


def make_network(X):
    if X.ndim == 2:
        layers = [nn.Linear(X.shape[1], 32), nn.ReLU(), nn.Linear(32, 1)]
    else:
        side = (X.shape[2] + 3) // 4
        layers = [
            nn.Conv2d(X.shape[1], 8, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(8, 16, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(16 * side * side, 1),
        ]
    return nn.Sequential(*layers, nn.Flatten(0))


def folds(y, n_folds, seed):
    """Return the fold of each row, stratified by class."""
    rng = np.random.RandomState(seed)
    fold = np.empty(len(y), dtype=int)
    for label in (False, True):
        rows = rng.permutation(np.flatnonzero(y == label))
        fold[rows] = np.arange(len(rows)) % n_folds
    return fold


def shuffled(y, size, n_steps, seed):
    """Return the rows of each batch: all rows in random order, epoch after epoch."""
    rng = np.random.RandomState(seed)
    n_epochs = -(-n_steps * size // len(y))
    rows = np.concatenate([rng.permutation(len(y)) for _ in range(n_epochs)])
    return rows[: n_steps * size].reshape(n_steps, size)


def repeated(y, size, n_steps, seed):
    """Return shuffled batches, with rare positives repeated to balance the classes."""
    if y.mean() >= RARE:
        return shuffled(y, size, n_steps, seed)
    copies = np.repeat(np.flatnonzero(y), (~y).sum() // y.sum())
    rows = np.append(np.flatnonzero(~y), copies)
    return rows[shuffled(rows, size, n_steps, seed)]

"""Unbalanced tasks for small networks: pictures and tables, and batches of their rows.

Needs ROCPATH_DATA and torch.
"""

import functools
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from scipy import sparse
from torch import nn

DATA = Path(os.environ["ROCPATH_DATA"])
# The positive class: aeroplanes, and the hardest eight and shirt of the easy sets.
IMAGES = {"mnist": 8, "fashion_mnist": 6, "cifar10_part": 0, "stl10_part": 0}
TABLES = ("abalone19", "page_blocks0", "mammography", "spambase", "a9a", "covtype")
MOST_ROWS = 2000
MOST_TEST_ROWS = 10_000
RARE = 0.2  # a share of positives below which they are repeated


class Task(NamedTuple):
    """Rows to train on and rows to test on, X as float32."""

    X: torch.Tensor
    y: torch.Tensor
    X_test: torch.Tensor
    y_test: torch.Tensor


@functools.cache
def load_images(name, share, positive_class=None):
    """Pool pictures to 14 x 14 or 16 x 16, and leave out positives.

    AUC does not depend on how many of each class there are, so all that training
    leaves out is for the test.
    """
    with np.load(DATA / "images" / f"{name}.npz") as file:
        X = np.concatenate((file["X_test"], file["X_train"]))
        label = np.append(file["y_test"], file["y_train"])
        is_test_row = np.arange(len(label)) < len(file["y_test"])
    rng = np.random.RandomState(0)
    is_positive = label == (IMAGES[name] if positive_class is None else positive_class)
    negative, positive = (
        rng.permutation(np.flatnonzero((is_positive == value) & ~is_test_row))
        for value in (False, True)
    )
    n_rows = min(MOST_ROWS, len(negative), int(len(positive) / share))
    n_positives = round(share * n_rows)
    rows = np.append(negative[: n_rows - n_positives], positive[:n_positives])
    others = np.setdiff1d(np.arange(len(label)), rows)
    # The set's own test rows first.
    test = others[:MOST_TEST_ROWS]
    return Task(
        _pooled(X[rows], name),
        torch.tensor(is_positive[rows]),
        _pooled(X[test], name),
        torch.tensor(is_positive[test]),
    )


def _pooled(X, name):
    channels = 1 if "mnist" in name else 3
    side = round((X.shape[1] / channels) ** 0.5)
    pool = 3 if side == 48 else 2
    shape = (len(X), side // pool, pool, side // pool, pool, channels)
    means = X.reshape(shape).mean(axis=(2, 4), dtype=np.float32)
    return torch.tensor((means / 255 - 0.5).transpose(0, 3, 1, 2).copy())


@functools.cache
def load_table(name, positive_class=5):
    with np.load(DATA / "tabular" / f"{name}.npz") as file:
        table = dict(file)
    if name == "a9a":
        parts = (table["X_data"], table["X_indices"], table["X_indptr"])
        table["X"] = sparse.csr_matrix(parts, shape=table["X_shape"]).toarray()
    y = table["label"] == positive_class if name == "covtype" else table["y"] == 1
    return table_task(table["X"], y)


def table_task(X, y, n_rows=MOST_ROWS):
    """Draw rows, and standardize by those to train on."""
    rows = np.random.RandomState(0).permutation(len(y))
    train, test = rows[:n_rows], rows[n_rows : n_rows + MOST_TEST_ROWS]
    X = X.astype(np.float32)
    deviation = X[train].std(axis=0)
    X = (X - X[train].mean(axis=0)) / np.where(deviation > 0, deviation, np.inf)
    columns = (X[train], y[train], X[test], y[test])
    return Task(*(torch.tensor(column) for column in columns))


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


def folds(y, n_folds):
    """Deal the rows of each class out to folds."""
    rng = np.random.RandomState(0)
    fold = np.empty(len(y), dtype=int)
    for label in (False, True):
        rows = rng.permutation(np.flatnonzero(y == label))
        fold[rows] = np.arange(len(rows)) % n_folds
    return fold


def shuffled(y, size, n_steps, seed):
    """Return the rows of each step: all in random order, pass after pass."""
    rng = np.random.RandomState(seed)
    n_passes = -(-n_steps * size // len(y))
    rows = np.concatenate([rng.permutation(len(y)) for _ in range(n_passes)])
    return rows[: n_steps * size].reshape(n_steps, size)


def balanced(y, size, n_steps, seed):
    """Draw rows of both classes as often, as torch's WeightedRandomSampler does."""
    rng = np.random.RandomState(seed)
    weight = np.where(y, 0.5 / y.sum(), 0.5 / (~y).sum())
    return rng.choice(len(y), size=(n_steps, size), p=weight)


def repeated(y, size, n_steps, seed):
    """Shuffle, with copies of the positives if they are rare: as many as negatives."""
    if y.mean() >= RARE:
        return shuffled(y, size, n_steps, seed)
    copies = np.repeat(np.flatnonzero(y), (~y).sum() // y.sum())
    rows = np.append(np.flatnonzero(~y), copies)
    return rows[shuffled(rows, size, n_steps, seed)]

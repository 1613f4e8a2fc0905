"""Data sets of the experiments, with the paper's labels: class 0 against the rest."""

import csv
import gzip
import os
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.datasets import fetch_openml
from sklearn.preprocessing import StandardScaler

FOLDER = os.environ.get("ROCPATH_DATA")
IMAGES = {
    "MNIST": ("mnist", "mnist_784"),
    "FashionMNIST": ("fashion_mnist", "Fashion-MNIST"),
    "CIFAR10": ("cifar10_part", "CIFAR_10"),
    "STL10": ("stl10_part", "STL-10"),
}
ORDINARY = ("normal, p = 10", "covtype, p = 10")


class Split(NamedTuple):
    """Features in [0, 1], and labels: 0 for the first class, 1 for all others."""

    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def folder(name):
    """Return a subfolder of ROCPATH_DATA, or raise if the variable is not set."""
    if FOLDER is None:
        raise FileNotFoundError(
            f"ROCPATH_DATA is not set; it must be a folder that contains {name}/."
        )
    return Path(FOLDER) / name


@cache
def images(name):
    """Load images from ROCPATH_DATA, or from OpenML with the last sixth as test set."""
    file_name, openml_name = IMAGES[name]
    if FOLDER is None:
        X, label = fetch_openml(openml_name, return_X_y=True, as_frame=False)
        _, label = np.unique(label, return_inverse=True)
        n_train = len(label) - len(label) // 6
        parts = X[:n_train], label[:n_train], X[n_train:], label[n_train:]
    else:
        with np.load(folder("images") / f"{file_name}.npz") as file:
            parts = [file[f"{k}_{part}"] for part in ("train", "test") for k in "Xy"]
    X_train, y_train, X_test, y_test = parts
    return Split(
        X_train.reshape(len(y_train), -1) / 255.0,
        (y_train != 0).astype(int),
        X_test.reshape(len(y_test), -1) / 255.0,
        (y_test != 0).astype(int),
    )


@cache
def ordinary_table(name):
    """Simulate or load a table with ten standardized columns."""
    if name == "normal, p = 10":
        rng = np.random.default_rng(0)
        y = (np.arange(100_000) % 10 != 0).astype(int)
        return rng.standard_normal((y.size, 10)) + 0.3 * y[:, None], y
    with np.load(folder("tabular") / "covtype.npz") as file:
        X = StandardScaler().fit_transform(file["X"][:, :10].astype(float))
        return X, (file["label"] != 5).astype(int)


def table(name):
    """Return the training features and labels of a data set."""
    return images(name)[:2] if name in IMAGES else ordinary_table(name)


def sample(y, n, rng):
    """Sample rows stratified by class, with at least ten negatives."""
    n_negative = max(round(n * np.mean(y == 0)), 10)
    negative = rng.choice(np.flatnonzero(y == 0), n_negative, replace=False)
    positive = rng.choice(np.flatnonzero(y == 1), n - n_negative, replace=False)
    return np.concatenate((negative, positive))


def read_csv(path):
    """Read a CSV file, compressed or not, as a list of dicts."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt") as file:
        return list(csv.DictReader(file))

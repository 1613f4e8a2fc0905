"""Choose a loss and a sampler for batches of 8, on other tasks than `networks.py`.

Other classes of the same pictures and of covtype, digits, Pima, and two tables that are
simulated. Trained and evaluated as there. Prints differences to cross-entropy with Adam
and with SGD, and saves every network in ``network_choice.csv``. Needs ROCPATH_DATA and
torch.
"""

import csv
from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_digits, make_classification

import rocpath.torch as rt
from network_summary import summarize
from network_tasks import DATA, RARE, balanced, load_images, load_table, repeated, table_task
from network_training import (
    Way,
    bce,
    evaluate_task,
    pairwise,
    plain,
    smoothed,
    streaming_aum_repeated,
    with_bce,
)
from networks import FIELDS, in_processes, saved_rows

PATH = Path(__file__).with_suffix(".csv")
IMAGES = (
    *(("mnist", 3, 0.01), ("mnist", 5, 0.05), ("mnist", 9, 0.3)),
    *(("fashion_mnist", 4, 0.01), ("fashion_mnist", 2, 0.05)),
    *(("cifar10_part", 8, 0.01), ("cifar10_part", 1, 0.1), ("cifar10_part", 5, 0.3)),
    *(("stl10_part", 8, 0.05), ("stl10_part", 2, 0.1)),
)


def made(share, seed):
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
    return table_task(X, y == 1)


def digits():
    X, label = load_digits(return_X_y=True)
    return table_task(X, label == 8, 1000)


def pima():
    path = DATA / "tabular" / "ties" / "Pima.csv"
    y, *columns = np.loadtxt(path, delimiter=",", skiprows=1).T
    return table_task(np.transpose(columns), y == 1, 500)


TABLES = {
    **{f"covtype {k}": (lambda k=k: load_table("covtype", k)) for k in (1, 3, 6, 7)},
    "digits": digits,
    "Pima": pima,
    "made rare": lambda: made(0.02, 0),
    "made": lambda: made(0.25, 1),
}


def candidates():
    yield "BCE", Way(plain(bce), 3e-3)
    yield "BCE, balanced", Way(plain(bce), 3e-3, balanced)
    yield "pairwise, balanced", Way(pairwise, 1e-3, balanced)
    for name, loss, rate in (
        ("BCE", plain(bce), 3e-3),
        ("pairwise", pairwise, 1e-3),
        ("BCE and pairwise", with_bce(pairwise), 1e-3),
        ("AUM of the batch", plain(rt.aum_loss), 3e-3),
        ("AUM streaming", streaming_aum_repeated, 1e-3),
        ("BCE and AUM streaming", with_bce(streaming_aum_repeated), 1e-3),
        ("smoothed AUC", smoothed, 3e-3),
        ("BCE and smoothed AUC", with_bce(smoothed), 3e-3),
    ):
        yield f"{name}, repeated", Way(loss, rate, repeated)


def run(job):
    """Return the rows of the CSV file for one task."""
    name, optimizer = job
    torch.set_num_threads(1)
    if name in TABLES:
        task = TABLES[name]()
    else:
        kind, positive_class, share = name
        task = load_images(kind, share, positive_class)
        name = f"{kind} {positive_class}"
    share = round(float(task.y.float().mean()), 3)
    rows = evaluate_task(task, optimizer, 8, dict(candidates()))
    return [(name, share, 8, optimizer, *row) for row in rows]


def main():
    jobs = [(name, o) for o in ("Adam", "SGD") for name in (*TABLES, *IMAGES)]
    with PATH.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS[:-1])
        for rows in in_processes(run, jobs, 2):
            writer.writerows(rows)
            file.flush()
    for words, is_rare in (("fewer", True), ("more", False)):
        print(f"\n{words.capitalize()} than {RARE:.0%} positives")
        rows = saved_rows(PATH)
        rows = [r for r in rows if (float(r["positives"]) < RARE) == is_rare]
        summarize(rows, "BCE and pairwise, repeated")


if __name__ == "__main__":
    main()

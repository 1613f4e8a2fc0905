"""Compare losses for small networks and a rare class, by AUC on rows not seen.

A convolutional network on four image sets, one class against the nine others, with
positives left out until they are 1, 5 or 10 in a hundred; and a network of one hidden
layer on six tables. Batches of 8, 64 and 512 rows, by Adam and by SGD with momentum.
Each loss gets the learning rate with the best AUC on a quarter of its training rows,
and is then trained on all of them with three seeds. LibAUC's AUCMLoss runs with its
own optimiser and sampler where ``libauc`` is installed, else as its paper writes it, by
SGD. Its sampler balances the classes, so one of our losses runs with such batches too.

Prints mean test AUC with standard errors, and saves every fit in ``networks.csv``. A
run that was stopped goes on from there; ``--batch 8`` does only those of 8 rows.
Needs ROCPATH_DATA and torch. ``--quick`` is a smaller run of minutes, by Adam only with
two seeds, saved in ``networks_quick.csv``.
"""

import argparse
import csv
import functools
import itertools
import multiprocessing
import os
import sys
import time
import types
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from scipy import sparse
from torch import nn
from torch.nn import functional

import rocpath.torch as rt

try:
    # Its sampler imports torchvision, but has no use for it where labels are given.
    sys.modules.setdefault("torchvision", types.ModuleType("torchvision"))
    from libauc.losses import AUCMLoss
    from libauc.optimizers import PESG
    from libauc.sampler import DualSampler
except ImportError:
    AUCMLoss = None

HERE = Path(__file__).parent
DATA = Path(os.environ["ROCPATH_DATA"])
# The positive class: aeroplanes, and the hardest eight and shirt of the easy sets.
IMAGES = {"mnist": 8, "fashion_mnist": 6, "cifar10_part": 0, "stl10_part": 0}
TABLES = ("abalone19", "page_blocks0", "mammography", "spambase", "a9a", "covtype")
MOST_ROWS = 2000
N_STEPS = {8: 400, 64: 200, 512: 100}
RATES = {
    "Adam": (1e-3, 3e-3, 1e-2),
    # Losses that weigh rare rows more have gradients that are larger by as much.
    "SGD": (3e-4, 1e-3, 3e-3, 1e-2, 3e-2),
    "PESG": (0.03, 0.1, 0.3),
}
OURS = (
    "pairwise squared hinge",
    "pairwise, balanced batches",
    "AUM of the batch",
    "AUM streaming",
    "smoothed AUC",
)


class Task(NamedTuple):
    """Rows to train on and rows to test on, X as float32."""

    X: torch.Tensor
    y: torch.Tensor
    X_test: torch.Tensor
    y_test: torch.Tensor

    @property
    def positive_share(self):
        """Of the training rows."""
        return float(self.y.float().mean())

    def halves(self, rng):
        """Return the task of a quarter of the training rows, of each class."""
        is_out = torch.zeros(len(self.y), dtype=torch.bool)
        for label in (0, 1):
            rows = rng.permutation(np.flatnonzero(self.y.numpy() == label))
            is_out[rows[: len(rows) // 4]] = True
        X, y = self.X, self.y
        return Task(X[~is_out], y[~is_out], X[is_out], y[is_out])


@functools.cache
def load_images(name, share):
    """Pool pictures to 14 x 14 or 16 x 16, and leave out positives."""
    with np.load(DATA / "images" / f"{name}.npz") as file:
        parts = [file[key] for key in ("X_train", "y_train", "X_test", "y_test")]
    rng = np.random.RandomState(0)

    def pooled(X):
        channels = 1 if "mnist" in name else 3
        side = round((X.shape[1] / channels) ** 0.5)
        pool = 3 if side == 48 else 2
        shape = (len(X), side // pool, pool, side // pool, pool, channels)
        means = X.reshape(shape).mean(axis=(2, 4), dtype=np.float32)
        return torch.tensor((means / 255 - 0.5).transpose(0, 3, 1, 2).copy())

    X, digit, X_test, test_digit = parts
    is_positive, is_positive_test = digit == IMAGES[name], test_digit == IMAGES[name]
    negative = rng.permutation(np.flatnonzero(~is_positive))
    positive = rng.permutation(np.flatnonzero(is_positive))
    n_rows = min(MOST_ROWS, len(negative), int(len(positive) / share))
    n_positives = round(share * n_rows)
    rows = np.append(negative[: n_rows - n_positives], positive[:n_positives])
    test = rng.permutation(len(X_test))[:MOST_ROWS]
    return Task(
        pooled(X[rows]),
        torch.tensor(is_positive[rows]),
        pooled(X_test[test]),
        torch.tensor(is_positive_test[test]),
    )


@functools.cache
def load_table(name):
    with np.load(DATA / "tabular" / f"{name}.npz") as file:
        table = dict(file)
    if name == "a9a":
        parts = (table["X_data"], table["X_indices"], table["X_indptr"])
        table["X"] = sparse.csr_matrix(parts, shape=table["X_shape"]).toarray()
    y = table["label"] == 5 if name == "covtype" else table["y"] == 1
    rows = np.random.RandomState(0).permutation(len(y))
    train, test = rows[:MOST_ROWS], rows[MOST_ROWS : 3 * MOST_ROWS]
    X = table["X"].astype(np.float32)
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


def focal(scores, target):
    """Lin et al. 2017, with gamma 2 and alpha 1/4."""
    y = target.float()
    log_loss = functional.binary_cross_entropy_with_logits(scores, y, reduction="none")
    balance = torch.where(target, 0.25, 0.75)
    return (balance * (1 - torch.exp(-log_loss)) ** 2 * log_loss).mean()


class AUCMFormula(nn.Module):
    """The min-max margin loss of Yuan et al. 2021, eq. 5, p the share of positives."""

    def __init__(self, share):
        super().__init__()
        self.share = share
        self.a = nn.Parameter(torch.zeros(()))
        self.b = nn.Parameter(torch.zeros(()))
        self.alpha = nn.Parameter(torch.zeros(()))

    def forward(self, scores, target):
        """Compute the loss of a batch of logits."""
        p, h = self.share, torch.sigmoid(scores)
        # Its gradient is turned round: alpha climbs while the others descend.
        alpha = torch.relu(2 * self.alpha.detach() - self.alpha)
        positive, negative = target.float(), 1 - target.float()
        each = (
            (1 - p) * (h - self.a) ** 2 * positive
            + p * (h - self.b) ** 2 * negative
            + 2 * alpha * (p * h * negative - (1 - p) * h * positive)
        )
        return each.mean() + p * (1 - p) * (2 * alpha - alpha**2)


def make_loss(name, share):
    weight = torch.tensor((1 - share) / share)
    plain = functional.binary_cross_entropy_with_logits
    losses = {
        "BCE": lambda: lambda s, y: plain(s, y.float()),
        "weighted BCE": lambda: lambda s, y: plain(s, y.float(), pos_weight=weight),
        "focal": lambda: focal,
        "pairwise squared hinge": rt.PairwiseSquaredHinge,
        "pairwise, balanced batches": rt.PairwiseSquaredHinge,
        "AUM of the batch": rt.AUMLoss,
        "AUM streaming": lambda: rt.AUMLoss(share),
        "smoothed AUC": rt.SmoothedAUCLoss,
        "AUCM (LibAUC)": lambda: AUCMFormula(share),
    }
    return losses[name]()


LOSSES = ("BCE", "weighted BCE", "focal", *OURS, "AUCM (LibAUC)")


def batches(task, size, n_steps, seed):
    """Give shuffled rows, pass after pass."""
    rng = np.random.RandomState(seed)
    rows = np.empty(0, dtype=int)
    for _ in range(n_steps):
        while len(rows) < size:
            rows = np.append(rows, rng.permutation(len(task.y)))
        yield rows[:size]
        rows = rows[size:]


def balanced_batches(task, size, n_steps, seed):
    """Draw rows of both classes as often, as torch's WeightedRandomSampler does."""
    share = task.positive_share
    weight = torch.where(task.y, 1 / share, 1 / (1 - share))
    generator = torch.Generator().manual_seed(seed)
    for _ in range(n_steps):
        yield torch.multinomial(weight, size, replacement=True, generator=generator)


def libauc_batches(task, size, n_steps, seed):
    """Give what LibAUC's sampler draws: one half of a batch is positive."""
    sampler = DualSampler(None, size, labels=task.y.numpy(), random_seed=seed)
    rows = np.empty(0, dtype=int)
    for _ in range(n_steps):
        while len(rows) < size:
            rows = np.append(rows, list(sampler))
        yield rows[:size]
        rows = rows[size:]


def train(task, name, optimizer, size, rate, seed):
    """Return test AUC and seconds of the processor."""
    begin = time.process_time()
    torch.manual_seed(seed)
    network = make_network(task.X)
    draw = balanced_batches if name.endswith("balanced batches") else batches
    if name.startswith("AUCM") and AUCMLoss is not None:
        draw = libauc_batches
        criterion = AUCMLoss()
        stepper = PESG(network.parameters(), loss_fn=criterion, lr=rate, verbose=False)

        def loss(scores, target):
            return criterion(torch.sigmoid(scores), target.float())
    else:
        loss = make_loss(name, task.positive_share)
        parameters = list(network.parameters())
        if isinstance(loss, nn.Module):
            parameters += list(loss.parameters())
        if optimizer == "Adam":
            stepper = torch.optim.Adam(parameters, lr=rate)
        else:
            stepper = torch.optim.SGD(parameters, lr=rate, momentum=0.9)
    for rows in draw(task, size, N_STEPS[size], seed):
        stepper.zero_grad()
        loss(network(task.X[rows]), task.y[rows]).backward()
        stepper.step()
    metric = rt.BinaryAUC()
    with torch.no_grad():
        scores = network(task.X_test)
    # A network that has diverged ranks nothing.
    metric.update(scores.nan_to_num(0.0, 0.0, 0.0), task.y_test)
    return metric.compute(), time.process_time() - begin


def run(job):
    """Tune the learning rate of one setting, and give a row for every seed."""
    (name, share), size, optimizer, loss, n_rates, n_seeds = job
    torch.set_num_threads(1)
    task = load_images(name, share) if name in IMAGES else load_table(name)
    part = task.halves(np.random.RandomState(0))
    rates = RATES["PESG" if loss.startswith("AUCM") else optimizer]
    tried = [train(part, loss, optimizer, size, r, 0)[0] for r in rates[:n_rates]]
    rate = rates[:n_rates][int(np.argmax(tried))]
    setting = (name, share, size, optimizer, loss, rate)
    return [
        (*setting, seed, *train(task, loss, optimizer, size, rate, seed))
        for seed in range(1, n_seeds + 1)
    ]


def jobs(*, quick):
    tables = [(name, None) for name in (TABLES[:3] if quick else TABLES)]
    for size in (8, 64) if quick else (8, 64, 512):
        shares = (0.01, 0.05, 0.1)
        if quick:
            shares = shares[:2] if size == 8 else shares[1:2]
        tasks = [*tables, *itertools.product(IMAGES, shares)]
        optimizers = ("Adam",) if quick else ("Adam", "SGD")
        n_rates, n_seeds = (2, 2) if quick else (None, 3)
        for task, optimizer, loss in itertools.product(tasks, optimizers, LOSSES):
            yield task, size, optimizer, loss, n_rates, n_seeds


def summarize(rows):
    """Print mean AUC by loss, batch and optimiser, and how far each is behind BCE."""
    by_task = defaultdict(lambda: defaultdict(list))
    seconds = defaultdict(list)
    for row in rows:
        setting = int(row["batch"]), row["optimizer"]
        task = row["task"], row["positives"]
        by_task[setting, row["loss"]][task].append(float(row["test_auc"]))
        seconds[setting, row["loss"]].append(float(row["seconds"]))
    for setting in sorted({setting for setting, _ in by_task}):
        print(f"\nBatches of {setting[0]}, {setting[1]}\n")
        print("| loss | AUC | lead over BCE | worst | seconds |\n|---|---|---|---|---|")
        for loss in LOSSES:
            tasks = by_task[setting, loss]
            auc = np.array([np.mean(tasks[key]) for key in tasks])
            base = np.array([np.mean(by_task[setting, "BCE"][key]) for key in tasks])
            lead = auc - base
            error = lead.std(ddof=1) / len(lead) ** 0.5
            print(
                f"| {loss} | {auc.mean():.4f} | {lead.mean():+.4f} ± {error:.4f} "
                f"| {lead.min():+.4f} | {np.mean(seconds[setting, loss]):.2f} |"
            )


def saved_rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--batch", type=int, choices=(8, 64, 512))
    options = parser.parse_args()
    path = HERE / ("networks_quick.csv" if options.quick else "networks.csv")
    source = (
        "its own code" if AUCMLoss is not None else "the formula of its paper, by SGD"
    )
    print(f"AUCM (LibAUC): {source}.", flush=True)
    if not path.exists():
        names = "task,positives,batch,optimizer,loss,rate,seed,test_auc,seconds"
        path.write_text(names + "\n")
    columns = ("task", "positives", "batch", "optimizer", "loss")
    is_done = {tuple(row[name] for name in columns) for row in saved_rows(path)}
    left = [
        job
        for job in jobs(quick=options.quick)
        if options.batch in (None, job[1])
        and tuple("" if x is None else str(x) for x in (*job[0], *job[1:4]))
        not in is_done
    ]
    with (
        multiprocessing.get_context("spawn").Pool(2) as pool,
        path.open("a", newline="") as file,
    ):
        for result in pool.imap_unordered(run, left):
            csv.writer(file, lineterminator="\n").writerows(result)
            file.flush()
    summarize(saved_rows(path))


if __name__ == "__main__":
    main()

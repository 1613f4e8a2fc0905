"""Compare losses for small networks and a rare class by AUC on test rows.

A convolutional network on four image sets, one class against the nine others, with
positives dropped until 1%, 2%, 5% or 10% remain; and a network with one hidden layer on
six tables: 22 tasks. Batches of 64 and 512 rows, with Adam and with SGD with momentum;
``--batch 8`` adds small ones.

For each loss and each of its six learning rates three networks are trained, each
without one third of the rows. Their mean AUC on those thirds selects the rate and the
number of steps; the test AUC is that of these three networks. LibAUC's AUCMLoss runs
with its own optimizer and sampler, if ``libauc`` is installed. Its sampler balances the
classes, so other losses also run with rare positives repeated.

Prints mean test AUC with standard errors over tasks, and saves every network in
``networks.csv``, with the seconds that all networks of a task took. A run that was
stopped resumes from there; ``--batch 64 --optimizer Adam`` selects a setting. Needs
ROCPATH_DATA and torch. ``--quick`` is a smaller run of minutes, with Adam only, saved
in ``networks_quick.csv``.
"""

import argparse
import csv
import itertools
import multiprocessing
import os
import time
from pathlib import Path

import torch

from network_summary import RECIPE, summarize
from network_tasks import IMAGES, RARE, TABLES, load_images, load_table
from network_training import WAYS, evaluate_task

HERE = Path(__file__).parent
FIELDS = (
    *("task", "positives", "batch", "optimizer", "loss", "rate", "part", "fold"),
    *("valid_auc", "test_auc", "row_error", "seconds"),
)
BATCHES = (64, 512)
SETTINGS = list(itertools.product((*BATCHES, 8), ("Adam", "SGD")))
# glibc returns large blocks at once, and allocating them again takes most of the time.
KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": "4000000000", "MALLOC_TRIM_THRESHOLD_": "4000000000"}


def run(job):
    """Return the rows of the CSV file for one task."""
    (name, share), size, optimizer = job
    begin = time.perf_counter()
    torch.set_num_threads(1)
    task = load_images(name, share) if name in IMAGES else load_table(name)
    # The choice of `network_choice.py`, which is cross-entropy without a rare class.
    is_rare = task.y.float().mean() < RARE
    ways = WAYS if is_rare else {**WAYS, RECIPE: WAYS["BCE"]}
    rows = list(evaluate_task(task, optimizer, size, ways))
    seconds = round(time.perf_counter() - begin, 1)
    return [(name, share or "", size, optimizer, *row, seconds) for row in rows]


def jobs(*, quick):
    """Yield tasks with batch size and optimizer."""
    tables = [(name, None) for name in (TABLES[:3] if quick else TABLES)]
    shares = (0.05,) if quick else (0.01, 0.1, 0.05, 0.02)
    images = list(IMAGES)[1:3] if quick else IMAGES
    settings = [SETTINGS[0], SETTINGS[2]] if quick else SETTINGS
    for setting in settings:
        for task in [*tables, *((name, share) for share in shares for name in images)]:
            yield task, *setting


def in_processes(function, jobs, n_processes):
    """Yield the results of a function for each job, in any order."""
    os.environ.update(KEEP_MEMORY)
    with multiprocessing.get_context("spawn").Pool(n_processes) as pool:
        yield from pool.imap_unordered(function, jobs, chunksize=1)


def saved_rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--batch", type=int, choices=(8, 64, 512))
    parser.add_argument("--optimizer", choices=("Adam", "SGD"))
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    path = HERE / ("networks_quick.csv" if options.quick else "networks.csv")
    if not path.exists():
        path.write_text(",".join(FIELDS) + "\n")
    is_done = {tuple(row[name] for name in FIELDS[:4]) for row in saved_rows(path)}
    left = [
        (task, size, optimizer)
        for task, size, optimizer in jobs(quick=options.quick)
        if (size == options.batch if options.batch else size in BATCHES)
        and options.optimizer in (None, optimizer)
        and (task[0], str(task[1] or ""), str(size), optimizer) not in is_done
    ]
    begin = time.perf_counter()
    with path.open("a", newline="") as file:
        for result in in_processes(run, left, options.processes):
            csv.writer(file, lineterminator="\n").writerows(result)
            file.flush()
    summarize(saved_rows(path))
    print(f"\n{len(left)} runs took {time.perf_counter() - begin:.0f} s.")


if __name__ == "__main__":
    main()

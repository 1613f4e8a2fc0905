"""Compare losses for small networks and a rare class by AUC on test rows.

The 22 tasks (`network_tasks.py`) are four image sets with 1% and 5% positives, for a
convolutional network, and 14 tables, for a network with one hidden layer. Batches have 64
or 512 rows. Networks are trained by Adam, except that LibAUC's AUCMLoss has its own
optimizer and sampler. The sampler balances the classes, so three losses are also trained
with rare positives repeated. Each seed determines new rows, initial weights and batches.

For each loss and each of its six learning rates, three networks are trained, each without
one third of the rows. Their mean AUC on those thirds selects the rate and the number of
steps; the test AUC is the mean over these three networks.

Appends to ``networks.csv`` after each task, and resumes from there; ``--seconds`` limits
the CPU time of a run. `network_summary.py` turns the file into the tables of
docs/losses.md. Needs ROCPATH_DATA, torch and libauc.
"""

import argparse
import csv
import itertools
import os
import sys
import time
from pathlib import Path

PATH = Path(__file__).parent / "results" / "networks.csv"
FIELDS = (
    *("seed", "batch", "task", "family", "positives", "loss", "rate", "part"),
    *("valid_auc", "test_auc", "cpu_seconds"),
)
# By default, glibc returns large blocks to the system immediately, and allocating them again would
# dominate the time.
KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": "4000000000", "MALLOC_TRIM_THRESHOLD_": "4000000000"}


def saved_rows():
    with PATH.open(newline="") as file:
        return list(csv.DictReader(file))


def run(seed, size, name, source):
    """Return the rows of the CSV file for one task."""
    from network_training import evaluate_task

    begin = time.process_time()
    task = source.load(seed)
    share = round(float(task.y.float().mean()), 4)
    rows = list(evaluate_task(task, size, seed))
    seconds = round(time.process_time() - begin, 1)
    return [(seed, size, name, source.family, share, *row, seconds) for row in rows]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3600.0)
    options = parser.parse_args()
    if any(os.environ.get(name) != value for name, value in KEEP_MEMORY.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **KEEP_MEMORY})
    import torch

    from network_tasks import TASKS

    torch.set_num_threads(1)
    if not PATH.exists():
        PATH.write_text(",".join(FIELDS) + "\n")
    is_done = {(row["seed"], row["batch"], row["task"]) for row in saved_rows()}
    # Seeds run one after another, so that an interrupted run has complete seeds.
    for seed, size, name in itertools.product(range(options.seeds), (64, 512), TASKS):
        if time.process_time() > options.seconds:
            break
        # Pima has fewer rows than a large batch.
        if (str(seed), str(size), name) not in is_done and (size, name) != (512, "Pima"):
            rows = run(seed, size, name, TASKS[name])
            with PATH.open("a", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows(rows)
            print(*rows[0], flush=True)


if __name__ == "__main__":
    main()

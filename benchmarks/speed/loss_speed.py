"""Time the torch losses on a million scores, relative to the core and to a sort.

Measures the CPU time of a forward and a backward pass of each loss on one thread (median of
nine). Up to half of this time can be spent by the operating system on allocating memory, until
larger tensors have been freed, so the AUM loss is timed before and after that. Prints a table
with ratios and saves ``loss_speed.csv``. Needs torch.
"""

import csv
import time
from pathlib import Path

import numpy as np
import torch

import rocpath as rp
from rocpath.torch import aum_loss, pairwise_squared_hinge, smoothed_auc_loss

N_ROWS = 1_000_000
N_TIMES = 9


def milliseconds(call):
    taken = []
    for _ in range(N_TIMES):
        begin = time.process_time()
        call()
        taken.append(1e3 * (time.process_time() - begin))
    return float(np.median(taken))


def main():
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    y = rng.random(N_ROWS) < 0.1
    prediction = rng.normal(size=N_ROWS) + y
    bp = rp.ErrorBreakpoints.from_labels(y, margin=1.0)
    target = torch.tensor(y)
    scores = torch.tensor(prediction, requires_grad=True)

    def pass_of(loss):
        scores.grad = None
        loss(scores, target).backward()

    def of_core():
        rp.aum(bp, prediction)
        rp.aum_gradient(bp, prediction)

    first = milliseconds(lambda: pass_of(aum_loss))
    # From now on the allocator keeps freed memory, as after any training step.
    held = [torch.empty(4 * N_ROWS) for _ in range(3)]
    del held
    core = milliseconds(of_core)
    sort = milliseconds(lambda: scores.detach().sort())
    rows = [("rp.aum and rp.aum_gradient", core, 1.0), ("torch.sort", sort, 1.0)]
    for loss, unit in ((aum_loss, core), (pairwise_squared_hinge, sort), (smoothed_auc_loss, sort)):
        taken = milliseconds(lambda loss=loss: pass_of(loss))
        rows.append((loss.__name__, taken, taken / unit))
    rows.append(("aum_loss, first passes of a process", first, first / core))
    print("| | ms | ratio |\n|---|---|---|")
    for name, taken, ratio in rows:
        print(f"| {name} | {taken:.1f} | {ratio:.2f} |")
    with (Path(__file__).parent / "results" / "loss_speed.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("what", "milliseconds", "ratio"), *rows])


if __name__ == "__main__":
    main()

"""Coverage of the confidence intervals for the locations of changes.

    python benchmarks/coverage/change_locations.py --repeats 400

Three changes in 300 observations. An interval is evaluated if the number of detected changes is
correct. Results are written to results/change_locations.csv.
"""

import argparse
import csv
import warnings
from pathlib import Path

import numpy as np

from rocpath import changepoint as cp

LENGTH = 75
CHANGES = np.arange(1, 4) * LENGTH


def steps(jump):
    return np.repeat([0.0, jump, 0.0, -jump], LENGTH)


def autoregressive(rng):
    noise = rng.normal(size=4 * LENGTH)
    for t in range(1, noise.size):
        noise[t] = 0.5 * noise[t - 1] + np.sqrt(0.75) * noise[t]
    return noise


def lines(rng, jump):
    time = np.arange(LENGTH)
    up, down = 0.1 * time, -0.1 * time
    x = np.concatenate((up, up[-1] + jump + down, up, up[-1] + jump + down))
    return x + rng.normal(size=x.size)


def problems():
    """Return (name, cost, simulation) of each problem."""
    n = 4 * LENGTH
    mean = np.repeat([5.0, 9.0, 5.0, 2.0], LENGTH)
    return [
        *((f"normal, {j}", "normal", lambda r, j=j: steps(j) + r.normal(size=n))
          for j in (1, 2, 4)),
        *((f"AR(.5), {j}", "normal", lambda r, j=j: steps(j) + autoregressive(r)) for j in (2, 4)),
        *((f"t5, {j}", cost, lambda r, j=j: steps(j) + r.standard_t(5, size=n))
          for cost in ("normal", "biweight") for j in (2, 3)),
        ("counts", "poisson", lambda r: r.poisson(mean).astype(float)),
        ("waiting times", "exponential", lambda r: r.exponential(mean**2)),
        ("0 and 1", "binomial", lambda r: r.binomial(1, mean / 10).astype(float)),
        ("variances", "variance", lambda r: r.normal(0, mean**2)),
        ("mean and variance", "mean_variance", lambda r: r.normal(steps(2), 1 + (mean > 5))),
        ("lines with jumps", "linear", lambda r: lines(r, 4.0)),
        ("kinks", "linear", lambda r: lines(r, 0.0)),
    ]  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=400)
    repeats = parser.parse_args().repeats
    rows = []
    for name, cost, simulation in problems():
        rng, inside, width, n_correct = np.random.default_rng(0), [], [], 0
        for _ in range(repeats):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                (best,) = cp.detect_changes([simulation(rng)], cost=cost)
            if best.n_changes != CHANGES.size:
                continue
            n_correct += 1
            low, high = best.intervals.T
            inside += ((low <= CHANGES) & (high >= CHANGES)).tolist()
            width += (high - low + 1).tolist()
        coverage = float(np.mean(inside))
        error = float(np.sqrt(coverage * (1 - coverage) / len(inside)))
        rows.append([name, cost, n_correct / repeats, coverage, error, float(np.mean(width))])
        print(f"{name:18} {cost:13} correct number {n_correct / repeats:.2f}  "
              f"coverage {coverage:.3f} ({error:.3f})  width {np.mean(width):.1f}")  # fmt: skip
    path = Path(__file__).parent / "results" / "change_locations.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["noise", "cost", "correct_number", "coverage", "error", "width"])
        writer.writerows([*row[:2], *(f"{one:.4f}" for one in row[2:])] for row in rows)


if __name__ == "__main__":
    main()

"""Time of PELT searches for several columns, and mean and variance, beside skchange.

    python benchmarks/column_speed.py

Install numba for a fair comparison: skchange compiles its searches with it.
"""

from __future__ import annotations

import time
from importlib.util import find_spec

import numpy as np
import skchange.interval_scorers as scorers
from skchange.detectors import PELT

from rocpath import changepoint as cp

SIZES = ((10**4, 100), (10**4, 1000), (10**5, 1000), (10**5, 100))


def seconds(run):
    start = time.perf_counter()
    found = run()
    return time.perf_counter() - start, found


def main():
    print(f"numba: {'yes' if find_spec('numba') else 'no'}")
    rng = np.random.default_rng(0)
    for n, n_segments in SIZES:
        for d, cost in ((3, "normal"), (1, "mean_variance")):
            level = rng.normal(size=(n_segments, d)) * 5
            x = np.repeat(level, n // n_segments, axis=0) + rng.normal(size=(n, d))
            penalty = (d + 1 if cost == "normal" else 3) * np.log(n)
            is_mean = cost == "normal"
            theirs = PELT(
                cost=scorers.L2Cost() if is_mean else scorers.GaussianCost(),
                penalty=penalty,
                min_segment_length=1 if is_mean else 2,
            )
            theirs.fit(x[:200]).predict(x[:200])  # compiles
            own, found = seconds(lambda x=x, p=penalty, c=cost: cp.segment_penalty(x, p, cost=c))
            other, changes = seconds(lambda x=x, t=theirs: t.fit(x).predict(x))
            print(
                f"n {n:7,} segments {n_segments:5,} columns {d} {cost:13} "
                f"ours {own:.3f} s, skchange {other:.3f} s, ratio {other / own:.1f}; "
                f"changes {found.n_changes} and {len(changes)}"
            )


if __name__ == "__main__":
    main()

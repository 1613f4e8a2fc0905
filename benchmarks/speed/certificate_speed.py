"""Sizes of certificates, and the CPU time to find, prove and verify the best AUC step.

Usage: ``python benchmarks/speed/certificate_speed.py [n ...]``; 1,000 and 10,000 lines by
default. Times are in seconds and in units of S, a stable argsort of 10^6 float64.
"""

import sys
import time

import numpy as np

import rocpath as rp

_LARGEST_FOR_PYTHON = 10_000


def timed(function, *arguments, **options):
    """Return a result and the CPU time in seconds."""
    start = time.process_time()
    result = function(*arguments, **options)
    return result, time.process_time() - start


def normal_lines(n):
    """Return lines of normal predictions that rank 30% positives better than chance."""
    rng = np.random.default_rng(1)
    y = rng.random(n) < 0.3
    predictions, direction = rng.normal(size=n) + y, rng.normal(size=n) + 0.5 * y
    return rp.Lines.from_predictions(rp.ErrorBreakpoints.from_labels(y), predictions, direction)


def main(sizes):
    """Print one row for each number of lines."""
    x = np.random.default_rng(0).normal(size=10**6)
    unit = min(timed(np.argsort, x, kind="stable")[1] for _ in range(3))
    print(f"S = {unit:.3f} s")
    for n in sizes:
        lines = normal_lines(n)
        search = min(timed(rp.best_auc_step, lines)[1] for _ in range(3))
        best, proof = timed(rp.best_auc_step, lines, certificate=True)
        times = {"search": search, "with proof": proof}
        times["verify, compiled"] = timed(rp.verify, lines, best, compiled=True)[1]
        if n <= _LARGEST_FOR_PYTHON:
            times["verify, Python"] = timed(rp.verify, lines, best)[1]
        listed = ", ".join(f"{k} {t:.3f} s = {t / unit:.2f} S" for k, t in times.items())
        print(f"{n:,} lines, {best.certificate}: {listed}")


if __name__ == "__main__":
    main([int(n) for n in sys.argv[1:]] or [1_000, 10_000])

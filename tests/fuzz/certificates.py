"""Verify certificates of best steps for 100 to 2,000 lines with float coordinates.

Usage: ``python tests/fuzz/certificates.py [--seed N] [--problems N] [--seconds S]``.

The checker's brute force ends at 120 lines. A certificate proves the result for any
number of lines. One in 20 is verified in Python, the others by compiled code. Regions
have decimal borders, or random ones that are rounded to 60 bits. Prints each failure with
its seed, and the numbers of proofs; the exit code is 1 if any failed.
"""

import argparse
import sys
import time

import numpy as np

import rocpath as rp


def drawn_lines(rng):
    """Return lines of labels, with weights or rates, and sometimes with ties."""
    n = int(rng.integers(100, 2001) if rng.random() < 0.3 else rng.integers(100, 400))
    y = rng.random(n) < rng.choice([0.05, 0.3, 0.5])
    y[:2] = [True, False]
    shift = rng.choice([0.0, 0.5, 1.0], 2)
    kind = rng.integers(4)
    predictions, direction = rng.normal(size=(2, n)) + np.outer(shift, y)
    if kind == 1:
        predictions, direction = predictions.round(1), direction.round(1)
    if kind == 2:
        predictions *= 10.0 ** rng.integers(-6, 7, n)
    weight = rng.integers(1, 9, n) / 8 if rng.random() < 0.4 else None
    bp = rp.ErrorBreakpoints.from_labels(y, sample_weight=weight)
    return rp.Lines.from_predictions(bp, predictions, direction)


def drawn_search(rng):
    """Return random arguments of `best_auc_step`."""
    search = {"two_sided": bool(rng.integers(2)), "tol": float(rng.choice([0, 0, 0, 1e-3]))}
    if rng.random() < 0.3:
        search["max_step"] = float(rng.exponential())
    if rng.random() < 0.4:
        search["max_fpr"] = float(rng.choice([0.1, 0.25, rng.uniform(0.05, 1)]))
        if rng.random() < 0.3:
            search["min_tpr"] = float(rng.choice([0.1, 0.5, rng.uniform(0.05, 0.9)]))
    return search


def is_proved(seed):
    """Whether both best steps of a random problem are proved."""
    rng = np.random.default_rng(seed)
    lines, search = drawn_lines(rng), drawn_search(rng)
    try:
        best = rp.best_auc_step(lines, **search, certificate=True)
        rp.verify(lines, best, compiled=bool(rng.random() > 0.05))
        rp.verify(lines, rp.best_aum_step(lines, certificate=True))
    except Exception as error:  # report the seed of whatever goes wrong
        print(f"FAILED seed {seed}: {len(lines)} lines, {search}: {error!r}", flush=True)
        return False
    return True


def main():
    """Verify certificates until the given number or time is reached."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--problems", type=int, default=10**9)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    start, n_proved, n_failed = time.monotonic(), 0, 0
    for seed in range(options.seed, options.seed + options.problems):
        if time.monotonic() - start > options.seconds:
            break
        is_right = is_proved(seed)
        n_proved, n_failed = n_proved + is_right, n_failed + (not is_right)
    print(f"seed {options.seed}: {n_proved:,} problems proved, {n_failed} failed")
    return 1 if n_failed else 0


if __name__ == "__main__":
    sys.exit(main())

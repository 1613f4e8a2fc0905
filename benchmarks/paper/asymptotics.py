"""Measure how the cost of a descent grows with the number of rows.

As in the paper, descents start from standard normal weights, follow full gradients, and
stop when AUM decreases by at most 1e-3. Steps are found by the paper's three line
searches and by ``best_aum_step``.
"""

import time
from statistics import median

import numpy as np

import rocpath as rp
from data import IMAGES, ORDINARY, sample, table

SIZES = (100, 300, 1_000, 3_000, 10_000, 30_000, 60_000)
# Largest n of each line search; beyond it, one descent takes minutes.
LARGEST = {"quadratic": 1_000, "linear": 3_000, "first_min": 10_000, "best_aum": 60_000}
DESCENT_HEAD = ("set", "n", "seed", "step", "steps", "crossings_per_step", "seconds", "aum", "auc")
SEARCH_HEAD = ("set", "n", "seed", "search", "seconds", "aum_evaluations")


def problems(is_quick):
    """Yield (set, n, seed, features, breakpoints, start)."""
    for name in (*IMAGES, *ORDINARY):
        X, y = table(name)
        fewest = 10 / np.mean(y == 0)
        sizes = [n for n in SIZES if fewest <= 1.05 * n and n <= len(y)]
        if name in IMAGES and len(y) not in sizes and len(y) < SIZES[-1]:
            sizes.append(len(y))
        for n in sizes:
            for seed in range(1 if is_quick else 4):
                if is_quick and n > 1_000:
                    continue
                rng = np.random.default_rng(seed)
                rows = sample(y, n, rng)
                start = rng.standard_normal(X.shape[1])
                bp = rp.ErrorBreakpoints.from_labels(y[rows])
                yield name, n, seed, X[rows], bp, start


def descents(is_quick):
    """Yield rows with the columns of DESCENT_HEAD."""
    for name, n, seed, X, bp, start in problems(is_quick):
        for step, largest in LARGEST.items():
            if n > largest:
                continue
            begin = time.perf_counter()
            descent = rp.minimize_aum(X, bp, coef=start, step=step, tol=1e-3, max_steps=10_000)
            seconds = time.perf_counter() - begin
            yield (
                name,
                n,
                seed,
                step,
                descent.n_steps,
                descent.n_crossings[1:].mean(),
                seconds,
                descent.aum[-1],
                descent.auc[-1],
            )


def searches(is_quick):
    """Yield rows with the columns of SEARCH_HEAD.

    Searches along the first direction of each descent are timed in seconds, and in units
    of one evaluation of AUM.
    """
    for name, n, seed, X, bp, start in problems(is_quick):
        predictions = X @ start
        direction = -X @ (X.T @ rp.aum_gradient(bp, predictions))
        lines = rp.Lines.from_predictions(bp, predictions, direction)

        def evaluate(bp=bp, predictions=predictions):
            return rp.aum(bp, predictions)

        def best(lines=lines):
            return rp.best_aum_step(lines)

        def first_min(lines=lines):
            return rp.sweep(lines, stop="first_min_aum")

        def linear(lines=lines):
            return rp.sweep(lines, max_crossings=len(lines))

        unit = median_seconds(evaluate)
        for search, run, largest in (
            ("best_aum_step", best, 60_000),
            ("linear", linear, 60_000),
            ("first_min", first_min, 10_000),
        ):
            if n <= largest:
                seconds = median_seconds(run)
                yield name, n, seed, search, seconds, seconds / unit


def median_seconds(run, repeats=5):
    """Return the median time of a call in seconds."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return median(times)

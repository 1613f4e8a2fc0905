"""Evaluate the default penalty on simulated noise, annotated series and server metrics.

    python benchmarks/accuracy/default_penalty.py simulate --repeats 100
    python benchmarks/accuracy/default_penalty.py annotated
    python benchmarks/accuracy/default_penalty.py metrics
    python benchmarks/accuracy/default_penalty.py sparse --repeats 60

The last command compares the default with a rule that is not used: if at least three
quarters of the observations equal the previous one, successive differences do not
measure the noise, and the penalty could be 2 · variance · log n.

Series come from ``$ROCPATH_DATA/changepoint/series``.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
import time
from pathlib import Path

import numpy as np

from rocpath import changepoint as cp

KINDS = ("iid", "AR .3", "AR .6", "AR .9", "t3", "rounded")
SERIES = Path(os.environ.get("ROCPATH_DATA", "missing")) / "changepoint" / "series"


def autoregressive(n, rho, rng):
    """Return noise of variance 1 with autocorrelation rho."""
    noise = rng.normal(size=n) * np.sqrt(1 - rho**2)
    noise[0] = rng.normal()
    for t in range(1, n):
        noise[t] += rho * noise[t - 1]
    return noise


def noise_of(kind, n, rng):
    """Return noise and its long-run standard deviation."""
    if kind.startswith("AR"):
        rho = float(kind[3:])
        return autoregressive(n, rho, rng), np.sqrt((1 + rho) / (1 - rho))
    if kind == "t3":
        return rng.standard_t(3, size=n), np.sqrt(3.0)
    return rng.normal(size=n), 1.0


def simulated(kind, rng):
    """Return a sequence and its changes, which are large enough to be detected."""
    n = int(rng.integers(400, 2501))
    n_changes = int(rng.integers(0, 21))
    noise, deviation = noise_of(kind, n, rng)
    share = rng.dirichlet(np.full(n_changes + 1, 4.0))
    changes = np.unique(np.cumsum(share * n).astype(int)[:-1])
    changes = changes[(changes >= 10) & (changes <= n - 10)]
    keep = np.diff(changes, prepend=0) >= 10
    changes = changes[keep]
    length = np.diff(np.concatenate(([0], changes, [n])))
    shorter = np.minimum(length[:-1], length[1:])
    size = 7 * deviation * np.sqrt(2 / shorter) + 2
    jump = size * rng.uniform(1, 1.5, size=changes.size)
    jump *= rng.choice([-1, 1], size=changes.size)
    level = np.repeat(np.concatenate(([0.0], np.cumsum(jump))), length)
    x = level + noise
    return (np.round(x) if kind == "rounded" else x), changes


def simulate(repeats):
    print(f"{'noise':9} right number  covering  changes (true)")
    for kind in KINDS:
        rng = np.random.default_rng(0)
        is_right, cover, counts = [], [], []
        for _ in range(repeats):
            x, changes = simulated(kind, rng)
            found = cp.segment_penalty(x, cp.default_penalty(x)).changes
            is_right.append(found.size == changes.size)
            cover.append(cp.covering(found, [changes], n=x.size))
            counts.append((found.size, changes.size))
        mean, true = np.mean(counts, axis=0)
        right, covering = np.mean(is_right), np.mean(cover)
        print(f"{kind:9} {right:12.0%}  {covering:8.3f}  {mean:.1f} ({true:.1f})")
    rng = np.random.default_rng(1)
    for n in (10**5, 10**6):
        x = autoregressive(n, 0.9, rng)
        start = time.process_time()
        penalty = cp.default_penalty(x)
        seconds = time.process_time() - start
        n_changes = cp.segment_penalty(x, penalty).n_changes
        print(f"AR .9 without a change, n = {n:,}: {n_changes} changes, {seconds:.2f} CPU s")


def sparse_sequence(kind, rng):
    """Return a mostly constant sequence and its changes: bursts, steps, or both."""
    n, n_changes = int(rng.integers(400, 2501)), int(rng.integers(1, 21))
    changes = np.sort(rng.choice(np.arange(10, n - 10, 10), n_changes, replace=False))
    length = np.diff(np.concatenate(([0], changes, [n])))
    steps = np.repeat(5 * rng.normal(size=n_changes + 1), length)
    bursts = np.where(rng.random(n) < 0.08, rng.lognormal(size=n), 0.0)
    if kind == "bursts":
        return bursts, changes[:0]
    return (steps, changes) if kind == "steps" else (steps + bursts, changes)


def metric(path):
    """Return the values of a server metric."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return np.array([float(row["value"]) for row in csv.DictReader(file)])


def sparse(repeats):
    def larger(x):
        is_sparse = np.mean(np.diff(x) == 0) >= 0.75
        return 2 * x.var() * np.log(x.size) if is_sparse else cp.default_penalty(x)

    for kind in ("bursts", "steps", "steps and bursts"):
        rng = np.random.default_rng(0)
        pairs = [sparse_sequence(kind, rng) for _ in range(repeats)]
        for name, rule in (("default", cp.default_penalty), ("larger", larger)):
            detected = [cp.segment_penalty(x, rule(x)).changes for x, _ in pairs]
            cover = [
                cp.covering(one, [changes], n=x.size)
                for one, (x, changes) in zip(detected, pairs, strict=True)
            ]
            print(
                f"{kind:17} {name:8} covering {np.mean(cover):.3f}, changes "
                f"{np.mean([one.size for one in detected]):.1f} "
                f"({np.mean([changes.size for _, changes in pairs]):.1f})"
            )
    for path in sorted(SERIES.glob("*.csv.gz")):
        x = metric(path)
        counts = [cp.segment_penalty(x, rule(x)).n_changes for rule in (cp.default_penalty, larger)]
        print(f"{path.name:38} default {counts[0]:4} larger {counts[1]:4} changes")


def annotated():
    text = (SERIES / "annotated.json").read_text(encoding="utf-8")
    covers, scores, none = [], [], []
    for name, one in json.loads(text).items():
        x = np.array([np.nan if v is None else v for v in one["value"]], dtype=float)
        people = [
            [c for c in changes if 0 < c < x.size]
            for changes in one["changes_by_annotator"].values()
        ]
        detected = cp.segment_penalty(x, cp.default_penalty(x)).changes
        covers.append(cp.covering(detected, people, n=x.size))
        scores.append(cp.f1_score(detected, people, n=x.size))
        none.append(cp.covering([], people, n=x.size))
        marked = sorted(len(one) for one in people)
        print(
            f"{name:24} n {x.size:4} found {detected.size:3} marked {marked} "
            f"covering {covers[-1]:.3f} F1 {scores[-1]:.3f}"
        )
    print(
        f"mean covering {np.mean(covers):.3f}, F1 {np.mean(scores):.3f}; "
        f"covering without changes {np.mean(none):.3f}"
    )


def metrics():
    for path in sorted(SERIES.glob("*.csv.gz")):
        x = metric(path)
        start = time.process_time()
        found = cp.segment_penalty(x, cp.default_penalty(x))
        seconds = time.process_time() - start
        (robust,) = cp.detect_changes([x], cost="biweight")
        print(
            f"{path.name:38} n {x.size:5} {found.n_changes:4} changes {seconds:.2f} CPU s; "
            f"biweight {robust.n_changes:4}"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("simulate", "sparse", "annotated", "metrics"))
    parser.add_argument("--repeats", type=int, default=100)
    given = parser.parse_args()
    if given.what in ("simulate", "sparse"):
        {"simulate": simulate, "sparse": sparse}[given.what](given.repeats)
    else:
        {"annotated": annotated, "metrics": metrics}[given.what]()


if __name__ == "__main__":
    main()

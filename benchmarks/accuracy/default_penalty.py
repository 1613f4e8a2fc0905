"""Evaluate the default penalty on simulated noise, annotated series and server metrics.

    python benchmarks/accuracy/default_penalty.py simulate --repeats 100
    python benchmarks/accuracy/default_penalty.py annotated
    python benchmarks/accuracy/default_penalty.py metrics
    python benchmarks/accuracy/default_penalty.py sparse --repeats 60
    python benchmarks/accuracy/default_penalty.py dense --repeats 100
    python benchmarks/accuracy/default_penalty.py columns --repeats 60
    python benchmarks/accuracy/default_penalty.py auto --repeats 40
    python benchmarks/accuracy/default_penalty.py checks --repeats 40

The command sparse compares the default with a rule that is not used: if at least three
quarters of the observations equal the previous one, successive differences do not
measure the noise, and the penalty could be 2 · variance · log n.

The commands auto and annotated include the choice of the cost. Of the 16 annotated series,
those used to choose a rule and those used to evaluate it are the same, except where a
result is marked as leave-one-series-out.

Series come from ``$ROCPATH_DATA/changepoint/series``.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
import time
import warnings
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


def read_annotated():
    """Return the name, values and annotated changes of each series."""
    text = (SERIES / "annotated.json").read_text(encoding="utf-8")
    for name, one in json.loads(text).items():
        x = np.array([np.nan if v is None else v for v in one["value"]], dtype=float)
        people = [
            [c for c in changes if 0 < c < x.size]
            for changes in one["changes_by_annotator"].values()
        ]
        yield name, x, people


def scores(x, people, changes):
    return cp.covering(changes, people, n=x.size), cp.f1_score(changes, people, n=x.size)


def annotated():
    """Print covering and F1 of each cost with its default penalty, and of z-scores."""
    totals, none = {}, []
    for name, x, people in read_annotated():
        z = (x - np.nanmean(x)) / np.nanstd(x)
        changes = {
            f"{factor} log n, z-scores": cp.segment_penalty(z, factor * np.log(x.size)).changes
            for factor in (2, 3)
        }
        for cost in ("normal", "linear", "biweight", "auto"):
            (best,) = quiet(x, cost=cost)
            changes[cost] = best.changes
        for rule, found in changes.items():
            totals.setdefault(rule, []).append(scores(x, people, found))
        none.append(cp.covering([], people, n=x.size))
        marked = sorted(len(one) for one in people)
        shown = ", ".join(f"{rule} {changes[rule].size}" for rule in ("normal", "linear", "auto"))
        print(f"{name:24} n {x.size:4} marked {marked} found {shown}")
    for rule, rows in totals.items():
        covering, f1 = np.mean(rows, axis=0)
        print(f"{rule:20} covering {covering:.3f}, F1 {f1:.3f}")
    print(f"without changes      covering {np.mean(none):.3f}")


def quiet(x, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cp.detect_changes([x], **settings)


def dense(repeats):
    """Print how many changes of alternating levels are found, by the length of the levels."""
    for length in (10, 15, 25, 50):
        rng = np.random.default_rng(length)
        found, cover = [], []
        for _ in range(repeats):
            n_segments = int(rng.integers(500, 5000)) // length
            level = np.repeat(np.tile([0.0, 4.0], n_segments)[:n_segments], length)
            x, changes = level + rng.normal(size=level.size), np.arange(length, level.size, length)
            detected = cp.segment_penalty(x, cp.default_penalty(x)).changes
            gap = np.abs(changes[:, None] - detected).min(axis=1, initial=n_segments * length)
            found.append(np.mean(gap <= 2))
            cover.append(cp.covering(detected, [changes], n=x.size))
        print(f"length {length:3} found {np.mean(found):.3f}  covering {np.mean(cover):.3f}")
    rng, n_false = np.random.default_rng(0), 0
    for _ in range(repeats):
        x = autoregressive(2000, 0.9, rng)
        n_false += cp.segment_penalty(x, cp.default_penalty(x)).n_changes
    print(f"AR .9: {n_false / repeats:.2f} false changes per 2,000 observations")


def column(kind, n, common, rng):
    """Return the noise of a sensor."""
    if kind == "constant":
        return np.zeros(n)
    if kind == "drift":
        return 3 * autoregressive(n, 0.995, rng) + 0.1 * rng.normal(size=n)
    if kind == "correlated":
        return 0.8 * common + 0.6 * rng.normal(size=n)
    noise = autoregressive(n, float(kind[3:]), rng) if kind.startswith("AR") else rng.normal(size=n)
    return np.round(noise) if kind == "rounded" else noise


def columns(repeats):
    """Print the covering for several columns of different noise, some with slow drift."""
    kinds = ("iid", "AR .5", "AR .9", "drift", "rounded", "constant", "correlated")
    for d in (2, 4, 8):
        rng, cover = np.random.default_rng(d), {}
        for _ in range(repeats):
            n, k = int(rng.integers(600, 1400)), int(rng.integers(0, 5))
            changes = np.sort(rng.choice(np.arange(60, n - 60, 60), k, replace=False))
            length = np.diff([0, *changes, n])
            common, rows = autoregressive(n, 0.5, rng), []
            for kind in rng.choice(kinds, d):
                jump = 3 * rng.normal(size=k) * (rng.random(k) < 0.6) * (kind != "constant")
                level = np.repeat(np.concatenate(([0.0], np.cumsum(jump))), length)
                rows.append((column(kind, n, common, rng) + level) * 10 ** rng.uniform(-2, 3))
            x = np.column_stack(rows)
            z = (x - x.mean(axis=0)) / np.where(x.std(axis=0) > 0, x.std(axis=0), 1.0)
            rules = {"default": quiet(x)[0].changes}
            for factor in (2, 3):
                best = cp.segment_penalty(z, factor * d * np.log(n))
                rules[f"{factor} d log n, z-scores"] = best.changes
            for rule, found in rules.items():
                cover.setdefault(rule, []).append(cp.covering(found, [changes], n=n))
        shown = "; ".join(f"{rule} {np.mean(one):.3f}" for rule, one in cover.items())
        print(f"{d} columns: covering {shown}")


def wrong_model(kind, rng):
    """Return a sequence whose segments do not have constant means and normal noise."""
    n = int(rng.integers(300, 2500))
    time, noise = np.arange(n), rng.normal(size=n)
    if kind == "trend":
        return time / n * rng.uniform(5, 40) + noise
    if kind == "season":
        return 2 * np.sin(2 * np.pi * time / int(rng.integers(7, 75))) + noise
    if kind == "spikes":
        return noise + (rng.random(n) < 0.01) * rng.uniform(10, 30, n)
    if kind == "t2":
        return rng.standard_t(2, size=n)
    return np.cumsum(noise) if kind == "random walk" else autoregressive(n, 0.9, rng)


def checks(repeats):
    """Print which warnings are emitted for correct and for wrong models."""
    words = ("period", "linear", "biweight", "random walk", "penalty=")
    rng = np.random.default_rng(0)
    wrong = ("trend", "season", "spikes", "t2", "random walk", "AR .9 noise")
    for kind in (*KINDS, *wrong):
        counts, n_changes = dict.fromkeys(words, 0), 0
        for _ in range(repeats):
            x = wrong_model(kind, rng) if kind in wrong else simulated(kind, rng)[0]
            (best,) = quiet(x)
            n_changes += best.n_changes
            for word in words:
                counts[word] += any(word in text for text in best.warnings)
        shown = ", ".join(f"{word} {count}" for word, count in counts.items() if count)
        print(
            f"{kind:12} changes {n_changes / repeats:5.1f}; of {repeats}: {shown or 'no warning'}"
        )


def auto(repeats):
    """Print the covering of each cost, and of the chosen one, by the kind of the sequence."""
    for kind in (*KINDS, "spikes"):
        rng, cover = np.random.default_rng(0), {}
        for _ in range(repeats):
            x, changes = simulated("iid" if kind == "spikes" else kind, rng)
            if kind == "spikes":
                x = x + (rng.random(x.size) < 0.01) * rng.uniform(10, 30, x.size)
            for cost in ("normal", "linear", "biweight", "auto"):
                found = quiet(x, cost=cost)[0].changes
                cover.setdefault(cost, []).append(cp.covering(found, [changes], n=x.size))
        shown = ", ".join(f"{cost} {np.mean(one):.3f}" for cost, one in cover.items())
        print(f"{kind:9} covering: {shown}")


def metrics():
    for path in sorted(SERIES.glob("*.csv.gz")):
        x = metric(path)
        start = time.process_time()
        found = cp.segment_penalty(x, cp.default_penalty(x))
        seconds = time.process_time() - start
        (robust,) = quiet(x, cost="biweight")
        print(
            f"{path.name:38} n {x.size:5} {found.n_changes:4} changes {seconds:.2f} CPU s; "
            f"biweight {robust.n_changes:4}"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    simulations = {one.__name__: one for one in (simulate, sparse, dense, columns, checks, auto)}
    series = {"annotated": annotated, "metrics": metrics}
    parser.add_argument("what", choices=(*simulations, *series))
    parser.add_argument("--repeats", type=int, default=100)
    given = parser.parse_args()
    if given.what in simulations:
        simulations[given.what](given.repeats)
    else:
        series[given.what]()


if __name__ == "__main__":
    main()

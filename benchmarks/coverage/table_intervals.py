"""Evaluate intervals and thresholds of TableClassifier on tables with dependent rows.

Tables are simulated with groups, with copies of every row, or with autocorrelated rows,
and only logistic regression is fitted, to save time. The true AUC is that of the fitted
model on many new rows. Prints the coverage of the 95% intervals. With ``thresholds``,
models are fitted to tables of 600 independent rows with a maximum false positive rate of
5%, which is compared with the rate on new rows. Writes one line per table to
``table_intervals.csv`` in ``results``.

    nice python benchmarks/coverage/table_intervals.py --tables 200
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

import rocpath as rp
from rocpath.tables import rankers

N_NEW_GROUPS = 1500
N_NEW_ROWS = 20_000
KINDS = ["groups", "copies", "time", "thresholds"]


def grouped_rows(
    rng: np.random.Generator, n_groups: int, size: tuple[int, int], spread: float
) -> pd.DataFrame:
    """Simulate rows of groups with random effects on two columns and on the label."""
    n_rows = rng.integers(size[0], size[1] + 1, n_groups)
    group = np.repeat(np.arange(n_groups), n_rows)
    shift = spread * rng.normal(size=(n_groups, 3))
    X = rng.normal(size=(group.size, 4))
    X[:, :2] += shift[group, :2]
    # A column that is constant in a group identifies it.
    X[:, 3] = rng.normal(size=n_groups)[group]
    logit = X[:, 0] + 0.5 * X[:, 2] + shift[group, 2] - 1.0
    frame = pd.DataFrame(X, columns=list("abcd"))
    return frame.assign(g=group, y=(rng.random(group.size) < expit(logit)).astype(int))


def autocorrelated_rows(rng: np.random.Generator, n_rows: int, correlation: float) -> pd.DataFrame:
    """Simulate rows whose columns and label noise are first-order autoregressions."""
    noise = rng.normal(size=(n_rows, 4)) * np.sqrt(1 - correlation**2)
    value = np.empty((n_rows, 4))
    value[0] = rng.normal(size=4)
    for t in range(1, n_rows):
        value[t] = correlation * value[t - 1] + noise[t]
    frame = pd.DataFrame(value[:, :3], columns=list("abc"))
    score = value[:, 0] + 0.5 * value[:, 1] + value[:, 3]
    return frame.assign(t=np.arange(n_rows), y=(score > 0.8).astype(int))


def evaluated(frame: pd.DataFrame, new: pd.DataFrame, **roles: Any) -> dict[str, float | bool]:
    """Fit logistic regression, and compare its interval with the AUC on new rows."""
    model = rp.TableClassifier("logistic", random_state=0).fit(frame, "y", **roles)
    score = model.comparison_.scores[0]
    true = rp.auc(new["y"].to_numpy(), model.decision_function(new))
    return {
        "n_rows": len(frame),
        "estimate": score.value,
        "low": score.low,
        "high": score.high,
        "true": true,
        "covers": bool(score.low <= true <= score.high),
    }


def simulated(kind: str, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    if kind == "groups":
        size = sorted(rng.integers(2, 51, 2))
        spread = float(rng.choice([0.0, 0.5, 1.0, 2.0]))
        n_groups = int(np.clip(rng.integers(800, 2400) // np.mean(size), 30, 300))
        frame = grouped_rows(rng, n_groups, size, spread)
        new = grouped_rows(rng, N_NEW_GROUPS, size, spread).drop(columns="g")
        result = evaluated(frame, new, groups="g")
        return {"spread": spread, "n_groups": n_groups, **result}
    if kind == "copies":
        frame = grouped_rows(rng, 300, (1, 1), 0.5).drop(columns="g")
        new = grouped_rows(rng, N_NEW_ROWS, (1, 1), 0.5).drop(columns="g")
        n_times = int(rng.integers(2, 6))
        alone = evaluated(frame, new)
        copied = evaluated(pd.concat([frame] * n_times, ignore_index=True), new)
        changes = {
            f"{name}_change": copied[name] - alone[name] for name in ("estimate", "low", "high")
        }
        return {"n_times": n_times, **copied, **changes}
    if kind == "thresholds":
        frame = grouped_rows(rng, 600, (1, 1), 0.5).drop(columns="g")
        new = grouped_rows(rng, N_NEW_ROWS, (1, 1), 0.5).drop(columns="g")
        model = rp.TableClassifier("logistic", max_fpr=0.05, random_state=0)
        is_positive = model.fit(frame, "y").predict(new).astype(int) == 1
        rate = float(is_positive[new["y"].to_numpy() == 0].mean())
        return {"n_rows": 600, "fpr": rate, "covers": rate <= 0.05}
    correlation = float(rng.choice([0.0, 0.5, 0.9, 0.97]))
    frame = autocorrelated_rows(rng, 2000, correlation)
    new = autocorrelated_rows(rng, 100_000, correlation)
    return {"correlation": correlation, **evaluated(frame, new, time="t")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--kinds", nargs="+", default=KINDS)
    arguments = parser.parse_args()
    rankers.METHODS = (rankers.LOGISTIC,)
    rankers.CANDIDATES["logistic"] = (rankers.LOGISTIC,)
    rows = []
    for kind in arguments.kinds:
        results = [simulated(kind, seed) for seed in range(arguments.tables)]
        rows += [{"kind": kind, "seed": k, **one} for k, one in enumerate(results)]
        covered = np.mean([one["covers"] for one in results])
        print(f"{kind}: holds for {100 * covered:.1f}% of {len(results)} tables", flush=True)
        if kind == "thresholds":
            rates = [one["fpr"] for one in results]
            print(f"thresholds: mean FPR {np.mean(rates):.4f}, largest {max(rates):.4f}")
        if kind == "copies":
            names = [name for name in results[0] if name.endswith("_change")]
            worst = max(abs(one[name]) for one in results for name in names)
            print(f"copies: largest change in an estimate or interval bound {worst:.4f}")
        write(rows)


def write(rows: list[dict[str, Any]]) -> None:
    with open(Path(__file__).parent / "results" / "table_intervals.csv", "w", newline="") as file:
        names = list(dict.fromkeys(name for one in rows for name in one))
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()

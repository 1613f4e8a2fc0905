"""Save and plot the times measured by asv, for each benchmark and commit.

``make asv`` runs asv for the last release and for this commit, and then this script,
which adds the results in ``build/asv/results`` to ``speed_history.csv``. Times are in
units of ``np.argsort`` of a million float64 numbers in the same run, so that machines
can be compared. Draws ``speed_history.png``, with one panel per benchmark and one curve
per parameter.
"""

import csv
import json
import math
import re
from itertools import product
from pathlib import Path

import matplotlib as mpl
import numpy as np

RESULTS = Path(__file__).parent / "results"
ASV_RESULTS = Path(__file__).parents[2] / "build" / "asv" / "results"
COLUMNS = ("date", "commit", "benchmark", "parameters", "in_sorts")
SORT = "areas.Areas.time_sort"
SORTED = "1000000"
TIMED = re.compile(r"\.time(?:raw)?_")


def timings(path):
    """Yield name, parameters and seconds of every benchmark in a results file of asv."""
    found = json.loads(path.read_text())
    for name, values in found["results"].items():
        result = dict(zip(found["result_columns"], values, strict=False))
        if not TIMED.search(name) or result.get("result") is None:
            continue
        choices = product(*result["params"])
        for parameters, seconds in zip(choices, result["result"], strict=True):
            if seconds is not None and not math.isnan(seconds):
                words = [one.strip("'") for one in parameters if one != "None"]
                yield name, " ".join(words), seconds


def measured():
    """Return the rows of all commits timed by asv, the oldest first."""
    rows = []
    for path in ASV_RESULTS.glob("*/*.json"):
        if path.name in ("machine.json", "benchmarks.json"):
            continue
        seconds_of = list(timings(path))
        sorts = [s for name, n, s in seconds_of if (name, n) == (SORT, SORTED)]
        if not sorts:
            continue
        head = json.loads(path.read_text())
        date = np.datetime64(head["date"], "ms").astype("datetime64[s]")
        for name, parameters, seconds in seconds_of:
            short = TIMED.split(name)[1]
            if short != "sort":
                commit = head["commit_hash"][:7]
                ratio = f"{seconds / sorts[0]:.4g}"
                rows.append((str(date), commit, short, parameters, ratio))
    return sorted(rows)


def add(path, rows):
    """Add rows to a file, replacing older rows of the same commits."""
    commits = {row[1] for row in rows}
    kept = []
    if path.exists():
        with path.open(newline="") as file:
            old = [tuple(row) for row in csv.reader(file)][1:]
        kept = [row for row in old if row[1] not in commits]
    every = sorted([*kept, *rows])
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([COLUMNS, *every])
    return every


def draw(rows):
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    commits = list(dict.fromkeys(row[1] for row in rows))
    in_sorts = {}
    for _, commit, benchmark, parameters, ratio in rows:
        curve = in_sorts.setdefault(benchmark, {}).setdefault(parameters, {})
        curve[commit] = float(ratio)
    n_columns = 3
    figure, axes = plt.subplots(
        math.ceil(len(in_sorts) / n_columns),
        n_columns,
        figsize=(12, 9),
        sharex=True,
        layout="constrained",
        squeeze=False,
    )
    for ax, (benchmark, curves) in zip(axes.flat, in_sorts.items(), strict=False):
        for parameters, curve in curves.items():
            at = [commits.index(commit) for commit in curve]
            ax.semilogy(at, list(curve.values()), marker="o", label=parameters)
        ax.set_title(benchmark, fontsize=10)
        ax.set_xticks(range(len(commits)), commits)
        ax.margins(x=0.2)
        ax.legend(fontsize=7, frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
        ax.grid(alpha=0.3)
    for ax in axes.flat[len(in_sorts) :]:
        ax.set_axis_off()
    figure.supylabel("time in sorts of a million numbers")
    figure.savefig(RESULTS / "speed_history.png", dpi=110)


def main():
    rows = measured()
    if not rows:
        raise SystemExit("build/asv/results has no times: run `make asv` first.")
    every = add(RESULTS / "speed_history.csv", rows)
    draw(every)
    print("| benchmark | parameters | commit | time in sorts |\n|---|---|---|---|")
    for _, commit, benchmark, parameters, ratio in sorted(
        every, key=lambda row: (row[2], row[3], row[0])
    ):
        print(f"| {benchmark} | {parameters} | {commit} | {ratio} |")


if __name__ == "__main__":
    main()

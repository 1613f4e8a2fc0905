"""Draw how times changed from commit to commit, from what ``make asv`` measured.

Reads asv's results and the names that git has for the commits, and saves
``speed_history.csv``: each time as a ratio to sorting a million numbers at the same
commit, because machines are noisy. Draws ``docs/speed_history.png`` from the file.
"""

import csv
import itertools
import json
import subprocess
from collections import defaultdict
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
RESULTS = HERE.parent / "build" / "asv" / "results"
TABLE = HERE / "speed_history.csv"
SORT = ("areas.Areas.time_sort", "1000000")
# One panel for each file of benchmarks/asv; times of less than this many sorts of a
# million numbers are noise of a call, and are left out.
LEAST = 1e-4


def measured(path):
    """Give (benchmark, parameters, seconds) of one commit."""
    results = json.loads(path.read_text())
    columns = results["result_columns"]
    for name, values in results["results"].items():
        row = dict(zip(columns, values, strict=False))
        if ".time_" not in name or row["result"] is None:
            continue
        settings = itertools.product(*row["params"])
        for setting, seconds in zip(settings, row["result"], strict=True):
            if seconds is not None:
                yield name, " ".join(part.strip("'") for part in setting), seconds


def gathered():
    """Give rows of the table, the oldest commit first."""
    for path in sorted(RESULTS.glob("*/*-*.json")):
        commit = json.loads(path.read_text())["commit_hash"][:8]
        git = ["git", "show", "--no-patch", "--format=%cI", commit]
        date = subprocess.run(git, capture_output=True, text=True, check=True).stdout
        rows = list(measured(path))
        sort = next(seconds for *what, seconds in rows if tuple(what) == SORT)
        for name, setting, seconds in rows:
            yield date.strip(), commit, name, setting, f"{seconds / sort:.5g}"


def draw(rows):
    curves = defaultdict(lambda: defaultdict(list))
    commits = list(dict.fromkeys(row["commit"] for row in rows))
    for row in rows:
        ratio = float(row["ratio_to_sort"])
        what = (row["benchmark"], row["parameters"])
        if ratio >= LEAST and what != SORT:
            room, _, function = row["benchmark"].split(".")
            label = f"{function.removeprefix('time_')} {row['parameters']}"
            point = commits.index(row["commit"]), ratio
            curves[room][label].append(point)
    figure, panels = plt.subplots(
        2, 2, figsize=(11, 8), layout="constrained", sharex=True
    )
    for axes, (room, lines) in zip(panels.flat, curves.items(), strict=False):
        for label, points in lines.items():
            axes.plot(*zip(*points, strict=True), marker="o", ms=3, label=label)
        axes.set(title=room, yscale="log", ylabel="sorts of a million numbers")
        axes.set_xticks(range(len(commits)), commits)
        axes.legend(fontsize=6, ncols=2, frameon=False)
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(HERE.parent / "docs" / "speed_history.png", dpi=110)


def main():
    rows = sorted(gathered())
    head = ("date", "commit", "benchmark", "parameters", "ratio_to_sort")
    if rows:
        with TABLE.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(head)
            writer.writerows(rows)
    with TABLE.open() as file:
        draw(list(csv.DictReader(file)))


if __name__ == "__main__":
    main()

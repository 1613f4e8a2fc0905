"""Draw the figures of the experiments from their CSV files."""

import csv
from collections import defaultdict

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
import matplotlib.pyplot as plt

COLORS = {
    "linear": "#0072b2",
    "quadratic": "#d55e00",
    "first_min": "#e69f00",
    "best_aum": "#009e73",
    "best_aum_step": "#009e73",
}
METHOD_COLORS = {
    "plain": "#d55e00",
    "unit norm": "#0072b2",
    "margin and L2": "#cc79a7",
    "AUC steps": "#009e73",
}
MARKERS = "os^D"


def draw_all(results, pictures):
    """Draw the figures of the results that exist, as PNG files in a folder."""
    for name, draw in FIGURES.items():
        path = results / f"{name}.csv"
        if path.exists():
            with path.open() as file:
                rows = list(csv.DictReader(file))
            for suffix, figure in draw(rows):
                figure.savefig(pictures / f"experiments_{name}{suffix}.png", dpi=120)
                plt.close(figure)


def draw_descents(rows):
    """Draw crossings per step, steps, and seconds of a descent against n."""
    for suffix, column, label in (
        ("_crossings", "crossings_per_step", "crossings per step"),
        ("_steps", "steps", "steps of a descent"),
        ("_seconds", "seconds", "seconds of a descent"),
    ):
        figure, panels = panels_by_set(rows, "step", column, label)
        if suffix == "_crossings":
            for ax in panels.values():
                n = np.array(sorted({int(row["n"]) for row in rows}))
                ax.plot(n, n * (n - 1) / 2, color="k", linewidth=1, zorder=0)
                ax.set_ylim(30, 3e8)
            first = next(iter(panels.values()))
            first.annotate(
                "n(n - 1)/2", (2e3, 2e6), (-6, 6), textcoords="offset points", ha="right", color="k"
            )
        yield suffix, figure


def draw_searches(rows):
    """Draw seconds of one search along the first direction of a descent."""
    figure, _ = panels_by_set(rows, "search", "seconds", "seconds of a search")
    yield "", figure


def panels_by_set(rows, method, column, label):
    """Draw a column against n on log scales, one panel per data set."""
    values = defaultdict(lambda: defaultdict(list))
    for row in rows:
        values[row["set"], row[method]][int(row["n"])].append(float(row[column]))
    names = list(dict.fromkeys(row["set"] for row in rows))
    methods = list(dict.fromkeys(row[method] for row in rows if float(row[column]) > 0))
    figure, grid = plt.subplots(
        2, 3, figsize=(9, 5.5), sharex=True, sharey=True, layout="constrained"
    )
    panels = dict(zip(names, grid.flat, strict=False))
    for name, ax in panels.items():
        for one, marker in zip(methods, MARKERS, strict=False):
            sizes = np.array(sorted(values[name, one]))
            means = np.array([np.mean(values[name, one][n]) for n in sizes])
            if sizes.size:
                ax.plot(sizes, means, color=COLORS[one], marker=marker, markersize=4)
        ax.set(title=name, xscale="log", yscale="log")
        ax.grid(color="0.9", linewidth=0.6)
    for ax in grid[:, 0]:
        ax.set_ylabel(label)
    for ax in grid[-1]:
        ax.set_xlabel("n, rows")
    handles = [
        mpl.lines.Line2D([], [], color=COLORS[one], marker=marker, label=one)
        for one, marker in zip(methods, MARKERS, strict=False)
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=4, frameon=False)
    return figure, panels


def draw_changepoints(rows):
    """Draw the largest validation AUC by fold and method, one dot per seed."""
    methods = [
        method
        for method in dict.fromkeys(row["method"] for row in rows)
        if method not in ("no model", "initial model, wrong sign")
    ]
    folds = sorted({row["fold"] for row in rows})
    figure, grid = plt.subplots(
        1, len(folds), figsize=(10, 4.2), sharey=True, squeeze=False, layout="constrained"
    )
    for fold, ax in zip(folds, grid.flat, strict=True):
        for row in rows:
            if row["fold"] == fold and row["method"] in methods:
                _draw_split(ax, methods.index(row["method"]), row)
        ax.set(title=f"test fold {fold}", xlabel="largest validation AUC")
        ax.grid(color="0.9", linewidth=0.6)
        ax.locator_params(axis="x", nbins=4)
    ax = grid.flat[0]
    ax.set_yticks(range(len(methods)), methods)
    ax.invert_yaxis()
    handles = [
        mpl.lines.Line2D([], [], linestyle="", marker=marker, color=color, label=label)
        for marker, color, label in (
            ("o", "#0072b2", "the paper's split"),
            ("o", "0.7", "other seeds"),
            ("x", "#d55e00", "published"),
        )
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=3, frameon=False)
    yield "", figure


def _draw_split(ax, height, row):
    """Draw a dot for one split, and a cross for its published value."""
    is_paper = row["seed"] == "0"
    ax.plot(
        float(row["validation_auc"]),
        height,
        "o",
        color="#0072b2" if is_paper else "0.7",
        markersize=6 if is_paper else 4,
        zorder=3 if is_paper else 2,
    )
    if row["published"]:
        ax.plot(float(row["published"]), height, "x", color="#d55e00", zorder=4)


def draw_ties(rows):
    """Draw the fraction of paths with a wrong AUM or AUC."""
    wrong = defaultdict(list)
    for row in rows:
        is_wrong = int(row["wrong_aum"]) + int(row["wrong_auc"]) > 0
        wrong[row["search"], row["set"]].append(is_wrong)
    searches = list(dict.fromkeys(search for search, _ in wrong))
    names = list(dict.fromkeys(name for _, name in wrong))
    figure, ax = plt.subplots(figsize=(6.5, 3), layout="constrained")
    for k, (search, color) in enumerate(
        zip(searches, ("#d55e00", "#e69f00", "#009e73"), strict=True)
    ):
        share = [100 * np.mean(wrong[search, name]) for name in names]
        bars = ax.bar(np.arange(len(names)) + 0.27 * (k - 1), share, 0.25, color=color)
        ax.bar_label(bars, fmt="%.0f")
        bars.set_label(search)
    ax.set_xticks(range(len(names)), names)
    ax.set(ylabel="wrong paths, %", ylim=(0, 112))
    figure.legend(loc="outside upper center", ncols=3, frameon=False)
    yield "", figure


def draw_collapse(rows):
    """Draw AUC on test rows after each step, from both initial models."""
    path = defaultdict(list)
    for row in rows:
        path[row["start"], row["set"], row["method"]].append(float(row["test_auc"]))
    starts = list(dict.fromkeys(key[0] for key in path))
    names = list(dict.fromkeys(key[1] for key in path))
    figure, grid = plt.subplots(
        len(starts), len(names), figsize=(11, 4.6), sharex=True, squeeze=False, layout="constrained"
    )
    for name, ax in zip(names, grid[0], strict=True):
        ax.set_title(name, fontsize=10)
    for start, row in zip(starts, grid, strict=True):
        for name, ax in zip(names, row, strict=True):
            for method, color in METHOD_COLORS.items():
                areas = path[start, name, method]
                ax.plot(areas, color=color, linewidth=1.5, label=method)
            if start == "normal":
                last = [path[start, name, method][-1] for method in METHOD_COLORS]
                ax.set_ylim(bottom=min(last) - 0.1, top=max(last) + 0.02)
            ax.grid(color="0.9", linewidth=0.6)
        row[0].set_ylabel(f"test AUC,\nfrom {start} start")
    for ax in grid[-1]:
        ax.set_xlabel("step")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False)
    yield "", figure


def draw_scale(rows):
    """Draw seconds of each computation of one step against n."""
    seconds = defaultdict(list)
    for row in rows:
        seconds[row["part"]].append(float(row["seconds"]))
    n = sorted({int(row["n"]) for row in rows})
    figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
    for marker, (name, cost) in zip(MARKERS * 2, seconds.items(), strict=False):
        slope = np.polyfit(np.log(n), np.log(cost), 1)[0]
        ax.loglog(n, cost, marker=marker, label=f"{name} (slope {slope:.2f})")
    first = min(min(cost) for cost in seconds.values())
    ax.loglog(n, first * np.array(n) / n[0], color="0.7", linestyle="--", label="n")
    ax.set(xlabel="n", ylabel="seconds")
    ax.legend(loc="upper left", fontsize=9)
    yield "", figure


FIGURES = {
    "descents": draw_descents,
    "searches": draw_searches,
    "changepoints": draw_changepoints,
    "ties": draw_ties,
    "collapse": draw_collapse,
    "scale": draw_scale,
}

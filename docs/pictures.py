"""Draw the pictures of the README and of docs/searches.md."""

from itertools import pairwise
from pathlib import Path

import matplotlib as mpl
import numpy as np
from sklearn.datasets import load_breast_cancer

import rocpath as rp
from rocpath.plots import LineSearchDisplay

mpl.use("Agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
ORANGE, BLUE, GRAY = "#d55e00", "#0072b2", "0.6"


def example(n=40, seed=3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 4 == 0
    score = rng.normal(size=n) + 0.5 * y
    change = rng.normal(size=n) + 0.8 * y
    bp = rp.ErrorBreakpoints.from_labels(y)
    return y, bp, rp.Lines.from_predictions(bp, score, change)


def draw_minimum_over_thresholds(lines):
    """FP and FN as functions of the constant, and the function that AUM minimizes."""
    threshold = lines.intercept
    constant = np.linspace(threshold.min() - 0.3, threshold.max() + 0.3, 600)
    above = constant[:, None] - threshold
    fp = (lines.fp_diff * (above > 0)).sum(axis=1)
    fn = (-lines.fn_diff * (above < 0)).sum(axis=1)
    area = (lines.fp_diff * np.maximum(0, above)).sum(axis=1)
    area += (-lines.fn_diff * np.maximum(0, -above)).sum(axis=1)
    level = constant[area.argmin()]
    figure, (top, bottom) = plt.subplots(2, 1, figsize=(6.5, 5), sharex=True, layout="constrained")
    top.plot(constant, fp, color=ORANGE, label="FP rate")
    top.plot(constant, fn, color=BLUE, label="FN rate")
    top.fill_between(constant, np.minimum(fp, fn), color=GRAY, alpha=0.5, label="AUM")
    bottom.plot(constant, area, color="k")
    bottom.plot(level, area.min(), "o", color="k")
    bottom.annotate(
        f"minimum {area.min():.3f} = AUM",
        (level, area.min()),
        (0, 90),
        textcoords="offset points",
        ha="center",
        arrowprops={"arrowstyle": "->"},
        bbox={"color": "white"},
    )
    for ax in (top, bottom):
        ax.axvline(level, color="k", linestyle=":", linewidth=1)
    top.set(ylabel="error rate")
    top.legend(frameon=False, loc="center left")
    bottom.set(xlabel="constant c added to the predictions", ylabel="G(c)")
    figure.savefig(HERE / "minimum_over_thresholds.png", dpi=120)


def draw_level(y, lines):
    """The lines, and the level where FP meets FN."""
    step = np.linspace(0, 2, 400)
    threshold = lines.intercept[:, None] + lines.slope[:, None] * step
    weight = lines.fp_diff - lines.fn_diff
    order = np.argsort(threshold, axis=0)
    sums = np.cumsum(weight[order], axis=0)
    row = (sums >= -lines.fn_diff.sum() - 1e-12).argmax(axis=0)
    level = np.take_along_axis(threshold, order, axis=0)[row, np.arange(step.size)]
    path = rp.aum_path(lines, max_step=2.0)
    figure, (top, bottom) = plt.subplots(
        2, 1, figsize=(6.5, 6), sharex=True, height_ratios=(2, 1), layout="constrained"
    )
    for is_positive, color, label in ((False, ORANGE, "negatives"), (True, BLUE, "positives")):
        own = threshold[y == is_positive]
        top.plot(step, own.T, color=color, linewidth=0.6, alpha=0.7)
        top.plot([], [], color=color, label=label)
    top.plot(step, level, color="k", linewidth=2, label="level: FP meets FN")
    bottom.plot(path.step, path.aum, "o-", color="k", markersize=3)
    top.set(ylabel="threshold", ylim=(-4, 4))
    top.legend(frameon=True, loc="upper left")
    bottom.set(xlabel="step size", ylabel="AUM", xlim=(0, 2))
    figure.savefig(HERE / "level.png", dpi=120)


def draw_bound(lines):
    """AUC and the bounds of four windows."""
    path = rp.sweep(lines, max_step=2.0)
    edge = np.linspace(0, 2, 5)
    figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
    ax.stairs(path.auc_after, np.append(path.step, 2), color="k", baseline=None, label="AUC")
    for k, (low, high) in enumerate(pairwise(edge)):
        rows = np.flatnonzero((path.step > low) & (path.step <= high))
        before = np.append(path.auc_after[0], path.auc_after)[rows]
        gain = np.maximum(path.auc_after[rows] - before, 0).sum()
        start = path.auc_at(low)
        ax.fill_between([low, high], start, start + gain, color=BLUE, alpha=0.2)
        ax.plot(
            [low, high],
            [start + gain] * 2,
            color=BLUE,
            label="bound: AUC at the start + all gains" if k == 0 else None,
        )
        ax.plot(low, start, "o", color=BLUE)
    ax.axhline(path.auc_after.max(), color=ORANGE, linestyle=":", label="best AUC")
    ax.set(xlabel="step size", ylabel="AUC")
    ax.legend(frameon=False, loc="lower right")
    ax.set_ylim(0.55, 0.78)
    figure.savefig(HERE / "auc_bound.png", dpi=120)


def draw_line_search():
    """Draw AUC, AUM and the thresholds of sixty examples."""
    rng = np.random.default_rng(1)
    y = np.arange(60) % 3 == 0
    X = rng.normal(size=(60, 3)) + 0.8 * y[:, None]
    bp = rp.ErrorBreakpoints.from_labels(y)
    predictions = X @ [1.0, -1.0, 0.3]
    direction = -X @ (X.T @ rp.aum_gradient(bp, predictions))
    display = LineSearchDisplay.from_predictions(bp, predictions, direction)
    display.figure_.savefig(HERE / "line_search.png", dpi=110)


def draw_step_choice():
    """Draw the example of the README: how much texture to add to the radius."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = (X - X.mean()) / X.std()
    bp = rp.ErrorBreakpoints.from_labels(y == 0)
    lines = rp.Lines.from_predictions(bp, X["mean radius"], X["mean texture"])
    best_auc, best_aum = rp.best_auc_step(lines), rp.best_aum_step(lines)
    step = np.linspace(0, 1, 2001)
    path = rp.sweep(lines, max_step=1.0)
    figure, axes = plt.subplots(1, 2, figsize=(8.5, 3.2), layout="constrained")
    for ax, best, value, name in (
        (axes[0], best_auc, path.auc_at(step), "largest AUC"),
        (axes[1], best_aum, path.aum_at(step), "smallest AUM"),
    ):
        ax.plot(step, value, color="k", linewidth=1)
        ax.plot(best.step, best.value, "o", color=ORANGE)
        ax.axvline(best.step, color=ORANGE, linestyle=":")
        text = f"{name}: {best.value:.4f}\nat step {best.step:.3f}"
        place = (0.28, 0.2) if name == "largest AUC" else (0.24, 0.6)
        ax.text(*place, text, transform=ax.transAxes)
        ax.set(xlabel="step: texture added to the radius", ylabel=name.split()[1])
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(HERE / "step_choice.png", dpi=110)


if __name__ == "__main__":
    draw_step_choice()
    draw_line_search()
    y, bp, lines = example()
    draw_minimum_over_thresholds(lines)
    draw_level(y, lines)
    draw_bound(lines)

"""Run the examples of the README and of the tutorial, write their output, and draw pictures.

    python docs/page_examples.py

The README is also the first page of the documentation.
"""

import contextlib
import io
import os
import re
import tempfile
from pathlib import Path

import matplotlib as mpl
import numpy as np

from rocpath import palette, plots
from rocpath.cli.demo_table import customer_table
from rocpath.plots.canvas import tidy

mpl.use("Agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
README, TUTORIAL = HERE.parent / "README.md", HERE / "start.md"
EXAMPLE = re.compile(r"```python\n(?P<code>.*?)```\n\n```text\n(?P<shown>.*?)```", re.DOTALL)


def run_examples(text):
    """Return the text of a page with the output of its examples, and the names they define."""
    names = {}

    def with_output(match):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(match["code"], names)
        lines = [line.rstrip() for line in output.getvalue().splitlines()]
        return f"```python\n{match['code']}```\n\n```text\n" + "\n".join(lines) + "\n```"

    return EXAMPLE.sub(with_output, text), names


def save(figure, name):
    figure.savefig(HERE / f"first_{name}.png", dpi=110)
    plt.close(figure)


def draw_evaluation(rp, malignant, radius):
    figure, ax = plt.subplots(figsize=(4.6, 4.6), layout="constrained")
    point = rp.choose_threshold(malignant, radius, max_fpr=0.05, confidence=0.95)
    plots.plot_roc(malignant, radius, name="radius", ax=ax, operating_point=point)
    save(figure, "evaluate")


def draw_comparison(comparison):
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 2.3), layout="constrained")
    pairs = {" - ".join(names): pair for names, pair in comparison.differences.items()}
    for ax, rows in ((left, comparison.intervals), (right, pairs)):
        place = np.arange(len(rows))[::-1]
        middle = np.array([row.value for row in rows.values()])
        ends = np.array([(row.low, row.high) for row in rows.values()])
        style = {"fmt": "o", "color": palette.BLUE, "capsize": 4}
        ax.errorbar(middle, place, xerr=np.abs(ends.T - middle), **style)
        ax.set_yticks(place, list(rows))
        ax.set_ylim(-0.6, len(rows) - 0.4)
        tidy(ax)
    right.axvline(0, color=palette.GRAY, linewidth=1, linestyle="--")
    left.set_xlabel("AUC with 95% confidence interval")
    right.set_xlabel("difference with 95% confidence interval")
    save(figure, "compare")


def draw_changes(x, segmentation):
    figure, ax = plt.subplots(figsize=(8.4, 2.4), layout="constrained")
    ax.plot(x, ".", color=palette.GRAY, markersize=3)
    edge = [0, *segmentation.changes, x.size]
    for start, end, mean in zip(edge, edge[1:], segmentation.mean, strict=False):
        ax.plot([start, end], [mean, mean], color=palette.BLUE, linewidth=2.5)
    for change in segmentation.changes:
        ax.axvline(change, color=palette.RED, linewidth=1.5)
    ax.set(xlabel="observation", ylabel="latency (ms)", xlim=(0, x.size))
    tidy(ax)
    save(figure, "detect")


def write_tutorial():
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        os.mkdir("rocpath-demo")
        customer_table().write_csv("rocpath-demo/customers.csv")
        text, _ = run_examples(TUTORIAL.read_text("utf-8"))
        TUTORIAL.write_text(text, "utf-8")


def main():
    text, names = run_examples(README.read_text("utf-8"))
    README.write_text(text, "utf-8")
    draw_evaluation(names["rp"], names["malignant"], names["radius"])
    draw_comparison(names["rp"].compare(names["malignant"], names["scores"]))
    draw_changes(names["latency"], names["segmentation"])
    write_tutorial()


if __name__ == "__main__":
    main()

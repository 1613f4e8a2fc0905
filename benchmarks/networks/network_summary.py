"""Print the tables of docs/losses.md from ``networks.csv``, and write them to that page.

The test AUC of a task is averaged over seeds. Differences are means over tasks of the test AUC
of a loss minus that of cross-entropy, with standard errors over tasks. The next column has the
differences from cross-entropy with positives repeated. The last row estimates the gain of a
recommendation: for each family of tasks, it uses the loss with the largest mean on all other
families. Tasks without results for all seeds are averaged over the available seeds.
"""

import csv
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parents[2] / "docs" / "losses.md"
# The largest learning rate offered, to PESG or to Adam, by batch size (network_training.py).
LARGEST_RATE = {(False, 64): 0.198, (False, 512): 0.396, (True, 64): 19.8, (True, 512): 39.6}
BASE = "BCE"
REPEATED = "BCE, repeated"
RARE = 0.2  # share of positives
# Labels in the tables, by the names in `network_training.py`.
NAMES = {
    "BCE": "cross-entropy",
    "weighted BCE": "weighted cross-entropy",
    "focal": "focal loss",
    "BCE, repeated": "cross-entropy, positives repeated",
    "AUCM (LibAUC)": "AUCM with PESG and DualSampler (LibAUC)",
    "pairwise": "`PairwiseSquaredHinge()`",
    "AUM of the batch": "`AUMLoss()`",
    "AUM streaming": "`AUMLoss(positive_share)`",
    "smoothed AUC": "`SmoothedAUCLoss()`",
    "smoothed AUC, repeated": "`SmoothedAUCLoss()`, positives repeated",
    "BCE + pairwise, repeated": "cross-entropy + `PairwiseSquaredHinge()`, positives repeated",
}


def read():
    """Return the rows of networks.csv by batch size, task and loss."""
    with (RESULTS / "networks.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    sizes = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for row in rows:
        sizes[int(row["batch"])][row["task"]][row["loss"]].append(row)
    return dict(sorted(sizes.items()))


def differences(tasks):
    """Return differences from cross-entropy and AUC: rows are tasks, columns are losses."""
    auc = np.array(
        [
            [np.mean([float(row["test_auc"]) for row in losses[name]]) for name in NAMES]
            for losses in tasks.values()
        ]
    )
    return auc - auc[:, :1], auc


def mean_with_error(column):
    return f"{column.mean():+.4f} ± {column.std(ddof=1) / len(column) ** 0.5:.4f}"


def chosen_elsewhere(difference, families):
    """Return each task's difference for the loss that is best on other families."""
    values, chosen = [], []
    for row, family in zip(difference, families, strict=True):
        best = int(difference[families != family].mean(axis=0).argmax())
        values.append(row[best])
        chosen.append(best)
    return np.array(values), Counter(chosen)


def table(tasks):
    """Yield the lines of the table of one batch size."""
    difference, auc = differences(tasks)
    first = [losses[BASE][0] for losses in tasks.values()]
    families = np.array([row["family"] for row in first])
    is_rare = np.array([float(row["positives"]) < RARE for row in first])
    names = list(tasks)
    heads = [
        *("loss", "mean AUC", f"difference, {is_rare.sum()} tasks with a rare class"),
        *("difference from positives repeated", "worst task"),
        *(f"difference, {(~is_rare).sum()} other tasks", "largest rate selected"),
    ]
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    repeated = difference[is_rare, list(NAMES).index(REPEATED)]
    for k, (loss, words) in enumerate(NAMES.items()):
        fits = [row for losses in tasks.values() for row in losses[loss]]
        rates = [float(row["rate"]) for row in fits]
        at_end = np.mean(
            np.array(rates) == LARGEST_RATE[loss == "AUCM (LibAUC)", int(fits[0]["batch"])]
        )
        cells = [words, f"{auc[:, k].mean():.4f}", "", "", "", "", f"{at_end:.0%}"]
        if k:
            worst = int(difference[:, k].argmin())
            cells[2] = mean_with_error(difference[is_rare, k])
            cells[4] = f"{difference[worst, k]:+.3f} ({names[worst]})"
            cells[5] = mean_with_error(difference[~is_rare, k])
        if loss != REPEATED:
            cells[3] = mean_with_error(difference[is_rare, k] - repeated)
        yield f"| {' | '.join(cells)} |"
    values, chosen = chosen_elsewhere(difference[is_rare], families[is_rare])
    listed = ", ".join(f"{list(NAMES.values())[k]} ({n} tasks)" for k, n in chosen.most_common())
    cells = [f"chosen on other families: {listed}", "", mean_with_error(values)]
    cells += [mean_with_error(values - repeated), f"{values.min():+.3f}", "", ""]
    yield f"| {' | '.join(cells)} |"


def page_part():
    """Yield the lines between the two markers in docs/losses.md."""
    for size, tasks in read().items():
        n_fits = Counter(len(losses[BASE]) for losses in tasks.values())
        seeds = ", ".join(f"{n} tasks with {k} seed{'s' * (k > 1)}" for k, n in n_fits.items())
        yield f"\nBatches of {size} ({seeds}):\n"
        yield from table(tasks)
    yield ""


def main():
    begin, end = "<!-- begin of benchmarks/networks/network_summary.py -->", "<!-- end -->"
    part = "\n".join(page_part())
    print(part)
    before, rest = PAGE.read_text().split(begin)
    PAGE.write_text(before + begin + "\n" + part + "\n" + end + rest.split(end)[1])


if __name__ == "__main__":
    main()

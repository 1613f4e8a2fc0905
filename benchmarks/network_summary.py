"""Print what `networks.py` saved: leads over cross-entropy, and how sure they are."""

from collections import defaultdict
from typing import NamedTuple

import numpy as np

BASE = "BCE"
RECIPE = "BCE and pairwise if rare, repeated"  # of `network_choice.py`
LIBAUC = "AUCM (LibAUC)"


class Cell(NamedTuple):
    """The networks of one loss on one task."""

    valid: float
    test: np.ndarray
    row_error: float

    def lead(self, base):
        """Return the mean lead in test AUC, and its error by rows and by networks."""
        lead = self.test - base.test
        by_networks = lead.var(ddof=1) / len(lead)
        return lead.mean(), (self.row_error**2 + by_networks) ** 0.5


def cells(rows):
    """Give a dictionary for each setting: loss, task, cell."""
    columns = defaultdict(list)
    for row in rows:
        setting, task = ((row["batch"], row["optimizer"]), (row["task"], row["positives"]))
        columns[setting, row["loss"], task].append(row)
    settings = defaultdict(lambda: defaultdict(dict))
    for (setting, loss, task), fits in columns.items():
        test = np.array([float(row["test_auc"]) for row in fits])
        valid = np.mean([float(row["valid_auc"]) for row in fits])
        settings[setting][loss][task] = Cell(valid, test, float(fits[0]["row_error"]))
    return settings


def better_by_held_out_rows(losses, name):
    """Return BCE or another loss for each task, whichever held-out rows prefer."""
    return {
        task: cell if cell.valid > base.valid else base._replace(row_error=0.0)
        for task, base in losses[BASE].items()
        for cell in [losses[name][task]]
    }


def print_setting(losses):
    names = ("AUC", "lead over BCE", "worst task", "clearly ahead", "clearly behind")
    print(f"| loss | {' | '.join(names)} |\n|{'---|' * 6}")
    tasks = losses[BASE]
    for loss, by_task in losses.items():
        leads = np.array([by_task[task].lead(tasks[task]) for task in tasks])
        auc = np.mean([cell.test.mean() for cell in by_task.values()])
        if loss == BASE:
            print(f"| {loss} | {auc:.4f} | | | | |")
            continue
        lead, error = leads.T
        worst, k = lead.min(), lead.argmin()
        name = " ".join(str(part) for part in list(tasks)[k] if part)
        print(
            f"| {loss} | {auc:.4f} "
            f"| {lead.mean():+.4f} ± {lead.std(ddof=1) / len(lead) ** 0.5:.4f} "
            f"| {worst:+.4f} ± {error[k]:.4f} ({name}) "
            f"| {np.sum(lead > 2 * error)} | {np.sum(lead < -2 * error)} |"
        )


def summarize(rows, recipe=RECIPE):
    """Print a table for each batch size and optimizer."""
    for (size, optimizer), losses in cells(rows).items():
        n_tasks = len(losses[BASE])
        if n_tasks == 1:
            continue  # a lead without an error says nothing
        print(f"\nBatches of {size}, {optimizer}, {n_tasks} tasks\n")
        careful = {
            f"BCE or {name}, by held-out rows": better_by_held_out_rows(losses, name)
            for name in (recipe, LIBAUC)
            if name in losses
        }
        print_setting({**losses, **careful})

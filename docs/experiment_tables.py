"""Write the tables of experiments.md from the results of ``make paper``."""

from collections import defaultdict

import numpy as np
from tables import read, seconds, write

VARIANTS = ("linear", "quadratic", "first_min", "best_aum")


def means(name, keys, column):
    """Return means of a column by the values of other columns."""
    values = defaultdict(list)
    for row in read("paper", name):
        values[tuple(row[key] for key in keys)].append(float(row[column]))
    return {key: float(np.mean(value)) for key, value in values.items()}


def names(table, position=0):
    return list(dict.fromkeys(key[position] for key in table))


def exponent(table, name, variant):
    """Fit the exponent of n by least squares of logarithms, from three sizes."""
    sizes = [int(key[1]) for key in table if (key[0], key[2]) == (name, variant)]
    if len(sizes) < 3:
        return ""
    costs = [table[name, str(n), variant] for n in sizes]
    return f"{np.polyfit(np.log(sizes), np.log(costs), 1)[0]:.2f}"


def milliseconds(value):
    return f"{1000 * value:,.0f}" if value >= 0.1 else f"{1000 * value:.2g}"


def published(value):
    """Format a published number with all its digits."""
    return f"{value:0<6}"[1:] if value else ""


def write_growth():
    """Write the exponents of n of all counts and times."""
    keys = ("set", "n", "step")
    crossings = means("descents", keys, "crossings_per_step")
    steps = means("descents", keys, "steps")
    time = means("descents", keys, "seconds")
    search = means("searches", ("set", "n", "search"), "seconds")
    rows = [
        [
            name,
            *(exponent(crossings, name, one) for one in ("quadratic", "first_min")),
            *(exponent(steps, name, one) for one in ("linear", "first_min")),
            *(exponent(time, name, one) for one in ("linear", "first_min", "best_aum")),
            *(exponent(search, name, one) for one in ("first_min", "best_aum_step")),
        ]
        for name in names(crossings)
    ]
    head = [
        "set",
        "crossings, quadratic",
        "crossings, first_min",
        "steps, linear",
        "steps, first_min",
        "descent, linear",
        "descent, first_min",
        "descent, best_aum",
        "search, first_min",
        "search, best_aum",
    ]
    write("experiments_growth", head, rows)


def write_shares():
    """Write the fraction of all crossings that first_min visits in a step."""
    crossings = means("descents", ("set", "n", "step"), "crossings_per_step")
    sizes = ("100", "1000", "10000")
    rows = []
    for name in names(crossings):
        cells = [
            100 * crossings[key] / (int(n) * (int(n) - 1) / 2) if key in crossings else None
            for n in sizes
            for key in [(name, n, "first_min")]
        ]
        rows.append([name, *("" if x is None else f"{x:.2g} %" for x in cells)])
    write("experiments_shares", ["set", *(f"n = {int(n):,}" for n in sizes)], rows)


def write_descents():
    """Write seconds, steps and AUC of one descent, at sizes of several variants."""
    keys = ("set", "n", "step")
    time = means("descents", keys, "seconds")
    steps = means("descents", keys, "steps")
    auc = means("descents", keys, "auc")
    rows = []
    for name in names(time):
        for n in ("1000", "10000", "60000"):
            cells = [
                f"{seconds(time[key])} s, {steps[key]:.0f} steps, AUC {auc[key]:.3f}"
                if (key := (name, n, variant)) in time
                else ""
                for variant in VARIANTS
            ]
            if any(cells):
                rows.append([name, f"{int(n):,}", *cells])
    write("experiments_descents", ["set", "n", *VARIANTS], rows)


def write_searches():
    """Write milliseconds of one search, and best_aum_step in evaluations of AUM."""
    time = means("searches", ("set", "n", "search"), "seconds")
    unit = means("searches", ("set", "n", "search"), "aum_evaluations")
    rows = []
    for name in names(time):
        largest = max(int(key[1]) for key in time if key[0] == name)
        for n in dict.fromkeys(("1000", "10000", str(largest))):
            if (name, n, "best_aum_step") not in time:
                continue
            cells = [
                milliseconds(time[name, n, one]) if (name, n, one) in time else ""
                for one in ("linear", "first_min", "best_aum_step")
            ]
            rows.append([name, f"{int(n):,}", *cells, f"{unit[name, n, 'best_aum_step']:.0f}"])
    head = ["set", "n", "linear", "first_min", "best_aum_step", "in evaluations of AUM"]
    write("experiments_searches", head, rows)


def write_changepoints():
    """Write validation AUCs: on the paper's split, over all seeds, and published."""
    results = read("paper", "changepoints")
    rows = []
    for method in dict.fromkeys(row["method"] for row in results):
        mine = [row for row in results if row["method"] == method]
        paper = [row for row in mine if row["seed"] == "0"]
        rows.append(
            [
                method,
                *(f"{float(row['validation_auc']):.4f}" for row in paper),
                " ".join(published(row["published"]) for row in paper),
                f"{np.mean([float(row['validation_auc']) for row in mine]):.4f}",
                seconds(np.mean([float(row["seconds"]) for row in mine])),
            ]
        )
    head = [
        "method",
        *(f"fold {k}" for k in range(1, 5)),
        "published",
        "mean of all seeds",
        "seconds",
    ]
    write("experiments_changepoints", head, rows)


def write_ties():
    """Write how many paths and intervals are wrong."""
    counts = defaultdict(lambda: np.zeros(5, dtype=int))
    for row in read("paper", "ties"):
        aum, auc = int(row["wrong_aum"]), int(row["wrong_auc"])
        counts[row["set"], row["search"]] += [1, aum + auc > 0, int(row["stretches"]), aum, auc]
    rows = [
        [name, search, f"{wrong} of {paths}", f"{aum:,}", f"{auc:,}", f"{stretches:,}"]
        for (name, search), (paths, wrong, stretches, aum, auc) in counts.items()
    ]
    head = ["set", "search", "wrong paths", "wrong AUM", "wrong AUC", "intervals"]
    write("experiments_ties", head, rows)


def write_collapse():
    """Write the norm of the weights, and AUC, before and after 100 steps."""
    path = defaultdict(list)
    for row in read("paper", "collapse"):
        path[row["set"], row["start"], row["method"]].append(row)
    rows = []
    for (name, start, method), steps in path.items():
        first, last = steps[0], steps[-1]
        ratio = float(last["norm"]) / float(first["norm"])
        best = max(float(step["test_auc"]) for step in steps)
        rows.append(
            [
                name,
                start,
                method,
                "1 (fixed)" if method in ("unit norm", "AUC steps") else f"{ratio:.2g}",
                f"{float(first['auc']):.4f} → {float(last['auc']):.4f}",
                f"{float(first['test_auc']):.4f} → {float(last['test_auc']):.4f}",
                f"{best:.4f}",
            ]
        )
    head = [
        "set",
        "initial model",
        "method",
        "norm, last / first",
        "training AUC",
        "test AUC",
        "best test AUC",
    ]
    write("experiments_collapse", head, rows)


def write_models():
    """Write AUCs on the official test sets."""
    rows = []
    for row in read("paper", "image_models"):
        gain = f"{float(row['gain']):+.4f} ± {float(row['error']):.4f}"
        rows.append(
            [
                row["set"],
                f"{int(row['n_train']):,}",
                row["model"],
                f"{float(row['test_auc']):.4f}",
                "" if row["model"].startswith("tuned") else gain,
                seconds(float(row["seconds"])),
            ]
        )
    head = ["set", "training rows", "model", "test AUC", "difference", "seconds"]
    write("experiments_models", head, rows)


def write_scale():
    """Write milliseconds of each computation of one step."""
    time = means("scale", ("part", "n"), "seconds")
    sizes = names(time, 1)
    rows = [[part, *(milliseconds(time[part, n]) for n in sizes)] for part in names(time)]
    write("experiments_scale", ["ms", *(f"n = {int(n):,}" for n in sizes)], rows)


def write_all():
    write_growth()
    write_shares()
    write_descents()
    write_searches()
    write_changepoints()
    write_ties()
    write_collapse()
    write_models()
    write_scale()

"""Count how often a sweep that relies on floating-point equality is wrong with ties.

``naive_path`` implements the published algorithm literally: it keeps lines in the order
of their thresholds and crossings of neighbors in a queue, and treats crossings as
simultaneous if their rounded steps are equal. This sweep, the same sweep after merging
equal lines, and ``rocpath.sweep`` are compared with exact rational arithmetic, between
all crossings that are different float64 numbers, on rows of real tables of small
integers.
"""

import csv
import heapq
from fractions import Fraction
from itertools import pairwise

import numpy as np

import rocpath as rp
from data import folder

HEAD = ("set", "seed", "weights", "search", "stretches", "wrong_aum", "wrong_auc")
TABLES = ("BreastCancer", "Pima", "HouseVotes84")
N_ROWS = 40
TOLERANCE = 1e-9


def results(is_quick):
    """Yield rows with the columns of HEAD, with the number of wrong intervals of a path."""
    for name in TABLES:
        with (folder("tabular") / "ties" / f"{name}.csv").open() as file:
            cells = np.array(list(csv.reader(file))[1:], dtype=float)
        for seed in range(2 if is_quick else 20):
            rng = np.random.default_rng(seed)
            chosen = rng.choice(len(cells), N_ROWS, replace=False)
            y, X = cells[chosen, 0], cells[chosen, 1:]
            if len(np.unique(y)) < 2:
                continue
            for weights, coef in (
                ("whole", rng.integers(-2, 3, X.shape[1]).astype(float)),
                ("normal", rng.standard_normal(X.shape[1])),
            ):
                lines = descent_lines(X, y, coef)
                exact = exact_path(lines)
                for search, path in (
                    ("naive", naive_path(lines)),
                    ("naive, equal lines together", naive_path(merged(lines))),
                    ("rocpath", our_path(lines)),
                ):
                    wrong = count_wrong_intervals(path, exact)
                    yield name, seed, weights, search, len(exact), *wrong


def descent_lines(X, y, coef):
    """Return the lines of one step along minus the gradient of AUM."""
    bp = rp.ErrorBreakpoints.from_labels(y, denominator="count")
    predictions = X @ coef
    direction = -X @ (X.T @ rp.aum_gradient(bp, predictions))
    return rp.Lines.from_predictions(bp, predictions, direction)


def count_wrong_intervals(path, exact):
    """Count the intervals between crossings where AUM or AUC is wrong."""
    steps = [row[0] for row in path]
    wrong_aum = wrong_auc = 0
    for step, aum, auc in exact:
        at = max(np.searchsorted(steps, step, side="right") - 1, 0)
        start, start_aum, slope, after = path[at]
        here = start_aum + slope * (step - start)
        wrong_aum += abs(here - float(aum)) > TOLERANCE * (1 + abs(float(aum)))
        wrong_auc += abs(after - float(auc)) > TOLERANCE
    return int(wrong_aum), int(wrong_auc)


def exact_path(lines):
    """Return (step, AUM, AUC) inside every interval, in rational numbers."""
    rows = [
        tuple(Fraction(float(x)) for x in line)
        for line in zip(lines.intercept, lines.slope, lines.fp_diff, lines.fn_diff, strict=True)
    ]
    steps = {Fraction(0)}
    for k, (a, s, *_) in enumerate(rows):
        for b, t, *_ in rows[:k]:
            if s != t and (b - a) / (s - t) > 0:
                steps.add((b - a) / (s - t))
    ordered = sorted(steps)
    path = []
    for low, high in pairwise([*ordered, 2 * ordered[-1] + 1]):
        step = Fraction(float((low + high) / 2))
        if low < step < high and float(low) < float(high):
            path.append((float(step), *exact_areas(rows, step)))
    return path


def exact_areas(rows, step):
    """Compute AUM and AUC at a step from their definitions."""
    jumps = {}
    for intercept, slope, fp_diff, fn_diff in rows:
        place = intercept + step * slope
        fp, fn = jumps.get(place, (0, 0))
        jumps[place] = fp + fp_diff, fn + fn_diff
    total_fp = sum(fp for fp, _ in jumps.values())
    total_fn = -sum(fn for _, fn in jumps.values())
    fp, fn, last, aum, auc = Fraction(0), total_fn, None, Fraction(0), Fraction(0)
    for place in sorted(jumps):
        if last is not None:
            aum += (place - last) * min(fp, fn)
        more_fp, more_fn = jumps[place]
        auc += more_fp * (2 * (total_fn - fn) - more_fn) / 2
        fp, fn, last = fp + more_fp, fn + more_fn, place
    return aum, auc / (total_fp * total_fn)


def our_path(lines):
    """Return rows (step, AUM, slope after, AUC after) of rocpath's sweep."""
    path = rp.sweep(lines)
    return list(zip(path.step, path.aum, path.aum_slope_after, path.auc_after, strict=True))


def naive_path(lines):
    """Return rows (step, AUM, slope after, AUC after) of the published sweep."""
    order = list(np.lexsort((lines.slope, lines.intercept)))
    queue = []
    step = 0.0

    def push(k):
        if not 0 <= k < len(order) - 1:
            return
        low, high = order[k], order[k + 1]
        closing = lines.slope[low] - lines.slope[high]
        if closing > 0:
            meet = (lines.intercept[high] - lines.intercept[low]) / closing
            if meet > step:
                heapq.heappush(queue, (meet, low, high))

    for k in range(len(order) - 1):
        push(k)
    rows = [(0.0, *naive_areas(lines, order, 0.0))]
    while queue:
        step = queue[0][0]
        while queue and queue[0][0] == step:
            _, low, high = heapq.heappop(queue)
            k = order.index(low)
            if k + 1 < len(order) and order[k + 1] == high:
                order[k], order[k + 1] = high, low
                push(k - 1)
                push(k + 1)
        rows.append((step, *naive_areas(lines, order, step)))
    return rows


def merged(lines):
    """Merge equal lines."""
    place = np.column_stack((lines.intercept, lines.slope))
    different, group = np.unique(place, axis=0, return_inverse=True)
    fp_diff = np.bincount(group.ravel(), lines.fp_diff)
    fn_diff = np.bincount(group.ravel(), lines.fn_diff)
    return rp.Lines(*different.T, fp_diff, fn_diff)


def naive_areas(lines, order, step):
    """Compute AUM, its slope and AUC for a given order of the lines."""
    threshold = lines.intercept[order] + step * lines.slope[order]
    fp = np.cumsum(lines.fp_diff[order])
    fn = -lines.fn_diff.sum() + np.cumsum(lines.fn_diff[order])
    smallest = np.minimum(fp, fn)[:-1]
    aum = smallest @ np.diff(threshold)
    slope = smallest @ np.diff(lines.slope[order])
    tpr = np.append(0.0, 1.0 + fn / lines.fn_diff.sum())
    auc = np.diff(np.append(0.0, fp / fp[-1])) @ (tpr[1:] + tpr[:-1]) / 2.0
    return aum, slope, auc

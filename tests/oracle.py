"""The definitions of the paper in exact rational arithmetic, with plain loops.

Nothing is imported from the package. A set of lines is a list of tuples
(intercept, slope, fp_diff, fn_diff); numbers may be integers, floats or fractions, and
are used without rounding.
"""

from fractions import Fraction
from itertools import combinations, pairwise
from math import inf, isfinite, nextafter


def as_lines(intercept, slope, fp_diff, fn_diff):
    columns = (intercept, slope, fp_diff, fn_diff)
    return [tuple(Fraction(x) for x in line) for line in zip(*columns, strict=True)]


def thresholds(lines, step):
    return [intercept + Fraction(step) * slope for intercept, slope, _, _ in lines]


def errors(lines, threshold, constant):
    """Return FP and FN at a constant that equals no threshold.

    This is the equation first-fp-fn-over-under of the paper.
    """
    fp = sum(line[2] for line, t in zip(lines, threshold, strict=True) if t < constant)
    fn = sum(-line[3] for line, t in zip(lines, threshold, strict=True) if t > constant)
    return fp, fn


def roc_points(lines, step):
    """Return FP, FN and the interval of constants of every ROC point."""
    threshold = thresholds(lines, step)
    places = sorted(set(threshold))
    points = [(*errors(lines, threshold, places[0] - 1), None, places[0])]
    points += [(*errors(lines, threshold, (a + b) / 2), a, b) for a, b in pairwise(places)]
    points += [(*errors(lines, threshold, places[-1] + 1), places[-1], None)]
    return points


def aum(lines, step=0):
    """Compute the area under min(FP, FN) over the constants (equation AUM_init)."""
    return sum(
        (high - low) * min(fp, fn)
        for fp, fn, low, high in roc_points(lines, step)
        if low is not None and high is not None
    )


def auc(lines, step=0):
    """Compute the trapezoidal area under the ROC curve of rates (equation AUC1)."""
    points = roc_points(lines, step)
    total_fp, total_fn = points[-1][0], points[0][1]
    area = sum(
        (after[0] - before[0]) * (2 * total_fn - before[1] - after[1]) / 2
        for before, after in pairwise(points)
    )
    return area / (total_fp * total_fn)


def crossing_steps(lines):
    """Return all positive steps at which two lines that are not parallel meet."""
    return sorted(
        {
            step
            for a, b in combinations(lines, 2)
            if a[1] != b[1] and (step := (b[0] - a[0]) / (a[1] - b[1])) > 0
        }
    )


def float64_steps(lines, max_step=inf):
    """Return float64 steps at which every AUC of any float64 step occurs.

    AUC changes only at crossings, so it suffices to evaluate it at the float64 number
    nearest to each crossing and at one step between two such numbers.
    """
    nearest = {0.0, *(float(step) for step in crossing_steps(lines)), max_step}
    steps = sorted(step for step in nearest if step <= max_step)
    between = [nextafter(step, inf) for step in steps if step < max_step]
    return sorted({step for step in steps + between if isfinite(step)})


def path(lines):
    """Return (step, AUM, slope after, AUC at, AUC after) at 0 and at every crossing."""
    steps = [Fraction(0), *crossing_steps(lines)]
    rows = []
    for step, following in zip(steps, [*steps[1:], steps[-1] + 2], strict=True):
        inside = (step + following) / 2
        aum_at, aum_inside = aum(lines, step), aum(lines, inside)
        slope = (aum_inside - aum_at) / (inside - step)
        rows.append((step, aum_at, slope, auc(lines, step), auc(lines, inside)))
    return rows


def aum_derivatives(lines, example, n_examples):
    """Compute the left and right derivatives of AUM with respect to each prediction.

    AUM is piecewise linear, so the difference quotient is exact for a change of half
    the smallest gap between thresholds. As in the published definition, one breakpoint
    is moved at a time, and the quotients are added by example.
    """
    left = [Fraction(0)] * n_examples
    right = [Fraction(0)] * n_examples
    places = sorted({line[0] for line in lines})
    gaps = [b - a for a, b in pairwise(places)]
    move = min(gaps, default=Fraction(1)) / 2
    start = aum(lines)
    for b, (intercept, slope, fp_diff, fn_diff) in enumerate(lines):
        for side, sign in ((right, 1), (left, -1)):
            moved = list(lines)
            moved[b] = (intercept - sign * move, slope, fp_diff, fn_diff)
            side[example[b]] += sign * (aum(moved) - start) / move
    return left, right


def sorted_auc(lines, step=0):
    """Compute AUC by one pass over sorted thresholds, for hundreds of lines."""
    tied = {}
    for threshold, line in zip(thresholds(lines, step), lines, strict=True):
        fp, tp = tied.get(threshold, (0, 0))
        tied[threshold] = fp + line[2], tp - line[3]
    area = total_fp = total_tp = Fraction(0)
    for threshold in sorted(tied):
        fp, tp = tied[threshold]
        area += fp * (total_tp + tp / 2)
        total_fp, total_tp = total_fp + fp, total_tp + tp
    return area / (total_fp * total_tp)


def weak_pair_auc(lines, step=0):
    """Compute AUC by its second definition, a sum over pairs with ties counting one half."""
    threshold = thresholds(lines, step)
    total_fp = sum(line[2] for line in lines)
    total_fn = -sum(line[3] for line in lines)
    doubled = 0
    for a, t_a in zip(lines, threshold, strict=True):
        for b, t_b in zip(lines, threshold, strict=True):
            doubled += a[2] * -b[3] * ((t_b < t_a) + (t_b <= t_a))
    return doubled / (2 * total_fp * total_fn)

"""The paper's definitions in exact rationals: loops and sums, no cleverness.

Nothing is imported from the package. A set of lines is a list of tuples
(intercept, slope, fp_diff, fn_diff); numbers may be ints, floats or Fractions, and
are taken exactly as they are.
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
    """FP and FN at a constant that equals no threshold (eq. first-fp-fn-over-under)."""
    fp = sum(line[2] for line, t in zip(lines, threshold, strict=True) if t < constant)
    fn = sum(-line[3] for line, t in zip(lines, threshold, strict=True) if t > constant)
    return fp, fn


def roc_points(lines, step):
    """FP, FN and the interval of constants of every ROC point."""
    threshold = thresholds(lines, step)
    places = sorted(set(threshold))
    points = [(*errors(lines, threshold, places[0] - 1), None, places[0])]
    points += [(*errors(lines, threshold, (a + b) / 2), a, b) for a, b in pairwise(places)]
    points += [(*errors(lines, threshold, places[-1] + 1), places[-1], None)]
    return points


def aum(lines, step=0):
    """Area under min(FP, FN) over the constants (eq. AUM_init)."""
    return sum(
        (high - low) * min(fp, fn)
        for fp, fn, low, high in roc_points(lines, step)
        if low is not None and high is not None
    )


def auc(lines, step=0):
    """Trapezoidal area under the ROC curve, divided by total FP and FN (eq. AUC1)."""
    points = roc_points(lines, step)
    total_fp, total_fn = points[-1][0], points[0][1]
    area = sum(
        (after[0] - before[0]) * (2 * total_fn - before[1] - after[1]) / 2
        for before, after in pairwise(points)
    )
    return area / (total_fp * total_fn)


def crossing_steps(lines):
    """All positive steps where two lines that are not parallel meet."""
    return sorted(
        {
            step
            for a, b in combinations(lines, 2)
            if a[1] != b[1] and (step := (b[0] - a[0]) / (a[1] - b[1])) > 0
        }
    )


def float64_steps(lines, max_step=inf):
    """Float64 steps that see every AUC which some float64 step sees.

    Between two neighbors of the float64 numbers nearest to crossings nothing changes,
    so one step between them stands for all; and each of these numbers for itself.
    """
    nearest = {0.0, *(float(step) for step in crossing_steps(lines)), max_step}
    steps = sorted(step for step in nearest if step <= max_step)
    between = [nextafter(step, inf) for step in steps if step < max_step]
    return sorted({step for step in steps + between if isfinite(step)})


def path(lines):
    """Rows (step, AUM, slope after, AUC at, AUC after) at 0 and at every crossing."""
    steps = [Fraction(0), *crossing_steps(lines)]
    rows = []
    for step, following in zip(steps, [*steps[1:], steps[-1] + 2], strict=True):
        inside = (step + following) / 2
        aum_at, aum_inside = aum(lines, step), aum(lines, inside)
        slope = (aum_inside - aum_at) / (inside - step)
        rows.append((step, aum_at, slope, auc(lines, step), auc(lines, inside)))
    return rows


def aum_derivatives(lines, example, n_examples):
    """Left and right derivative of AUM in each prediction, by moving it alone.

    The limit of the difference quotient: AUM is piecewise linear, so a move smaller
    than half the smallest gap between thresholds gives it exactly. The published
    definition moves one breakpoint at a time and adds up, which differs where an
    example has several breakpoints in one tie.
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
    """AUC by one pass over sorted thresholds: for hundreds of lines."""
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
    """AUC as a sum over pairs, ties one half: a second definition."""
    threshold = thresholds(lines, step)
    total_fp = sum(line[2] for line in lines)
    total_fn = -sum(line[3] for line in lines)
    doubled = 0
    for a, t_a in zip(lines, threshold, strict=True):
        for b, t_b in zip(lines, threshold, strict=True):
            doubled += a[2] * -b[3] * ((t_b < t_a) + (t_b <= t_a))
    return doubled / (2 * total_fp * total_fn)

"""Segmentation and model selection by their definitions, regardless of speed."""

from fractions import Fraction
from itertools import combinations, pairwise
from math import log

import numpy as np
from scipy.special import xlog1py, xlogy


def normal_cost(x, weight):
    """Compute the exact sum of squared deviations from the mean."""
    mean = sum(w * v for v, w in zip(x, weight, strict=True)) / sum(weight)
    return sum(w * (v - mean) ** 2 for v, w in zip(x, weight, strict=True))


def poisson_cost(x, weight):
    """Compute the sum of mu - x log mu, where mu is the mean."""
    total = sum(w * v for v, w in zip(x, weight, strict=True))
    return float(total) - (float(total) * log(total / sum(weight)) if total > 0 else 0.0)


def exponential_cost(x, weight):
    """Compute the sum of log mu + x / mu, where mu is the mean."""
    total = sum(w * v for v, w in zip(x, weight, strict=True))
    return float(sum(weight)) * (1 + log(total / sum(weight)))


def binomial_cost(x, weight):
    """Compute the sum of -x log p - (1 - x) log(1 - p), where p is the mean."""
    success = sum(w * v for v, w in zip(x, weight, strict=True))
    counts = [success, sum(weight) - success]
    return -sum(float(c) * log(c / sum(weight)) for c in counts if c > 0)


def geometric_cost(x, weight):
    """Compute the sum of (1 + x) log(1 + mu) - x log mu, where mu is the mean."""
    total, mean = sum(weight), sum(w * v for v, w in zip(x, weight, strict=True)) / sum(weight)
    failures = float(total * mean) * log(mean) if mean > 0 else 0.0
    return float(total + total * mean) * log(1 + mean) - failures


def variance_cost(x, weight):
    """Compute the sum of log v + x^2 / v - 1, where v is the mean square."""
    return exponential_cost([v * v for v in x], weight) - float(sum(weight))


COSTS = {
    "normal": normal_cost,
    "poisson": poisson_cost,
    "exponential": exponential_cost,
    "binomial": binomial_cost,
    "geometric": geometric_cost,
    "variance": variance_cost,
}
# The cost of one observation as a function of the mean or, for "variance", the variance.
LOSSES = {
    "normal": lambda x, mean: (x - mean) ** 2,
    "poisson": lambda x, mean: mean - xlogy(x, mean),
    "exponential": lambda x, mean: np.log(mean) + x / mean,
    "binomial": lambda x, mean: -xlogy(x, mean) - xlog1py(1 - x, -mean),
    "geometric": lambda x, mean: (1 + x) * np.log1p(mean) - xlogy(x, mean),
    "variance": lambda x, mean: np.log(mean) + x**2 / mean - 1,
}


def allowed_values(x, cost):
    """Map counts to values that the cost allows, in the same order; fractions above 1 become 1."""
    if cost in ("exponential", "variance"):  # the order is that of the squares
        sign = [-1 if cost == "variance" and k % 3 == 0 else 1 for k in range(len(x))]
        return [s * (int(v) + 1) for s, v in zip(sign, x, strict=True)]
    return [min(3 * int(v), 10) / 10 for v in x] if cost == "binomial" else x


def simulated(rng, mean, cost):
    """Draw observations with means, or standard deviations, from 1 to 9."""
    if cost == "binomial":
        return rng.binomial(10, np.asarray(mean) / 10) / 10
    if cost == "variance":
        value = rng.normal(0, mean)
        return np.where(np.abs(value) > 0.1, value, 0.1)  # squares above the variance floor
    if cost == "geometric":
        return rng.geometric(1 / (1 + np.asarray(mean))) - 1
    return getattr(rng, cost)(mean)


def averaged(x, cost):
    """Return the values whose mean is the parameter of a segment."""
    return [v * v for v in x] if cost == "variance" else x


# Costs that `robust_cost` and `column_cost` compute.
ARRAY_COSTS = ("biweight", "huber", "mean_variance", "linear")


def robust_loss(distance, cost, threshold):
    """Compute a loss that is quadratic up to the threshold, then constant or linear."""
    if abs(distance) <= threshold:
        return distance**2
    if cost == "biweight":
        return threshold**2
    return threshold * (2 * abs(distance) - threshold)


def robust_cost(x, weight, cost, threshold):
    """Compute the smallest loss over all centers.

    The loss is quadratic between the centers at which an observation enters or leaves
    the threshold, so its minimum is at one of these centers or at a vertex.
    """
    place = sorted({v + side * threshold for v in x for side in (-1, 1)})

    def loss(center):
        return sum(
            w * robust_loss(v - center, cost, threshold) for v, w in zip(x, weight, strict=True)
        )

    best = min(loss(c) for c in place)
    for a, b in pairwise(place):
        middle = (a + b) / 2
        near = [(v, w) for v, w in zip(x, weight, strict=True) if abs(v - middle) <= threshold]
        far = [
            (w if v > middle else -w)
            for v, w in zip(x, weight, strict=True)
            if abs(v - middle) > threshold
        ]
        if near:
            pull = threshold * sum(far) if cost == "huber" else 0
            center = (sum(w * v for v, w in near) + pull) / sum(w for _, w in near)
            best = min(best, loss(min(max(center, a), b)))
    return best


def column_cost(rows, weight, cost, floor):
    """Compute the squared deviations from the means of columns, or the likelihood."""
    total, cost_of_all = sum(weight), 0.0
    for column, least in zip(zip(*rows, strict=True), floor, strict=True):
        mean = sum(w * v for v, w in zip(column, weight, strict=True)) / total
        square = sum(w * (v - mean) ** 2 for v, w in zip(column, weight, strict=True))
        if cost == "normal":
            cost_of_all += square
        else:
            variance = max(square / total, least)
            cost_of_all += total * (log(variance) - 1) + square / variance
    return cost_of_all


def line_cost(x, time, weight):
    """Compute the exact sum of squared deviations from the least-squares line."""
    x, time, weight = ([Fraction(v) for v in one] for one in (x, time, weight))
    total = sum(weight)
    mean_time = sum(w * t for t, w in zip(time, weight, strict=True)) / total
    mean = sum(w * v for v, w in zip(x, weight, strict=True)) / total
    rows = [(v - mean, t - mean_time, w) for v, t, w in zip(x, time, weight, strict=True)]
    spread = sum(w * t * t for _, t, w in rows)
    slope = sum(w * v * t for v, t, w in rows) / spread if spread else Fraction(0)
    return float(sum(w * (v - slope * t) ** 2 for v, t, w in rows))


def best_array_costs(n, cost_of, min_length, labels=()):
    """Compute the smallest cost of 0 to n - 1 allowed changes by enumeration.

    ``cost_of(a, b)`` is the cost of one segment.
    """
    one = {(a, b): cost_of(a, b) for a in range(n) for b in range(a + 1, n + 1)}
    return [
        min(
            (
                sum(one[pair] for pair in pairwise([0, *changes, n]))
                for changes in combinations(range(1, n), k)
                if is_allowed(changes, n, labels, min_length)
            ),
            default=np.inf,
        )
        for k in range(n)
    ]


def best_costs(x, weight, max_changes, cost):
    """Compute the smallest cost of 0 to ``max_changes`` changes by dynamic programming."""
    x, weight = [Fraction(v) for v in x], [Fraction(w) for w in weight]
    n = len(x)
    one = {(a, b): COSTS[cost](x[a:b], weight[a:b]) for a in range(n) for b in range(a + 1, n + 1)}
    best = [{end: one[0, end] for end in range(1, n + 1)}]
    for k in range(1, max_changes + 1):
        best.append(
            {
                end: min(best[-1][start] + one[start, end] for start in range(k, end))
                for end in range(k + 1, n + 1)
            }
        )
    return [row[n] for row in best]


def best_penalized_cost(x, weight, penalty, cost):
    """Compute the smallest penalized cost by dynamic programming in float64.

    The cost of an exponential family depends only on the weight and the mean.
    """
    value, weight = np.asarray(averaged(x, cost), float), np.asarray(weight, float)
    total, mass = (np.append(0, np.cumsum(v)) for v in (weight * value, weight))
    best = np.zeros(value.size + 1)
    for end in range(1, value.size + 1):
        of_segment = mass[end] - mass[:end]
        mean = ((total[end] - total[:end]) / of_segment).clip(value.min(), value.max())
        at_mean = np.sqrt(mean) if cost == "variance" else mean
        one = of_segment * LOSSES[cost](at_mean, mean)
        best[end] = (best[:end] + one + np.where(np.arange(end) > 0, penalty, 0)).min()
    return best[-1]


def up_down_cost(x, weight, changes, cost):
    """Compute the smallest cost of given changes with means that go up, down, up, ...

    At the optimum, tied neighbors share the mean of their data, so it is enough to
    enumerate all ways to tie neighbors and keep those whose means alternate.
    """
    ends, value = [0, *changes, len(x)], averaged(x, cost)
    n_segments = len(ends) - 1
    costs = []
    for n_untied in range(n_segments):
        for untied in combinations(range(1, n_segments), n_untied):
            blocks = [0, *untied, n_segments]
            total, means = 0, []
            for a, b in pairwise(blocks):
                part = slice(ends[a], ends[b])
                total += COSTS[cost](x[part], weight[part])
                mass = sum(weight[part])
                total_value = sum(w * v for v, w in zip(value[part], weight[part], strict=True))
                mean = total_value / Fraction(mass)
                means += [mean] * (b - a)
            if all(
                (means[j] - means[j - 1]) * (1 if j % 2 else -1) >= 0 for j in range(1, n_segments)
            ):
                costs.append(total)
    return min(costs)


def best_up_down_costs(x, weight, max_changes, cost):
    """Compute the smallest cost of 0 to ``max_changes`` changes by enumeration."""
    x, weight = [Fraction(v) for v in x], [Fraction(w) for w in weight]
    return [
        min(up_down_cost(x, weight, changes, cost) for changes in combinations(range(1, len(x)), k))
        for k in range(max_changes + 1)
    ]


def is_allowed(changes, n, labels, min_length):
    """Return whether changes cause no label error and no segment that is too short."""
    if any(b - a < min_length for a, b in pairwise([0, *changes, n])):
        return False
    return all(label_error(kind, start, end, changes, n) == (0, 0) for start, end, kind in labels)


def best_allowed_costs(x, weight, cost, constraint, labels, min_length):
    """Compute the smallest cost of 0 to n - 1 allowed changes by enumeration."""
    x, weight = [Fraction(v) for v in x], [Fraction(w) for w in weight]
    n = len(x)

    def cost_of(changes):
        if constraint == "up_down":
            return up_down_cost(x, weight, changes, cost)
        return sum(COSTS[cost](x[a:b], weight[a:b]) for a, b in pairwise([0, *changes, n]))

    return [
        min(
            (
                float(cost_of(changes))
                for changes in combinations(range(1, n), k)
                if is_allowed(changes, n, labels, min_length)
            ),
            default=np.inf,
        )
        for k in range(n)
    ]


def up_down_costs_on_candidates(x, weight, max_changes, cost):
    """Compute `best_up_down_costs` in float64, for longer sequences.

    The means of an optimum are means of consecutive observations, so dynamic
    programming over these means is exact.
    """
    value, weight = np.asarray(averaged(x, cost), float), np.asarray(weight, float)
    n = weight.size
    total, mass = (np.append(0, np.cumsum(v)) for v in (weight * value, weight))
    mean = np.array(
        [(total[b] - total[a]) / (mass[b] - mass[a]) for a in range(n) for b in range(a + 1, n + 1)]
    )
    mean = np.unique(mean.clip(value.min(), value.max()))  # rounding may exceed the range
    with np.errstate(divide="ignore", invalid="ignore"):
        one = np.array([w * LOSSES[cost](v, mean) for v, w in zip(x, weight, strict=True)])
    best = np.full((max_changes + 1, mean.size), np.inf)
    best[0] = one[0]
    for t in range(1, n):
        up = np.minimum.accumulate(best, axis=1)
        down = np.minimum.accumulate(best[:, ::-1], axis=1)[:, ::-1]
        for k in range(max_changes, 0, -1):
            best[k] = np.minimum(best[k], (up if k % 2 else down)[k - 1])
        best += one[t]
    return best.min(axis=1)


def selected(cost, n_changes, penalty):
    """Return the number of changes that minimizes the penalized cost, smallest if tied."""
    return min((c + penalty * k, k) for c, k in zip(cost, n_changes, strict=True))[1]


def label_error(kind, start, end, changes, n):
    """Return the false positive and the false negative of one label."""
    peaks = list(zip(changes[::2], [*changes[1::2], n], strict=False))
    inside = [t for t in range(n + 1) if start < t <= end]
    if kind in ("no_change", "one_change", "at_least_one_change"):
        count = sum(t in changes for t in inside)
    elif kind == "peak_start":
        count = sum(t in [a for a, _ in peaks] for t in inside)
    elif kind == "peak_end":
        # A peak that continues to the end of the sequence has no end.
        count = sum(t in changes[1::2] for t in inside)
    else:
        # Observation t - 1 covers (t - 1, t].
        count = sum(any(a <= t - 1 < b for t in inside) for a, b in peaks)
    if kind in ("no_change", "no_peaks"):
        return int(count > 0), 0
    if kind in ("at_least_one_change", "peaks"):
        return 0, int(count == 0)
    return int(count > 1), int(count == 0)

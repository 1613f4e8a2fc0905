"""AUC and AUM along a direction of the weights of a ReLU network, in exact fractions.

Nothing is imported from the package. A network is a list of (weight, bias), which are
lists of numbers; a ReLU follows each layer but the last. Only one layer changes.
"""

import itertools
from fractions import Fraction


def exact(values):
    """Convert every number of a nested list to an exact fraction."""
    if hasattr(values, "__len__"):
        return [exact(one) for one in values]
    return Fraction(float(values))


def prediction(network, moved, direction, row, step):
    values = row
    for index, (weight, bias) in enumerate(network):
        if index == moved:
            weight = [
                [w + step * d for w, d in zip(ws, ds, strict=True)]
                for ws, ds in zip(weight, direction[0], strict=True)
            ]
            bias = [b + step * d for b, d in zip(bias, direction[1], strict=True)]
        values = [
            sum(w * v for w, v in zip(ws, values, strict=True)) + b
            for ws, b in zip(weight, bias, strict=True)
        ]
        if index < len(network) - 1:
            values = [max(value, 0) for value in values]
    return values[0]


def predictions(network, moved, direction, rows, step):
    return [prediction(network, moved, direction, row, step) for row in rows]


def auc(scores, y):
    """Compute the share of concordant pairs, with ties counting one half."""
    positive = [score for score, label in zip(scores, y, strict=True) if label]
    negative = [score for score, label in zip(scores, y, strict=True) if not label]
    won = sum((p > q) + (p >= q) for p in positive for q in negative)
    return Fraction(won, 2 * len(positive) * len(negative))


def aum(scores, y):
    """Compute the area under the smaller error rate over all thresholds."""
    n_positive = sum(map(bool, y))
    places = sorted(set(scores))
    area = Fraction(0)
    for low, high in itertools.pairwise(places):
        # With a threshold between the two, scores of at least `high` are positive.
        fp = sum(score >= high and not label for score, label in zip(scores, y, strict=True))
        fn = sum(score <= low and bool(label) for score, label in zip(scores, y, strict=True))
        smaller = min(Fraction(fp, len(y) - n_positive), Fraction(fn, n_positive))
        area += (high - low) * smaller
    return area

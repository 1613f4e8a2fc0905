"""Areas under ROC curves and their variances, as sums over pairs in plain loops.

Nothing is imported from the package. A row is (is_positive, score, weight).
"""

from fractions import Fraction
from itertools import pairwise


def wins(score, other):
    return Fraction(int(score > other) + int(score >= other), 2)


def auc(rows):
    """Compute the weighted share of concordant pairs, with ties counting one half."""
    positive = [row[1:] for row in rows if row[0]]
    negative = [row[1:] for row in rows if not row[0]]
    won = sum(v * w * wins(s, t) for s, v in positive for t, w in negative)
    return won / (sum(v for _, v in positive) * sum(w for _, w in negative))


def delong_variance(score, is_positive, other_score=None):
    """Compute equations 4 and 5 of DeLong, DeLong and Clarke-Pearson (1988)."""
    return sum(class_covariances(score, is_positive, other_score))


def class_covariances(score, is_positive, other_score=None):
    """Compute what positives and negatives contribute to DeLong's covariance."""
    columns = [score, score if other_score is None else other_score]
    positive = [k for k, p in enumerate(is_positive) if p]
    negative = [k for k, p in enumerate(is_positive) if not p]
    parts = []
    for side, against, sign in ((positive, negative, 1), (negative, positive, -1)):
        placed = [
            [
                sum(float(wins(sign * s[i], sign * s[j])) for j in against) / len(against)
                for i in side
            ]
            for s in columns
        ]
        means = [sum(values) / len(values) for values in placed]
        products = sum((a - means[0]) * (b - means[1]) for a, b in zip(*placed, strict=True))
        parts.append(products / (len(side) - 1) / len(side))
    return parts


def curve(rows):
    """Return the points (FPR, TPR) in descending order of score."""
    n_positive = sum(row[2] for row in rows if row[0])
    n_negative = sum(row[2] for row in rows if not row[0])
    points = [(Fraction(0), Fraction(0))]
    for threshold in sorted({row[1] for row in rows}, reverse=True):
        above = [row for row in rows if row[1] >= threshold]
        fp = sum(row[2] for row in above if not row[0])
        tp = sum(row[2] for row in above if row[0])
        points.append((Fraction(fp) / n_negative, Fraction(tp) / n_positive))
    return points


def partial_auc(rows, max_fpr=1, min_tpr=0):
    """Compute the area of {FPR <= max_fpr, min_tpr <= TPR <= the curve} exactly."""
    return partial_area(curve(rows), max_fpr, min_tpr)


def partial_area(points, max_fpr=1, min_tpr=0):
    """Compute the partial area below the straight lines between given points."""
    max_fpr, min_tpr = Fraction(max_fpr), Fraction(min_tpr)
    area = Fraction(0)
    for (x0, y0), (x1, y1) in pairwise(points):
        if x0 == x1 or x0 >= max_fpr:
            continue
        slope = (y1 - y0) / (x1 - x0)
        x1 = min(x1, max_fpr)
        if slope > 0:  # start where the segment reaches min_tpr
            x0, y0 = max((x0, y0), (x0 + (min_tpr - y0) / slope, min_tpr))
        if x0 < x1 and y0 >= min_tpr:
            area += (x1 - x0) * (2 * (y0 - min_tpr) + slope * (x1 - x0)) / 2
    return area


def obuchowski_variance(score, is_positive, group, other_score=None):
    """Compute Obuchowski's (1997) variance of an AUC or of a difference of two AUCs.

    It is S10 / M + S01 / N + 2 S11 / (M N), with structural components from loops over
    pairs.
    """
    columns = [score] if other_score is None else [score, other_score]
    signs = [1.0] if other_score is None else [1.0, -1.0]
    positive = [k for k, p in enumerate(is_positive) if p]
    negative = [k for k, p in enumerate(is_positive) if not p]
    sums = {}
    for side, against, toward in ((positive, negative, 1), (negative, positive, -1)):
        component = dict.fromkeys(side, 0.0)
        for s, sign in zip(columns, signs, strict=True):
            for i in side:
                won = sum(float(wins(toward * s[i], toward * s[j])) for j in against)
                component[i] += sign * won / len(against)
        mean = sum(component.values()) / len(side)
        for i in side:
            key = (group[i], toward)
            sums[key] = sums.get(key, 0.0) + (component[i] - mean)
    total = 0.0
    for toward, size in ((1, len(positive)), (-1, len(negative))):
        of_class = [value for (_, t), value in sums.items() if t == toward]
        factor = len(of_class) / (len(of_class) - 1)
        total += factor * sum(value**2 for value in of_class) / size**2
    n_groups = len({g for g, _ in sums})
    cross = sum(sums[g, 1] * sums[g, -1] for g, t in sums if t == 1 and (g, -1) in sums)
    cross *= n_groups / (n_groups - 1)
    return total + 2 * cross / (len(positive) * len(negative))


def auc_between_groups(score, is_positive, group):
    """Compute the share of concordant pairs among pairs from different groups."""
    pairs = [
        wins(score[i], score[j])
        for i, p in enumerate(is_positive)
        for j, q in enumerate(is_positive)
        if p and not q and group[i] != group[j]
    ]
    return sum(pairs) / len(pairs)

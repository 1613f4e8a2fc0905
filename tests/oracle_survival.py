"""Concordance and time-dependent AUC of censored times, as sums over pairs in plain loops.

Nothing is imported from the package. A row is (time, has_event, score, weight).
"""

from fractions import Fraction
from itertools import pairwise


def precedes(row, other):
    """Return whether the event of a row is known to precede that of another row."""
    if not row[1]:
        return False
    return row[0] < other[0] or (row[0] == other[0] and not other[1])


def wins(row, other):
    """Return 1 if a row has the higher score, 1/2 for equal scores, 0 otherwise."""
    return Fraction(int(row[2] > other[2]) + int(row[2] >= other[2]), 2)


def pair_sums(rows, event_weight=None, stratum=None):
    """Return the weights of the pairs of each row, and of those where its time is earlier."""
    n = len(rows)
    event_weight = [1] * n if event_weight is None else event_weight
    stratum = [0] * n if stratum is None else stratum
    names = ("concordant", "comparable", "early_concordant", "early_comparable")
    sums = {name: [Fraction(0)] * n for name in names}
    for i in range(n):
        for j in range(n):
            if stratum[i] == stratum[j] and precedes(rows[i], rows[j]):
                pair = Fraction(rows[i][3]) * Fraction(event_weight[i]) * Fraction(rows[j][3])
                for name, weight in (
                    ("comparable", pair),
                    ("concordant", pair * wins(rows[i], rows[j])),
                ):
                    sums[name][i] += weight
                    sums[name][j] += weight
                    sums[f"early_{name}"][i] += weight
    return sums


def share(sums):
    """Return the share of concordant pairs."""
    return sum(sums["concordant"]) / sum(sums["comparable"])


def harrell(rows, stratum=None):
    """Compute the share of concordant pairs among all comparable pairs."""
    return share(pair_sums(rows, stratum=stratum))


def survival(rows, time, of_censoring=False):
    """Compute the Kaplan-Meier estimate at a time; of censoring, events precede it at ties."""
    estimate = Fraction(1)
    for at in sorted({row[0] for row in rows if row[0] <= time}):
        events = sum(Fraction(row[3]) for row in rows if row[0] == at and row[1])
        censored = sum(Fraction(row[3]) for row in rows if row[0] == at and not row[1])
        at_risk = sum(Fraction(row[3]) for row in rows if row[0] >= at)
        if of_censoring and censored:
            estimate *= 1 - censored / (at_risk - events)
        elif not of_censoring and events:
            estimate *= 1 - events / at_risk
    return estimate


def inverse_probabilities(rows, power, until):
    """Return 1 / G(time)^power of the events before a time, and 0 for other rows."""
    return [
        1 / survival(rows, row[0], of_censoring=True) ** power if row[1] and until(row[0]) else 0
        for row in rows
    ]


def uno(rows, tau=None):
    """Compute equation 6 of Uno et al. (2011), with weights of rows."""
    weight = inverse_probabilities(rows, 2, lambda time: tau is None or time < tau)
    return share(pair_sums(rows, weight))


def time_dependent_auc(rows, time):
    """Compute the cumulative/dynamic AUC: cases until a time against rows that outlive it."""
    weight = inverse_probabilities(rows, 1, lambda at: at <= time)
    cases = [(row, Fraction(row[3]) * w) for row, w in zip(rows, weight, strict=True) if w]
    controls = [row for row in rows if row[0] > time]
    won = sum(w * Fraction(other[3]) * wins(row, other) for row, w in cases for other in controls)
    return won / (sum(w for _, w in cases) * sum(Fraction(row[3]) for row in controls))


def mean_auc(rows, times):
    """Average AUC(t) over times, weighted by the decrease of the survival function."""
    survivals = [Fraction(1), *(survival(rows, time) for time in times)]
    falls = [before - after for before, after in pairwise(survivals)]
    areas = [time_dependent_auc(rows, time) for time in times]
    return sum(a * f for a, f in zip(areas, falls, strict=True)) / sum(falls)

"""The analysis of Obuchowski and Rockette with Hillis' degrees of freedom, in plain loops.

Nothing is imported from the package.
"""

from itertools import product

from tests import oracle_auc


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def analyze(y, ratings, fixed=None):
    """Return differences of the first two modalities: value, variance, freedom.

    ``ratings[i][j]`` are the ratings of reader j with modality i.
    """
    cells = list(product(range(len(ratings)), range(len(ratings[0]))))
    t, r = len(ratings), len(ratings[0])
    rows = {c: list(zip(y, ratings[c[0]][c[1]], [1] * len(y), strict=True)) for c in cells}
    area = {c: float(oracle_auc.auc(rows[c])) for c in cells}
    covariance = {
        (a, b): oracle_auc.delong_variance(ratings[a[0]][a[1]], y, ratings[b[0]][b[1]])
        for a in cells
        for b in cells
    }
    by_kind = {
        kind: mean(covariance[a, b] for a in cells for b in cells if same(a, b))
        for kind, same in (
            ("own", lambda a, b: a == b),
            ("reader", lambda a, b: a[0] != b[0] and a[1] == b[1]),
            ("modality", lambda a, b: a[0] == b[0] and a[1] != b[1]),
            ("neither", lambda a, b: a[0] != b[0] and a[1] != b[1]),
        )
    }
    of_modality = [mean(area[i, j] for j in range(r)) for i in range(t)]
    of_reader = [mean(area[i, j] for i in range(t)) for j in range(r)]
    overall = mean(of_modality)
    interaction = sum(
        (area[i, j] - of_modality[i] - of_reader[j] + overall) ** 2 for i, j in cells
    ) / ((t - 1) * (r - 1))
    shared = max(by_kind["modality"] - by_kind["neither"], 0)
    freedom = (t - 1) * (r - 1)
    if fixed == "readers":
        error = by_kind["own"] - by_kind["reader"] + (r - 1) * shared
        freedom = float("inf")
    elif fixed == "cases":
        error = interaction
    else:
        error = interaction + r * shared
        freedom = error**2 / (interaction**2 / freedom)
    between = r * sum((m - overall) ** 2 for m in of_modality) / (t - 1)
    return {
        "difference": of_modality[0] - of_modality[1],
        "variance": 2 * error / r,
        "freedom": freedom,
        "statistic": between / error,
    }

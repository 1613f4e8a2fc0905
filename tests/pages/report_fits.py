"""Results of a table's fit with simulated scores, for tests of the report."""

from types import SimpleNamespace

import numpy as np

import rocpath as rp
from rocpath.evaluation.score_summary import summarize_scores
from rocpath.evaluation.threshold_targets import NO_TARGETS
from rocpath.sample import Sample
from rocpath.tables.columns import ColumnAudit
from rocpath.tables.comparison import CrossValidatedScores, compare_models
from rocpath.tables.fit import TableFit
from rocpath.tables.labels import LabelColumn
from rocpath.tables.table_warnings import TableWarning

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>"


def simulated_scores(n_rows=400):
    """Return labels, one in eight positive, and the scores of two models."""
    rng = np.random.default_rng(0)
    is_positive = np.arange(n_rows) % 8 == 0
    good = rng.normal(size=n_rows) + 1.5 * is_positive - 1.0
    poor = rng.normal(size=n_rows) + 0.2 * is_positive - 2.0
    return is_positive, {HOSTILE: good, "other": poor}


def simulated_fit(targets=NO_TARGETS, *, has_history=False, **changes):
    """Return a fit whose model, columns, labels and warnings have hostile names."""
    y, score = simulated_scores()
    rows = np.arange(y.size)
    held_out = CrossValidatedScores(rows, rows % 5, score, Sample(y))
    comparison = compare_models(held_out, candidates=[HOSTILE])
    history = None
    if has_history:
        X = np.column_stack((score[HOSTILE], rows % 7))
        history = rp.AUCClassifier(random_state=0).fit(X, y).history_[0]
    coefficients = [(f"column {k} " + "x" * 300, 1.0 + k) for k in range(50)]
    values = {
        "label": LabelColumn.from_counts(HOSTILE, HOSTILE, "no", y),
        "model": SimpleNamespace(weights={}, history=history, threshold=None),
        "method": HOSTILE,
        "comparison": comparison,
        "held_out": held_out,
        "summary": summarize_scores(y, score[HOSTILE], targets),
        "columns": [ColumnAudit(HOSTILE, "number", HOSTILE, 0, 3)] * 45,
        "warnings": [TableWarning("leak", f"column {HOSTILE}")],
        "evaluation": "5-fold cross-validation",
        "coefficients": [*coefficients[::-1], ("small", 0.1), (HOSTILE, -0.05)],
    }
    return TableFit(**(values | changes))

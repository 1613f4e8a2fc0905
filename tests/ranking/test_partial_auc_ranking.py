"""Rankings and blends that maximize partial AUC."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

import rocpath as rp
from rocpath.ranking.auc_ascent import Ascent, smoothed_auc
from rocpath.ranking.blend import best_weights
from rocpath.ranking.cross_validation import evaluate_models
from rocpath.ranking.labeled_rows import LabeledRows, random_ranks
from rocpath.sample import Sample


def two_columns(seed, n=1500):
    """Return labels and two columns, for the full AUC and for the partial AUC.

    One in ten negatives is large in the first column, so that the first column has the
    larger AUC and the second the larger partial AUC.
    """
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    X = rng.normal(size=(n, 2)) + np.outer(y, [2.0, 0.8])
    X[~y & (rng.random(n) < 0.1), 0] += 4.0
    return X, y


def labeled(X, y, max_fpr=None):
    rank = random_ranks(y, np.random.RandomState(0))
    return LabeledRows(X, Sample(y), rank, max_fpr)


def auc_of(rows, coef):
    return rp.auc(rows.breakpoints, rows.X @ coef, max_fpr=rows.max_fpr)


def area(y, score, max_fpr=0.05):
    bp = rp.ErrorBreakpoints.from_labels(y)
    return rp.auc(bp, score, max_fpr=max_fpr)


def test_smoothed_partial_auc_equals_its_definition():
    rng = np.random.default_rng(0)
    score, change = rng.normal(size=(2, 300))
    y = np.arange(300) % 5 == 0
    share = np.where(y, 1 / 60, 1 / 240)
    value, slope = smoothed_auc(score, y, share, 0.3, 0.2)
    above = norm.cdf((score[~y] - score[y][:, None]) / 0.3).mean(axis=1)
    assert value == pytest.approx(np.maximum(0.2 - above, 0).mean(), abs=1e-3)
    ends = [smoothed_auc(score + step * change, y, share, 0.3, 0.2)[0] for step in (-1e-6, 1e-6)]
    assert slope @ change == pytest.approx((ends[1] - ends[0]) / 2e-6, rel=1e-3)


def test_cross_validation_uses_partial_auc():
    X, y = two_columns(0, 400)
    fold = np.arange(400) % 2
    evaluated = evaluate_models(replace(labeled(X, y, 0.05), fold=fold), [np.eye(2)] * 2)
    for k in (0, 1):
        of_folds = [area(y[fold == one], X[fold == one, k]) for one in (0, 1)]
        assert evaluated.auc[k] == pytest.approx(np.mean(of_folds))


def test_ascent_never_decreases_partial_auc():
    X, y = two_columns(1)
    rows = labeled(X, y, 0.05)
    ascent = Ascent(widths=(0.3,), n_rounds=2, rng=np.random.RandomState(0))
    initial = coef = np.array([1.0, 0.0])
    before = auc_of(rows, initial)
    assert before == pytest.approx(area(y, X[:, 0]))
    for number in range(2):
        coef = ascent.step("coordinate", number, rows, coef)
        assert auc_of(rows, coef) >= before
        before = auc_of(rows, coef)
    assert before > 1.5 * auc_of(rows, initial)
    smoothed = ascent.step("smoothed", 0, rows, initial)
    assert auc_of(rows, smoothed) > 1.5 * auc_of(rows, initial)


def test_best_weights_increase_partial_auc():
    X, y = two_columns(2)
    rows = labeled(X, y, 0.05)
    weights = best_weights(rows, np.array([0.9, 0.1]))
    assert auc_of(rows, weights) > auc_of(rows, np.array([0.9, 0.1]))
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(1)


def test_a_model_for_partial_auc_has_a_larger_partial_auc():
    X, y = two_columns(3)
    new_X, new_y = two_columns(4)
    full = rp.AUCClassifier(random_state=0).fit(X, y).decision_function(new_X)
    partial = rp.AUCClassifier(max_fpr=0.05, random_state=0).fit(X, y)
    assert area(new_y, partial.decision_function(new_X)) > 1.2 * area(new_y, full)
    assert roc_auc_score(new_y, full) > 0.8
    assert max(partial.history_[0].initial_auc) <= 0.05


def test_a_blend_for_partial_auc_has_a_larger_partial_auc():
    X, y = two_columns(5)
    new_X, new_y = two_columns(6)
    full = rp.AUCBlender(random_state=0).fit_scores(X, y)
    partial = rp.AUCBlender(max_fpr=0.05, random_state=0).fit_scores(X, y)
    scores = [model.decision_function(new_X) for model in (full, partial)]
    assert area(new_y, scores[1]) > area(new_y, scores[0])
    assert partial.weights_[1] > full.weights_[1]


def test_a_max_fpr_of_one_maximizes_the_full_auc():
    X, y = two_columns(7, 300)
    models = [rp.AUCClassifier(max_fpr=rate, random_state=0) for rate in (None, 1.0)]
    first, second = (model.fit(X, y).coef_ for model in models)
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("rate", [0.0, 1.5, "small"])
def test_invalid_max_fpr_raises(rate):
    X, y = two_columns(8, 100)
    with pytest.raises((ValueError, TypeError), match="max_fpr must be"):
        rp.AUCClassifier(max_fpr=rate).fit(X, y)
    with pytest.raises((ValueError, TypeError), match="max_fpr must be"):
        rp.AUCBlender(max_fpr=rate).fit_scores(X, y)

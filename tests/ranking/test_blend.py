"""Weights of a blend: compared with hand calculations and grids, and for invalid scores."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

import rocpath as rp
from rocpath.ranking.blend import Scale, best_weights, candidates, fit_blend, stacked_weights
from rocpath.ranking.labeled_rows import LabeledRows, random_ranks
from rocpath.sample import Sample


def labeled(scores, y, weight=None, group=None):
    y = np.asarray(y)
    weight = np.ones(y.size) if weight is None else np.asarray(weight, dtype=float)
    rank = random_ranks(y == 1, np.random.RandomState(0))
    return LabeledRows(np.asarray(scores, float), Sample(y == 1, weight, group), rank)


def auc_of(rows, coef):
    return rp.auc(rows.breakpoints, rows.X @ coef, max_fpr=rows.max_fpr)


def random_scores(n_rows, n_models, seed=0, share=0.5):
    """Return scores of models whose errors are correlated, and labels."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n_rows) < share).astype(int)
    shared = rng.normal(size=(n_rows, 1))
    return y[:, None] + shared + rng.normal(size=(n_rows, n_models)), y


def test_weights_of_two_models_with_errors_on_different_rows():
    # Rows 0 and 1 are negative, rows 2 and 3 positive. The first model ranks row 1 highest,
    # and the second row 0: alone, each has AUC 2/4. With weights 1/2, the sums are 1.5,
    # 1.5, 2 and 2.
    scores = np.array([[0.0, 3.0], [3.0, 0.0], [2.0, 2.0], [2.0, 2.0]])
    rows = labeled(scores, [0, 0, 1, 1])
    weights = best_weights(rows, np.array([0.9, 0.1]))
    assert auc_of(rows, np.array([0.9, 0.1])) == 0.5
    assert auc_of(rows, weights) == 1.0
    # The correct order requires w1 * 3 < 2 and w2 * 3 < 2.
    assert (weights < 2 / 3).all()


@pytest.mark.parametrize("seed", range(5))
def test_two_weights_are_as_good_as_the_best_of_a_grid(seed):
    scores, y = random_scores(60, 2, seed)
    rows = labeled(scores, y)
    weights = best_weights(rows, np.array([0.5, 0.5]))
    grid = np.linspace(0, 1, 2001)
    best = max(rp.auc(rows.breakpoints, scores @ [1 - w, w]) for w in grid)
    # The tolerance of a search is a quarter of the standard error.
    error = rp.auc_interval(y, scores.mean(axis=1)).standard_error
    assert auc_of(rows, weights) >= best - 0.25 * error
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(1.0)


def test_ascent_never_decreases_auc():
    for seed in range(10):
        scores, y = random_scores(80, 5, seed, share=0.3)
        rows = labeled(np.round(scores), y)
        start = stacked_weights(rows, 1.0)
        assert auc_of(rows, best_weights(rows, start)) >= auc_of(rows, start)


def test_stacking_matches_logistic_regression_if_no_weight_is_negative():
    scores, y = random_scores(500, 3)
    rows = labeled(scores, y, np.arange(500) % 3 + 1)
    free = LogisticRegression(C=0.1, tol=1e-8).fit(scores, y, np.arange(500) % 3 + 1)
    assert (free.coef_ > 0).all()
    expected = free.coef_[0] / free.coef_.sum()
    np.testing.assert_allclose(stacked_weights(rows, 10.0), expected, atol=1e-4)


def test_copies_of_rows_do_not_change_the_weights():
    scores, y = random_scores(150, 4)
    group = np.repeat(np.arange(150), 4)
    once, copied = labeled(scores, y), labeled(scores[group], y[group], group=group)
    for name, weights in candidates(once).items():
        # The tolerance of a search is in standard errors, which are also the same.
        np.testing.assert_allclose(candidates(copied)[name], weights, atol=1e-5)


def test_a_model_that_is_worse_than_chance_has_zero_weight():
    scores, y = random_scores(300, 3)
    scores[:, 1] *= -1
    weights = stacked_weights(labeled(scores, y), 10.0)
    assert weights[1] == 0
    assert weights.sum() == pytest.approx(1.0)
    # If all models are worse than chance, weights are equal.
    weights = stacked_weights(labeled(-np.abs(scores) * y[:, None], y), 10.0)
    np.testing.assert_allclose(weights, 1 / 3)


def test_scales_equal_hand_calculations():
    scores = np.array([[0.1, 10.0], [0.5, 20.0], [0.5, 20.0], [0.9, 40.0]])
    scale = Scale.from_scores(scores, np.ones(4))
    # Shares of lower scores, with ties counted as one half, are 1/8, 4/8, 4/8 and 7/8;
    # their standard deviation is sqrt(2) * 3/8 / 2.
    expected = np.array([-1.0, 0.0, 0.0, 1.0]) * np.sqrt(2)
    np.testing.assert_allclose(scale.ranks_of(scores)[:, 0], expected, atol=1e-12)
    np.testing.assert_allclose(scale.ranks_of(scores)[:, 1], expected, atol=1e-12)
    assert scale.ranks_of(np.array([[0.7, 1e9]]))[0] == pytest.approx(
        [(6 / 8 - 0.5) / (3 / 8) * np.sqrt(2), (1 - 0.5) / (3 / 8) * np.sqrt(2)]
    )
    np.testing.assert_array_equal(scale.is_probability, [True, False])
    # Log-odds of .1, .5, .5, .9 are -log 9, 0, 0, log 9.
    np.testing.assert_allclose(scale.odds_of(scores)[:, 0], expected, atol=1e-12)
    extreme = scale.odds_of(np.array([[0.0, 10.0], [1.0, 10.0], [7.0, 10.0]]))[:, 0]
    np.testing.assert_allclose(extreme, np.array([-14, 14, 14]) / np.log(9) * np.sqrt(2))
    # The second scores are not probabilities. Their mean is 22.5, and their squared
    # deviations 156.25, 6.25, 6.25 and 306.25 have a mean of 118.75.
    odds = np.array([-12.5, -2.5, -2.5, 17.5]) / np.sqrt(118.75)
    np.testing.assert_allclose(scale.transform(scores)[:, 1], (odds + expected) / 2)


def test_scores_with_a_fold_of_one_class_are_blended():
    scores, y = random_scores(60, 3)
    order = np.argsort(y, kind="stable")
    part = np.arange(60) // 12
    cv = [(np.flatnonzero(part != k), np.flatnonzero(part == k)) for k in range(5)]
    assert set(y[order][:12]) == {0}
    blend = rp.AUCBlender(cv=cv, random_state=0).fit_scores(scores[order], y[order])
    assert blend.weights_.sum() == pytest.approx(1.0)
    assert np.isfinite(blend.history_[0].auc).all()


def test_a_blend_is_better_than_the_best_model():
    # Each of six models has its own error in addition to a shared one. The mean of the
    # models is the best ranking, because it divides the variance of their own errors by six.
    scores, y = random_scores(2000, 6)
    others, z = random_scores(2000, 6, seed=1)
    blend = rp.AUCBlender(random_state=0).fit_scores(scores, y)
    ahead = roc_auc_score(z, blend.decision_function(others))
    best = roc_auc_score(z, others.mean(axis=1))
    assert ahead > max(roc_auc_score(z, score) for score in others.T) + 0.02
    assert ahead == pytest.approx(best, abs=0.003)


def test_the_blend_does_not_depend_on_the_scale_of_scores():
    scores, y = random_scores(200, 3)
    fold = np.arange(200) % 4
    plain = fit_blend(labeled(scores, y), fold)
    rescaled = fit_blend(labeled(scores * [1e-150, 1.0, 1e150] + [0, 5, 0], y), fold)
    np.testing.assert_allclose(rescaled.weights, plain.weights, atol=1e-5)


def test_weights_of_equal_constant_and_many_models_sum_to_one():
    scores, y = random_scores(30, 2)
    twice = np.column_stack((scores, scores[:, 0], np.full(30, 3.0)))
    blend = rp.AUCBlender(random_state=0).fit_scores(twice, y)
    assert blend.weights_[3] == 0
    assert blend.weights_.sum() == pytest.approx(1.0)
    # An L2 penalty divides the weight between equal models, so neither is zero.
    assert (blend.weights_[[0, 2]] > 0).all()
    more, y = random_scores(20, 40)
    blend = rp.AUCBlender(random_state=0).fit_scores(more, y)
    assert blend.weights_.sum() == pytest.approx(1.0)
    blend = rp.AUCBlender(random_state=0).fit_scores(np.ones((30, 2)), np.arange(30) % 2)
    np.testing.assert_allclose(blend.weights_, 0.5)
    np.testing.assert_allclose(blend.predict_proba(np.ones((1, 2))), 0.5)


def test_scores_that_are_not_finite_raise():
    scores, y = random_scores(30, 3)
    scores[7, 2] = np.nan
    message = "scores must be finite, got nan from model '2' for row 7"
    with pytest.raises(ValueError, match=message):
        rp.AUCBlender().fit_scores(scores, y)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(scores, columns=["a", "b", "c"])
    with pytest.raises(ValueError, match="from model 'c' for row 7"):
        rp.AUCBlender().fit_scores(frame, y)
    blend = rp.AUCBlender().fit_scores(frame.fillna(0.0), y)
    assert blend.member_names_ == ["a", "b", "c"]
    with pytest.raises(ValueError, match="got inf from model 'b' for row 0"):
        blend.predict(pandas.DataFrame({"a": [0.0], "b": [np.inf], "c": [0.0]}))


def test_a_single_perfect_model_causes_a_warning():
    scores, y = random_scores(200, 2)
    with pytest.warns(UserWarning, match="'2' ranks all held-out rows correctly"):
        rp.AUCBlender().fit_scores(np.column_stack((scores, y)), y)
    # If all models are perfect, the task is easy, and there is no warning.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rp.AUCBlender().fit_scores(np.column_stack((y, 2 * y)), y)


def test_many_rows_are_subsampled_but_probabilities_are_for_all_rows():
    scores, y = random_scores(30_000, 2, share=0.1)
    blend = rp.AUCBlender(random_state=0).fit_scores(scores, y)
    mean = blend.predict_proba(scores)[:, 1].mean()
    assert mean == pytest.approx(y.mean(), abs=0.01)
    rows = labeled(scores, y)
    assert set(candidates(rows)) >= {"best AUC", "halfway to the best AUC"}

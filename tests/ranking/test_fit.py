"""Fit of a ranking: rows, columns, initial models, smoothed ascent, folds."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

import rocpath as rp
from rocpath.evaluation.influence import auc_with_influence
from rocpath.matrices import Columns, copied_rows, equal_rows
from rocpath.model_selection.folds import joined_folds, stratified_folds
from rocpath.ranking.auc_ascent import maximize_smoothed_auc, smoothed_auc
from rocpath.ranking.convex_problem import ConvexProblem, clipping
from rocpath.ranking.cross_validation import evaluate_models
from rocpath.ranking.initial_models import InitialModel, common_scale, fit_initial_models
from rocpath.ranking.labeled_rows import LabeledRows, random_ranks
from rocpath.sample import Sample


def labeled(X, y, weight=None, group=None):
    y = np.asarray(y, bool)
    return LabeledRows(X, Sample(y, weight, group), random_ranks(y, np.random.RandomState(0)))


def evaluated_scores(score, rows, fold):
    """Evaluate each column of scores as the held-out scores of a model."""
    rows = replace(rows, X=score, fold=fold)
    return evaluate_models(rows, [np.eye(score.shape[1])] * np.unique(fold).size)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_tables_with_too_few_distinct_rows_are_not_cross_validated(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) * (rng.random((60, 3)) < 0.7)
    y = np.arange(60) % 2 == 0
    X[y] = X[y][np.arange(30) % 10]
    model = rp.AUCClassifier(random_state=0).fit(kind(X), y)
    assert model.history_[0].initial_auc.size > 1
    X[y] = X[y][np.arange(30) % 9]
    model = rp.AUCClassifier(random_state=0).fit(kind(X), y)
    assert model.history_[0].initial_auc.size == 0


def test_columns_with_many_values_are_clipped():
    X = np.column_stack((np.arange(60) % 10, np.arange(60), np.zeros(60))).astype(float)
    np.testing.assert_array_equal(clipping(X), [np.inf, 2.0, np.inf])
    np.testing.assert_array_equal(clipping(np.tile(X, 67)), np.full(201, np.inf))


def test_few_rows_of_very_many_sparse_columns_take_little_memory():
    X = sparse.random_array((120, 2**20), density=1e-4, format="csr", rng=0)
    tracemalloc.start()
    assert np.unique(equal_rows(X)).size == 120
    Columns.from_matrix(X)
    clipping(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 120 * 2**20


def test_an_outlier_does_not_determine_the_scale_of_a_model():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2 == 0
    X = rng.normal(size=(300, 1)) + y[:, None]
    X[0] = 1e15
    rows = labeled(X, y)
    # The variance is 1 + 1/4, plus that of one in 300 rows, clipped at a distance of 16.
    expected = (1.25 + 16**2 / 300) ** -0.5
    assert rows.standardized(np.ones(1)).coef[0] == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("width", [0.05, 0.3, 2.0])
def test_smoothed_auc_equals_the_mean_over_pairs(width):
    rng = np.random.default_rng(0)
    score = rng.normal(size=300)
    is_positive = rng.random(300) < 0.2
    weight = rng.integers(1, 4, 300)
    share = np.where(is_positive, weight / weight[is_positive].sum(), 0.0)
    share += np.where(~is_positive, weight / weight[~is_positive].sum(), 0.0)
    value, slope = smoothed_auc(score, is_positive, share, width)
    difference = score[is_positive][:, None] - score[~is_positive]
    pairs = np.outer(share[is_positive], share[~is_positive])
    assert value == pytest.approx((pairs * norm.cdf(difference / width)).sum(), abs=1e-3)
    density = pairs * norm.pdf(difference / width) / width
    assert slope[is_positive] == pytest.approx(density.sum(axis=1), abs=2e-3 / width)
    assert slope[~is_positive] == pytest.approx(-density.sum(axis=0), abs=2e-3 / width)


def test_derivative_of_smoothed_auc_matches_finite_differences():
    rng = np.random.default_rng(0)
    score, change = rng.normal(size=(2, 300))
    score[0] = 25.0  # outside the grid, where the derivative is zero
    is_positive = np.arange(300) % 3 == 0
    share = np.where(is_positive, 1 / 100, 1 / 200)

    def value(step):
        return smoothed_auc(score + step * change, is_positive, share, 0.3)[0]

    _, slope = smoothed_auc(score, is_positive, share, 0.3)
    rise = (value(1e-6) - value(-1e-6)) / 2e-6
    assert slope @ change == pytest.approx(rise, rel=1e-4)
    assert slope[0] == 0


def test_smoothed_ascent_finds_the_direction_of_the_means():
    rng = np.random.default_rng(0)
    y = np.arange(2000) % 4 == 0
    X = rng.normal(size=(2000, 3)) + np.outer(y, [1.0, 1.0, 0.0])
    X[:, 2] = 0.0  # uninformative
    rows = labeled(X, y)
    found = maximize_smoothed_auc(rows, 0.3, np.array([1.0, -0.5, 0.0]))
    # For normal classes with equal covariance, the best direction is that of the means.
    assert found[2] == 0
    assert found[0] == pytest.approx(found[1], rel=0.15)


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
@pytest.mark.parametrize("n_features", [4, 1200])
def test_initial_models_are_optimal(loss, n_features):
    # The gradient of the objective is zero. Few columns are solved by Newton's method, and
    # many columns by L-BFGS.
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3 == 0
    X = rng.normal(size=(120, n_features))
    X[:, 0] += y
    sign, weight = np.where(y, 1.0, -1.0), np.full(120, 1 / 120)
    columns = Columns.from_matrix(X, weight)
    alpha = 0.1
    problem = ConvexProblem(X, columns, np.inf, sign, weight, loss)
    _, solution = problem.solutions([1.0, alpha])
    model = columns.unscaled(solution[:-1], solution[-1])
    margin = sign * (X @ model.coef + model.intercept)
    slope = -expit(-margin) if loss == "logistic" else -np.maximum(1 - margin, 0)
    by_prediction = weight * sign * slope
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    gradient = scaled.T @ by_prediction + alpha * model.coef * X.std(axis=0)
    tol = 1e-5 if n_features == 4 else 1e-4  # the latter is the tolerance of L-BFGS
    assert np.abs(gradient).max() < tol
    assert abs(by_prediction.sum()) < tol


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_models_with_many_columns_are_solved_in_the_row_space(form):
    rng = np.random.default_rng(0)
    y = np.arange(30) % 3 == 0
    X = rng.normal(size=(30, 250)) + 0.5  # the intercept absorbs the mean
    rows = labeled(form(X), y)
    models = [InitialModel("logistic", is_balanced=False, is_clipped=False, l2=0.1)]
    bound, scale = np.full(250, np.inf), np.ones(250)
    (coef,) = fit_initial_models(rows, models, bound, scale)
    # scikit-learn solves for all columns, with C = 1 / (l2 * n_rows).
    known = LogisticRegression(C=1 / (0.1 * 30), tol=1e-9, max_iter=2000).fit(X, y)
    np.testing.assert_allclose(coef, known.coef_[0], atol=1e-4)


def test_influence_matches_delong():
    # The variance of AUC is estimated from the share of rows of the other class against
    # which each row is ranked correctly.
    rng = np.random.default_rng(0)
    y = np.arange(40) % 4 == 0
    score = rng.integers(0, 5, size=40) + y.astype(float)
    area, influence = auc_with_influence(score, y, np.ones(40))
    positive, negative = score[y][:, None], score[~y]
    wins = (positive > negative) + 0.5 * (positive == negative)
    assert area == pytest.approx(wins.mean())
    of_positives = (wins.mean(axis=1) - area) / y.sum()
    np.testing.assert_allclose(influence[y], of_positives)
    of_negatives = (wins.mean(axis=0) - area) / (~y).sum()
    np.testing.assert_allclose(influence[~y], of_negatives)


def test_subsampling_keeps_the_rare_class():
    rows = labeled(np.zeros((1000, 1)), np.arange(1000) % 100 == 0)
    subsampled = rows.subsampled(50)
    assert np.count_nonzero(subsampled.is_positive) == 10
    assert np.count_nonzero(~subsampled.is_positive) == 50
    assert rows.subsampled(990) is rows


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_model_of_scaled_columns_is_returned_for_the_original_columns(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4)) * [1.0, 1e-300, 1e300, 3.0] + [5.0, 0.0, 0.0, 7.0]
    X[:, 3] = 2.0
    columns = Columns.from_matrix(kind(X))
    scaled = columns.scaled(kind(X))
    assert scaled.mean(axis=0) == pytest.approx(0, abs=1e-9)
    assert scaled.std(axis=0) == pytest.approx([1, 1, 1, 0])
    coef = np.array([1.0, -2.0, 0.5, 9.0])
    model = columns.unscaled(coef, 3.0)
    assert X @ model.coef + model.intercept == pytest.approx(scaled @ coef + 3.0)
    assert columns.scaled_coef(model.coef) == pytest.approx([1.0, -2.0, 0.5, 0.0])


def test_weighted_columns_are_scaled_like_repeated_rows():
    X = np.random.default_rng(0).normal(size=(30, 2))
    weight = np.arange(30) % 3 + 1.0
    columns = Columns.from_matrix(X, weight)
    repeated = Columns.from_matrix(np.repeat(X, weight.astype(int), axis=0))
    assert columns.center == pytest.approx(repeated.center)
    assert columns.scale == pytest.approx(repeated.scale)


@pytest.mark.parametrize("size", [1e-308, 1e-320])
def test_the_coef_of_a_column_with_tiny_values_is_finite(size):
    X = size * np.linspace(-3, 3, 100)[:, None]
    model = Columns.from_matrix(X).unscaled(np.array([100.0]))
    assert np.isfinite(model.coef).all()
    assert model.coef[0] > 0


def test_models_are_evaluated_within_folds():
    # Model 0 ranks the only pair of fold 0 correctly, and one of four pairs of fold 1
    # incorrectly; model 1 ranks every pair incorrectly. Fold 1 has higher scores.
    y = np.array([False, True, False, True, False, True])
    fold = np.array([0, 0, 1, 1, 1, 1])
    score = np.array([[0.0, 1], [1, 0], [5, 1], [4, 0], [2, 1], [6, 0]])
    rows = labeled(np.arange(6.0)[:, None], y)
    evaluated = evaluated_scores(score, rows, fold)
    np.testing.assert_allclose(evaluated.auc, [(1 + 3 / 4) / 2, 0])
    gain, error = evaluated.gain(over=0)
    np.testing.assert_allclose(gain, [0, -7 / 8])
    # In fold 1, deviations are 1/4 and divided by two rows and two folds.
    np.testing.assert_allclose(np.abs(evaluated.influence[2:, 0]), [1 / 16] * 4)
    np.testing.assert_allclose(error, [0, np.sqrt(4) / 16])
    np.testing.assert_allclose(evaluated.shares(0.5, least=0.05), [1, 0])


def test_models_with_the_same_ranking_have_equal_shares():
    y = np.arange(40) % 2 == 0
    score = np.random.default_rng(0).normal(size=(40, 1)) + y[:, None]
    evaluated = evaluated_scores(
        np.hstack((score, 2 * score)), labeled(score, y), np.arange(40) // 20
    )
    np.testing.assert_allclose(evaluated.shares(0.5, least=0.05), [0.5, 0.5])


def test_subsampling_preserves_the_total_weight_of_each_class():
    rng = np.random.RandomState(0)
    y = np.arange(1000) % 10 == 0
    rows = labeled(np.zeros((1000, 1)), y, rng.rand(1000))
    subsampled = rows.subsampled(200)
    for label in (True, False):
        before = rows.sample_weight[rows.is_positive == label].sum()
        after = subsampled.sample_weight[subsampled.is_positive == label].sum()
        assert after == pytest.approx(before)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, np.float32])
def test_equal_rows_share_a_number(kind):
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 3, size=(300, 4)).astype(float)
    X[X == 0] = -0.0
    number = equal_rows(kind(X))
    _, expected = np.unique(X + 0.0, axis=0, return_inverse=True)
    # Both numberings are equivalent: there are as many pairs of numbers as numbers.
    assert len(set(zip(number, expected, strict=True))) == np.unique(expected).size
    assert np.unique(number).size == np.unique(expected).size
    np.testing.assert_array_equal(copied_rows(number), number)
    # Equal rows that make up half of the table are not treated as copies.
    X[:150] = 1.0
    assert np.unique(equal_rows(kind(X))).size < 160
    assert np.unique(copied_rows(equal_rows(kind(X)))).size == 300


@pytest.mark.parametrize("n_folds", [2, 3, 5])
def test_folds_keep_groups_together_and_are_stratified(n_folds):
    rng = np.random.default_rng(n_folds)
    group = rng.integers(0, 60, 400)
    y = (rng.random(400) < 0.2) | (group < 5)
    rows = labeled(rng.normal(size=(400, 2)), y, group=group)
    fold = stratified_folds(y, group, rows.rank, n_folds)
    assert all(np.unique(fold[group == one]).size == 1 for one in range(60))
    for label in (False, True):
        counts = np.bincount(fold[y == label], minlength=n_folds)
        # No fold differs from the mean by more than twice the size of the largest group.
        largest = max(np.sum((group == one) & (y == label)) for one in range(60))
        assert np.abs(counts - counts.mean()).max() <= 2 * largest
    # Without groups, numbers of rows of a class differ by at most one between folds.
    alone = labeled(rng.normal(size=(400, 2)), np.arange(400) % 4 == 0)
    fold = stratified_folds(alone.is_positive, alone.clusters, alone.rank, n_folds)
    counts = np.bincount(fold[alone.is_positive], minlength=n_folds)
    assert np.ptp(counts) <= 1


def test_folds_of_one_class_are_joined():
    y = np.array([1, 1, 0, 1, 0, 0, 0, 0])
    fold = np.array([0, 0, 1, 2, 2, 3, 3, 3])
    rows = labeled(np.zeros((8, 1)), y)
    np.testing.assert_array_equal(
        joined_folds(fold, rows.is_positive, rows.rank), [0, 0, 0, 1, 1, 1, 1, 1]
    )
    joined = joined_folds(y, rows.is_positive, rows.rank)
    for k in (0, 1):
        assert set(y[joined == k]) == {0, 1}


def test_copies_of_rows_do_not_change_standard_errors():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3 == 0
    X = rng.normal(size=(60, 2)) + y[:, None]
    group = np.repeat(np.arange(60), 4)
    once, four = labeled(X, y), labeled(X[group], y[group], group=group)
    assert four.auc_with_error(np.repeat(X[:, 0], 4)) == pytest.approx(
        once.auc_with_error(X[:, 0].copy())
    )
    fold = np.arange(60) % 2
    single = evaluated_scores(X, once, fold).gain(over=0)
    copied = evaluated_scores(four.X, four, np.repeat(fold, 4)).gain(0)
    np.testing.assert_allclose(copied, single, atol=1e-15)
    assert single[1][1] > 0
    fold = stratified_folds(four.is_positive, four.clusters, four.rank, 5)
    assert (fold.reshape(60, 4) == fold[::4, None]).all()


@pytest.mark.parametrize("factor", [1.0, 1e300, 1e-300])
def test_the_common_scale_of_columns_equals_its_definition(factor):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    X[:, 1] *= rng.random(200) < 0.03  # mostly zero
    X[:, 2] += 1e6  # never zero
    X[:, 3] = 5.0  # constant
    X *= factor
    dense = common_scale(X, Columns.from_matrix(X))
    rare = X[:, 1] / factor
    expected = 0.5 * np.sqrt(np.mean(rare[rare != 0] ** 2)) / rare.std()
    assert expected > 1.5
    np.testing.assert_allclose(dense, [1, expected, 1, 1])
    np.testing.assert_allclose(common_scale(sparse.csr_array(X), Columns.from_matrix(X)), dense)
    # In wide sparse tables, all varying columns have the same scale, whose square is the
    # mean of the variances.
    wide = rng.random((60, 300)) * (rng.random((60, 300)) < 0.1)
    wide[:, 7] = 0
    deviation = wide.std(axis=0)
    common = np.sqrt(np.mean(deviation[deviation > 0] ** 2))
    with np.errstate(divide="ignore"):
        expected = np.where(deviation > 0, common / deviation, 1)
    wide = sparse.csr_array(wide * factor)
    found = common_scale(wide, Columns.from_matrix(wide))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_penalties_apply_to_the_common_scale(form):
    # The penalty l2 / 2 · Σ (scale · coef)² is that of a scikit-learn model fitted to
    # columns divided by the scale.
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3 == 0
    X = rng.normal(size=(90, 250)) * (rng.random((90, 250)) < 0.2)
    X[:, 0] += y
    X[:, 5] = 0  # empty
    scale = rng.uniform(0.5, 3, 250)
    rows = labeled(form(X), y)
    model = InitialModel("logistic", False, False, 0.1, has_common_scale=True)
    bound = np.full(250, np.inf)
    (coef,) = fit_initial_models(rows, [model], bound, scale)
    known = LogisticRegression(C=1 / (0.1 * 90), tol=1e-9, max_iter=2000)
    known.fit(X / scale, y)
    np.testing.assert_allclose(coef, known.coef_[0] / scale, atol=1e-3)
    assert coef[5] == 0

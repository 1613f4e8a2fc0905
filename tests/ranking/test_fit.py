"""The parts of a ranking: columns, convex starts, the smoothed ascent, held-out AUC."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

from rocpath.auc_statistics.influence import auc_with_influence
from rocpath.matrices import Columns
from rocpath.ranking.convex_problem import ConvexProblem, has_tails
from rocpath.ranking.cross_validation import CrossValidatedAUC
from rocpath.ranking.initial_models import InitialModel, fit_initial_models
from rocpath.ranking.labeled_rows import LabeledRows
from rocpath.ranking.smooth_auc import climb_smoothed, smoothed_auc


def test_rows_and_values_of_sparse_tables_are_counted_as_of_dense_ones():
    rng = np.random.default_rng(0)
    dense = rng.integers(-1, 2, size=(60, 4)) * (rng.random((60, 4)) < 0.5) * 1.0
    dense[:, 1] = np.where(dense[:, 0] != 0, np.arange(60), 0)
    dense[:, 3] = 0
    X = sparse.csr_array(dense)
    X.data[:5] = 0  # explicit zeros
    y, weight = np.arange(60) % 2 == 0, np.ones(60)
    counts = [
        LabeledRows(kind, y, weight, np.arange(60)).n_unique_minority(10)
        for kind in (X, X.toarray())
    ]
    assert counts[0] == counts[1]
    tailed = [has_tails(kind) for kind in (X, X.toarray())]
    assert tailed[0].tolist() == tailed[1].tolist() == [False, True, False, False]


def test_few_rows_of_very_many_sparse_columns_take_little_memory():
    X = sparse.random_array((120, 2**20), density=1e-4, format="csr", rng=0)
    y = np.arange(120) % 2
    tracemalloc.start()
    LabeledRows.with_random_ranks(
        X, y == 1, np.ones(120), np.random.RandomState(0)
    ).n_unique_minority(10)
    Columns.from_matrix(X)
    has_tails(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 120 * 2**20


def test_a_far_row_does_not_make_a_model_vanish():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2 == 0
    X = rng.normal(size=(300, 1)) + y[:, None]
    X[0] = 1e15
    rows = LabeledRows.with_random_ranks(X, y, np.ones(300), np.random.RandomState(0))
    # Variance 1 + 1/4, and one row of 300 about 16 away, where it is cut off.
    expected = (1.25 + 16**2 / 300) ** -0.5
    assert rows.standardized(np.ones(1)).coef[0] == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("width", [0.05, 0.3, 2.0])
def test_smoothed_auc_is_the_mean_over_pairs(width):
    rng = np.random.default_rng(0)
    score = rng.normal(size=300)
    is_positive = rng.random(300) < 0.2
    weight = rng.integers(1, 4, 300)
    share = np.where(is_positive, weight / weight[is_positive].sum(), 0.0)
    share += np.where(~is_positive, weight / weight[~is_positive].sum(), 0.0)
    value, slope = smoothed_auc(score, is_positive, share, width)
    difference = score[is_positive][:, None] - score[~is_positive]
    pairs = np.outer(share[is_positive], share[~is_positive])
    assert value == pytest.approx(
        (pairs * norm.cdf(difference / width)).sum(), abs=1e-3
    )
    density = pairs * norm.pdf(difference / width) / width
    assert slope[is_positive] == pytest.approx(density.sum(axis=1), abs=2e-3 / width)
    assert slope[~is_positive] == pytest.approx(-density.sum(axis=0), abs=2e-3 / width)


def test_derivative_of_smoothed_auc_is_that_of_its_value():
    rng = np.random.default_rng(0)
    score, change = rng.normal(size=(2, 300))
    score[0] = 25.0  # so far away that it does not count
    is_positive = np.arange(300) % 3 == 0
    share = np.where(is_positive, 1 / 100, 1 / 200)

    def value(step):
        return smoothed_auc(score + step * change, is_positive, share, 0.3)[0]

    _, slope = smoothed_auc(score, is_positive, share, 0.3)
    rise = (value(1e-6) - value(-1e-6)) / 2e-6
    assert slope @ change == pytest.approx(rise, rel=1e-4)
    assert slope[0] == 0


def test_climbing_smoothed_auc_finds_the_direction_of_the_means():
    rng = np.random.default_rng(0)
    y = np.arange(2000) % 4 == 0
    X = rng.normal(size=(2000, 3)) + np.outer(y, [1.0, 1.0, 0.0])
    X[:, 2] = 0.0  # tells nothing
    rows = LabeledRows.with_random_ranks(X, y, np.ones(2000), np.random.RandomState(0))
    found = climb_smoothed(rows, np.array([1.0, -0.5, 0.0]), 0.3)
    # Normal classes with equal covariance: the best direction is that of the means.
    assert found[2] == 0
    assert found[0] == pytest.approx(found[1], rel=0.15)


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
@pytest.mark.parametrize("n_features", [4, 1200])
def test_convex_starts_are_optimal(loss, n_features):
    # The gradient of the objective, written out, vanishes; few columns go by Newton,
    # many by L-BFGS.
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3 == 0
    X = rng.normal(size=(120, n_features))
    X[:, 0] += y
    sign, weight = np.where(y, 1.0, -1.0), np.full(120, 1 / 120)
    columns = Columns.from_matrix(X, weight)
    alpha = 0.1
    problem = ConvexProblem(X, columns, np.inf, sign, weight, loss)
    _, model = problem.solutions([1.0, alpha])
    margin = sign * (X @ model.coef + model.intercept)
    slope = -expit(-margin) if loss == "logistic" else -np.maximum(1 - margin, 0)
    by_prediction = weight * sign * slope
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    gradient = scaled.T @ by_prediction + alpha * model.coef * X.std(axis=0)
    largest = 1e-5 if n_features == 4 else 1e-4  # to which L-BFGS is asked to go
    assert np.abs(gradient).max() < largest
    assert abs(by_prediction.sum()) < largest


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_starts_of_many_columns_are_found_in_the_space_of_the_rows(form):
    rng = np.random.default_rng(0)
    y = np.arange(30) % 3 == 0
    X = rng.normal(size=(30, 250)) + 0.5  # not centered: the intercept takes it
    rows = LabeledRows.with_random_ranks(
        form(X), y, np.ones(30), np.random.RandomState(0)
    )
    starts = [InitialModel("logistic", is_balanced=False, is_clipped=False, l2=0.1)]
    (coef,) = fit_initial_models(rows, starts, np.full(250, np.inf), None)
    # Solved in all columns by a third party: C is one over the sum of l2 over rows.
    known = LogisticRegression(C=1 / (0.1 * 30), tol=1e-9, max_iter=2000).fit(X, y)
    np.testing.assert_allclose(coef, known.coef_[0], atol=1e-4)


def test_influence_is_delongs():
    # By hand: the variance of the AUC of independent rows is estimated from how often
    # each row wins against the other class.
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


def test_thinning_keeps_the_rare_class_and_every_weight():
    rows = LabeledRows.with_random_ranks(
        np.zeros((1000, 1)),
        np.arange(1000) % 100 == 0,
        np.ones(1000),
        np.random.RandomState(0),
    )
    thinned = rows.subsampled(50)
    assert np.count_nonzero(thinned.is_positive) == 10
    assert np.count_nonzero(~thinned.is_positive) == 50
    assert rows.subsampled(990) is rows


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_model_of_scaled_columns_is_given_back_for_the_columns_as_they_are(kind):
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


def test_rows_that_count_twice_are_measured_as_two():
    X = np.random.default_rng(0).normal(size=(30, 2))
    weight = np.arange(30) % 3 + 1.0
    columns = Columns.from_matrix(X, weight)
    repeated = Columns.from_matrix(np.repeat(X, weight.astype(int), axis=0))
    assert columns.center == pytest.approx(repeated.center)
    assert columns.scale == pytest.approx(repeated.scale)


@pytest.mark.parametrize("size", [1e-308, 1e-320])
def test_the_coef_of_a_column_too_small_for_it_is_finite(size):
    X = size * np.linspace(-3, 3, 100)[:, None]
    model = Columns.from_matrix(X).unscaled(np.array([100.0]))
    assert np.isfinite(model.coef).all()
    assert model.coef[0] > 0


def test_models_are_judged_fold_by_fold():
    # By hand: the scores of fold 1 lie above all of fold 0 and still rank one pair of
    # four wrongly; model 1 ranks every pair of both folds wrongly.
    y = np.array([False, True, False, True, False, True])
    fold = np.array([0, 0, 1, 1, 1, 1])
    score = np.array([[0.0, 1], [1, 0], [5, 1], [4, 0], [2, 1], [6, 0]])
    judged = CrossValidatedAUC.from_scores(score, y, np.ones(6), fold)
    np.testing.assert_allclose(judged.auc, [(1 + 3 / 4) / 2, 0])
    gain, error = judged.gain(over=0)
    np.testing.assert_allclose(gain, [0, -7 / 8])
    # In fold 1 the influence of a row is a quarter, and the mean is over two folds.
    np.testing.assert_allclose(np.abs(judged.influence[2:, 0]), [1 / 16] * 4)
    np.testing.assert_allclose(error, [0, np.sqrt(4) / 16])
    np.testing.assert_allclose(judged.shares(0.5, least=0.05), [1, 0])


def test_models_that_rank_alike_share_alike():
    y = np.arange(40) % 2 == 0
    score = np.random.default_rng(0).normal(size=(40, 1)) + y[:, None]
    judged = CrossValidatedAUC.from_scores(
        np.hstack((score, 2 * score)), y, np.ones(40), np.arange(40) // 20
    )
    np.testing.assert_allclose(judged.shares(0.5, least=0.05), [0.5, 0.5])


def test_thinned_rows_weigh_as_much_as_their_class():
    rng = np.random.RandomState(0)
    y = np.arange(1000) % 10 == 0
    rows = LabeledRows.with_random_ranks(np.zeros((1000, 1)), y, rng.rand(1000), rng)
    thinned = rows.subsampled(200)
    for label in (True, False):
        before = rows.sample_weight[rows.is_positive == label].sum()
        after = thinned.sample_weight[thinned.is_positive == label].sum()
        assert after == pytest.approx(before)

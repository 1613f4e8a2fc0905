"""Log-odds of held-out scores: of two rows, of many rows, and of separated classes."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from rocpath.matrices import LinearModel
from rocpath.ranking.cross_validation import log_odds
from tests.ranking.test_fit import labeled


def odds_of(score, y, weight=None):
    """Fit log-odds to scores, and return the slope and the intercept."""
    rows = labeled(np.asarray(score, float)[:, None], y, weight)
    totals = np.bincount(rows.is_positive, rows.sample_weight)
    model = log_odds(rows, LinearModel(np.ones(1), 0.0), *totals)
    return model.coef[0], model.intercept


def test_log_odds_of_two_rows_solve_the_equation_of_firth():
    # By symmetry, the intercept is 0, and both rows have the same error 1 - p and a
    # leverage of 1. Firth's equation 2 (1 - p) + 2 (1/2 - p) = 0 has the solution p = 3/4.
    slope, intercept = odds_of([-1.0, 1.0], [0, 1])
    assert slope == pytest.approx(np.log(3))
    assert intercept == pytest.approx(0)


def test_log_odds_of_many_rows_match_logistic_regression():
    rng = np.random.default_rng(0)
    y = rng.random(100_000) < 0.2
    score = rng.normal(size=y.size) + y
    known = LogisticRegression(C=np.inf, tol=1e-9).fit(np.clip(score, -5, 5)[:, None], y)
    # The bias that is removed is of the order of one over the number of rows.
    slope, intercept = odds_of(score, y)
    assert slope == pytest.approx(known.coef_[0, 0], rel=1e-3)
    assert intercept == pytest.approx(known.intercept_[0], rel=1e-3)


@pytest.mark.parametrize("gap", [0.0, 3.0, 10.0])
def test_mean_probability_is_the_class_frequency(gap):
    # A gap of 10 separates the classes, so that maximum likelihood has no finite slope.
    y = np.arange(200) % 10 == 0
    score = np.random.default_rng(0).normal(size=200) + gap * y
    score = (score - score.mean()) / score.std()
    slope, intercept = odds_of(score, y)
    assert 0 < slope < 10
    assert expit(slope * score + intercept).mean() == pytest.approx(0.1, rel=1e-3)
    # A weight of 2 is equivalent to two rows, and the scale of small weights is ignored.
    assert odds_of(score, y, np.full(200, 2.0)) == pytest.approx(
        odds_of(np.tile(score, 2), np.tile(y, 2))
    )
    assert odds_of(score, y, np.full(200, 0.01)) == pytest.approx((slope, intercept))

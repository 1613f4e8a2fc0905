"""The cost of lines, compared with exhaustive search and least squares."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocpath import changepoint as cp
from tests import oracle_changepoint as oracle
from tests.changepoint.test_array_costs import SEEDS, VALUES, assert_best, label_rows, weights_for

THREE_LINES = np.concatenate((np.arange(30.0), 30 - 2 * np.arange(30.0), np.zeros(20)))


@given(st.data(), VALUES, SEEDS, st.integers(1, 4))
def test_costs_of_lines_equal_those_of_exhaustive_search(data, x, seed, min_length):
    weight = weights_for(len(x), seed)
    assert_best(
        np.array(x, dtype=float),
        lambda a, b: oracle.line_cost(x[a:b], range(a, b), weight[a:b]),
        max(min_length, 2),
        data.draw(label_rows(len(x))),
        cost="linear",
        weights=weight,
        min_length=min_length,
    )


def test_lines_are_least_squares_fits_to_each_segment():
    rng = np.random.default_rng(0)
    weight = rng.integers(1, 4, size=80).astype(float)
    x = THREE_LINES + rng.normal(size=80) / np.sqrt(weight)
    best = cp.segment_penalty(x, 3 * np.log(80), cost="linear", weights=weight)
    assert best.changes == pytest.approx([30, 60], abs=1)
    fitted = []
    for rows in np.split(np.arange(80), best.changes):
        # polyfit minimizes the sum of squared weighted residuals.
        line = np.polyfit(rows, x[rows], 1, w=np.sqrt(weight[rows]))
        fitted.append(np.polyval(line, rows))
    assert best.fitted() == pytest.approx(np.concatenate(fitted))
    assert best.cost == pytest.approx(weight @ (x - best.fitted()) ** 2)
    assert best.slope == pytest.approx([1, -2, 0], abs=0.3)


def test_missing_observations_do_not_shift_the_time():
    gaps = THREE_LINES.copy()
    gaps[[0, 5, 6, 7, 40]] = np.nan
    best = cp.segment_penalty(gaps, 1e-6, cost="linear")
    assert best.changes.tolist() == [30, 60]
    assert best.fitted() == pytest.approx(THREE_LINES, abs=1e-9)


@pytest.mark.parametrize("unit", [1e-90, 1.0, 1e80])
@pytest.mark.parametrize("trend", [0.0, 1e4])
def test_changes_do_not_depend_on_units_or_a_common_trend(unit, trend):
    # The residuals are a tiny part of the values of a steep trend.
    x = THREE_LINES + np.random.default_rng(1).normal(size=80)
    expected = cp.segment(x, 4, cost="linear")
    models = cp.segment(unit * (x + trend * np.arange(80)), 4, cost="linear")
    assert [one.tolist() for one in models.changes] == [one.tolist() for one in expected.changes]
    assert models.cost / unit**2 == pytest.approx(expected.cost, rel=1e-6)


def test_a_mean_is_the_value_in_the_middle_of_a_line():
    models = cp.segment(THREE_LINES, 2, cost="linear")
    assert models.mean[2] == pytest.approx([14.5, 1.0, 0.0])
    assert models.slope[2] == pytest.approx([1.0, -2.0, 0.0])


def test_the_default_penalty_counts_the_slope():
    rng = np.random.default_rng(2)
    n_false = 0
    for _ in range(20):
        x = 0.05 * np.arange(400) + rng.normal(size=400)
        n_false += cp.segment_penalty(
            x, cp.default_penalty(x, cost="linear"), cost="linear"
        ).n_changes
    assert n_false <= 2
    x = np.concatenate((np.arange(150) * 0.1, 15 - np.arange(150) * 0.1)) + rng.normal(size=300)
    best = cp.segment_penalty(x, cp.default_penalty(x, cost="linear"), cost="linear")
    assert best.changes == pytest.approx([150], abs=8)


def test_penalties_of_lines_can_be_learned():
    rng = np.random.default_rng(3)
    noise = rng.choice([0.2, 2.0], size=16)
    x = [s * (THREE_LINES + rng.normal(size=80)) for s in noise]
    labels = [
        cp.Labels(
            [2, 25, 35, 55, 66],
            [25, 35, 55, 66, 79],
            ["no_change", "one_change"] * 2 + ["no_change"],
        )
        for _ in x
    ]
    detector = cp.LearnedDetector(cost="linear").fit(x[:10], labels[:10])
    assert detector.score(x[10:], labels[10:]) >= 0.9

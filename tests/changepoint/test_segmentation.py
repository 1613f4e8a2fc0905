"""Segmentations, compared with slow searches and ruptures, at various scales."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocpath import changepoint as cp
from tests import oracle_changepoint as oracle

kinds = st.sampled_from(sorted(oracle.COSTS))
constraints = st.sampled_from([None, "up_down"])


@st.composite
def sequences(draw, max_size=12):
    """Draw small integers with many ties, and integer weights."""
    n = draw(st.integers(1, max_size))
    element = draw(st.sampled_from([st.integers(0, 2), st.integers(0, 20)]))
    weight = draw(st.sampled_from([st.just(1), st.integers(1, 5)]))
    x = draw(st.lists(element, min_size=n, max_size=n))
    return x, draw(st.lists(weight, min_size=n, max_size=n))


def cost_of(x, weight, changes, mean, cost):
    """Return the cost of given changes and means, computed from its definition."""
    x, weight = np.asarray(x, float), np.asarray(weight, float)
    mu = np.repeat(mean, np.diff([0, *changes, x.size]))
    return float((weight * oracle.LOSSES[cost](x, mu)).sum())


def near(expected):
    return pytest.approx(np.array(expected, dtype=float), 1e-10, 1e-10)


@given(sequences(), kinds)
def test_costs_are_minimal(sequence, cost):
    x, weight = oracle.allowed_values(sequence[0], cost), sequence[1]
    models = cp.segment(x, len(x) - 1, cost=cost, weights=weight)
    assert models.cost == near(oracle.best_costs(x, weight, len(x) - 1, cost))


@given(
    st.lists(st.integers(-9, 9), min_size=1, max_size=12),
    st.sampled_from([1, 2, 1e-9]),
    st.sampled_from(["exponential", "binomial", "variance"]),
)
def test_costs_of_mixed_magnitudes_are_minimal(exponent, ratio, cost):
    if cost == "binomial":
        x = [10.0**k if k < 0 else 1 - 10.0**-k for k in exponent]
    else:  # no square is below the smallest variance, 1e-6 times the mean square
        x = [10.0 ** (k / 8 if cost == "variance" else 10 * k) for k in exponent]
    weight = [ratio**k for k in range(len(x))]
    models = cp.segment(x, len(x) - 1, cost=cost, weights=weight)
    assert models.cost == near(oracle.best_costs(x, weight, len(x) - 1, cost))


@given(sequences(max_size=6), kinds)
def test_up_down_costs_are_minimal(sequence, cost):
    x, weight = oracle.allowed_values(sequence[0], cost), sequence[1]
    models = cp.segment(x, len(x) - 1, cost=cost, weights=weight, constraint="up_down")
    assert models.cost == near(oracle.best_up_down_costs(x, weight, len(x) - 1, cost))


@given(sequences(max_size=30), kinds)
def test_up_down_costs_of_longer_sequences_are_minimal(sequence, cost):
    x, weight = oracle.allowed_values(sequence[0], cost), sequence[1]
    max_changes = min(6, len(x) - 1)
    models = cp.segment(x, max_changes, cost=cost, weights=weight, constraint="up_down")
    expected = oracle.up_down_costs_on_candidates(x, weight, max_changes, cost)
    assert models.cost == near(expected)


@given(sequences(max_size=20), kinds, constraints)
def test_changes_and_means_agree_with_costs_and_constraint(sequence, cost, constraint):
    x, weight = oracle.allowed_values(sequence[0], cost), sequence[1]
    models = cp.segment(x, len(x) - 1, cost=cost, weights=weight, constraint=constraint)
    assert models.n == len(x)
    assert len(models) == len(x)
    for k, (changes, mean) in enumerate(zip(models.changes, models.mean, strict=True)):
        assert changes.size == k
        assert (np.diff([0, *changes, len(x)]) > 0).all()
        assert models.cost[k] == near(cost_of(x, weight, changes, mean, cost))
        if constraint == "up_down":
            direction = np.where(np.arange(k) % 2, -1, 1)
            assert (np.diff(mean) * direction >= -1e-12).all()
    if constraint is None:
        assert (np.diff(models.cost) <= 0).all()


@given(sequences(max_size=15), kinds, constraints, st.floats(0, 50))
def test_penalized_search_finds_the_selected_model(sequence, cost, constraint, penalty):
    x, weight = oracle.allowed_values(sequence[0], cost), sequence[1]
    settings = {"cost": cost, "weights": weight, "constraint": constraint}
    models = cp.segment(x, len(x) - 1, **settings)
    best = cp.segment_penalty(x, penalty, **settings)
    objective = models.cost + penalty * np.arange(len(x))
    assert best.cost + penalty * best.n_changes == near(objective.min())
    assert best.cost == near(cost_of(x, weight, best.changes, best.mean, cost))


@given(sequences(max_size=6), kinds, constraints)
def test_integer_weights_are_equivalent_to_run_lengths(sequence, cost, constraint):
    x, weight = oracle.allowed_values(sequence[0], cost), sequence[1]
    coded = cp.segment(x, len(x) - 1, cost=cost, weights=weight, constraint=constraint)
    plain = cp.segment(np.repeat(x, weight), len(x) - 1, cost=cost, constraint=constraint)
    if constraint is None:
        assert coded.cost == near(plain.cost)
    else:  # a change between equal means may be inside a run
        assert (plain.cost <= coded.cost + 1e-9).all()


@pytest.mark.parametrize("constraint", [None, "up_down"])
@pytest.mark.parametrize("cost", oracle.COSTS)
def test_costs_of_longer_sequences_equal_those_of_dynamic_programming(cost, constraint):
    rng = np.random.default_rng(1)
    n, max_changes = 90, 7
    mu = np.repeat(rng.uniform(1, 9, 6), 15)
    x = oracle.simulated(rng, mu, cost)
    models = cp.segment(x, max_changes, cost=cost, constraint=constraint)
    best = cp.segment_penalty(x, 3.0, cost=cost, constraint=constraint)
    if constraint is None:
        expected = oracle.best_costs(x.tolist(), [1] * n, max_changes, cost)
        assert models.cost == near(expected)
    many = cp.segment(x, 50, cost=cost, constraint=constraint)
    objective = many.cost + 3.0 * np.arange(51)
    assert best.cost + 3.0 * best.n_changes == near(objective.min())


@pytest.mark.parametrize("cost", ["poisson", "exponential", "binomial", "variance"])
@pytest.mark.parametrize("min_length", [1, 2])
def test_penalized_costs_of_noise_are_minimal(cost, min_length):
    # Small penalties give many changes and pieces, whose limits are the roots of cost functions.
    rng = np.random.default_rng(8)
    for penalty in (0.02, 0.1, 0.3, 1.0, 3.0):
        x = oracle.simulated(rng, np.repeat(rng.uniform(1, 9, 20), 15), cost)
        x = np.repeat(x, min_length)  # the best model has no shorter segments
        weight = np.repeat(rng.uniform(0.5, 2, 300), min_length)
        settings = {"cost": cost, "weights": weight, "min_length": min_length}
        best = cp.segment_penalty(x, penalty, **settings)
        expected = oracle.best_penalized_cost(x, weight, penalty, cost)
        assert best.cost + penalty * best.n_changes == pytest.approx(expected, 1e-10)


def test_costs_and_changes_equal_those_of_ruptures():
    ruptures = pytest.importorskip("ruptures")
    rng = np.random.default_rng(0)
    x = rng.normal(np.repeat(rng.normal(size=6), 50))
    models = cp.segment(x, 6)
    search = ruptures.Dynp(model="l2", jump=1, min_size=1).fit(x)
    for k in range(1, 7):
        changes = search.predict(k)
        assert models.changes[k].tolist() == changes[:-1]
        assert models.cost[k] == pytest.approx(search.cost.sum_of_costs(changes))


@pytest.mark.parametrize("offset", [0.0, 2.0**30, -(2.0**49)])
@pytest.mark.parametrize("scale", [1.0, 2.0**-450, 2.0**260])
def test_changes_do_not_depend_on_scale_and_offset(scale, offset):
    rng = np.random.default_rng(3)
    x = rng.integers(-8, 9, 60) + np.repeat([0, 16, 8], 20)
    plain, moved = cp.segment(x, 5), cp.segment((x + offset) * scale, 5)
    assert [c.tolist() for c in moved.changes] == [c.tolist() for c in plain.changes]
    assert moved.cost / scale**2 == pytest.approx(plain.cost, 1e-12)


def test_penalties_may_underflow_in_the_units_of_the_search():
    # Squares of 1e-200 underflow. The cost without changes is below 5e-400, so no change
    # is worth a penalty of 1e-300.
    tiny = [1e-200, 0, 3e-200]
    assert cp.segment_penalty(tiny, 1e-300).n_changes == 0
    assert cp.segment_penalty(tiny, 0.0).changes.tolist() == [1, 2]
    assert cp.segment_penalty(tiny, 5e-324).n_changes == 0
    assert cp.segment_penalty([1e100, 0, 0, 1e100], 5e-324).changes.tolist() == [1, 3]
    assert cp.segment_penalty([5e-324, 0], 1.0).n_changes == 0


def test_one_huge_value_does_not_hide_other_changes():
    rng = np.random.default_rng(4)
    x = rng.normal(np.repeat([0, 5, 0], 30))
    spiked = np.insert(x, 45, 1e12)
    expected = cp.segment(x, 2)
    models = cp.segment(spiked, 4)
    assert models.changes[4].tolist() == [30, 45, 46, 61]
    assert models.cost[4] == pytest.approx(expected.cost[2], 0.2)
    assert cp.segment_penalty(spiked, 20.0).changes.tolist() == [30, 45, 46, 61]


@pytest.mark.parametrize("constraint", [None, "up_down"])
@pytest.mark.parametrize("value", [0.0, 7.0, 0.1, 1.0])
def test_constant_sequences_have_equal_costs_and_no_changes(value, constraint):
    x = np.full(9, value)
    not_allowed = {0.0: ["exponential"], 7.0: ["binomial"]}.get(value, [])
    for cost in oracle.COSTS.keys() - not_allowed:
        models = cp.segment(x, 8, cost=cost, constraint=constraint)
        assert models.cost == near(np.full(9, models.cost[0]))
        for k, (changes, mean) in enumerate(zip(models.changes, models.mean, strict=True)):
            assert np.unique(changes).size == k
            assert mean == near(oracle.averaged(np.full(k + 1, value), cost))
        assert cp.segment_penalty(x, 0.5, cost=cost).n_changes == 0


@pytest.mark.parametrize(
    ("cost", "transformed"),
    [
        ("binomial", lambda x: 1 - x),
        ("exponential", lambda x: 1e80 * x),
        ("exponential", lambda x: 1e-80 * x),
        ("variance", lambda x: -x),
        ("variance", lambda x: 1e80 * x),
        ("variance", lambda x: 1e-80 * x),
    ],
)
@pytest.mark.parametrize("min_length", [1, 3])
def test_changes_are_invariant_to_units_and_reflection(cost, transformed, min_length):
    x = oracle.simulated(np.random.default_rng(6), np.repeat([2.0, 8.0, 4.0, 9.0, 1.0], 30), cost)
    settings = {"cost": cost, "min_length": min_length}
    plain, other = (cp.segment(value, 8, **settings) for value in (x, transformed(x)))
    assert [c.tolist() for c in other.changes] == [c.tolist() for c in plain.changes]
    # A change of the unit adds the same constant to all costs.
    assert other.cost - other.cost[0] == pytest.approx(plain.cost - plain.cost[0], 1e-8)
    for penalty in (0.5, 2.0, 8.0):
        found = [cp.segment_penalty(value, penalty, **settings) for value in (x, transformed(x))]
        assert found[0].changes.tolist() == found[1].changes.tolist()


@pytest.mark.parametrize("cost", ["exponential", "binomial", "variance"])
def test_simulated_changes_are_recovered(cost):
    x = oracle.simulated(np.random.default_rng(7), np.repeat([2.0, 8.0, 1.0], 300), cost)
    (found,) = cp.detect_changes([x], cost=cost)
    assert found.changes == pytest.approx([300, 600], abs=10)
    assert found.mean == pytest.approx(
        {"exponential": [2, 8, 1], "binomial": [0.2, 0.8, 0.1], "variance": [4, 64, 1]}[cost],
        rel=0.3,
    )


def test_fractions_of_zero_and_one_have_cost_zero():
    x = [0, 0, 0, 1, 1, 0]
    models = cp.segment(x, 2, cost="binomial")
    assert models.changes[2].tolist() == [3, 5]
    assert models.mean[2].tolist() == [0, 1, 0]
    assert models.cost[2] == 0
    assert models.cost[0] == near(-2 * np.log(2 / 6) - 4 * np.log(4 / 6))
    assert cp.segment_penalty(x, 0.1, cost="binomial").changes.tolist() == [3, 5]


def test_zeros_have_the_variance_of_rounding():
    # With a step of 1, zeros are rounded from values between -1/2 and 1/2, with variance 1/12.
    models = cp.segment([0, 0, 0, 4, -4, 1], 2, cost="variance")
    assert models.changes[2].tolist() == [3, 5]
    assert models.mean[2] == near([1 / 12, 16, 1])
    assert models.cost[2] == near(3 * np.log(1 / 12) + 2 * np.log(16))
    # Other squares are at least 1e-6 times the mean square.
    assert cp.segment([1e-9, 1.0], 1, cost="variance").mean[1] == near([5e-7, 1])


def test_background_of_zero_counts_has_mean_zero():
    x = [0, 0, 0, 9, 8, 9, 0, 0]
    models = cp.segment(x, 2, cost="poisson", constraint="up_down")
    assert models.changes[2].tolist() == [3, 6]
    assert models.mean[2] == near([0, 26 / 3, 0])
    assert models.cost[2] == near(26 - 26 * np.log(26 / 3))


@pytest.mark.parametrize("cost", ["poisson", "binomial"])
def test_weights_may_have_any_ratio(cost):
    # The mean of the first two observations is 1e-20, so 1 minus the mean rounds to 1.
    models = cp.segment([1, 0, 1], 2, cost=cost, weights=[1e-20, 1, 1e-30])
    assert [c.tolist() for c in models.changes] == [[], [1], [1, 2]]
    assert cp.segment_penalty([1, 0], 1e-17, cost=cost, weights=[1e-20, 1]).n_changes == 0
    assert cp.segment_penalty([1, 0], 1e-19, cost=cost, weights=[1e-20, 1]).n_changes == 1


def test_costs_may_be_equal_at_a_mean_of_zero():
    # Splits at different zeros have equal costs as the mean approaches 0.
    x = [0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0]
    models = cp.segment(x, 1, cost="poisson", constraint="up_down")
    assert models.changes[1].tolist() == [1]
    assert models.cost[1] == near(4 - 4 * np.log(0.4))


@pytest.mark.parametrize("cost", oracle.COSTS)
def test_the_constraint_does_not_affect_clear_peaks(cost):
    # The sequence is long enough for unused changes to be discarded during the search.
    x = np.random.default_rng(2).poisson(np.tile(np.repeat([3, 9], 700), 4)[:-700])
    x = oracle.allowed_values(np.minimum(x, 20), cost)
    penalty = 500.0 if cost in ("normal", "poisson") else 30.0
    settings = {"cost": cost, "constraint": "up_down"}
    free, peaks = cp.segment(x, 8, cost=cost), cp.segment(x, 8, **settings)
    assert peaks.changes[6].tolist() == free.changes[6].tolist()
    assert peaks.cost[6] == near(free.cost[6])
    best = cp.segment_penalty(x, penalty, **settings)
    assert best.changes.tolist() == peaks.changes[6].tolist()


def test_the_constraint_can_increase_the_cost():
    # Because the first change must be up, no model of 3, 1, 2 is better than a constant.
    models = cp.segment([3, 1, 2], 2, constraint="up_down")
    assert models.cost == near([2, 2, 2])
    assert cp.segment([3, 1, 2], 2).cost == near([2, 0.5, 0])
    # A complete peak, with two changes, fits 0, 0, 1 worse than one change.
    assert cp.segment([0, 0, 1], 2, constraint="up_down").cost == near([2 / 3, 0, 0.5])


def test_single_observations_and_extreme_penalties_are_valid():
    assert cp.segment([3.0], 0).cost.tolist() == [0.0]
    x = [1.0, 1.0, 4.0, 4.0, 2.0]
    assert cp.segment_penalty(x, np.inf).n_changes == 0
    assert cp.segment_penalty(x, 0.0).changes.tolist() == [2, 4]
    assert cp.segment_penalty(x, 0.0).cost == 0
    assert cp.segment_penalty([2.0] * 9, 0.0).n_changes == 0
    assert cp.segment_penalty(x, np.inf, constraint="up_down").n_changes == 0


def test_a_run_may_be_split_under_the_constraint():
    # Changes up, down and up from 1 to 3 require a peak and a background of mean 2.
    best = cp.segment_penalty([1, 2, 2, 3], 0.01, constraint="up_down")
    assert best.changes.tolist() == [1, 2, 3]
    assert best.cost == 0


def test_results_are_read_only():
    models = cp.segment([1, 2, 3], 1)
    best = cp.segment_penalty([1, 2, 3], 1)
    arrays = (models.cost, models.changes[1], models.mean[1], best.changes, best.mean)
    for array in arrays:
        assert not array.flags.writeable


@pytest.mark.parametrize("constraint", [None, "up_down"])
@pytest.mark.parametrize("cost", oracle.COSTS)
def test_costs_of_the_reversed_sequence_are_equal(cost, constraint):
    x = np.random.default_rng(5).poisson(np.repeat([2, 9, 3, 7, 1], 40))
    x = oracle.allowed_values(np.minimum(x, 20), cost)
    models = cp.segment(x, 6, cost=cost, constraint=constraint)
    mirrored = cp.segment(x[::-1], 6, cost=cost, constraint=constraint)
    even = slice(None, None, 2 if constraint else 1)  # only complete peaks remain peaks if reversed
    assert mirrored.cost[even] == near(models.cost[even])
    assert all(a <= b for a, b in pairwise(models.changes[4]))


BAD = [
    ((), {}, "x must have at least one observation"),
    (([1, np.nan],), {}, "less than the number of non-missing observations, 1, got 1"),
    (([1, 2, 3],), {"max_changes": 3}, "max_changes must be less than .*, 3, got 3"),
    (([1, -2],), {"cost": "poisson"}, "x must not be negative.*-2.0 at index 1"),
    (
        ([1, 0],),
        {"cost": "exponential"},
        "x must be at least 1e-100 .*'exponential', got 0.0 at in",
    ),
    (([1, 1.5],), {"cost": "binomial"}, "x must be between 0 and 1 for cost='binomial', got 1.5"),
    (([1, -0.5],), {"cost": "binomial"}, "x must be between 0 and 1 .*, got -0.5 at index 1"),
    (([[1, 1]],), {"cost": "variance"}, "x must be one-dimensional for cost='variance'"),
    (([1, 2],), {"weights": [1, 0]}, "weights must be positive, got 0.0 at index 1"),
    (([1, 2],), {"weights": [1]}, "weights must have an entry for each"),
    (([1, 2],), {"cost": "gamma"}, "cost must be 'normal' or 'poisson'"),
    (([1, 2],), {"constraint": "down"}, "constraint must be None or 'up_down'"),
    (([1, 1e120],), {}, "x must be finite and at most 1e\\+100"),
]


@pytest.mark.parametrize(("given_x", "settings", "message"), BAD)
def test_invalid_input_raises(given_x, settings, message):
    settings = {"max_changes": 1, **settings}
    x = given_x[0] if given_x else []
    with pytest.raises(ValueError, match=message):
        cp.segment(x, settings.pop("max_changes"), **settings)


def test_models_that_do_not_fit_into_memory_raise():
    with pytest.raises(MemoryError, match=r"may take 400,000\.\d GB, more than the avail"):
        cp.segment(np.arange(3_200_000.0) % 7, 3_162_277)


def test_a_negative_penalty_raises():
    with pytest.raises(ValueError, match="penalty must be non-negative, got -1"):
        cp.segment_penalty([1, 2], -1)

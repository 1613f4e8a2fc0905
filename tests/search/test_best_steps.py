"""best_aum_step and aum_path compared with the sweep, and all searches on hard inputs."""

import json
import pickle
from fractions import Fraction
from math import inf, nextafter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rocpath as rp
from tests import oracle
from tests.search.test_reference import CASES
from tests.search.test_reference import lines as case_lines
from tests.strategies import any_lines, changepoint_lines, label_lines


def rounding(path, step):
    """Bound the change of AUM when a step is rounded to float64."""
    return 4 * np.abs(path.aum_slope_after).max() * np.spacing(step)


def best_float64(lines, low, high):
    """Return the float64 with the smallest AUM, or the first one, next to a minimum."""
    jumps = lines.jumps
    scale = Fraction(jumps.divisor)
    fp_unit, tp_unit = Fraction(jumps.fp_unit) / scale, Fraction(jumps.tp_unit) / scale
    exact = [
        (Fraction(intercept), Fraction(slope), int(fp) * fp_unit, -int(tp) * tp_unit)
        for intercept, slope, fp, tp in zip(
            lines.intercept.tolist(), lines.slope.tolist(), jumps.fp, jumps.tp, strict=True
        )
    ]
    steps = sorted({nextafter(low, 0.0), low, high, nextafter(high, inf)})
    return min(steps, key=lambda step: oracle.aum(exact, step))


def check_interval(lines, minimum, best):
    """Check the interval and the step for a minimum between these two float64 numbers."""
    low, high = map(float, minimum)
    if nextafter(low, inf) < high:
        assert best.interval == (low, high)
        assert low < best.step < high
    else:
        expected = best_float64(lines, low, high)
        assert best.interval == (expected, expected)
        assert best.step == expected


def check_best_aum(lines, path, best):
    """Compare with the first interval of a sweep after which AUM increases."""
    slope = path.aum_slope_after
    rises = np.flatnonzero(slope > 0)
    last = rises[0] if rises.size else len(path) - 1
    first = last
    while first > 0 and slope[first - 1] == 0:
        first -= 1
    value = path.aum[first]
    tolerance = rounding(path, path.step[first])
    assert best.value == pytest.approx(value, 1e-12, tolerance)
    low, high = path.step[first], path.step[last] if rises.size else np.inf
    check_interval(lines, (low, high), best)
    assert best.is_global == lines.is_monotone
    assert best.bound == (best.value if lines.is_monotone else -np.inf)


def check_best_auc(lines, sweep, best):
    """Compare with the sweep, whose AUC at a rounded crossing may differ."""
    is_open = np.nextafter(sweep.step, np.inf) < np.append(sweep.step[1:], np.inf)
    largest = max(sweep.auc[0], sweep.auc_after[is_open].max())
    assert best.value == best.bound >= largest
    exact = oracle.as_lines(lines.intercept, lines.slope, lines.fp_diff, lines.fn_diff)
    assert best.value == pytest.approx(float(oracle.sorted_auc(exact, best.step)))
    if best.value > largest:
        assert best.step in sweep.step
    for row in np.linspace(0, len(sweep) - 1, 10).astype(int):
        at_row = float(oracle.sorted_auc(exact, sweep.step[row]))
        assert at_row <= best.value * (1 + 1e-12)


def check_aum_path(path, sweep):
    is_kink = np.append(True, np.diff(sweep.aum_slope_after) != 0)
    assert path.step.tolist() == sweep.step[is_kink].tolist()
    tolerance = 1e-12 * np.abs(path.aum).max() + rounding(sweep, path.step)
    assert (np.abs(path.aum - sweep.aum[is_kink]) <= tolerance).all()
    steepest = np.abs(sweep.aum_slope_after).max()
    difference = path.aum_slope_after - sweep.aum_slope_after[is_kink]
    assert (np.abs(difference) <= 1e-13 * steepest).all()


@given(any_lines)
def test_best_aum_step_is_the_first_minimum_of_the_sweep(columns):
    lines = rp.Lines(*columns)
    check_best_aum(lines, rp.sweep(lines), rp.best_aum_step(lines))


@given(label_lines())
def test_best_aum_is_exact(columns):
    exact = oracle.path(oracle.as_lines(*columns))
    best = rp.best_aum_step(rp.Lines(*columns))
    smallest = min(row[1] for row in exact)
    steepest = max(abs(float(row[2])) for row in exact)
    tolerance = 4 * steepest * np.spacing(best.interval[0])
    assert best.value == pytest.approx(float(smallest), 1e-12, tolerance)


@given(any_lines, st.sampled_from([0.0, 0.7, 3.0]))
def test_no_step_beyond_the_limit_is_taken(columns, max_step):
    lines = rp.Lines(*columns)
    path = rp.sweep(lines, max_step=max_step)
    best = rp.best_aum_step(lines, max_step=max_step)
    assert 0 <= best.interval[0] <= best.step <= best.interval[1] <= max_step
    scale = path.aum.max() + np.abs(path.aum_slope_after).max() * max_step
    at_step = float(oracle.aum(oracle.as_lines(*columns), best.step))
    assert best.value == pytest.approx(at_step, 1e-12, 1e-14 * scale)
    if lines.is_monotone:
        smallest = min(path.aum.min(), path.aum_at(max_step))
        assert best.value == pytest.approx(smallest, 1e-12, 1e-14 * scale)
    kinks = rp.aum_path(lines, max_step=max_step)
    assert kinks.end == max_step
    assert kinks.aum_at(max_step) == pytest.approx(path.aum_at(max_step), 1e-9, 1e-13 * scale)


@given(any_lines)
def test_aum_path_has_every_kink_and_nothing_else(columns):
    lines = rp.Lines(*columns)
    sweep = rp.sweep(lines)
    path = rp.aum_path(lines)
    check_aum_path(path, sweep)
    best = rp.best_aum_step(lines)
    assert path.first_min.interval == best.interval
    tolerance = rounding(sweep, sweep.step[-1])
    assert path.global_min.value == pytest.approx(sweep.aum.min(), 1e-12, tolerance)
    assert path.global_min.is_global
    # The rows of the sweep, most of which are not kinks, have the same minima.
    for one, other in ((sweep.first_min, path.first_min), (sweep.global_min, path.global_min)):
        assert one.value == pytest.approx(other.value, 1e-12, tolerance)


@pytest.mark.parametrize("case", [c for c in CASES if c.values[0]["kind"] != "none"])
def test_searches_agree_on_the_reference_cases(case):
    lines = case_lines(case)
    sweep = rp.sweep(lines)
    path = rp.aum_path(lines)
    at_kinks = sweep.aum_at(path.step)
    scale = sweep.aum.max()
    assert np.abs(path.aum - at_kinks).max() <= 1e-12 * scale
    assert np.abs(path.aum_at(sweep.step) - sweep.aum).max() <= 1e-12 * scale
    first = rp.sweep(lines, stop="first_min_aum").aum[-1]
    assert rp.best_aum_step(lines).value == pytest.approx(first, 1e-12, 1e-14 * scale)
    check_best_auc(lines, sweep, rp.best_auc_step(lines))


ARRANGEMENTS = {
    "normal": lambda rng, n: rng.normal(size=(2, n)),
    "integers": lambda rng, n: rng.integers(-50, 50, (2, n)).astype(float),
    "few integers": lambda rng, n: rng.integers(-4, 4, (2, n)).astype(float),
    "parallel": lambda rng, n: (rng.normal(size=n), np.full(n, 0.5)),
    "equal": lambda rng, n: (np.full(n, 2.0), np.full(n, -1.0)),
    "one point": lambda rng, n: (np.arange(n) * 1.0, -np.arange(n) * 1.0),
    # Tangents of a parabola: no line is ever far from the level.
    "convex curve": lambda rng, n: (np.linspace(-1, 1, n) ** 2, np.linspace(-1, 1, n)),
    "few points": lambda rng, n: few_points(rng, n),
    "tiny": lambda rng, n: 1e-150 * rng.normal(size=(2, n)),
    "huge": lambda rng, n: 1e150 * rng.normal(size=(2, n)),
    "denormal": lambda rng, n: 5e-324 * rng.integers(-99, 99, (2, n)),
}


def few_points(rng, n):
    """Draw lines, each through one of five points."""
    step, threshold = rng.integers(1, 9, (2, 5))[:, rng.integers(0, 5, n)]
    slope = rng.integers(-30, 30, n).astype(float)
    return threshold - slope * step, slope


@pytest.mark.parametrize("n", [2, 100, 800])
@pytest.mark.parametrize("name", ARRANGEMENTS)
def test_searches_agree_on_hard_arrangements(name, n):
    rng = np.random.default_rng(n)
    intercept, slope = ARRANGEMENTS[name](rng, n)
    is_positive = rng.random(n) < 0.3
    is_positive[:2] = [True, False]
    bp = rp.ErrorBreakpoints.from_labels(is_positive)
    lines = rp.Lines(intercept, slope, bp.fp_diff, bp.fn_diff)
    sweep = rp.sweep(lines)
    path = rp.aum_path(lines)
    if name == "denormal":
        # Different slopes may round to the same denormal number.
        assert np.abs(path.aum_at(sweep.step) - sweep.aum).max() <= 5e-321
        assert rp.best_aum_step(lines).value == pytest.approx(sweep.aum.min(), 0, 5e-321)
    else:
        check_aum_path(path, sweep)
        check_best_aum(lines, sweep, rp.best_aum_step(lines))
    check_best_auc(lines, sweep, rp.best_auc_step(lines))


def test_searches_accept_a_single_line():
    lines = rp.Lines([3.0], [2.0], [1.0], [-1.0])
    assert rp.best_aum_step(lines).value == 0
    assert rp.best_auc_step(lines).value == 0.5
    assert rp.aum_path(lines).step.tolist() == [0]


@pytest.mark.parametrize("seed", range(10))
def test_best_aum_of_many_lines_equals_the_sweep(seed):
    """There are enough lines for the search to start from a sample."""
    rng = np.random.default_rng(seed)
    n = 6000 if seed % 2 else 3000
    y = rng.random(n) < rng.choice([0.02, 0.1, 0.5])
    X = rng.normal(size=(n, 5)) + 0.3 * y[:, None]
    if seed % 3 == 0:
        X = np.round(X)
    bp = rp.ErrorBreakpoints.from_labels(
        y, sample_weight=rng.random(n) + 0.1 if seed == 5 else None
    )
    prediction = X @ rng.normal(size=5)
    direction = -X @ (X.T @ rp.aum_gradient(bp, prediction))
    lines = rp.Lines.from_predictions(bp, prediction, direction)
    first = rp.sweep(lines, stop="first_min_aum")
    best = rp.best_aum_step(lines)
    assert best.interval[0] == pytest.approx(first.step[-1], 1e-12)
    assert best.value == pytest.approx(first.aum[-1], 1e-12)
    assert rp.aum_path(lines).first_min.value == pytest.approx(best.value, 1e-12)


@pytest.mark.parametrize("order", ["as drawn", "sorted by label", "sorted by score"])
@pytest.mark.parametrize("kind", ["overlap", "separable", "ascent", "heavy tails"])
def test_aum_of_half_a_million_lines_is_not_smaller_outside_the_interval(kind, order):
    rng = np.random.default_rng(0)
    n = 500_000
    y = rng.random(n) < 0.05
    score = rng.normal(size=n)
    if kind == "heavy tails":
        score = rng.standard_cauchy(size=n)
    change = rng.normal(size=n) + 2 * y
    if kind == "separable":
        change = np.where(y, 3.0, -3.0) + rng.uniform(-1, 1, n)
    if kind == "ascent":
        score, change = score + 2 * y, -y.astype(float)
    if order != "as drawn":
        rank = np.argsort(y if order == "sorted by label" else score, kind="stable")
        y, score, change = y[rank], score[rank], change[rank]
    bp = rp.ErrorBreakpoints.from_labels(y)
    best = rp.best_aum_step(rp.Lines.from_predictions(bp, score, change))
    low, high = best.interval
    assert rp.aum(bp, score + best.step * change) == pytest.approx(best.value, 1e-9, 1e-13)
    if kind == "ascent":
        assert best.interval == (0, 0)
    if kind == "separable":
        assert high == np.inf
        assert best.value == 0
    margin = 1e-6 * (1 + low)
    for step in (low - margin, high + margin):
        if 0 <= step < np.inf:
            assert rp.aum(bp, score + step * change) >= best.value


@given(changepoint_lines())
def test_aum_between_kinks_equals_its_definition(columns):
    path = rp.aum_path(rp.Lines(*columns))
    exact = oracle.as_lines(*columns)
    for step in (0.0, 0.3, 1.0, 7.5):
        expected = float(oracle.aum(exact, step))
        assert path.aum_at(step) == pytest.approx(expected, 1e-12, 1e-13)


def test_results_can_be_serialized():
    lines = rp.Lines([0, 2, 4], [1, 0, -1], [1, 0, 1], [0, -1, 0])
    best = rp.best_aum_step(lines)
    assert json.dumps([best.step, best.interval, best.value, best.is_global])
    assert pickle.loads(pickle.dumps(best)).interval == best.interval


@pytest.mark.parametrize("search", [rp.best_aum_step, rp.aum_path, rp.best_auc_step])
def test_error_names_the_invalid_argument(search):
    lines = rp.Lines([0, 1], [1, 0], [1, 0], [0, -1])
    with pytest.raises(TypeError, match="lines must be Lines, got int"):
        search(3)
    with pytest.raises(ValueError, match="max_step must be non-negative, got -1"):
        search(lines, max_step=-1)
    with pytest.raises(ValueError, match="tol must be non-negative, got nan"):
        rp.best_auc_step(lines, tol=np.nan)


@pytest.mark.parametrize("n", [100, 6000])
def test_best_step_is_zero_if_all_lines_meet_there(n):
    # Thresholds are slope * step, so AUM is proportional to the step: 0 at step 0 and
    # positive after it, since no random direction ranks all rows correctly.
    rng = np.random.default_rng(0)
    is_positive = rng.permutation(n) < n // 4
    bp = rp.ErrorBreakpoints.from_labels(is_positive)
    lines = rp.Lines.from_predictions(bp, np.zeros(n), rng.normal(size=n))
    best = rp.best_aum_step(lines)
    assert (best.step, best.interval, best.value) == (0.0, (0.0, 0.0), 0.0)


def test_bound_is_valid_for_negative_aum():
    # FN is -1 between the thresholds at step 0, so AUM is negative there.
    lines = rp.Lines([2, -1, -1], [-2, -1, -1], [0, 2, 0], [2, -2, -1])
    best = rp.best_aum_step(lines)
    assert best.value == rp.sweep(lines).aum.min() == -6
    assert best.bound <= best.value

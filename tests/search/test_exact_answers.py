"""Exact results where rounding matters: ties, rates, and extreme numbers."""

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import rocpath as rp
from tests import oracle
from tests.search.test_best_steps import check_aum_path, check_best_aum, check_interval
from tests.strategies import any_lines, tenth_lines

INFINITY = float("inf")


def exact_first_minimum(lines):
    """Return the interval of the first minimum of a path, and AUM there."""
    rows = oracle.path(lines)
    rise = next((k for k, row in enumerate(rows) if row[2] > 0), len(rows))
    low = min(rise, len(rows) - 1)
    while low > 0 and rows[low - 1][2] == 0:
        low -= 1
    high = rows[rise][0] if rise < len(rows) else INFINITY
    return rows[low][0], high, rows[low][1]


@st.composite
def tied_labels(draw):
    n = draw(st.integers(2, 12))
    whole = st.lists(st.integers(-3, 3), min_size=n, max_size=n)
    label = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    label[:2] = [0, 1]
    return label, draw(whole), draw(whole)


@given(tied_labels(), st.integers(1, 3))
def test_rates_are_exact_fractions(problem, weight):
    """A minimum that is flat for rates 1/n is flat, and the step is inside it."""
    y, prediction, direction = problem
    weights = [weight if label else 1 + k % 3 for k, label in enumerate(y)]
    totals = [sum(w for w, one in zip(weights, y, strict=True) if one == label) for label in (0, 1)]
    exact = [
        (
            Fraction(-p),
            Fraction(-d),
            Fraction(w * (1 - label), totals[0]),
            Fraction(-w * label, totals[1]),
        )
        for p, d, w, label in zip(prediction, direction, weights, y, strict=True)
    ]
    bp = rp.ErrorBreakpoints.from_labels(y, sample_weight=weights)
    lines = rp.Lines.from_predictions(bp, prediction, direction)
    low, high, value = exact_first_minimum(exact)
    path = rp.aum_path(lines)
    best = rp.best_aum_step(lines)
    # If the minimum is between two float64 numbers, the result is the one with the smaller
    # AUM, or the first if they are equal.
    for found in (best, path.first_min, path.global_min):
        check_interval(lines, (low, high), found)
        assert found.value == pytest.approx(float(value), 1e-15)
    last = rp.sweep(lines, stop="first_min_aum")
    assert last.step[-1] == float(low)
    assert rp.aum(bp, prediction) == pytest.approx(float(oracle.aum(exact)), 1e-15)


@given(tied_labels())
def test_copies_have_the_same_exact_rates(problem):
    bp = rp.ErrorBreakpoints.from_labels(problem[0])
    lines = rp.Lines.from_predictions(bp, *problem[1:])
    for clone in (copy.deepcopy(bp), pickle.loads(pickle.dumps(bp))):
        assert clone.jumps.divisor == bp.jumps.divisor
        assert clone.fp_diff.tolist() == bp.fp_diff.tolist()
        with pytest.raises(ValueError, match="read-only"):
            clone.jumps.fp[0] = 5
    for clone in (copy.deepcopy(lines), pickle.loads(pickle.dumps(lines))):
        assert rp.best_aum_step(clone).interval == rp.best_aum_step(lines).interval


@pytest.mark.parametrize("seed", range(20))
def test_kinks_of_a_grid_of_lines(seed):
    """Many lines meet at the ends of the ranges in which the search finds kinks."""
    rng = np.random.default_rng(seed)
    grid = np.arange(-8.0, 9.0)
    slope, intercept = (part.ravel() for part in np.meshgrid(grid, grid))
    if seed % 2:
        keep = rng.random(slope.size) < 0.5
        slope, intercept = slope[keep], intercept[keep]
    fp_diff, tp_diff = rng.poisson(20, (2, slope.size))
    lines = rp.Lines(intercept, slope, fp_diff, -tp_diff)
    sweep = rp.sweep(lines)
    check_aum_path(rp.aum_path(lines), sweep)
    check_best_aum(lines, sweep, rp.best_aum_step(lines))


# In each of these problems, two lines meet at the largest step, and FP exceeds FN between them
# only after it. Rounded thresholds do not determine the order of the lines there.
@pytest.mark.parametrize(("seed", "max_step"), [(193, 2 / 9), (355, 1 / 4), (364, 1 / 6)])
def test_kinks_of_non_monotone_errors_at_the_largest_step(seed, max_step):
    rng = np.random.default_rng(seed)
    intercept, slope = rng.integers(-5, 6, (2, 60)).astype(float)
    fp_diff, fn_diff = rng.integers(-3, 4, (2, 60)).astype(float)
    lines = rp.Lines(intercept, slope, fp_diff, fn_diff)
    check_aum_path(rp.aum_path(lines, max_step=max_step), rp.sweep(lines, max_step=max_step))


@given(
    st.lists(
        st.tuples(st.integers(-9, 9), st.integers(-9, 9), st.integers(-1, 2), st.integers(-2, 1)),
        min_size=49,
        max_size=120,
    )
)
def test_kinks_of_many_tied_lines(rows):
    rows = [*rows, (0, 1, 200, 0), (1, 0, 0, -300)]
    lines = rp.Lines(*(list(map(float, column)) for column in zip(*rows, strict=True)))
    check_aum_path(rp.aum_path(lines), rp.sweep(lines))


@pytest.mark.parametrize("n", [99, 101, 140, 300])
def test_many_lines_that_meet_between_two_float64_numbers(n):
    k = np.arange(n) - n // 2
    fp_diff = np.arange(n) % 2
    lines = rp.Lines(-2.0 * k, 3.0 * k, fp_diff, fp_diff - 1)
    assert rp.sweep(lines).step.tolist() == [0, 2 / 3]
    assert rp.aum_path(lines).step.tolist() == [0, 2 / 3]
    best = rp.best_aum_step(lines)
    check_interval(lines, (2 / 3, 2 / 3), best)
    exact = oracle.as_lines(-2.0 * k, 3.0 * k, fp_diff, fp_diff - 1)
    assert best.value == pytest.approx(float(oracle.aum(exact, best.step)))


def test_aum_of_monotone_errors_is_never_negative():
    lines = rp.Lines(
        [-0.7, 0.4, 0.1, 0.7, 0.3], [1, 1, 0.2, -0.4, 0.4], [0, 2, 1, 2, 1], [-1, 0, 0, -2, 0]
    )
    assert rp.best_aum_step(lines).value >= 0
    assert rp.sweep(lines).aum.min() >= 0


def test_negative_aum_of_lines_far_from_the_others():
    # Between -100 and -50, FP and min(FP, FN) are -1, which contributes -50 to AUM. The
    # lines of labels above, of which many cross, contribute between 0 and 30.
    rng = np.random.default_rng(0)
    is_positive = np.arange(60) % 2
    lines = rp.Lines(
        [-100, -50, *rng.uniform(-0.5, 0.5, 60)],
        [0, 0, *rng.normal(size=60)],
        [-1, 1, *(1 - is_positive)],
        [0, 0, *-is_positive],
    )
    path = rp.aum_path(lines, max_step=0.1)
    assert -50 < path.aum[0] < -20
    check_aum_path(path, rp.sweep(lines, max_step=0.1))


@given(tenth_lines())
def test_aum_on_tenths(columns):
    lines = rp.Lines(*columns)
    path = rp.sweep(lines)
    assert path.aum.min() >= 0
    check_aum_path(rp.aum_path(lines), path)
    check_best_aum(lines, path, rp.best_aum_step(lines))


def test_sign_of_a_slope_is_exact_if_large_terms_cancel():
    # The two steep lines cancel; AUM decreases by 2^-46 per step up to the crossings of
    # the flat line at 0 with the two steep lines.
    columns = ([-10, 0, 5, 10], [2**46, 0, 2**46, -(2**-46)], [1, 1, 0, 0])
    lines = rp.Lines(*columns, [0, 0, -1, -1])
    exact = oracle.path(oracle.as_lines(*columns, [0, 0, -1, -1]))
    path = rp.sweep(lines)
    assert path.aum_slope_after.tolist() == [float(row[2]) for row in exact]
    low, high, _ = exact_first_minimum(oracle.as_lines(*columns, [0, 0, -1, -1]))
    for best in (rp.best_aum_step(lines), rp.aum_path(lines).first_min):
        check_interval(lines, (low, high), best)
    assert rp.sweep(lines, stop="first_min_aum").step[-1] == float(low)


def is_convex(columns):
    """Return whether errors are monotone after jumps of equal lines are summed."""
    jumps = {}
    for intercept, slope, fp_diff, fn_diff in zip(*columns, strict=True):
        fp, fn = jumps.get((intercept, slope), (0, 0))
        jumps[intercept, slope] = fp + fp_diff, fn + fn_diff
    return all(fp > -1e-9 and fn < 1e-9 for fp, fn in jumps.values())


@given(any_lines)
@example(([-2, -1, 0, 0, 0], [0, -1, -1, -1, 0], [1, 1, -1, 1, 0], [0, 0, 0, 0, -1]))
def test_first_min_is_a_local_minimum(columns):
    """All searches agree on the first minimum, and an AUM of zero is exactly zero."""
    lines = rp.Lines(*columns)
    best = rp.best_aum_step(lines)
    first = rp.aum_path(lines).first_min
    assert first.interval == best.interval
    assert first.value == pytest.approx(best.value, 1e-12, 1e-14 * best.value)
    # The sweep stops at the end of a flat interval, unless AUM is convex.
    end = rp.sweep(lines, stop="first_min_aum").step[-1]
    if first.interval[0] == first.interval[1]:
        assert abs(end - first.step) <= np.spacing(end)
    elif np.isfinite(first.interval[1]):
        assert end == first.interval[0 if is_convex(columns) else 1]
    if best.value == 0:
        assert first.value == 0


def test_slopes_that_underflow_keep_their_sign():
    # FP is 1e-80 above s * 1e-245, and FN is 1e-80 below 1e-245: AUM decreases until the
    # lines meet.
    lines = rp.Lines([0, 1e-245], [1e-245, 0], [1e-80, 0], [0, -1e-80])
    path = rp.aum_path(lines)
    assert path.aum_slope_after[0] < 0
    assert path.first_min.interval == rp.best_aum_step(lines).interval == (1, INFINITY)


def test_aum_that_decreases_beyond_every_float64():
    # The lines would meet at 2e308.
    lines = rp.Lines([1e150, -1e150], [0, 1e-158], [0, 1], [-1, 0])
    largest = np.finfo(float).max
    path = rp.aum_path(lines)
    for best in (rp.best_aum_step(lines), path.first_min, path.global_min):
        assert best.interval == (largest, largest)
        assert best.step == largest
        assert best.value == pytest.approx(2e150 - 1e-158 * largest)


def test_aum_that_decreases_without_bound_at_tiny_slopes():
    # Between the lines, FN is -2, which is the smaller error.
    lines = rp.Lines([0, 0], [0, -1e-259], [2, 0], [2, -3])
    largest = np.finfo(float).max
    best = rp.best_aum_step(lines)
    assert best.step == largest
    assert best.value == pytest.approx(-2e-259 * largest)


@pytest.mark.parametrize("sigma", [2.4, 3.0])
@pytest.mark.parametrize("seed", range(3))
def test_best_aum_with_very_uneven_weights_equals_the_sweep(seed, sigma):
    rng = np.random.default_rng(seed)
    n = 8000
    y = rng.random(n) < 0.3
    bp = rp.ErrorBreakpoints.from_labels(
        y, sample_weight=rng.lognormal(0, sigma, n), denominator="count"
    )
    score, change = rng.normal(size=(2, n))
    lines = rp.Lines.from_predictions(bp, score, change + 0.3 * y)
    first = rp.sweep(lines, stop="first_min_aum")
    best = rp.best_aum_step(lines)
    assert best.interval[0] == pytest.approx(first.step[-1], 2.0**-51)
    assert best.value == pytest.approx(first.aum[-1], 1e-12)


def test_max_crossings_may_exceed_64_bits():
    lines = rp.Lines([0, 1], [1, 0], [1, 0], [0, -1])
    assert len(rp.sweep(lines, max_crossings=2**64)) == 2


@pytest.mark.parametrize("tol", [0.5, 0.25, 0.1, 0.0])
def test_bound_is_within_the_tolerance_to_the_last_digit(tol):
    # The value is about 1/12 and the bound about 7/12: they differ by 0.5 or an ulp more.
    lines = rp.Lines(
        [-1, 0, 2.0**23, -(2.0**-46), -1],
        [0, 2.0**-23, 0, 0, -(2.0**-46)],
        [0.2, 0.3, -0.3, 0.3, -0.2],
        [0.2, 0.1, -0.2, -0.2, -0.1],
    )
    best = rp.best_auc_step(lines, tol=tol)
    assert best.value <= best.bound <= best.value + tol

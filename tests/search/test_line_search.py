"""The sweep: definitions, invariances, and difficult numbers."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import rocpath as rp
from tests import oracle
from tests.strategies import any_lines, changepoint_lines, label_lines, small


def rows_by_float_step(exact):
    """Group exact rows whose steps round to the same float64."""
    groups = {}
    for row in exact:
        groups.setdefault(nearest_step(row[0]), []).append(row)
    return groups


def nearest_step(step):
    assume(step <= np.finfo(float).max)  # larger crossings exceed all float64 steps
    rounded = float(step)
    return rounded if rounded or not step else np.nextafter(0.0, 1.0)


def tolerance(groups, step):
    """Return a bound on the error of AUM at a rounded step: slope times ulps."""
    steepest = max(abs(float(row[2])) for rows in groups.values() for row in rows)
    return 2 * steepest * np.spacing(step)


@given(any_lines)
def test_sweep_equals_the_definitions_at_every_crossing(columns):
    groups = rows_by_float_step(oracle.path(oracle.as_lines(*columns)))
    path = rp.sweep(rp.Lines(*columns))
    assert path.step.tolist() == list(groups)
    for k, (step, rows) in enumerate(groups.items()):
        _, aum, slope, auc_at, auc_after = (float(x) for x in rows[-1])
        assert path.aum[k] == pytest.approx(aum, 1e-12, tolerance(groups, step))
        steepest = max(abs(float(row[2])) for rows in groups.values() for row in rows)
        assert path.aum_slope_after[k] == pytest.approx(slope, 1e-12, 1e-14 * steepest)
        assert path.auc_after[k] == pytest.approx(auc_after, 1e-12, 1e-13)
        if len(rows) == 1:
            assert path.auc[k] == pytest.approx(auc_at, 1e-12, 1e-13)
    assert (path.aum >= 0).all()
    assert path.end == np.inf
    assert path.queue_size[-1] == 0


@pytest.mark.parametrize("n", [40, 300])
@pytest.mark.parametrize("stop", ["first_min_aum", "first_max_auc"])
def test_a_stopped_path_is_the_beginning_of_the_whole_path(n, stop):
    rng = np.random.default_rng(n)
    y = np.arange(n) % 3 == 0
    bp = rp.ErrorBreakpoints.from_labels(y)
    lines = rp.Lines.from_predictions(bp, rng.normal(size=n), y + rng.normal(size=n))
    whole, part = rp.sweep(lines), rp.sweep(lines, stop=stop)
    n_rows = len(part.step)
    # With 300 lines, AUM is smallest after far more rows than are computed at first.
    assert (n_rows > 2000) == (n == 300 and stop == "first_min_aum")
    assert n_rows < len(whole.step)
    for name in ("step", "aum", "aum_slope_after", "auc", "auc_after", "n_swaps"):
        np.testing.assert_array_equal(getattr(whole, name)[:n_rows], getattr(part, name))


@given(any_lines)
def test_swaps_count_every_crossing_pair_once(columns):
    exact = set(oracle.as_lines(*columns))
    distinct = {line[:2] for line in exact}
    expected = sum(
        (b[0] - a[0]) * (a[1] - b[1]) > 0
        for k, a in enumerate(sorted(distinct))
        for b in sorted(distinct)[k + 1 :]
    )
    assert rp.sweep(rp.Lines(*columns)).n_swaps.sum() == expected


@given(any_lines)
def test_first_minimum_is_the_first_local_minimum(columns):
    exact = oracle.path(oracle.as_lines(*columns))
    groups = rows_by_float_step(exact)
    # The first minimum is where AUM first increases; one float64 step may hide an increase.
    slopes = [rows[-1][2] for rows in groups.values()]
    rising = next((k for k, slope in enumerate(slopes) if slope > 0), len(slopes) - 1)
    expected = list(groups.values())[rising][-1][1]
    path = rp.sweep(rp.Lines(*columns), stop="first_min_aum")
    step = list(groups)[rising]
    assert path.aum[-1] == pytest.approx(float(expected), 1e-12, tolerance(groups, step))
    assert len(path) <= rising + 1


@given(label_lines())
def test_for_labels_aum_is_convex_and_its_first_minimum_global(columns):
    lines = rp.Lines(*columns)
    whole = rp.sweep(lines)
    steepest = np.abs(whole.aum_slope_after).max()
    assert (np.diff(whole.aum_slope_after) >= -1e-14 * steepest).all()
    first = rp.sweep(lines, stop="first_min_aum").aum[-1]
    assert first == pytest.approx(whole.aum.min(), 1e-9, 1e-12 * whole.aum.max())


def test_for_changepoints_the_first_minimum_may_be_only_local():
    # FP is 2 between the thresholds s - 1.5 and s - 0.5, and above 20 + s. FN is 2
    # below 0, 1 from 0 to 3, 2 from 3 to 6, and 0 above. So AUM is 2 while the moving
    # interval is below 0, 1 while it is within (0, 3), which it enters from s = 0.5 to
    # 1.5 and leaves from 3.5 to 4.5, 2 within (3, 6), and 0 from s = 7.5 on.
    lines = rp.Lines(
        intercept=[-1.5, -0.5, 20, 0, 3, 6],
        slope=[1, 1, 1, 0, 0, 0],
        fp_diff=[2, -2, 2, 0, 0, 0],
        fn_diff=[0, 0, 0, -1, 1, -2],
    )
    path = rp.sweep(lines)
    assert not lines.is_monotone
    assert path.step.tolist() == [0, 0.5, 1.5, 3.5, 4.5, 6.5, 7.5]
    assert path.aum.tolist() == [2, 2, 1, 1, 2, 2, 0]
    assert rp.sweep(lines, stop="first_min_aum").aum[-1] == 1


@given(any_lines, st.integers(0, 6))
def test_max_crossings_limits_the_path(columns, n):
    whole = rp.sweep(rp.Lines(*columns))
    cut = rp.sweep(rp.Lines(*columns), max_crossings=n)
    assert cut.step.tolist() == whole.step[: n + 1].tolist()
    assert cut.aum.tolist() == whole.aum[: n + 1].tolist()
    assert cut.end == (np.inf if whole.queue_size[len(cut) - 1] == 0 else cut.step[-1])


@given(any_lines, st.sampled_from([0.0, 0.5, 1.0, 2.0]))
def test_max_step_limits_the_path(columns, max_step):
    whole = rp.sweep(rp.Lines(*columns))
    cut = rp.sweep(rp.Lines(*columns), max_step=max_step)
    assert cut.step.tolist() == whole.step[whole.step <= max_step].tolist()
    assert cut.end >= max_step
    assert cut.auc_at(max_step) == whole.auc_at(max_step)
    assert cut.aum_at(max_step) == pytest.approx(whole.aum_at(max_step), 1e-9, 1e-9)


@given(any_lines)
def test_first_max_auc_stops_at_the_first_decrease(columns):
    whole = rp.sweep(rp.Lines(*columns))
    before = np.append(whole.auc[0], whole.auc_after[:-1])
    falls = np.flatnonzero(whole.auc_after < before - 1e-15)
    last = falls[0] if falls.size else len(whole) - 1
    assert len(rp.sweep(rp.Lines(*columns), stop="first_max_auc")) == last + 1


@given(any_lines, st.integers(0, 10**6))
def test_order_of_lines_does_not_change_the_path(columns, seed):
    columns = [np.array(column, dtype=float) for column in columns]
    path = rp.sweep(rp.Lines(*columns))
    order = np.random.default_rng(seed).permutation(len(columns[0]))
    shuffled = rp.sweep(rp.Lines(*(column[order] for column in columns)))
    assert shuffled.step.tolist() == path.step.tolist()
    assert shuffled.auc.tolist() == path.auc.tolist()
    assert shuffled.aum == pytest.approx(path.aum, 1e-12, 1e-25)


@given(
    changepoint_lines(), st.integers(-600, 600).map(lambda k: 2.0**k), st.sampled_from([-3.0, 8.0])
)
def test_scaling_and_shifting_thresholds_only_scales_aum(columns, scale, shift):
    intercept, slope, fp_diff, fn_diff = (np.array(c, dtype=float) for c in columns)
    path = rp.sweep(rp.Lines(intercept, slope, fp_diff, fn_diff))
    moved = rp.sweep(
        rp.Lines((intercept + shift) * scale, (slope + shift) * scale, fp_diff, fn_diff)
    )
    assert moved.step.tolist() == path.step.tolist()
    assert moved.auc_after.tolist() == path.auc_after.tolist()
    assert (moved.aum / scale).tolist() == pytest.approx(path.aum, 1e-12, 1e-14)


@given(changepoint_lines())
def test_doubling_the_direction_halves_the_steps(columns):
    intercept, slope, fp_diff, fn_diff = (np.array(c, dtype=float) for c in columns)
    path = rp.sweep(rp.Lines(intercept, slope, fp_diff, fn_diff))
    faster = rp.sweep(rp.Lines(intercept, 2 * slope, fp_diff, fn_diff))
    assert (2 * faster.step).tolist() == path.step.tolist()
    assert faster.auc.tolist() == path.auc.tolist()


@given(label_lines())
def test_a_repeated_line_equals_one_with_twice_the_jump(columns):
    intercept, slope, fp_diff, fn_diff = (np.array(c, dtype=float) for c in columns)
    twice = rp.Lines(*(np.append(c, c[:2]) for c in (intercept, slope, fp_diff, fn_diff)))
    fp_diff[:2] *= 2
    fn_diff[:2] *= 2
    doubled = rp.sweep(rp.Lines(intercept, slope, fp_diff, fn_diff))
    assert rp.sweep(twice).step.tolist() == doubled.step.tolist()
    assert rp.sweep(twice).aum == pytest.approx(doubled.aum, 1e-12, 1e-25)


@given(any_lines, st.floats(0, 10))
def test_values_between_the_rows_are_exact(columns, step):
    lines = oracle.as_lines(*columns)
    path = rp.sweep(rp.Lines(*columns))
    scale = max(path.aum.max(), np.abs(path.aum_slope_after).max() * step)
    expected = float(oracle.aum(lines, step))
    assert path.aum_at(step) == pytest.approx(expected, 1e-9, 1e-13 * scale)
    if not np.isclose(path.step, step, 1e-12, 0).any():
        assert path.auc_at(step) == pytest.approx(float(oracle.auc(lines, step)), 1e-12)


@given(st.lists(st.tuples(small, small), min_size=2, max_size=40, unique=True))
def test_auc_is_exact_where_many_lines_meet(pairs):
    intercept, slope = (list(column) for column in zip(*pairs, strict=True))
    fp_diff = [float(k % 2) for k in range(len(pairs))]
    fn_diff = [f - 1.0 for f in fp_diff]
    lines = oracle.as_lines(intercept, slope, fp_diff, fn_diff)
    path = rp.sweep(rp.Lines(intercept, slope, fp_diff, fn_diff))
    middle = np.append(path.step, path.step[-1] + 1)
    middle = (middle[1:] + middle[:-1]) / 2
    exact_step = [0, *oracle.crossing_steps(lines)]
    for k in range(0, len(path), 5):
        assert path.step[k] == float(exact_step[k])
        assert path.auc[k] == pytest.approx(
            float(oracle.weak_pair_auc(lines, exact_step[k])), 1e-12
        )
        assert path.auc_after[k] == pytest.approx(
            float(oracle.weak_pair_auc(lines, middle[k])), 1e-12
        )


@pytest.mark.parametrize("n", [50, 3000])
def test_all_lines_through_one_point_cross_in_one_row(n):
    # T(s) = k - k s: all meet at s = 1, where the order is reversed.
    k = np.arange(n, dtype=float)
    fp_diff = np.arange(n) % 3 == 0
    path = rp.sweep(rp.Lines(k, -k, fp_diff, fp_diff - 1.0))
    assert path.step.tolist() == [0, 1]
    assert path.n_groups.tolist() == [0, 1]
    assert path.n_swaps.tolist() == [0, n * (n - 1) // 2]
    assert path.auc[1] == 0.5
    assert path.auc_after.sum() == pytest.approx(1)
    assert path.aum[1] == 0


def test_crossings_beyond_the_largest_float64_are_not_in_the_path():
    lines = rp.Lines([0, 1e180], [0, -1e-180], [1, 0], [0, -1])
    path = rp.sweep(lines)
    assert path.step.tolist() == [0]
    assert path.queue_size.tolist() == [1]
    assert path.end == np.inf


def test_crossings_that_underflow_are_after_step_zero():
    lines = rp.Lines([0, 5e-324], [1e150, 0], [1, 0], [0, -1])
    assert rp.sweep(lines).step.tolist() == [0, 5e-324]


def test_lines_of_a_single_feature_that_meet_up_to_rounding():
    # Predictions are 0.3 x - 0.1 s x, so all lines meet at s = 3.
    rng = np.random.default_rng(0)
    x = rng.normal(size=1500)
    bp = rp.ErrorBreakpoints.from_labels(rng.random(1500) < 0.3)
    path = rp.sweep(rp.Lines.from_predictions(bp, 0.3 * x, -0.1 * x))
    assert np.allclose(path.step[1:], 3, rtol=1e-12)
    assert path.n_swaps.sum() == 1500 * 1499 // 2
    assert path.auc_after[-1] == pytest.approx(1 - path.auc[0])
    assert path.aum_at(3.5) == pytest.approx(rp.aum(bp, -0.05 * x))


def test_sums_do_not_drift_over_ten_million_crossings():
    rng = np.random.default_rng(1)
    n = 6000
    bp = rp.ErrorBreakpoints.from_labels(rng.random(n) < 0.1, sample_weight=rng.random(n) + 0.1)
    prediction, direction = rng.normal(size=(2, n))
    path = rp.sweep(rp.Lines.from_predictions(bp, prediction, direction))
    assert path.n_swaps.sum() > 8_000_000
    for step in path.step[[len(path) // 2, -100]] * (1 + 1e-9):
        moved = prediction + step * direction
        assert path.aum_at(step) == pytest.approx(rp.aum(bp, moved), 1e-11)
        assert path.auc_at(step) == pytest.approx(rp.auc(bp, moved), 1e-9)


def test_distant_lines_do_not_affect_aum():
    # FP is 1 above s; FN is 1 below 1 and 2 below -1e28. So AUM is 1 - s.
    path = rp.sweep(rp.Lines([0, 1, -1e28], [1, 0, 0], [1, 0, 0], [0, -1, -1]))
    assert path.aum[0] == 1
    assert path.aum_at(0.5) == 0.5


@pytest.mark.parametrize("n", [1000, 4000])
def test_all_lines_that_meet_in_one_point_count_as_one_crossing(n):
    k = np.random.default_rng(0).normal(size=n)
    is_positive = np.arange(n) % 3 == 0
    lines = rp.Lines(-k, k, ~is_positive, -1.0 * is_positive)
    path = rp.sweep(lines, max_crossings=1)
    assert path.step.tolist() == [0, 1]


def test_equal_lines_count_as_one_in_the_number_of_swaps():
    # Two equal lines with slope 1 meet the line with slope 0 at step 1.
    path = rp.sweep(rp.Lines([0, 0, 1], [1, 1, 0], [1, 1, 0], [0, 0, -1]))
    assert path.step.tolist() == [0, 1]
    assert path.n_swaps.tolist() == [0, 1]

"""Minima of a path and AUM between its rows, compared with exact fractions."""

import pickle
from fractions import Fraction
from math import inf, isfinite, nextafter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rocpath as rp
from rocpath.search.search_results import smallest_aum
from tests import oracle

large = st.sampled_from([2.0**53 - 2, 2.0**53 + 2, 2.0**53 + 6, -6489811717887447.0])
coordinates = st.one_of(st.integers(-3, 3).map(float), large)
jumps = st.integers(-2, 3)


@st.composite
def uneven_lines(draw):
    n = draw(st.integers(2, 6))
    columns = [draw(st.lists(coordinates, min_size=n, max_size=n)) for _ in range(2)]
    fp, tp = (draw(st.lists(jumps, min_size=n, max_size=n)) for _ in range(2))
    fp[0], tp[-1] = fp[0] + max(0, 1 - sum(fp)), tp[-1] + max(0, 1 - sum(tp))
    return *columns, fp, [-x for x in tp]


def steps_around(lines):
    """Return the float64 numbers nearest to all crossings, and two neighbors on each side."""
    steps = {0.0}
    for crossing in oracle.crossing_steps(lines):
        near = float(crossing)
        steps |= {near, nextafter(near, 0), nextafter(near, inf)}
        steps |= {nextafter(nextafter(near, 0), 0), nextafter(nextafter(near, inf), inf)}
    return sorted(step for step in steps if isfinite(step))


@settings(max_examples=300, deadline=None)
@given(uneven_lines())
def test_minima_of_a_path_are_those_of_all_float64_steps(columns):
    exact = oracle.as_lines(*columns)
    steps = steps_around(exact)
    area = {step: oracle.aum(exact, step) for step in steps}
    for path in (rp.aum_path(rp.Lines(*columns)), rp.sweep(rp.Lines(*columns))):
        if path.aum_slope_after[-1] < 0:
            continue  # AUM decreases up to the largest float64
        best = path.global_min
        assert oracle.aum(exact, best.step) == min(area.values())
        assert best.value == pytest.approx(float(min(area.values())), rel=1e-15, abs=0)
        first = path.first_min
        assert oracle.aum(exact, first.step) <= min(
            area[step] for step in steps if step <= first.interval[0]
        )


@settings(max_examples=300, deadline=None)
@given(uneven_lines())
def test_aum_at_float64_steps_is_accurate(columns):
    exact = oracle.as_lines(*columns)
    steps = steps_around(exact)
    expected = [float(oracle.aum(exact, step)) for step in steps]
    for path in (rp.aum_path(rp.Lines(*columns)), rp.sweep(rp.Lines(*columns))):
        np.testing.assert_allclose(path.aum_at(steps), expected, rtol=1e-15, atol=0)


@settings(max_examples=200, deadline=None)
@given(
    uneven_lines(),
    st.sampled_from([0.0, -1.0, -0.3, 2.0]),
    st.sampled_from([0.0, 0.1, 1.0, 2**-50]),
)
def test_minimum_with_a_quadratic_term(columns, slope, curvature):
    exact = oracle.as_lines(*columns)
    path = rp.aum_path(rp.Lines(*columns))
    if curvature == 0 and path.aum_slope_after[-1] + slope < 0:
        return
    best = smallest_aum(path, l2_slope=slope, l2_curvature=curvature)

    def value(step):
        step = Fraction(step)
        added = step * (Fraction(slope) + step * Fraction(curvature) / 2)
        return oracle.aum(exact, step) + added

    at_best = value(best.step)
    steps = [*steps_around(exact), best.step / 2, best.step * 2]
    steps += [nextafter(best.step, 0), nextafter(best.step, inf)]
    # The quadratic term is computed in float64.
    largest = abs(oracle.aum(exact, best.step)) + Fraction(best.step) * abs(Fraction(slope))
    largest += Fraction(best.step) ** 2 * Fraction(curvature)
    assert all(at_best <= value(step) + largest * Fraction(2.0**-50) for step in steps)
    assert best.value == pytest.approx(float(at_best), rel=0, abs=float(largest) * 2.0**-49)


def test_a_neighboring_float_beats_the_row_of_the_path():
    lines = rp.Lines(
        [-6489811717887447.0, 9007199254740992.0, -6489811717887447.0, 9007199254740994.0],
        [1, -1, 1, -1],
        [3, 0, 1, 1],
        [0, -1, -1, -3],
    )
    for path in (rp.aum_path(lines), rp.sweep(lines)):
        assert path.global_min.value == path.first_min.value == rp.best_aum_step(lines).value == 1


def test_unpickled_results_are_read_only():
    lines = rp.Lines([0, 2, 1], [1, 0, -1], [1, 0, 0], [0, -1, -1])
    bp = rp.ErrorBreakpoints.from_labels([0, 1, 1])
    for result, name in (
        (rp.sweep(lines), "auc_after"),
        (rp.aum_path(lines), "aum"),
        (rp.roc_curve(bp, [0, 1, 2]), "fpr"),
    ):
        copy = pickle.loads(pickle.dumps(result))
        with pytest.raises(ValueError, match="read-only"):
            getattr(copy, name)[0] = 7
        np.testing.assert_array_equal(getattr(copy, name), getattr(result, name))

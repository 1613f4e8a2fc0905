"""Partial AUC along lines, compared with its definition at every crossing."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rocpath as rp
from tests import oracle, oracle_auc
from tests.strategies import tenth_lines

fractions = st.sampled_from([Fraction(k, n) for n in (2, 3, 7, 10, 20) for k in (1,)])
regions = st.one_of(
    st.tuples(fractions, st.just(Fraction(0))),
    st.tuples(st.just(Fraction(1)), fractions),
    st.tuples(fractions.map(lambda x: 1 - x), fractions),
)


@st.composite
def integer_lines(draw):
    """Draw few values, so that lines meet in groups, repeat, and tie both classes."""
    n = draw(st.integers(2, 8))
    place = st.lists(st.integers(-3, 3), min_size=n, max_size=n)
    jump = st.lists(st.sampled_from([0, 0, 1, 1, 2]), min_size=n, max_size=n)
    intercept, slope, fp_diff, tp_diff = (draw(column) for column in (place, place, jump, jump))
    fp_diff[0] = tp_diff[1] = 1
    return intercept, slope, fp_diff, [-t for t in tp_diff]


def area(exact, step, region):
    points = oracle.roc_points(exact, step)
    total_fp, total_fn = points[-1][0], points[0][1]
    curve = [(fp / total_fp, 1 - fn / total_fn) for fp, fn, *_ in points]
    return oracle_auc.partial_area(curve, *region)


def rates(region):
    return {"max_fpr": float(region[0]), "min_tpr": float(region[1])}


@given(integer_lines(), regions)
def test_partial_auc_at_and_after_every_crossing_equals_its_definition(columns, region):
    exact = oracle.as_lines(*columns)
    path = rp.sweep(rp.Lines(*columns), **rates(region))
    steps = [Fraction(0), *oracle.crossing_steps(exact)]
    assert path.step.tolist() == [float(step) for step in steps]
    inside = [(a + b) / 2 for a, b in pairwise(steps)] + [steps[-1] + 1]
    at = [float(area(exact, step, region)) for step in steps]
    after = [float(area(exact, step, region)) for step in inside]
    np.testing.assert_allclose(path.auc, at, rtol=1e-14, atol=0)
    np.testing.assert_allclose(path.auc_after, after, rtol=1e-14, atol=0)


@given(integer_lines(), regions)
def test_a_region_changes_only_auc(columns, region):
    lines = rp.Lines(*columns)
    whole, part = rp.sweep(lines), rp.sweep(lines, **rates(region))
    for name in ("step", "aum", "aum_slope_after", "n_groups", "n_swaps"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(part, name))


@given(
    st.one_of(integer_lines(), tenth_lines()), regions, st.sampled_from([None, 1.5]), st.booleans()
)
def test_best_partial_auc_is_the_maximum_of_all_float64_steps(columns, region, max_step, two_sided):
    exact = oracle.as_lines(*columns)
    intercept, slope, *diffs = columns
    mirrored = oracle.as_lines(intercept, [-x for x in slope], *diffs)
    limit = np.inf if max_step is None else max_step
    best_of_all = max(
        area(one, step, region)
        for one in ([exact, mirrored] if two_sided else [exact])
        for step in oracle.float64_steps(one, limit)
    )
    best = rp.best_auc_step(
        rp.Lines(*columns), max_step=max_step, two_sided=two_sided, **rates(region)
    )
    assert best.value == best.bound
    assert best.value == pytest.approx(float(best_of_all), rel=1e-14)
    assert area(exact, best.step, region) == best_of_all
    low, high = best.interval
    for share in (0.25, 0.5, 0.75):
        inside = low + share * (min(high, 2 * abs(low) + 2) - low)
        if low < inside < high:
            assert area(exact, inside, region) == best_of_all


@pytest.mark.parametrize("tol", [0.0, 1e-4, 1e-3])
@pytest.mark.parametrize("region", [{"max_fpr": 0.1}, {"max_fpr": 0.3, "min_tpr": 0.2}])
def test_best_partial_auc_of_many_lines_equals_the_sweep(region, tol):
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.3
    X = np.round(8 * rng.normal(size=(300, 2)) + 4 * y[:, None])
    bp = rp.ErrorBreakpoints.from_labels(y)
    lines = rp.Lines.from_predictions(bp, X[:, 0], X[:, 1])
    path = rp.sweep(lines, **region)
    largest = max(path.auc.max(), path.auc_after.max())
    best = rp.best_auc_step(lines, tol=tol, **region)
    assert best.value <= largest <= best.bound <= best.value + tol
    moved = X[:, 0] + best.step * X[:, 1]
    assert rp.auc(bp, moved, **region) == pytest.approx(best.value)
    if tol == 0:
        assert best.value == largest


def test_the_largest_region_is_the_whole_auc():
    lines = rp.Lines([0, 1, 2], [1, 0, -2], [1, 0, 1], [0, -1, 0])
    whole = rp.sweep(lines)
    np.testing.assert_array_equal(rp.sweep(lines, max_fpr=1.0).auc, whole.auc)
    assert rp.best_auc_step(lines, min_tpr=0).value == rp.best_auc_step(lines).value


def test_a_tenth_of_fifty_negatives_is_five():
    # The float64 0.1 is slightly more than a tenth, but the sixth negative does not count.
    n = 50
    lines = rp.Lines([*range(n), 4.5], [0.0] * n + [1.0], [1] * n + [0], [0] * n + [-1])
    path = rp.sweep(lines, max_fpr=0.1)
    assert path.auc_after.tolist() == [0.0] * len(path)
    best = rp.best_auc_step(lines, max_fpr=0.1, two_sided=True)
    assert best.value == best.bound == 0.1
    assert best.interval[1] == -4.5


def test_invalid_regions_raise():
    lines = rp.Lines([0, 1, 2, 0], [1, 0, 0, 0], [1, -1, 1, 0], [0, 0, 0, -1])
    for search in (rp.sweep, rp.best_auc_step):
        with pytest.raises(ValueError, match="lines must have monotone errors for max_fpr"):
            search(lines, max_fpr=0.5)
        with pytest.raises(ValueError, match=r"min_tpr must be in \[0, 1\)"):
            search(lines, min_tpr=1.0)

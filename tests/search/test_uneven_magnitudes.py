"""Lines of very different magnitudes: results are exact at the returned float64 step."""

from math import inf, nextafter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rocpath as rp
from tests import oracle


def lines_of(labels, predictions, direction):
    bp = rp.ErrorBreakpoints.from_labels(labels, denominator="count")
    return rp.Lines.from_predictions(bp, predictions, direction)


def exact(lines):
    columns = lines.intercept, lines.slope, lines.fp_diff, lines.fn_diff
    return oracle.as_lines(*(column.tolist() for column in columns))


def smallest_aum(lines):
    """Compute the smallest AUM of all float64 steps, which is next to a crossing."""
    truth = exact(lines)
    steps = [0.0, *(float(step) for step in oracle.crossing_steps(truth))]
    near = {x for s in steps for x in (nextafter(s, 0), s, nextafter(s, inf))}
    return min(oracle.aum(truth, step) for step in near)


def check_best_aum(lines):
    best = rp.best_aum_step(lines)
    at_step = oracle.aum(exact(lines), best.step)
    assert best.value == best.bound
    assert best.value == pytest.approx(float(at_step), 2.0**-50, 0)
    assert at_step == smallest_aum(lines)


@pytest.mark.parametrize(
    ("lines", "value"),
    [
        # AUM is 4 at step 1; at the next float64, the outlier has passed the other lines.
        (lines_of([0, 1, 0], [1e20, -1, -2], [-1e20, -3, -2]), 2.0**-52),
        # AUM is 7 at step 1, and 4 + 4 * 2**-52 at the next float64.
        (rp.Lines([-1e20, 3, 2, 2], [1e20, 0, 1, -3], [2, 1, 1, 1], [0, -1, -1, -1]), 4 + 2.0**-50),
        # From step 1 on, the positive is below two negatives, by 1 and by 4.
        (lines_of([0, 0, 0, 1, 0], [1e28, 3, -1, -2, 3], [-1e28, 0, 1, 1, 1]), 5.0),
    ],
)
def test_best_aum_with_an_outlier_is_the_smallest_of_all_float64_steps(lines, value):
    check_best_aum(lines)
    assert rp.best_aum_step(lines).value == pytest.approx(value, 1e-15)


def test_aum_of_a_sweep_at_the_smallest_float64():
    # Crossings at much smaller steps are moved to 5e-324, where AUM is compared.
    lines = rp.Lines(
        [0, 1e-130, 0, 0, -1e-201, -1e-118, -1e-94, -1e-282, 0],
        [-1e-218, -1e199, 0, -1e199, 1e54, 0, 1e183, 1e-43, 0],
        [-3, 1, 2, 0, 0, 0, 2, 0, 3],
        [-2, 0, 3, 1, -3, 2, -1, -2, 1],
    )
    path = rp.sweep(lines)
    assert path.step[1] == 5e-324
    assert path.aum[1] == pytest.approx(float(oracle.aum(exact(lines), 5e-324)), 2.0**-50, 0)


def test_aum_path_with_a_large_code_for_missing_values():
    # The line of 3.4e38 passes the others at step 1, where AUM is not 0.
    lines = rp.Lines([3.4e38, 4, -3, -1], [-3.4e38, -1, 3, 0], [0, 1, 1, 0], [-2, -2, -1, -1])
    best = rp.aum_path(lines).global_min
    assert best.step == 1.75
    assert best.value == float(oracle.aum(exact(lines), 1.75))


values = st.integers(-4, 4).map(float)
outliers = st.sampled_from([1e8, -1e12, 1e20, 1e28, -3.4e38, 1e150])


@given(st.lists(st.booleans(), min_size=2, max_size=6), st.data())
def test_best_aum_with_a_random_outlier_is_exact(labels, data):
    labels[:2] = True, False
    n = len(labels)
    predictions = data.draw(st.lists(values, min_size=n, max_size=n))
    direction = data.draw(st.lists(values, min_size=n, max_size=n))
    row = data.draw(st.integers(0, n - 1))
    predictions[row] = data.draw(outliers)
    if data.draw(st.booleans()):
        direction[row] = data.draw(st.sampled_from([-1.0, 0.3, 1.0])) * predictions[row]
    check_best_aum(lines_of(labels, predictions, direction))


@pytest.mark.parametrize("outlier", [1e8, 1e20, 3.4e38])
def test_best_aum_of_many_lines_with_an_outlier(outlier):
    """The search keeps only some of these lines and sums the others and the outlier."""
    rng = np.random.default_rng(0)
    predictions, direction = rng.normal(size=(2, 20_000))
    labels = rng.random(20_000) < 0.3
    predictions[7], direction[7] = outlier, -outlier
    best = rp.best_aum_step(lines_of(labels, predictions, direction))
    bp = rp.ErrorBreakpoints.from_labels(labels, denominator="count")
    # While the outlier is far from the other lines, a sum with it is rounded only once.
    for step in (best.step, 0.999 * best.step, 1.001 * best.step):
        moved = predictions + step * direction
        assert rp.aum(bp, moved) >= best.value * (1 - 1e-9)
    assert rp.aum_path(lines_of(labels, predictions, direction)).global_min.value == (
        pytest.approx(best.value, 1e-12)
    )

"""best_auc_step, compared with the sweep and the definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rocpath as rp
from tests import oracle
from tests.strategies import any_lines, tenth_lines


def check_best_auc(columns, max_step, two_sided):
    exact = oracle.as_lines(*columns)
    intercept, slope, *diffs = columns
    mirrored = oracle.as_lines(intercept, [-x for x in slope], *diffs)
    sides = [exact, mirrored] if two_sided else [exact]
    limit = np.inf if max_step is None else max_step
    best_of_all = max(oracle.auc(one, s) for one in sides for s in oracle.float64_steps(one, limit))
    lines = rp.Lines(*columns)
    best = rp.best_auc_step(lines, max_step=max_step, two_sided=two_sided)
    assert best.value == best.bound
    assert best.value == pytest.approx(float(best_of_all), 1e-12, 1e-14)
    assert oracle.auc(exact, best.step) == best_of_all
    low, high = best.interval
    if np.nextafter(low, np.inf) < high:
        assert low < best.step < high
    else:
        assert low <= best.step <= high
    for share in (0.25, 0.5, 0.75):
        inside = low + share * (min(high, 2 * abs(low) + 2) - low)
        if low < inside < high:
            assert oracle.auc(exact, inside) == best_of_all


@given(any_lines, st.sampled_from([None, 1.5]), st.booleans())
def test_best_auc_is_the_maximum_of_all_float64_steps(columns, max_step, two_sided):
    check_best_auc(columns, max_step, two_sided)


@given(tenth_lines(), st.sampled_from([None, 1.0]), st.booleans())
def test_best_auc_on_tenths(columns, max_step, two_sided):
    """Crossings that meet in decimals differ by less than an ulp in float64."""
    check_best_auc(columns, max_step, two_sided)


@pytest.mark.parametrize(
    ("columns", "value"),
    [
        # In decimals, all lines meet at step 1. In float64, the second and third meet at
        # 1, the first and third 0.6 ulps later, and the first two 1.2 ulps later: at the
        # float64 after 1, both positives (-0.1 and 0.1) are below the negative.
        (([-0.1, 0.0, 0.1], [0.3, 0.2, 0.1], [0, 1, 0], [-1, 0, -1]), 1.0),
        # At 1.5, the positive is tied with one negative and below the other.
        (([0.1, 0.4, -0.5], [-0.2, -0.4, 0.2], [0, 1, 1], [-1, 0, 0]), 0.75),
    ],
)
def test_orders_that_occur_at_a_single_float64(columns, value):
    best = rp.best_auc_step(rp.Lines(*columns))
    assert best.value == best.bound == value
    assert float(oracle.auc(oracle.as_lines(*columns), best.step)) == value


def test_bound_of_a_negative_auc_is_tight():
    bp = rp.ErrorBreakpoints([0] * 4, [0, 1, 2, 3], [0, 0.1, 0.7, 0], [0.2, 0, 0, -0.3])
    best = rp.best_auc_step(rp.Lines.from_predictions(bp, [0], [1]))
    # TP is -0.2 of a total of 0.1 where FP increases from 0 to its total.
    assert best.value == best.bound == rp.auc(bp, [0])
    assert best.value == pytest.approx(-2)


@pytest.mark.parametrize("n", [104, 105, 300])
def test_crossings_within_one_class_do_not_end_the_interval(n):
    # All negatives meet at step 1, below the positive, and cross it from step 2 on.
    k = np.arange(1.0, n + 1)
    lines = rp.Lines([*-k, n], [*k, 0.0], np.append(np.ones(n), 0), [*np.zeros(n), -1])
    assert rp.best_auc_step(lines, max_step=1.5).interval == (0, 1.5)


def test_step_in_an_unbounded_interval_is_near_its_finite_end():
    lines = rp.Lines([0, 0, 1], [1e-20, 1, 0], [1, 1, 0], [0, 0, -1])
    for search in (rp.best_auc_step, rp.best_aum_step):
        assert search(lines).interval == (1e20, np.inf)
        assert search(lines).step < 1e21


@pytest.mark.parametrize("seed", range(3))
def test_best_auc_of_many_lines_equals_the_sweep(seed):
    rng = np.random.default_rng(seed)
    n = 2000
    bp = rp.ErrorBreakpoints.from_labels(
        rng.random(n) < 0.2, sample_weight=rng.integers(1, 4, n) if seed else None
    )
    lines = rp.Lines.from_predictions(bp, *rng.normal(size=(2, n)))
    path = rp.sweep(lines)
    best = rp.best_auc_step(lines)
    assert best.value == best.bound == max(path.auc[0], path.auc_after.max())
    row = np.searchsorted(path.step, best.step) - 1
    assert path.auc_after[row] == best.value
    rough = rp.best_auc_step(lines, tol=0.01)
    assert rough.value <= best.value <= rough.bound <= rough.value + 0.01


@pytest.mark.parametrize("seed", range(4))
def test_best_auc_of_many_lines_with_both_errors_equals_the_sweep(seed):
    # Lines on a grid have many ties, and a line may have jumps of both FP and TP.
    rng = np.random.default_rng(seed)
    intercept, slope = rng.integers(-60, 61, (2, 500)).astype(float)
    fewest = -1 if seed % 2 else 0
    fp, tp = rng.integers(fewest, 4, (2, 500)).astype(float)
    lines = rp.Lines(intercept, slope, fp, -tp)
    path = rp.sweep(lines)
    best = rp.best_auc_step(lines)
    # Where lines are tied, AUC is the mean of the values before and after.
    assert best.value == best.bound == max(path.auc[0], path.auc_after.max())
    rough = rp.best_auc_step(lines, tol=0.003)
    assert rough.value <= best.value <= rough.bound <= rough.value + 0.003


def test_progress_is_called_and_may_end_the_search():
    rng = np.random.default_rng(0)
    bp = rp.ErrorBreakpoints.from_labels(np.arange(3000) % 5 == 0)
    lines = rp.Lines.from_predictions(bp, *rng.normal(size=(2, 3000)))
    reported = []
    rp.best_auc_step(lines, progress=lambda *args: reported.append(args))
    values, bounds, windows = zip(*reported, strict=True)
    assert list(values) == sorted(values)
    assert all(value <= bound for value, bound in zip(values, bounds, strict=True))
    assert windows[-1] > windows[0]

    def give_up(value, bound, n_windows):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        rp.best_auc_step(lines, progress=give_up)

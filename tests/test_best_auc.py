"""best_auc_step against the sweep and the definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
import rocpath as rp
from strategies import any_lines


@given(any_lines, st.sampled_from([None, 1.5]), st.booleans())
def test_best_auc_is_the_maximum_of_all_steps(columns, max_step, two_sided):
    intercept, slope, fp_diff, fn_diff = columns
    directions = [slope, [-s for s in slope]] if two_sided else [slope]
    best_of_all = -np.inf
    for one_way in directions:
        path = rp.sweep(
            rp.Lines(intercept, one_way, fp_diff, fn_diff), max_step=max_step
        )
        ends = np.append(path.step[1:], path.end if max_step is None else max_step)
        # A stretch counts if some float64 lies strictly inside.
        is_open = np.nextafter(path.step, np.inf) < ends
        values = np.concatenate(([path.auc[0]], path.auc_after[is_open]))
        if max_step is not None:
            last = oracle.auc(
                oracle.as_lines(intercept, one_way, fp_diff, fn_diff), max_step
            )
            values = np.append(values, float(last))
        best_of_all = max(best_of_all, values.max())
    lines = rp.Lines(*columns)
    best = rp.best_auc_step(lines, max_step=max_step, two_sided=two_sided)
    assert best.value == pytest.approx(best_of_all, 1e-12, 1e-14)
    assert best.value == best.bound
    exact = oracle.as_lines(*columns)
    assert best.value == pytest.approx(
        float(oracle.auc(exact, best.step)), 1e-12, 1e-14
    )
    low, high = best.interval
    assert low < best.step < high or low == best.step == high or best.step == max_step
    if low < high:
        for share in (0.25, 0.5, 0.75):
            inside = low + share * (min(high, 2 * abs(low) + 2) - low)
            if low < inside < high:
                value = float(oracle.auc(exact, inside))
                assert value == pytest.approx(best.value, 1e-12, 1e-14)


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


def test_progress_is_told_and_may_end_the_search():
    rng = np.random.default_rng(0)
    bp = rp.ErrorBreakpoints.from_labels(np.arange(3000) % 5 == 0)
    lines = rp.Lines.from_predictions(bp, *rng.normal(size=(2, 3000)))
    told = []
    rp.best_auc_step(lines, progress=lambda *args: told.append(args))
    values, bounds, windows = zip(*told, strict=True)
    assert list(values) == sorted(values)
    assert all(value <= bound for value, bound in zip(values, bounds, strict=True))
    assert windows[-1] > windows[0]

    def give_up(value, bound, n_windows):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        rp.best_auc_step(lines, progress=give_up)

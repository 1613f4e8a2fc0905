"""Memory of searches: no leaks, growth as needed, and limits."""

from pathlib import Path

import numpy as np
import pytest

import rocpath as rp

STATM = Path("/proc/self/statm")
PAGE = 4096


def call_searches(n, bp, prediction, direction):
    for k in range(n):
        lines = rp.Lines.from_predictions(bp, prediction, direction + k)
        rp.sweep(lines)
        rp.aum_path(lines).first_min  # noqa: B018
        rp.best_aum_step(lines)
        rp.best_auc_step(lines)
        rp.aum_derivatives(bp, prediction)


@pytest.mark.skipif(not STATM.exists(), reason="memory usage is read from /proc")
def test_memory_does_not_grow_over_many_calls():
    rng = np.random.default_rng(0)
    bp = rp.ErrorBreakpoints.from_labels(np.arange(12) % 3 == 0)
    prediction, direction = rng.integers(-3, 4, (2, 12)).astype(float)
    call_searches(1000, bp, prediction, direction)
    before = int(STATM.read_text().split()[1]) * PAGE
    call_searches(17_000, bp, prediction, direction)
    # Leaking one object in each of about 10^5 calls would take megabytes.
    assert int(STATM.read_text().split()[1]) * PAGE - before < 2**20


def separating_lines(n):
    """Draw lines along which AUC never decreases."""
    intercept, slope = np.random.default_rng(1).normal(size=(2, n))
    is_positive = np.arange(n) % 3 == 0
    slope = np.where(is_positive, -1, 1) * np.abs(slope)
    return rp.Lines(intercept, slope, ~is_positive, -1.0 * is_positive)


@pytest.mark.parametrize("n", [200, 700], ids=["one thread", "two threads"])
def test_a_path_that_grows_equals_one_whose_length_is_known(n):
    lines = separating_lines(n)
    whole = rp.sweep(lines)
    # A path that may end at any row is allocated for a few rows at first.
    grown = rp.sweep(lines, stop="first_max_auc")
    assert len(whole) > 4096
    reals = ("step", "aum", "aum_slope_after", "auc", "auc_after")
    for name in (*reals, "n_groups", "n_swaps", "queue_size"):
        np.testing.assert_array_equal(getattr(grown, name), getattr(whole, name))


@pytest.mark.parametrize("limits", [{"max_step": 0.5}, {"stop": "first_min_aum"}])
def test_a_path_up_to_a_known_step_takes_no_more_memory_than_its_rows(monkeypatch, limits):
    lines = separating_lines(300)
    n_rows = len(rp.sweep(lines, **limits))
    assert 1024 < n_rows < len(rp.sweep(lines))
    row_bytes = 56
    memory = "rocpath.search.line_search.available_memory"
    monkeypatch.setattr(memory, lambda: row_bytes * n_rows)
    assert len(rp.sweep(lines, **limits)) == n_rows
    monkeypatch.setattr(memory, lambda: row_bytes * (n_rows - 1))
    with pytest.raises(MemoryError, match="rows"):
        rp.sweep(lines, **limits)


def test_lines_through_one_point_need_memory_for_one_row(monkeypatch):
    slope = np.arange(300.0)
    is_positive = slope % 3 == 0
    # All 44,850 pairs of lines meet at step 1.
    lines = rp.Lines(-slope, slope, ~is_positive, -1.0 * is_positive)
    monkeypatch.setattr("rocpath.search.line_search.available_memory", lambda: 56 * 2000)
    path = rp.sweep(lines, max_step=2.0)
    assert path.step.tolist() == [0.0, 1.0]
    assert path.n_swaps.tolist() == [0, 44_850]

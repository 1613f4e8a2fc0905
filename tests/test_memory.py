"""Searches give back the memory they take, and ask for more as they need it."""

from pathlib import Path

import numpy as np
import pytest

import rocpath as rp

STATM = Path("/proc/self/statm")
PAGE = 4096


def calls(n, bp, prediction, direction):
    for k in range(n):
        lines = rp.Lines.from_predictions(bp, prediction, direction + k)
        rp.sweep(lines)
        rp.aum_path(lines).first_min  # noqa: B018
        rp.best_aum_step(lines)
        rp.best_auc_step(lines)
        rp.aum_derivatives(bp, prediction)


@pytest.mark.skipif(not STATM.exists(), reason="needs /proc, to ask for the memory")
def test_memory_stays_flat_over_many_calls():
    rng = np.random.default_rng(0)
    bp = rp.ErrorBreakpoints.from_labels(np.arange(12) % 3 == 0)
    prediction, direction = rng.integers(-3, 4, (2, 12)).astype(float)
    calls(1000, bp, prediction, direction)
    before = int(STATM.read_text().split()[1]) * PAGE
    calls(5000, bp, prediction, direction)
    # An object lost in each of 30,000 calls would be megabytes.
    assert int(STATM.read_text().split()[1]) * PAGE - before < 2**20


@pytest.mark.parametrize("n", [200, 700], ids=["one thread", "two threads"])
def test_a_path_that_grows_equals_one_whose_length_is_known(n):
    rng = np.random.default_rng(1)
    is_positive = np.arange(n) % 3 == 0
    lines = rp.Lines(*rng.normal(size=(2, n)), ~is_positive, -1.0 * is_positive)
    whole = rp.sweep(lines)
    # A path that may end early starts with memory for few rows.
    grown = rp.sweep(lines, max_step=2 * whole.step[-1])
    assert len(whole) > 4096
    reals = ("step", "aum", "aum_slope_after", "auc", "auc_after")
    for name in (*reals, "n_groups", "n_swaps", "queue_size"):
        np.testing.assert_array_equal(getattr(grown, name), getattr(whole, name))

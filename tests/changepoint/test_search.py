"""Blocks of a search, its progress and its interruption."""

import signal
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocpath import changepoint as cp
from rocpath.changepoint import search

BOTH = [("normal", None), ("poisson", "up_down")]


def near(expected):
    return pytest.approx(np.array(expected, dtype=float), 1e-12, 1e-12)


@pytest.mark.parametrize(("cost", "constraint"), BOTH)
@given(x=st.lists(st.integers(0, 6), min_size=1, max_size=30), size=st.integers(1, 7))
def test_blocks_of_any_size_give_the_same_costs(cost, constraint, x, size):
    settings = {"cost": cost, "constraint": constraint}
    max_changes = min(4, len(x) - 1)
    # Sequences of integers often have several best segmentations, so costs are compared.
    whole = cp.segment_penalty(x, 2.0, **settings)
    models = cp.segment(x, max_changes, **settings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "_BLOCK_SIZE", size)
        parts = cp.segment_penalty(x, 2.0, **settings)
        assert cp.segment(x, max_changes, **settings).cost == near(models.cost)
    assert parts.cost + 2 * parts.n_changes == near(whole.cost + 2 * whole.n_changes)


@given(x=st.lists(st.integers(0, 6), min_size=8, max_size=20), size=st.integers(1, 7))
def test_labels_and_minimum_length_apply_across_blocks(x, size):
    settings = {
        "labels": cp.Labels([1, 5], [4, 8], ["one_change", "no_change"]),
        "min_length": 2,
        "position": np.arange(len(x)),
    }
    whole = cp.segment_penalty(x, 2.0, **settings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "_BLOCK_SIZE", size)
        parts = cp.segment_penalty(x, 2.0, **settings)
    assert parts.changes.tolist() == whole.changes.tolist() == parts.position.tolist()


def test_a_memory_map_of_small_integers_is_segmented(tmp_path):
    x = np.random.default_rng(0).poisson(np.repeat([3, 8, 2], 1000)).astype(np.uint8)
    np.save(tmp_path / "x.npy", x)
    on_disk = np.load(tmp_path / "x.npy", mmap_mode="r")
    settings = {"cost": "poisson", "constraint": "up_down"}
    expected = cp.segment_penalty(x.astype(float), 50.0, **settings)
    found = cp.segment_penalty(on_disk, 50.0, **settings)
    assert found.changes.tolist() == expected.changes.tolist()
    assert found.position is None


def test_weights_of_missing_observations_are_not_used():
    x, weights = [1.0, np.nan, 1.0, 9.0, 9.0], [1.0, np.nan, 1.0, 1.0, 1.0]
    assert cp.segment_penalty(x, 1.0, weights=weights).changes.tolist() == [3]


def test_progress_is_reported(monkeypatch):
    calls = []
    monkeypatch.setattr(search, "_BLOCK_SIZE", 4)
    cp.segment_penalty(np.arange(10.0), 1.0, progress=lambda *done: calls.append(done))
    assert calls == [(4, 10), (8, 10), (10, 10)]


def test_an_interrupt_stops_the_search():
    x = np.random.default_rng(0).poisson(3, 2_000_000)
    main = threading.main_thread().ident
    # Processes that run in the background may ignore interrupts.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, signal.pthread_kill, (main, signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            cp.segment_penalty(x, 10.0, cost="poisson", constraint="up_down")
    finally:
        timer.join()
        signal.signal(signal.SIGINT, handler)

"""Arguments of the searches: errors, interrupts, and copies of arrays."""

import copy
import pickle
import signal
import threading
import time

import numpy as np
import pytest

import rocpath as rp
from rocpath.search.line_search import best_auc_step_along


def test_a_path_that_exceeds_memory_raises_with_its_size():
    rng = np.random.default_rng(2)
    n = 200_000
    intercept, slope = rng.normal(size=(2, n))
    is_positive = np.arange(n) % 2
    lines = rp.Lines(intercept, slope, 1 - is_positive, -is_positive)
    with pytest.raises(MemoryError, match=r"may have [\d,]{13,} rows, [\d,.]+ GB"):
        rp.sweep(lines)
    assert len(rp.sweep(lines, max_crossings=10)) == 11


def test_ctrl_c_interrupts_a_long_sweep():
    rng = np.random.default_rng(3)
    n = 20_000
    is_positive = np.arange(n) % 2
    intercept, slope = rng.normal(size=(2, n))
    # Thresholds of positives decrease and those of negatives increase, so AUC never
    # decreases.
    slope = np.where(is_positive, -1, 1) * np.abs(slope)
    lines = rp.Lines(intercept, slope, 1 - is_positive, -is_positive)
    pressed = []

    def press():
        pressed.append(time.process_time())
        signal.raise_signal(signal.SIGINT)

    # A background job of a shell would ignore the signal.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(0.5, press).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            # With a stop, no memory is allocated for the rows of the whole path.
            rp.sweep(lines, stop="first_max_auc")
    finally:
        signal.signal(signal.SIGINT, handler)
    # Processor time is measured, since the machine may be busy. A whole sweep takes 20
    # seconds.
    assert time.process_time() - pressed[0] < 2


def test_steps_beyond_the_path_raise():
    path = rp.sweep(rp.Lines([0, 1], [1, 0], [1, 0], [0, -1]), max_step=0.5)
    # FP is 1 above s, and FN is 1 below 1, so AUM is 1 - s.
    assert path.aum_at(0.5) == 0.5
    for step in (-0.1, 0.6, np.nan):
        with pytest.raises(ValueError, match=r"step must be finite and in \[0, 0.5\]"):
            path.aum_at(step)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"intercept": [0, np.nan]}, r"intercept must be finite and below .* got nan at index 1"),
        ({"slope": [np.inf, 0]}, r"slope must be finite and below .* got inf at index 0"),
        ({"slope": [0]}, r"intercept and slope must have the same length"),
        ({"fp_diff": [1]}, r"fp_diff must have one entry for each of the 2"),
        ({"fp_diff": [0, 0]}, r"fp_diff must sum to a positive number, got 0"),
        ({"fn_diff": [0, 0]}, r"fn_diff must sum to a negative number, got 0"),
        ({"intercept": [[0], [1]]}, r"intercept must be one-dimensional"),
    ],
)
def test_invalid_lines_raise(change, message):
    columns = {"intercept": [0, 1], "slope": [1, 0], "fp_diff": [1, 0], "fn_diff": [0, -1]}
    with pytest.raises(ValueError, match=message):
        rp.Lines(**{**columns, **change})


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"stop": "min"}, ValueError, r"stop must be None or .*got 'min'"),
        ({"max_crossings": -1}, ValueError, r"must be an integer of at least 0, got -1"),
        ({"max_crossings": 1.5}, ValueError, r"must be an integer of at least 0, got 1.5"),
        (
            {"max_crossings": np.inf},
            ValueError,
            r"max_crossings must be an integer of at least 0, got inf",
        ),
        ({"max_crossings": "3"}, TypeError, r"max_crossings must be a number, got '3'"),
        ({"max_step": "1"}, TypeError, r"max_step must be a number, got '1'"),
        ({"max_step": -1.0}, ValueError, r"max_step must be non-negative"),
        ({"max_step": np.nan}, ValueError, r"max_step must be non-negative"),
    ],
)
def test_invalid_options_raise(options, error, message):
    lines = rp.Lines([0, 1], [1, 0], [1, 0], [0, -1])
    with pytest.raises(error, match=message):
        rp.sweep(lines, **options)
    with pytest.raises(TypeError, match="lines must be Lines, got list"):
        rp.sweep([0, 1])


def test_inputs_are_copied_and_results_are_read_only():
    intercept = np.array([0.0, 1.0])
    lines = rp.Lines(intercept, [1, 0], [1, 0], [0, -1])
    intercept[0] = 5
    assert lines.intercept[0] == 0
    for array in (lines.intercept, rp.sweep(lines).step):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_copies_are_read_only():
    lines = rp.Lines([0, 1], [1, 0], [1, 0], [0, -1])
    for clone in (copy.deepcopy(lines), pickle.loads(pickle.dumps(lines))):
        assert rp.sweep(clone).step.tolist() == rp.sweep(lines).step.tolist()
        with pytest.raises(ValueError, match="read-only"):
            clone.fp_diff[0] = 5


@pytest.mark.parametrize("argument", ["max_fpr", "min_tpr"])
def test_searches_reject_rates_that_areas_cannot_represent(argument):
    bp = rp.ErrorBreakpoints.from_labels([0, 0, 1, 1])
    lines = rp.Lines.from_predictions(bp, [-7, -2, 0, -4], [0, -0.5, 0, 0.5])
    for search in (rp.sweep, rp.best_auc_step):
        with pytest.raises(ValueError, match=rf"{argument} must be at least 2\*\*-60"):
            search(lines, **{argument: 1e-30})
        search(lines, **{argument: 2.0**-60})


def test_search_of_estimators_rejects_rates_that_areas_cannot_represent():
    bp = rp.ErrorBreakpoints.from_labels([0, 0, 1, 1])
    predictions, direction = np.array([-7.0, -2, 0, -4]), np.array([0, -0.5, 0, 0.5])
    with pytest.raises(ValueError, match=r"max_fpr must be at least 2\*\*-60"):
        best_auc_step_along(bp, predictions, direction, max_fpr=1e-30)
    assert best_auc_step_along(bp, predictions, direction, max_fpr=0.5).value == 0.5


def test_aum_that_decreases_without_bound_is_smallest_at_the_last_step():
    # Below both lines, FP = 0 and FN = 2 - 1 = 1; between them, FP = -1 and FN = 2; above
    # both, FP = 1 and FN = 0. The lines are at 0 and s, so AUM is -s.
    lines = rp.Lines([0, 0], [0, 1], [-1, 2], [1, -2])
    path = rp.aum_path(lines)
    for best in (rp.best_aum_step(lines, max_step=5), rp.aum_path(lines, max_step=5).global_min):
        assert (best.step, best.interval, best.value) == (5.0, (5.0, 5.0), -5.0)
    largest = np.finfo(float).max
    for best in (rp.best_aum_step(lines), path.first_min, path.global_min):
        assert (best.step, best.interval, best.value) == (largest, (largest, largest), -largest)
    # With twice the jumps, AUM at the largest float64 overflows.
    twice = rp.Lines([0, 0], [0, 1], [-2, 4], [2, -4])
    for best in (rp.best_aum_step(twice), rp.aum_path(twice).global_min):
        assert (best.step, best.value) == (largest, -np.inf)

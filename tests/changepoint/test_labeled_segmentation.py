"""Segmentations with labels and a minimum length, compared with exhaustive search."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocpath import changepoint as cp
from tests import oracle_changepoint as oracle

CHANGE_KINDS = ["no_change", "one_change", "at_least_one_change"]
PEAK_KINDS = ["no_peaks", "peaks", "peak_start", "peak_end"]


def near(expected):
    return pytest.approx(np.array(expected, dtype=float), 1e-10, 1e-10)


@st.composite
def problems(draw, max_size, constraint):
    """Draw a short sequence with many ties and its weights, and labels with or without gaps."""
    n = draw(st.integers(2, max_size))
    x = draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    weight = draw(st.lists(st.sampled_from([1, 1, 3]), min_size=n, max_size=n))
    bound = sorted(draw(st.lists(st.integers(0, n), unique=True, max_size=6)))
    kinds = CHANGE_KINDS + (PEAK_KINDS if constraint == "up_down" else [])
    labels = [
        (start, end, draw(st.sampled_from(kinds)))
        for start, end in pairwise(bound)
        if draw(st.booleans())
    ]
    return x, weight, labels


def settings_of(problem, cost, constraint, min_length):
    _, weight, labels = problem
    start, end, kind = zip(*labels, strict=True) if labels else ((), (), ())
    return {
        "cost": cost,
        "weights": weight,
        "constraint": constraint,
        "labels": cp.Labels(start, end, kind) if labels else None,
        "min_length": min_length,
    }


def check_against_all(problem, cost, constraint, min_length, penalty):
    """Compare every model with the best of all allowed segmentations."""
    x, weight, labels = problem
    x, n = oracle.allowed_values(x, cost), len(x)
    expected = np.array(oracle.best_allowed_costs(x, weight, cost, constraint, labels, min_length))
    settings = settings_of(problem, cost, constraint, min_length)
    if np.isinf(expected).all():
        with pytest.raises(ValueError, match=r"labels .*must allow"):
            cp.segment(x, n - 1, **settings)
        with pytest.raises(ValueError, match=r"labels .*must allow"):
            cp.segment_penalty(x, penalty, **settings)
        return
    models = cp.segment(x, n - 1, **settings)
    assert models.cost == near(expected)
    for k, changes in enumerate(models.changes):
        if np.isfinite(expected[k]):
            assert changes.size == k
            assert models.mean[k].size == k + 1
            assert oracle.is_allowed(changes.tolist(), n, labels, min_length)
        else:
            assert changes.size == models.mean[k].size == 0
    best = cp.segment_penalty(x, penalty, **settings)
    assert best.cost + penalty * best.n_changes == near((expected + penalty * np.arange(n)).min())
    assert oracle.is_allowed(best.changes.tolist(), n, labels, min_length)


costs = st.sampled_from(sorted(oracle.COSTS))
penalties = st.sampled_from([0.0, 0.1, 1.0, 7.0])


@given(problems(8, None), costs, penalties)
def test_the_best_segmentation_satisfies_the_labels(problem, cost, penalty):
    check_against_all(problem, cost, None, 1, penalty)


@given(problems(6, "up_down"), costs, penalties)
def test_the_best_peaks_satisfy_the_labels(problem, cost, penalty):
    check_against_all(problem, cost, "up_down", 1, penalty)


@given(problems(9, None), costs, penalties, st.integers(2, 4))
def test_no_segment_is_too_short(problem, cost, penalty, min_length):
    check_against_all(problem, cost, None, min(min_length, len(problem[0])), penalty)


@given(problems(7, "up_down"), costs, penalties, st.integers(2, 3))
def test_no_peak_is_too_short(problem, cost, penalty, min_length):
    min_length = min(min_length, len(problem[0]))
    check_against_all(problem, cost, "up_down", min_length, penalty)


def test_numbers_of_failures_may_differ_by_rounding():
    # The numbers of failures in the last two observations, 2 - 1.3, and in all, 6 - 5.3,
    # differ only by rounding.
    # One segment costs -5.3 log(5.3 / 6) - 0.7 log(0.7 / 6) = 2.16; two segments of two
    # observations cost -1.3 log(0.65) - 0.7 log(0.35) = 1.29, plus the penalty.
    settings = {"cost": "binomial", "weights": [1, 3, 1, 1], "min_length": 2}
    assert cp.segment_penalty([1, 1, 1, 0.3], 1.0, **settings).n_changes == 0
    assert cp.segment_penalty([1, 1, 1, 0.3], 0.8, **settings).changes.tolist() == [2]


def test_labels_move_a_change():
    # The best change, at 3, has cost 0, but the label requires a change at 4 or 5.
    x = [1, 1, 1, 3, 3, 3]
    label = cp.Labels([3], [5], ["one_change"])
    best = cp.segment_penalty(x, 100, labels=label)
    # For 1 1 1 3 | 3 3, the sum of squares around the mean 1.5 is 3 * 1/4 + 9/4.
    assert best.changes.tolist() == [4]
    assert best.cost == pytest.approx(3)
    # If no change is allowed from 2 to 4, changes at 1 and 5 are equally good.
    label = cp.Labels([1], [4], ["no_change"])
    assert cp.segment(x, 1, labels=label).changes[1].tolist() == [1]
    with pytest.raises(ValueError, match="must allow at least one segmentation, got none"):
        cp.segment_penalty(x, 1, labels=cp.Labels([0], [2], ["one_change"]), min_length=3)


@pytest.mark.parametrize("constraint", [None, "up_down"])
@pytest.mark.parametrize("cost", oracle.COSTS)
def test_labels_that_the_best_segmentation_satisfies_have_no_effect(cost, constraint):
    rng = np.random.default_rng(0)
    x = np.minimum(rng.poisson(np.tile(np.repeat([2, 9], 300), 5)), 20)
    x = oracle.allowed_values(x, cost)
    penalty = 300.0 if cost in ("normal", "poisson") else 20.0
    settings = {"cost": cost, "constraint": constraint}
    free = cp.segment_penalty(x, penalty, **settings)
    bounds = np.concatenate([free.changes - 100, free.changes + 100])
    labels = cp.Labels(
        np.sort(bounds)[:-1],
        np.sort(bounds)[1:],
        ["one_change", "no_change"] * (free.n_changes - 1) + ["one_change"],
    )
    labeled = cp.segment_penalty(x, penalty, labels=labels, **settings)
    assert labeled.changes.tolist() == free.changes.tolist()
    assert labeled.cost == near(free.cost)
    long = cp.segment_penalty(x, penalty, min_length=100, **settings)
    assert long.changes.tolist() == free.changes.tolist()


@pytest.mark.parametrize("constraint", [None, "up_down"])
@pytest.mark.parametrize("cost", oracle.COSTS)
def test_penalized_search_with_labels_finds_the_best_model_of_any_size(cost, constraint):
    rng = np.random.default_rng(1)
    x = oracle.allowed_values(rng.poisson(np.repeat(rng.uniform(1, 9, 12), 10)), cost)
    labels = cp.Labels([5, 33, 47, 80], [25, 37, 68, 110], [*CHANGE_KINDS, "one_change"])
    settings = {"cost": cost, "constraint": constraint, "labels": labels}
    models = cp.segment(x, 60, min_length=2, **settings)
    for penalty in (1.0, 5.0, 50.0):
        best = cp.segment_penalty(x, penalty, min_length=2, **settings)
        objective = models.cost + penalty * np.arange(61)
        assert best.cost + penalty * best.n_changes == near(objective.min())
    errors = cp.label_errors([best.changes], labels, n=len(x))
    assert errors.fp[0] == errors.fn[0] == 0
    assert np.diff(best.changes).min() >= 2


@given(problems(6, "up_down"), st.data())
def test_labels_are_in_units_of_positions(problem, data):
    x, weight, _ = problem
    position = np.cumsum([10, *weight[:-1]])
    bound = data.draw(st.lists(st.integers(9, 25), min_size=2, max_size=5, unique=True))
    bound = [b for b in sorted(bound) if b < position[-1] + weight[-1]]
    pairs = [(a, b) for a, b in pairwise(bound) if b > 10 and a < position[-1]]
    if not pairs:
        return
    kind = [data.draw(st.sampled_from(CHANGE_KINDS + PEAK_KINDS)) for _ in pairs]
    labels = cp.Labels(*zip(*pairs, strict=True), kind)
    settings = {"labels": labels, "position": position, "constraint": "up_down"}
    free = cp.segment(x, len(x) - 1, constraint="up_down")
    try:
        models = cp.segment(x, len(x) - 1, **settings)
    except ValueError:
        models = None
    # Find the best of all segmentations without errors according to label_errors.
    every = [
        (k, np.array(changes))
        for k in range(len(x))
        for changes in oracle.combinations(range(1, len(x)), k)
    ]
    errors = cp.label_errors([c for _, c in every], labels, position=position)
    expected = np.full(len(x), np.inf)
    for (k, changes), fp, fn in zip(every, errors.fp, errors.fn, strict=True):
        if fp == fn == 0:
            cost = oracle.up_down_cost(x, [1] * len(x), tuple(changes.tolist()), "normal")
            expected[k] = min(expected[k], cost)
    if models is None:
        assert np.isinf(expected).all()
    else:
        assert models.cost == near(expected)
        assert (models.cost >= free.cost - 1e-9).all()


BAD = [
    ({"labels": [(0, 1, "no_change")]}, TypeError, "labels must be Labels, got list"),
    ({"labels": cp.Labels([0], [2], ["peaks"])}, ValueError, "constraint='up_down'"),
    ({"labels": cp.Labels([0], [9], ["no_change"])}, ValueError, "within the sequence"),
    ({"labels": cp.Labels([3], [4], ["one_change"])}, ValueError, "allow the changes they require"),
    ({"min_length": 0}, ValueError, "min_length must be an integer of at least 1"),
    ({"position": [1, 2, 2, 3]}, ValueError, "position must increase"),
    ({"position": [1, 2, 3, np.inf]}, ValueError, "position must be finite.*got inf at index 3"),
]


@pytest.mark.parametrize(("settings", "error", "message"), BAD)
def test_invalid_settings_raise(settings, error, message):
    with pytest.raises(error, match=message):
        cp.segment([1, 2, 3, 4], 1, **settings)
    with pytest.raises(error, match=message):
        cp.segment_penalty([1, 2, 3, 4], 1, **settings)


@pytest.mark.parametrize("cost", ["normal", "mean_variance"])
def test_a_sequence_below_the_minimum_length_is_one_segment(cost):
    found = cp.segment_penalty([1.0, 7.0], 0.0, cost=cost, min_length=5)
    assert found.changes.tolist() == []
    assert found.mean.tolist() == [4.0]
    # One observation is one segment, although its variance cannot be estimated.
    assert cp.segment_penalty([3.0, np.nan], 0.0, cost=cost).changes.tolist() == []


def test_error_messages_show_the_row_and_the_sequence():
    labels = cp.Labels([0], [3], ["peaks"], sequence="host", row=[17])
    with pytest.raises(ValueError, match="'peaks' in row 17 of sequence 'host'"):
        cp.segment_penalty([1.0, 2.0, 3.0, 4.0], 1.0, labels=labels)
    # The region (0.2, 0.4] is between two observations, so it contains no change.
    labels = cp.Labels([0.2], [0.4], ["one_change"], sequence="host", row=[17])
    with pytest.raises(ValueError, match=r"labels of sequence 'host' .* in row 17"):
        cp.segment_penalty([1.0, 2.0, 3.0, 4.0], 1.0, labels=labels)

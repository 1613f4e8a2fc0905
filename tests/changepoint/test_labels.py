"""Label errors of models and of penalties, and breakpoints computed from them."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rocpath as rp
import rocpath._core as _core
from rocpath import changepoint as cp
from tests import oracle_changepoint as oracle

KINDS = [
    "no_change",
    "one_change",
    "at_least_one_change",
    "no_peaks",
    "peaks",
    "peak_start",
    "peak_end",
]


@st.composite
def labeled_models(draw):
    n = draw(st.integers(2, 12))
    places = st.lists(st.integers(1, n - 1), unique=True).map(sorted)
    models = draw(st.lists(places, min_size=1, max_size=4))
    ends = sorted(draw(st.sets(st.integers(0, n), min_size=2)))
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=len(ends) - 1, max_size=len(ends) - 1))
    return n, models, ends, kinds


@given(labeled_models())
def test_errors_equal_their_definition(case):
    n, models, ends, kinds = case
    labels = cp.Labels(ends[:-1], ends[1:], kinds)
    errors = cp.label_errors(models, labels, n=n)
    for k, changes in enumerate(models):
        pairs = [
            oracle.label_error(kind, a, b, changes, n)
            for kind, a, b in zip(kinds, ends[:-1], ends[1:], strict=True)
        ]
        assert errors.fp[k] == sum(fp for fp, _ in pairs)
        assert errors.fn[k] == sum(fn for _, fn in pairs)
    assert errors.fp.max() <= labels.possible_fp
    assert errors.fn.max() <= labels.possible_fn


@given(labeled_models())
def test_errors_do_not_depend_on_the_units_of_positions(case):
    n, models, ends, kinds = case
    position = np.arange(n) * 10.0 + 1000
    labels = cp.Labels(ends[:-1], ends[1:], kinds)
    if ends[-2] >= n - 1:
        return
    scaled = cp.Labels(np.array(ends[:-1]) * 10 + 1000, np.array(ends[1:]) * 10 + 1000, kinds)
    plain = cp.label_errors(models, labels, n=n)
    converted = cp.label_errors(models, scaled, position=position)
    assert converted.fp.tolist() == plain.fp.tolist()
    assert converted.fn.tolist() == plain.fn.tolist()


@pytest.mark.parametrize(
    ("kind", "possible_fp", "possible_fn"),
    [
        ("normal", 1, 0),
        ("0breakpoints", 1, 0),
        ("1breakpoint", 1, 1),
        ("1change", 1, 1),
        ("breakpoint", 0, 1),
        (">0changes", 0, 1),
        ("noPeaks", 1, 0),
        ("peaks", 0, 1),
        ("peakStart", 1, 1),
        ("peakEnd", 1, 1),
    ],
)
def test_published_names_and_possible_errors(kind, possible_fp, possible_fn):
    labels = cp.Labels([0], [3], [kind])
    assert (labels.possible_fp, labels.possible_fn) == (possible_fp, possible_fn)
    assert labels.kind[0] in KINDS


def test_a_change_at_the_end_of_a_region_is_inside_it():
    labels = cp.Labels([0, 3], [3, 6], ["at_least_one_change"] * 2)
    errors = cp.label_errors([[3], [4]], labels, n=6)
    assert errors.fn.tolist() == [1, 1]
    first = cp.Labels([0], [3], ["at_least_one_change"])
    assert cp.label_errors([[3], [4]], first, n=6).fn.tolist() == [0, 1]


def test_label_errors_need_not_be_monotone_in_the_penalty():
    # The label requires a change at 4 or 5, but the best single change is at 2.
    models = [[], [2], [2, 4]]
    selection = cp.model_selection([10.0, 4.0, 0.0])
    labels = cp.Labels([0, 3], [3, 5], ["no_change", "one_change"])
    function = cp.penalty_errors(selection, cp.label_errors(models, labels, n=6))
    assert function.min_penalty.tolist() == [0, 4, 6]
    assert function.fp.tolist() == [1, 1, 0]
    assert function.fn.tolist() == [0, 1, 1]
    assert function.at(np.log([0.1, 4, 5, 6, 99])).tolist() == [1, 2, 2, 1, 1]


def test_target_interval_is_the_longest_with_the_fewest_errors():
    def target(fp, fn):
        return cp.target_interval(cp.PenaltyErrors([0, 1, 2, 8, 9], fp=fp, fn=fn))

    assert target([1, 0, 0, 0, 0], [0, 0, 0, 1, 1]) == pytest.approx((0, np.log(8)))
    # The intervals [1, 2) and [8, 9) have log lengths 0.69 and 0.12.
    assert target([1, 0, 1, 0, 1], [0] * 5) == pytest.approx((0, np.log(2)))
    assert target([0, 1, 1, 1, 0], [0] * 5) == pytest.approx((np.log(9), np.inf))
    assert target([1] * 5, [1] * 5) == (-np.inf, np.inf)


def test_breakpoints_of_many_sequences():
    functions = [
        cp.PenaltyErrors([0, 1, 4], fp=[2, 1, 1], fn=[0, 0, 2]),
        cp.PenaltyErrors([0], fp=[0], fn=[0]),
        cp.PenaltyErrors([0, 2], fp=[1, 0], fn=[0, 0]),
    ]
    bp = cp.error_breakpoints(functions)
    assert bp.n_examples == 3
    assert sorted(bp.value.tolist()) == pytest.approx([-np.log(4), -np.log(2), 0])
    # The AUC does not change if a constant is added to all predictions.
    curve = rp.roc_curve(bp, np.full(3, 99.0))
    assert curve.auc == pytest.approx(rp.auc(bp, np.zeros(3)))
    rate = cp.error_breakpoints(functions, denominator="rate")
    assert rate.fp_diff.sum() == pytest.approx(1)
    assert rate.fn_diff.sum() == pytest.approx(-1)


def test_unpickled_labels_and_error_functions_are_read_only():
    labels = cp.Labels([0], [3], ["normal"], sequence="one", row=[7])
    function = cp.PenaltyErrors([0, 1], [1, 0], [0, 0])
    for original, array in ((labels, "start"), (function, "fp")):
        copy = pickle.loads(pickle.dumps(original))
        assert getattr(copy, array).tolist() == getattr(original, array).tolist()
        assert not getattr(copy, array).flags.writeable
    assert pickle.loads(pickle.dumps(labels)).sequence == "one"
    assert pickle.loads(pickle.dumps(labels)).row.tolist() == [7]


@pytest.mark.parametrize(
    ("start", "end", "kind", "message"),
    [
        ([0, 5], [1, 5], ["normal"] * 2, "start of sequence 'a'.*5.0 in row 1"),
        ([0], [3], ["twoPeaks"], "kind of sequence 'a'.*'twoPeaks' in row 0"),
        ([4, 0], [6, 5], ["normal"] * 2, "'a' must not overlap.*row 0 and.*row 1"),
        ([0, np.nan], [3, 5], ["normal"] * 2, "start of sequence 'a'.*nan at index 1"),
        ([0], [3], ["normal"] * 2, "same length"),
    ],
)
def test_invalid_labels_raise(start, end, kind, message):
    with pytest.raises(ValueError, match=message):
        cp.Labels(start, end, kind, sequence="a")


def test_error_messages_show_the_rows_of_labels():
    with pytest.raises(ValueError, match=r"\(0.0, 5.0\] in row 8 and .* in row 7"):
        cp.Labels([0, 4], [5, 6], ["normal"] * 2, row=[8, 7])
    labels = cp.Labels([0, 30], [3, 40], ["normal"] * 2, row=[8, 7])
    with pytest.raises(ValueError, match=r"\(30.0, 40.0\] in row 7"):
        cp.label_errors([[1]], labels, n=9)
    with pytest.raises(ValueError, match="same length"):
        cp.Labels([0], [5], ["normal"], row=[8, 7])


@pytest.mark.parametrize(
    ("changes", "settings", "message"),
    [
        ([[1]], {"n": 4}, "labels of sequence 'a'.*from 0.0 to 4.0.*in row 1"),
        ([[1]], {"position": [20, 30]}, "sequence 'a'.*got \\(0.0, 3.0\\] in row 0"),
        ([[1]], {"position": [3, 2, 9]}, "position of sequence 'a' must increase"),
        ([[1]], {}, "n must be given"),
        ([[1], [2, 9]], {"n": 9}, "changes\\[1\\] of sequence 'a'.*1 to 8.*\\[2, 9\\]"),
        ([[0]], {"n": 9}, "changes\\[0\\] of sequence 'a'"),
        ([[1.5]], {"n": 9}, "changes\\[0\\] of sequence 'a' must be integers"),
    ],
)
def test_invalid_changes_raise(changes, settings, message):
    labels = cp.Labels([0, 3], [3, 5], ["normal"] * 2, sequence="a")
    with pytest.raises(ValueError, match=message):
        cp.label_errors(changes, labels, **settings)


def test_invalid_error_functions_raise():
    with pytest.raises(ValueError, match="min_penalty must increase from 0"):
        cp.PenaltyErrors([1, 2], [0, 0], [0, 0])
    with pytest.raises(ValueError, match="fn must be non-negative, got -1 at index 1"):
        cp.PenaltyErrors([0, 2], [0, 2], [0, -1])
    with pytest.raises(TypeError, match="PenaltyErrors, got 3 for sequence 1"):
        cp.error_breakpoints([cp.PenaltyErrors([0], [0], [0]), 3])
    with pytest.raises(ValueError, match="errors must have one entry for each model"):
        cp.penalty_errors(
            cp.model_selection([2.0, 1.0]),
            cp.label_errors([[]], cp.Labels([0], [3], ["normal"]), n=3),
        )


def test_errors_by_penalty_are_those_of_the_selected_models():
    # The cost is 20.83 without changes, 6.75 with a change at 2, and 0 with changes at 2
    # and 5. Penalties below 6.75 select two changes, penalties from 6.75 to 20.83 - 6.75
    # select one, and larger penalties select none.
    labels = cp.Labels([0, 3], [3, 6], ["one_change", "no_change"])
    errors = cp.errors_by_penalty([1, 1, 5, 5, 5, 2], labels)
    assert errors.min_penalty.tolist() == pytest.approx([0, 6.75, 20 + 5 / 6 - 6.75])
    assert errors.fp.tolist() == [1, 0, 0]
    assert errors.fn.tolist() == [0, 0, 1]
    one = cp.errors_by_penalty([3.0], cp.Labels([-1], [1], ["one_change"]), position=[0])
    assert one.fn.tolist() == [1]


def test_breakpoints_ignore_errors_that_increase_again_beyond_the_minimum():
    # The model of the smallest penalties misses a label that the next model satisfies.
    function = cp.PenaltyErrors([0, 1, 4], fp=[2, 1, 0], fn=[1, 0, 1])
    bp = cp.error_breakpoints([function])
    # As predictions (minus log penalties) increase, FP increases and FN decreases by one
    # at -log 4, and FP increases by one at 0.
    order = np.argsort(bp.value)
    assert bp.value[order].tolist() == pytest.approx([-np.log(4), 0])
    assert bp.fp_diff[order].tolist() == [1, 1]
    assert bp.fn_diff[order].tolist() == [-1, 0]
    back = cp.PenaltyErrors([0, 1, 4], fp=[2, 0, 1], fn=[0, 0, 1])
    assert cp.error_breakpoints([back]).fp_diff.sum() == 2


def test_the_core_has_the_same_label_kinds():
    assert {kind.name for kind in _core.LabelKind} == set(KINDS)


def test_labels_without_regions_mark_an_unlabeled_sequence():
    empty = cp.Labels([], [], [])
    assert len(empty) == empty.possible_fp == empty.possible_fn == 0
    assert cp.label_errors([[3]], empty, n=9).fp.tolist() == [0]
    assert cp.segment_penalty([0, 0, 5, 5], 1.0, labels=empty).changes.tolist() == [2]


def test_times_are_positions():
    time = np.datetime64("2024-03-01") + np.arange(6).astype("timedelta64[D]")
    labels = cp.Labels(time[[0, 3]], time[[3, 5]], ["one_change", "no_change"])
    errors = cp.errors_by_penalty([1, 1, 5, 5, 5, 2], labels, position=time, max_changes=2)
    assert errors.fp.tolist() == [1, 0, 0]
    with pytest.raises(ValueError, match="must not contain missing times, got NaT"):
        cp.label_errors([[2]], labels, position=np.array(["NaT"] * 6, dtype="datetime64[D]"))

"""ErrorBreakpoints: results and errors of each constructor."""

import numpy as np
import pytest
from hypothesis import given

import rocpath as rp
from tests.strategies import changepoint_breakpoints


@pytest.mark.parametrize(
    ("y", "positive"),
    [
        ([0, 1, 1], None),
        ([False, True, True], None),
        ([-1, 1, 1], None),
        (["no", "yes", "yes"], "yes"),
        ([1.0, 0.0, 0.0], 0.0),
        (np.array([b"a", b"b", b"b"]), None),
    ],
)
def test_labels_of_any_two_values(y, positive):
    bp = rp.ErrorBreakpoints.from_labels(y, positive=positive)
    assert bp.fp_diff.tolist() == [1, 0, 0]
    assert bp.fn_diff.tolist() == [0, -0.5, -0.5]
    assert bp.value.tolist() == [0, 0, 0]
    assert bp.is_monotone
    assert bp.n_examples == len(bp) == 3


def test_weights_margin_and_counts():
    bp = rp.ErrorBreakpoints.from_labels(
        [0, 1, 1], sample_weight=[2, 1, 3], margin=0.5, denominator="count"
    )
    assert bp.value.tolist() == [-0.5, 0.5, 0.5]
    assert bp.fp_diff.tolist() == [2, 0, 0]
    assert bp.fn_diff.tolist() == [0, -1, -3]
    rates = rp.ErrorBreakpoints.from_labels([0, 1, 1], sample_weight=[2, 1, 3])
    assert rates.fp_diff.tolist() == [1, 0, 0]
    assert rates.fn_diff.tolist() == [0, -0.25, -0.75]


def test_penalty_errors_become_breakpoints_at_minus_log_penalty():
    # Example 0: penalties [0, e): FP 3, FN 0; [e, e^2): FP 1, FN 2; from e^2 on: FP 1,
    # FN 4. The FP of 1 at the largest penalty is a constant, which is subtracted.
    # Example 1: FN decreases to 1 and never to 0, so 1 is subtracted as well.
    bp = rp.ErrorBreakpoints.from_penalty_errors(
        [0, 0, 0, 1, 1], [np.e**2, 0, np.e, 1, 0], fp=[1, 3, 1, 0, 0], fn=[4, 0, 2, 3, 1]
    )
    assert bp.example.tolist() == [0, 0, 1]
    assert bp.value == pytest.approx([-2, -1, 0])
    assert bp.fp_diff.tolist() == [0, 2, 0]
    assert bp.fn_diff.tolist() == [-2, -2, -2]
    rates = rp.ErrorBreakpoints.from_penalty_errors(
        bp.example[[0, 0, 0, 2, 2]],
        [np.e**2, 0, np.e, 1, 0],
        fp=[1, 3, 1, 0, 0],
        fn=[4, 0, 2, 3, 1],
        denominator="rate",
    )
    assert rates.fp_diff == pytest.approx([0, 1, 0])
    assert rates.fn_diff == pytest.approx([-1 / 3, -1 / 3, -1 / 3])


@given(changepoint_breakpoints())
def test_breakpoints_reproduce_the_error_functions(columns):
    example, value, fp_diff, fn_diff = (np.array(column) for column in columns)
    has_jump = (fp_diff != 0) | (fn_diff != 0)
    rows = []
    for k in range(example.max() + 1):
        is_own = example == k
        fp = np.concatenate(([0], np.cumsum(fp_diff[is_own])))
        fn = np.concatenate((np.cumsum(fn_diff[is_own][::-1])[::-1] * -1, [0]))
        penalty = np.concatenate((np.exp(-value[is_own]), [0]))
        rows += [(k, *row) for row in zip(penalty, fp, fn, strict=True)]
    rng = np.random.default_rng(0)
    shuffled = [rows[k] for k in rng.permutation(len(rows))]
    bp = rp.ErrorBreakpoints.from_penalty_errors(*zip(*shuffled, strict=True))
    assert bp.example.tolist() == example[has_jump].tolist()
    assert bp.value == pytest.approx(value[has_jump], abs=1e-15)
    assert bp.fp_diff.tolist() == fp_diff[has_jump].tolist()
    assert bp.fn_diff.tolist() == fn_diff[has_jump].tolist()


def test_monotone_errors_are_recognized():
    monotone = rp.ErrorBreakpoints([0, 1], [0, 0], [1, 0], [0, -1])
    bump = rp.ErrorBreakpoints([0, 0, 0, 1], [0, 1, 2, 0], [1, -1, 1, 0], [0, 0, 0, -1])
    assert monotone.is_monotone
    assert not bump.is_monotone


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"y": [1, 1]}, r"y must have exactly two classes, got 1: \[1\]"),
        ({"y": [0, 1, 2]}, r"y must have exactly two classes, got 3"),
        ({"y": [0, np.nan]}, r"y must have no missing or infinite values, got nan at index 1"),
        ({"y": [[0, 1]]}, r"y must be one-dimensional"),
        ({"y": [0, 1], "positive": 2}, r"positive must be one of the labels \[0, 1\]"),
        ({"y": [0, 1], "sample_weight": [1]}, r"sample_weight must have one entry"),
        ({"y": [0, 1], "sample_weight": [1, -2]}, r"got -2.0 at index 1"),
        ({"y": [0, 1], "sample_weight": [1, 0]}, r"positive class must sum to a positive"),
        ({"y": [0, 1], "sample_weight": [1, np.inf]}, r"sample_weight must be finite"),
        ({"y": [0, 1], "margin": np.nan}, r"margin must be finite"),
        ({"y": [0, 1], "denominator": "foo"}, r"denominator must be 'rate' or 'count'"),
    ],
)
def test_invalid_labels_raise(options, message):
    with pytest.raises(ValueError, match=message):
        rp.ErrorBreakpoints.from_labels(**options)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"example": [0, 0, -1]}, r"example must not be negative, got -1 at index 2"),
        ({"example": [0, 0, 5]}, r"example must be below n_examples = 2, got 5"),
        ({"example": [0, 0, 0.5]}, r"example must be integers, got 0.5 at index 2"),
        ({"value": [0, 1, np.inf]}, r"value must be finite and below .* got inf at index 2"),
        ({"value": [0, 1]}, r"example and value must have the same length"),
        ({"fp_diff": [1, 1]}, r"fp_diff must have one entry for each of the 3"),
        ({"fp_diff": [-1, 2, 0]}, r"fp_diff must never make the false positives"),
        ({"fn_diff": [0, 1, -2]}, r"fn_diff must never make the false negatives"),
        ({"fp_diff": [1, -1, 0]}, r"fp_diff must sum to a positive number"),
        ({"fn_diff": [0, 0, 0]}, r"fn_diff must sum to a negative number"),
        ({"n_examples": 1.5}, r"n_examples must be an integer of at least 1, got 1.5"),
    ],
)
def test_invalid_breakpoints_raise(change, message):
    columns = {
        "example": [0, 0, 1],
        "value": [0, 1, 0],
        "fp_diff": [1, 0, 0],
        "fn_diff": [0, 0, -1],
        "n_examples": 2,
    }
    with pytest.raises(ValueError, match=message):
        rp.ErrorBreakpoints(**{**columns, **change})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"min_penalty": [1, 2]}, r"min_penalty must contain 0 for every example"),
        ({"min_penalty": [0, 0]}, r"min_penalty must not repeat within an example"),
        ({"fp": [-1, 0]}, r"fp must be non-negative, got -1.0 at index 0"),
        ({"fn": [0, np.nan]}, r"fn must be finite and below .* got nan at index 1"),
        ({"fn": [0]}, r"must have the same length, got example 2"),
    ],
)
def test_invalid_penalty_errors_raise(change, message):
    columns = {"example": [0, 0], "min_penalty": [0, 1], "fp": [1, 0], "fn": [0, 1]}
    with pytest.raises(ValueError, match=message):
        rp.ErrorBreakpoints.from_penalty_errors(**{**columns, **change})


def test_text_instead_of_numbers_raises():
    with pytest.raises(TypeError, match=r"value must be real numbers, got \['a', 'b'\]"):
        rp.ErrorBreakpoints([0, 1], ["a", "b"], [1, 0], [0, -1])
    with pytest.raises(TypeError, match=r"margin must be a number, got '1'"):
        rp.ErrorBreakpoints.from_labels([0, 1], margin="1")

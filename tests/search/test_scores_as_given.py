"""Scores and weights are used without rounding, or rejected."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rocpath as rp
from rocpath import _core
from tests import oracle, oracle_auc


def pair_auc(is_positive, score):
    """Compute the share of concordant pairs, with ties counting one half."""
    difference = score[is_positive][:, None] - score[~is_positive][None, :]
    return ((difference > 0).sum() + 0.5 * (difference == 0).sum()) / difference.size


@pytest.mark.parametrize(
    "kind", ["normal", "ties", "one outlier", "two sizes", "sorted", "equal", "tiny"]
)
def test_auc_of_many_rows_equals_the_share_of_concordant_pairs(kind):
    """There are too many rows for the comparison sort of the core."""
    rng = np.random.default_rng(0)
    score = rng.normal(size=7000)
    if kind == "ties":
        score = np.round(score, 1)
    elif kind == "one outlier":
        score[3] = 1e150
    elif kind == "two sizes":
        score[::2] *= 1e-9
    elif kind == "sorted":
        score = np.sort(score)[::-1].copy()
    elif kind == "equal":
        score[:] = 2.5
    elif kind == "tiny":
        score *= 1e-310
    is_positive = rng.random(7000) < 0.4
    expected = pair_auc(is_positive, score)
    assert rp.auc(is_positive, score) == pytest.approx(expected, 1e-15)
    bp = rp.ErrorBreakpoints.from_labels(is_positive)
    assert rp.auc(bp, score) == rp.auc(is_positive, score)


def test_auc_with_unequal_weights_equals_its_definition():
    y, score, weight = [0, 0, 1, 1], [1.0, 3.0, 2.0, 4.0], [1.0, 2.0, 1.0, 1.0]
    rows = [(bool(c), s, Fraction(w)) for c, s, w in zip(y, score, weight, strict=True)]
    bp = rp.ErrorBreakpoints.from_labels(y, sample_weight=weight)
    assert rp.auc(bp, score) == pytest.approx(float(oracle_auc.auc(rows)), 1e-15)


@pytest.mark.parametrize("denominator", ["rate", "count"])
def test_error_names_a_weight_that_would_be_lost(denominator):
    with pytest.raises(
        ValueError, match=r"sample_weight has too large a dynamic range: 1e-19 at index"
    ):
        rp.ErrorBreakpoints.from_labels(
            [0, 0, 1, 1], sample_weight=[1, 1e-19, 1, 1e-19], denominator=denominator
        )


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_integers_that_float64_would_round_are_rejected(dtype):
    scores = np.array([2**53, 2**53 + 1], dtype=dtype)
    for call in (lambda: rp.auc([0, 1], scores), lambda: rp.aum([1, 0], scores)):
        with pytest.raises(ValueError, match=r"at most 2\*\*53 in absolute value, got 9007199254"):
            call()
    # Larger integers that float64 can represent are accepted.
    assert rp.auc([0, 1], np.array([2**60, 2**61], dtype=dtype)) == 1.0


def exact_derivatives(bp, prediction):
    """Compute the derivatives of AUM from thresholds that are rounded once."""
    columns = (bp.example, bp.value, bp.fp_diff, bp.fn_diff)
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    derivatives = []
    for sign in (-1, 1):
        side = []
        for one in range(len(prediction)):
            lines = [
                (
                    Fraction(value - prediction[example]),
                    Fraction(-sign if example == one else 0),
                    Fraction(fp),
                    Fraction(fn),
                )
                for example, value, fp, fn in rows
            ]
            steps = oracle.crossing_steps(lines)
            move = steps[0] / 2 if steps else Fraction(1)
            change = oracle.aum(lines, move) - oracle.aum(lines, 0)
            side.append(float(sign * change / move))
        derivatives.append(side)
    return derivatives


def test_derivatives_of_breakpoints_an_ulp_apart():
    rng = np.random.default_rng(0)
    n_rounded = 0
    for _ in range(200):
        n = int(rng.integers(2, 4))
        example = np.repeat(np.arange(n), rng.integers(1, 4, n))
        value = (rng.integers(-3, 4, n) / 10)[example]
        for k in range(1, example.size):
            if example[k] == example[k - 1]:
                value[k] = np.nextafter(value[k - 1], 9)
        fp, tp = rng.integers(0, 3, (2, example.size)).astype(float)
        fp[0], tp[-1] = 1.0, 1.0
        bp = rp.ErrorBreakpoints(example, value, fp, -tp, n_examples=n)
        prediction = rng.integers(-3, 4, n) / 10
        got = rp.aum_derivatives(bp, prediction)
        np.testing.assert_allclose(got, exact_derivatives(bp, prediction), atol=1e-12)
        thresholds = bp.value - prediction[bp.example]
        n_rounded += np.unique(thresholds).size < thresholds.size
    assert n_rounded > 50  # the rounded thresholds are tied


def test_derivatives_of_non_monotone_errors_an_ulp_apart():
    # FP of the first example increases by 1, and decreases by 1 an ulp later.
    value = [0.3, np.nextafter(0.3, 1), 0.1, 0.2]
    bp = rp.ErrorBreakpoints([0, 0, 1, 2], value, [1, -1, 1, 1], [0, 0, -1, -1])
    prediction = np.array([-0.3, -0.5, -0.1])
    got = rp.aum_derivatives(bp, prediction)
    np.testing.assert_allclose(got, exact_derivatives(bp, prediction), atol=1e-12)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.booleans(), st.integers(-9, 9)), min_size=1, max_size=6),
    st.sampled_from([0.0, 0.1, 0.3, 1 / 3, 1.0]),
)
def test_areas_derivatives_curves_and_lines_share_their_thresholds(rows, margin):
    labels, tenths = zip((False, 0), (True, 3), *rows, strict=True)
    bp = rp.ErrorBreakpoints.from_labels(labels, margin=margin, denominator="count")
    prediction = np.array(tenths) / 10
    threshold = np.where(labels, margin, -margin) - prediction
    lines = [
        (Fraction(t), Fraction(0), Fraction(not label), Fraction(-label))
        for t, label in zip(threshold.tolist(), map(int, labels), strict=True)
    ]
    moved = rp.Lines.from_predictions(bp, prediction, np.ones(prediction.size))
    np.testing.assert_array_equal(moved.intercept, threshold)
    assert rp.auc(bp, prediction) == float(oracle.auc(lines, 0))
    assert rp.sweep(moved).auc[0] == rp.auc(bp, prediction)
    assert rp.aum(bp, prediction) == pytest.approx(float(oracle.aum(lines, 0)), abs=1e-12)
    np.testing.assert_allclose(
        rp.aum_derivatives(bp, prediction), exact_derivatives(bp, prediction), atol=1e-12
    )
    curve = rp.roc_curve(bp, prediction)
    np.testing.assert_array_equal(curve.threshold[1:, 0], np.unique(threshold))


def test_thresholds_that_are_tied_after_rounding_are_tied_in_derivatives():
    bp = rp.ErrorBreakpoints.from_labels([0, 1], margin=0.1)
    prediction = [-0.7, -0.5]  # -0.1 + 0.7 and 0.1 + 0.5 are the same float64
    assert rp.auc(bp, prediction) == 0.5
    left, right = rp.aum_derivatives(bp, prediction)
    assert left.tolist() == [0.0, -1.0]
    assert right.tolist() == [1.0, 0.0]


def test_label_auc_of_the_core_counts_ties_one_half():
    is_positive = np.array([True, False, True, False])
    assert _core.label_auc(is_positive, np.array([1.0, 1.0, 2.0, 0.0])) == 0.875


@pytest.mark.parametrize(
    "scores",
    [
        [2**70, 2**70 + 1],
        [Fraction(1, 3), Fraction(1, 3) + Fraction(1, 10**30)],
        np.array([1, 1 + np.finfo(np.longdouble).eps], dtype=np.longdouble),
    ],
)
def test_different_numbers_that_float64_would_tie_are_rejected(scores):
    if isinstance(scores, np.ndarray) and np.finfo(np.longdouble).nmant == 52:
        pytest.skip("long doubles are float64 on this platform")
    with pytest.raises(ValueError, match="must be distinct in float64 if they are different"):
        rp.auc([0, 1], scores)


def test_fractions_and_long_doubles_that_remain_distinct_are_accepted():
    for scores in ([Fraction(1, 3), Fraction(2, 3)], np.array([1, 2], dtype=np.longdouble)):
        assert rp.auc([0, 1], scores) == 1.0


def test_labels_of_several_types_are_rejected_by_name():
    labels = np.array([0, "a", 1, "b"], dtype=object)
    with pytest.raises(TypeError, match="labels must be of one type, got int and str"):
        rp.auc(labels, [1, 2, 3, 4])


def test_a_negative_zero_is_no_negative_step():
    lines = rp.Lines([0, 2], [1, 0], [1, 0], [0, -1])
    best = rp.best_auc_step(lines, max_step=-0.0, two_sided=True)
    assert np.copysign(1.0, [best.step, *best.interval]).tolist() == [1.0, 1.0, 1.0]


def test_jumps_that_would_lose_digits_are_rejected_with_their_ratio():
    small = 2.0**-40 * (1 + 2.0**-30)
    with pytest.raises(ValueError, match=r"has digits below .*which is 1.1e\+12 times as large"):
        rp.Lines([0, 10, 5], [0, 0, 0], [small, 1, 0], [0, 0, -1])


def test_auc_is_rounded_once():
    lines = rp.Lines([0, -1, 1], [0, 0, 0], [1 / 3, 0, 0], [0, -4 / 3, -1.0])
    expected = Fraction(4 / 3) / (Fraction(4 / 3) + 1)
    assert rp.sweep(lines).auc[0] == float(expected)

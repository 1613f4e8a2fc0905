"""best_auc_step with a rounding error, compared with its exact definition."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rocpath as rp
from tests import oracle
from tests.strategies import label_lines

ROUNDING = 2.0**-40


def guaranteed_auc(lines, step, rounding):
    """Compute AUC of the pairs that remain correctly ranked despite rounding."""
    step = Fraction(step)
    intercept = max(abs(line[0]) for line in lines)
    slope = max(abs(line[1]) for line in lines)
    error = Fraction(rounding) * (intercept + abs(step) * slope)
    threshold = oracle.thresholds(lines, step)
    kept = Fraction(0)
    for (_, _, fp, _), place in zip(lines, threshold, strict=True):
        for (_, _, _, fn), other in zip(lines, threshold, strict=True):
            gap = (place - error) - (other + error)
            kept -= fp * fn * Fraction(int(gap > 0) + int(gap >= 0), 2)
    total_fp = sum(line[2] for line in lines)
    return kept / -(total_fp * sum(line[3] for line in lines))


@given(label_lines(), st.sampled_from([0.05, 2.0**-10, ROUNDING]), st.booleans(), st.booleans())
def test_no_step_has_a_larger_guaranteed_auc(columns, rounding, two_sided, has_both):
    if has_both:  # a line with jumps of both kinds
        columns[3][0] = -1.0
        columns[2][0] = 1.0
    lines = oracle.as_lines(*columns)
    best = rp.best_auc_step(rp.Lines(*columns), rounding=rounding, two_sided=two_sided)
    at_start = float(oracle.auc(lines, 0))
    if best.step == 0:
        assert best.value == pytest.approx(at_start, 1e-12)
    else:
        assert best.value <= float(guaranteed_auc(lines, best.step, rounding)) + 1e-12
    assert best.value >= at_start - 1e-12
    steps = [float(step) for step in oracle.crossing_steps(lines)]
    candidates = [0.3 * step for step in steps] + [1.7 * step for step in steps]
    candidates += [(a + b) / 2 for a, b in itertools.pairwise(steps)]
    for step in filter(np.isfinite, candidates):
        # A slightly larger error accounts for the rounding of the lines.
        assert float(guaranteed_auc(lines, step, rounding + 2.0**-50)) <= (best.bound + 1e-12)


def test_a_plateau_that_exists_only_by_rounding_is_ignored():
    # All lines meet where coef is zero: AUC is 0.75 before and 0.25 after. Rounded lines
    # meet within a few ulps, and one of the orders in between has an AUC of 1.
    X = np.array([0.2, -0.1, 0.4, 0.3])
    bp = rp.ErrorBreakpoints.from_labels([1, 0, 1, 0])
    coef = 0.1 + 0.2
    lines = rp.Lines.from_predictions(bp, X * coef, -X / 3)
    best = rp.best_auc_step(lines, rounding=ROUNDING)
    assert best.value == best.bound == 0.75
    assert rp.auc(bp, X * (coef - best.step / 3)) == 0.75


def test_steps_with_a_rounding_margin_never_decrease_auc():
    rng = np.random.default_rng(0)
    for _ in range(100):
        X = rng.integers(-6, 7, (int(rng.integers(4, 30)), 3)) / 3
        y = rng.integers(0, 2, len(X))
        y[:2] = 0, 1
        bp = rp.ErrorBreakpoints.from_labels(y)
        coef, direction = rng.integers(-3, 4, (2, 3)) / 3
        lines = rp.Lines.from_predictions(bp, X @ coef, X @ direction)
        best = rp.best_auc_step(lines, rounding=ROUNDING)
        after = rp.auc(bp, X @ (coef + best.step * direction))
        assert after >= best.value >= rp.auc(bp, X @ coef)


def test_rounding_needs_monotone_errors():
    lines = rp.Lines([0, 1, 2], [1, 0, -1], [1, -1, 1], [0, 0, -1])
    with pytest.raises(ValueError, match="rounding must be 0 unless errors are mono"):
        rp.best_auc_step(lines, rounding=ROUNDING)
    with pytest.raises(ValueError, match="rounding must"):
        rp.best_auc_step(lines, rounding=-1.0)


def test_guarantee_holds_for_partial_auc():
    rng = np.random.default_rng(1)
    X = rng.integers(-2, 3, (40, 2)) / 3
    bp = rp.ErrorBreakpoints.from_labels(np.arange(40) % 3 == 0)
    coef, direction = np.array([1 / 3, 2 / 3]), np.array([1.0, -1.0])
    lines = rp.Lines.from_predictions(bp, X @ coef, X @ direction)
    for rounding in (ROUNDING, 1e-3):
        best = rp.best_auc_step(lines, rounding=rounding, max_fpr=0.2, two_sided=True)
        after = rp.auc(bp, X @ (coef + best.step * direction), max_fpr=0.2)
        assert after >= best.value >= rp.auc(bp, X @ coef, max_fpr=0.2) - 1e-15

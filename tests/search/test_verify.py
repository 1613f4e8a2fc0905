"""Certificates of best steps: all true ones are accepted, and changed ones rejected."""

import copy
import pickle
from dataclasses import replace
from fractions import Fraction
from math import inf, isfinite, nextafter

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import rocpath as rp
from tests import oracle
from tests.strategies import label_lines

rates = st.sampled_from([None, None, 0.1, 0.25, 1 / 3, 0.5, 0.9])


def random_lines(n, seed, *, is_weighted=False, decimals=None):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    y[:2] = [True, False]
    columns = rng.normal(size=(2, n)) + y * [[1.0], [0.5]]
    if decimals is not None:
        columns = columns.round(decimals)
    weight = rng.integers(1, 5, n) / 4 if is_weighted else np.ones(n)
    return rp.Lines(*columns, np.where(y, 0, weight), np.where(y, -weight, 0))


def check_both(lines, best):
    rp.verify(lines, best)
    rp.verify(lines, best, compiled=True)


@settings(max_examples=300, deadline=None)
@given(label_lines(), rates, rates, st.sampled_from([None, 0.0, 0.7, 3.0]), st.booleans())
@example(([0.0, 0.0], [0.0, 0.0], [0.0, 1.0], [-1.0, 0.0]), None, None, None, False)
def test_certificates_of_small_problems_hold(columns, max_fpr, min_tpr, max_step, two_sided):
    lines = rp.Lines(*columns)
    for tol in (0.0, 0.2):
        best = rp.best_auc_step(
            lines,
            max_fpr=max_fpr,
            min_tpr=min_tpr,
            max_step=max_step,
            two_sided=two_sided,
            tol=tol,
            certificate=True,
        )
        check_both(lines, best)
    rp.verify(lines, rp.best_aum_step(lines, max_step=max_step, certificate=True))


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("region", [{}, {"max_fpr": 0.1}, {"max_fpr": 0.3, "min_tpr": 0.2}])
@pytest.mark.parametrize("decimals", [None, 1])
def test_certificates_of_hundreds_of_lines_hold(is_weighted, region, decimals):
    lines = random_lines(400, 5, is_weighted=is_weighted, decimals=decimals)
    for search in ({}, {"tol": 0.01}, {"max_step": 0.5}, {"two_sided": True}):
        best = rp.best_auc_step(lines, **region, **search, certificate=True)
        check_both(lines, best)
    rp.verify(lines, rp.best_aum_step(lines, certificate=True))


@settings(max_examples=200, deadline=None)
@given(label_lines(), st.integers(0, 5))
def test_no_list_of_steps_proves_a_smaller_auc(columns, seed):
    """Any steps, however fine, must leave a gap if another step has a larger AUC."""
    lines = rp.Lines(*columns)
    exact = oracle.as_lines(*columns)
    best = rp.best_auc_step(lines, certificate=True)
    fine = {0.0, inf, *best.certificate.steps.tolist()}
    for step in oracle.float64_steps(exact):
        fine |= {step, nextafter(step, inf), max(0.0, nextafter(step, -inf))}
    rng = np.random.default_rng(seed)
    for step in rng.permutation(oracle.float64_steps(exact))[:4].tolist():
        value = float(oracle.auc(exact, step))
        if value == best.value:
            continue
        certificate = replace(
            best.certificate,
            steps=np.array(sorted(fine)),
            plateau=np.array([step]),
            step=step,
            interval=(step, step),
            value=value,
            bound=value,
        )
        false = replace(
            best,
            step=step,
            interval=(step, step),
            value=value,
            bound=value,
            certificate=certificate,
        )
        for compiled in (False, True):
            with pytest.raises(rp.CertificateError, match="AUC "):
                rp.verify(lines, false, compiled=compiled)


def mutations(best, rng):
    """Yield false variants of a result and of its certificate together with it."""
    nudged = float(rng.choice([-1, 1]) * 2.0 ** -rng.integers(1, 52))
    value = best.value + nudged
    yield replace(best, value=value)
    yield replace(best, bound=best.bound + nudged)
    for change in (
        {"value": value, "bound": value},
        {"value": value},
        {"bound": best.bound + nudged},
        {"bound": best.bound - abs(nudged)},
    ):
        claim = replace(best.certificate, **change)
        yield replace(best, **change, certificate=claim)
    low, high = best.interval
    step = nextafter(best.step, rng.choice([-inf, inf]))
    yield replace(best, step=step)
    yield replace(best, interval=(low, nextafter(high, -inf)))
    for interval in ((nextafter(nextafter(low, -inf), -inf), high), (low, 2 * high + 1)):
        if interval[0] >= 0 and interval[1] < inf:
            claim = replace(best.certificate, interval=interval)
            yield replace(best, interval=interval, certificate=claim)
    yield replace(best, is_global=False)
    yield replace(best, certificate=None)


def test_thousands_of_mutations_are_rejected():
    n_rejected = 0
    for seed in range(250):
        rng = np.random.default_rng(seed)
        lines = random_lines(int(rng.integers(3, 40)), seed, is_weighted=seed % 2 == 1)
        best = rp.best_auc_step(lines, certificate=True)
        check_both(lines, best)
        for false in mutations(best, rng):
            with pytest.raises(rp.CertificateError):
                rp.verify(lines, false)
            n_rejected += 1
        # Windows that contain a better step.
        steps = best.certificate.steps
        if steps.size > 3:
            shorter = replace(best.certificate, steps=steps[[0, -1]])
            with pytest.raises(rp.CertificateError, match="AUC may exceed"):
                rp.verify(lines, replace(best, certificate=shorter))
    assert n_rejected > 2500


def test_claims_of_another_problem_are_rejected():
    n_rejected = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        lines = random_lines(30, seed)
        best = rp.best_auc_step(lines, certificate=True)
        row = int(rng.integers(30))
        column = ["intercept", "slope"][seed % 2]
        moved = {name: getattr(lines, name).copy() for name in ("intercept", "slope")}
        moved[column][row] += rng.normal()
        other = rp.Lines(moved["intercept"], moved["slope"], lines.fp_diff, lines.fn_diff)
        truth = rp.best_auc_step(other)
        is_same = (truth.value, truth.interval) == (best.value, best.interval)
        if is_same:
            continue
        exact = oracle.as_lines(other.intercept, other.slope, other.fp_diff, other.fn_diff)
        if truth.value == best.value and float(oracle.sorted_auc(exact, best.step)) == best.value:
            continue  # the claim is true for these lines, too
        with pytest.raises(rp.CertificateError):
            rp.verify(other, best)
        n_rejected += 1
    assert n_rejected > 100


def test_false_aum_claims_are_rejected():
    n_rejected = 0
    for seed in range(200):
        lines = random_lines(25, seed, is_weighted=seed % 2 == 1)
        best = rp.best_aum_step(lines, certificate=True)
        rp.verify(lines, best)
        for step in (best.step * 1.001, best.step * 0.999, best.step + 1):
            value = rp.sweep(lines).aum_at(step).item()
            false = replace(
                best,
                step=step,
                interval=(step, step),
                value=value,
                bound=value,
                certificate=replace(
                    best.certificate, step=step, interval=(step, step), value=value
                ),
            )
            if value > best.value:
                with pytest.raises(rp.CertificateError):
                    rp.verify(lines, false)
                n_rejected += 1
        for change in (2.0**-40, -(2.0**-40)):
            with pytest.raises(rp.CertificateError):
                rp.verify(lines, replace(best, value=best.value * (1 + change)))
    assert n_rejected > 200


def test_certificates_survive_copies():
    lines = random_lines(50, 0)
    best = rp.best_auc_step(lines, certificate=True)
    for same in (copy.deepcopy(best), pickle.loads(pickle.dumps(best))):
        rp.verify(lines, same)
        assert not same.certificate.steps.flags.writeable


def test_what_cannot_be_certified_is_refused():
    lines = rp.Lines([0, 1, 2], [0, 1, -1], [1, -1, 1], [0, 0, -1])
    for search in (rp.best_auc_step, rp.best_aum_step):
        with pytest.raises(ValueError, match="errors are monotone"):
            search(lines, certificate=True)
    with pytest.raises(ValueError, match="rounding is 0"):
        rp.best_auc_step(random_lines(9, 0), rounding=2.0**-40, certificate=True)


def test_value_of_a_partial_area_is_exact():
    # The border cuts the tie of both negatives with the first positive at step 0.
    lines = rp.Lines([0, 0, 0, 1], [0, 0, 0, 0], [1, 1, 0, 0], [0, 0, -1, -1])
    best = rp.best_auc_step(lines, max_fpr=0.3, certificate=True)
    assert isfinite(best.step)
    rp.verify(lines, best)
    # Up to FPR .3, the segment from (0, 0) to (1, .5) has the area .3 * .15 / 2.
    assert best.value == pytest.approx(float(Fraction(9, 400)))

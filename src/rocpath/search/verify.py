"""Verify a best step in integers and fractions, without any code of the searches.

Two lines cross at most once, so a pair of a negative and a positive that is ranked
wrongly at two steps is ranked wrongly at every step between. Where these pairs are too
many for a larger AUC, no step has one. AUM is convex, so a step is its minimum if AUM is
not smaller at the neighboring floats. docs/searches.md contains the theorems.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import inf, isfinite, nextafter

import numpy as np

import rocpath._core as _core
from rocpath.search.certificates import AUCCertificate, AUMCertificate, CertificateError
from rocpath.search.lines import Lines
from rocpath.search.proof_lines import ProofLines, Ranking
from rocpath.search.search_results import BestStep

_LARGEST = float(np.finfo(float).max)


def verify(lines: Lines, best: BestStep, *, compiled: bool = False) -> None:
    """Verify that a step is the best one, without trusting the search.

    The proof is checked in integers and fractions, in about a hundred lines of Python
    that use no code of the searches. The guide page on the searches explains it.

    Parameters
    ----------
    lines : Lines
        Thresholds as functions of the step.
    best : BestStep
        Result of `best_auc_step` or `best_aum_step` with ``certificate=True``.
    compiled : bool
        Whether to check the windows of steps by compiled code, which is independent of
        the searches too, and much faster for many lines.

    Raises
    ------
    CertificateError
        If the proof does not hold. It is a ValueError.

    Examples
    --------
    >>> import rocpath as rp
    >>> lines = rp.Lines([7, 2, 0, 4], [0, 0.5, 0, -0.5], [1, 1, 0, 0], [0, 0, -1, -1])
    >>> best = rp.best_auc_step(lines, certificate=True)
    >>> best.certificate
    proof of 1 windows, 32 bytes
    >>> rp.verify(lines, best)
    >>> from dataclasses import replace
    >>> rp.verify(lines, replace(best, value=0.75))
    Traceback (most recent call last):
    rocpath.search.certificates.CertificateError: best.value must be the certified 1.0, got 0.75.
    """
    certificate = best.certificate
    if certificate is None:
        raise CertificateError("best must have a certificate: search with certificate=True.")
    for name in ("step", "interval", "value"):
        _check_same(name, getattr(best, name), getattr(certificate, name))
    if not best.is_global:
        raise CertificateError("best.is_global must be True, got False.")
    low, high = best.interval
    if not (low <= best.step <= high and isfinite(best.step)):
        raise CertificateError(f"best.step must be in {best.interval}, got {best.step}.")
    if isinstance(certificate, AUMCertificate):
        _check_same("bound", best.bound, best.value)
        _verify_aum(lines, certificate)
    else:
        _check_same("bound", best.bound, certificate.bound)
        _verify_auc(lines, certificate, compiled=compiled)


def _verify_auc(lines: Lines, claim: AUCCertificate, *, compiled: bool) -> None:
    problem = ProofLines(lines, claim.max_fpr, claim.min_tpr)
    witness = problem.doubled_area(problem.ranking(claim.step))
    value = problem.rate(witness)
    # A partial area may be rounded where a border cuts a tie.
    room = 0.0 if problem.is_whole else 2.0**-50 * value + 2.0**-112
    if not abs(claim.value - value) <= room:
        raise CertificateError(f"AUC at step {claim.step} is {value}, not {claim.value}.")
    if not claim.value <= claim.bound <= claim.value + claim.tol:
        raise CertificateError(
            f"bound must be from value to value + {claim.tol}, got {claim.bound}."
        )
    limit = witness + (0 if problem.is_whole else 2)
    is_tight = claim.bound == claim.value

    def check_area(area: int | Fraction, where: str) -> None:
        if area > limit if is_tight else problem.rate(area) > claim.bound:
            raise CertificateError(f"AUC may exceed {claim.bound} {where}.")

    steps: list[float] = claim.steps.tolist()
    _check_increasing("steps", steps)
    if not steps[0] <= claim.step <= steps[-1]:
        raise CertificateError(f"the steps of the proof must contain {claim.step}.")
    if compiled:
        gap = first_gap(problem, claim)
        if gap is not None:
            raise CertificateError(f"AUC may exceed {claim.bound} after step {steps[gap]}.")
    else:
        start = problem.ranking(steps[0])
        if isfinite(steps[0]):
            check_area(problem.doubled_area(start), f"at step {steps[0]}")
        for step in steps[1:]:
            end = problem.ranking(step)
            if isfinite(step):
                check_area(problem.doubled_area(end), f"at step {step}")
            if nextafter(float(start.step), inf) != step:
                bound = problem.doubled_bound(start, end)
                check_area(bound, f"between steps {start.step} and {step}")
            start = end
    _verify_interval(problem, claim, witness, (steps[0], steps[-1]))


def first_gap(problem: ProofLines, claim: AUCCertificate) -> int | None:
    """Return the index of the first window that is not proved, by compiled code."""
    is_tight = claim.bound == claim.value
    return _core.first_gap(*problem.arrays, claim.step, claim.bound, is_tight, claim.steps)


def inner_steps(claim: AUCCertificate | AUMCertificate) -> tuple[float, float]:
    """Return the first and the last float64 strictly inside the interval, or the step."""
    low, high = claim.interval
    first = nextafter(max(low, -inf), inf)
    last = nextafter(high, -inf)
    return (first, last) if first <= last else (claim.step, claim.step)


def is_constant(problem: ProofLines, start: Ranking, end: Ranking, area: int | Fraction) -> bool:
    """Whether the area is the same at two steps and, if it is whole, at all between."""
    if not all(_is_equal(problem, problem.doubled_area(at), area) for at in (start, end)):
        return False
    if not problem.is_whole or nextafter(float(start.step), inf) >= float(end.step):
        return True
    # The bound for the opposite order counts the pairs that are not ranked rightly throughout.
    reverse = (at._replace(order=at.order[::-1], rank=[-k for k in at.rank]) for at in (start, end))
    lower = problem.doubled_perfect - problem.doubled_bound(*reverse)
    return lower == area == problem.doubled_bound(start, end)


def _verify_interval(
    problem: ProofLines, claim: AUCCertificate, area: int | Fraction, domain: tuple[float, float]
) -> None:
    plateau: list[float] = claim.plateau.tolist()
    _check_increasing("plateau", plateau)
    if (plateau[0], plateau[-1]) != inner_steps(claim):
        raise CertificateError(f"the plateau must be the interval {claim.interval}.")
    rankings = [problem.ranking(step) for step in plateau]
    if len(rankings) == 1:
        rankings *= 2
    for start, end in pairwise(rankings):
        if not is_constant(problem, start, end, area):
            raise CertificateError(
                f"AUC must be constant between steps {start.step} and {end.step}."
            )
    for edge, limit, beyond in zip(claim.interval, domain, (-inf, inf), strict=True):
        if edge == limit or not isfinite(edge):
            continue
        # An end is the float64 nearest to a crossing, which may lie before or after it.
        gap = Fraction(nextafter(edge, beyond)) - Fraction(edge)
        outside = (problem.ranking(Fraction(edge) + k * gap / 4) for k in range(5))
        if all(_is_equal(problem, problem.doubled_area(at), area) for at in outside):
            raise CertificateError(f"AUC is the same beyond the end {edge} of the interval.")


def _is_equal(problem: ProofLines, area: int | Fraction, other: int | Fraction) -> bool:
    """Whether areas are equal; partial ones are rounded where a border cuts a tie."""
    return area == other or (not problem.is_whole and abs(Fraction(area - other)) <= 2)


def _verify_aum(lines: Lines, claim: AUMCertificate) -> None:
    problem = ProofLines(lines)
    units = [Fraction(unit) for unit in (lines.jumps.fp_unit, lines.jumps.tp_unit)]

    def aum(step: float) -> Fraction:
        threshold = problem.thresholds(step)
        order = sorted(range(len(threshold)), key=threshold.__getitem__)
        fp = 0
        fn = sum(problem.tp)
        area = Fraction(0)
        for line, following in pairwise(order):
            fp, fn = fp + problem.fp[line], fn - problem.tp[line]
            area += min(fp * units[0], fn * units[1]) * (threshold[following] - threshold[line])
        bottom = problem.denominator * step.as_integer_ratio()[1]
        return area / bottom / Fraction(lines.jumps.divisor)

    last = min(claim.max_step, _LARGEST)
    if not 0 <= claim.step <= last:
        raise CertificateError(f"step must be in [0, {last}], got {claim.step}.")
    at_step = aum(claim.step)
    if abs(Fraction(claim.value) - at_step) > max(at_step / 2**50, Fraction(16 * 5e-324)):
        raise CertificateError(f"AUM at step {claim.step} is {float(at_step)}, not {claim.value}.")
    # AUM is convex: if it is not smaller at the neighboring floats, it is smallest here.
    first, end = inner_steps(claim)
    if aum(first) != at_step or aum(end) != at_step:
        raise CertificateError(f"AUM must be constant in {claim.interval}.")
    for step, is_outside in (
        (nextafter(first, -inf), first <= 0),
        (nextafter(end, inf), end >= last),
    ):
        if not is_outside and aum(step) < at_step:
            raise CertificateError(f"AUM is smaller at step {step}.")
    # An end is rounded, and AUM is larger beyond the next float64.
    low, high = claim.interval
    for step, is_outside in (
        (nextafter(low, -inf), low <= 0),
        (nextafter(high, inf), high >= last),
    ):
        if first < end and not is_outside and aum(step) <= at_step:
            raise CertificateError(f"AUM is the same beyond the end of {claim.interval}.")


def _check_same(name: str, got: object, certified: object) -> None:
    if got != certified:
        raise CertificateError(f"best.{name} must be the certified {certified}, got {got}.")


def _check_increasing(name: str, steps: Sequence[float]) -> None:
    if not steps or not all(a < b for a, b in pairwise(steps)):
        raise CertificateError(f"{name} of the certificate must increase.")

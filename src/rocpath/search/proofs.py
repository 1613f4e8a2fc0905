"""Make the certificates of best steps, which `verify` checks."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

import rocpath._core as _core
from rocpath.search.certificates import AUCCertificate, AUMCertificate
from rocpath.search.lines import Lines
from rocpath.search.proof_lines import ProofLines, Ranking
from rocpath.search.search_results import BestStep
from rocpath.search.verify import inner_steps, is_constant


def with_auc_certificate(
    lines: Lines,
    best: BestStep,
    domain: tuple[float, float],
    *,
    tol: float,
    max_fpr: float,
    min_tpr: float,
) -> BestStep:
    """Return the best step with the proof that no step in the domain has a larger AUC."""
    problem = ProofLines(lines, max_fpr, min_tpr)
    is_tight = best.bound == best.value
    steps = _core.prove_auc(*problem.arrays, best.step, best.bound, is_tight, *domain)
    claim = AUCCertificate(
        steps=np.asarray(steps),
        plateau=np.array([best.step]),
        step=best.step,
        interval=best.interval,
        value=best.value,
        bound=best.bound,
        tol=tol,
        max_fpr=max_fpr,
        min_tpr=min_tpr,
    )
    first, last = inner_steps(claim)
    if first < last:
        plateau = [first, *_plateau(problem, problem.ranking(first), problem.ranking(last))]
        claim = replace(claim, plateau=np.array(plateau))
    return replace(best, certificate=claim)


def with_aum_certificate(best: BestStep, max_step: float) -> BestStep:
    """Return the best step with its claim; its proof is that AUM is convex."""
    claim = AUMCertificate(best.step, best.interval, best.value, max_step)
    return replace(best, certificate=claim)


def _plateau(problem: ProofLines, start: Ranking, end: Ranking) -> Iterator[float]:
    """Return steps up to the end between which AUC is obviously constant."""
    middle = _middle(float(start.step), float(end.step))
    area = problem.doubled_area(start)
    if middle is None or is_constant(problem, start, end, area):
        yield float(end.step)
        return
    at_middle = problem.ranking(middle)
    yield from _plateau(problem, start, at_middle)
    yield from _plateau(problem, at_middle, end)


def _middle(low: float, high: float) -> float | None:
    """Return the median of the float64 numbers strictly between two, if there are any."""
    # The bits of positive numbers have the order of the numbers.
    bits = np.array([low, high]).view(np.int64)
    first, last = (int(x) if x >= 0 else -(int(x) + 2**63) for x in bits)
    middle = (first + last) // 2
    if not first < middle < last:
        return None
    return float(np.copysign(np.int64(abs(middle)).view(np.float64), middle))

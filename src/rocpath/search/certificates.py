"""Proofs that no step is better than the one found."""

from dataclasses import dataclass
from typing import Any

from rocpath.validation import Floats, freeze_arrays, reconstruction


class CertificateError(ValueError):
    """A certificate does not prove the best step."""


@dataclass(frozen=True, slots=True, eq=False)
class AUCCertificate:
    """Proof of a largest AUC; `verify` checks it.

    Attributes
    ----------
    steps : array
        Increasing steps from the smallest one searched to the largest one. No step
        between two consecutive ones has an AUC above the bound.
    plateau : array
        Increasing steps inside the interval. No step between two consecutive ones has
        another AUC than the best step.
    step, interval, value, bound, tol
        Claim that is proved, as in `BestStep`.
    max_fpr, min_tpr : float
        Region of a partial AUC; 1 and 0 for the whole AUC.
    """

    steps: Floats
    plateau: Floats
    step: float
    interval: tuple[float, float]
    value: float
    bound: float
    tol: float
    max_fpr: float
    min_tpr: float

    def __post_init__(self) -> None:
        """Freeze the arrays."""
        freeze_arrays(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and unpickle through the constructor, so that arrays stay read-only."""
        return reconstruction(self)

    def __repr__(self) -> str:
        n_bytes = self.steps.nbytes + self.plateau.nbytes
        return f"proof of {self.steps.size - 1:,} windows, {n_bytes:,} bytes"


@dataclass(frozen=True, slots=True)
class AUMCertificate:
    """Claim of a smallest AUM. AUM is convex, so its lines are the proof.

    Attributes
    ----------
    step, interval, value
        Claim that is proved, as in `BestStep`.
    max_step : float
        Largest step.
    """

    step: float
    interval: tuple[float, float]
    value: float
    max_step: float

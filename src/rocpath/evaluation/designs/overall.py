"""Tests of several contrasts at once, with degrees of freedom from small samples."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import special

from rocpath.validation import Floats


class OverallTest(NamedTuple):
    """An F test: its statistic, both degrees of freedom, and its p-value."""

    statistic: float
    n_contrasts: int
    freedom: float
    p_value: float
    is_reliable: bool  # whether there are enough degrees of freedom for an F test


def satterthwaite_test(
    difference: Floats, parts: Sequence[Floats], freedom: Sequence[float]
) -> OverallTest:
    """Test contrasts whose covariance is a sum of independently estimated matrices.

    The degrees of freedom match the mean and total variance of the estimated matrix to
    those of a Wishart matrix (Krishnamoorthy and Yu, 2004).
    """
    total = np.asarray(sum(parts))
    basis, free_of_variance = contrast_basis(total, difference)
    if basis.shape[1] == 0 or free_of_variance:
        return without_variance(difference, basis.shape[1])
    inverse = np.linalg.inv(basis.T @ total @ basis)
    q, denominator = basis.shape[1], 0.0
    for part, free in zip(parts, freedom, strict=True):
        share = basis.T @ part @ basis @ inverse
        spread = float(np.trace(share @ share)) + float(np.trace(share)) ** 2
        denominator += spread / max(free, 1e-300)
    rotated = basis.T @ difference
    return hotelling(float(rotated @ inverse @ rotated), q, (q + q**2) / max(denominator, 1e-300))


def hotelling(statistic: float, q: int, freedom: float) -> OverallTest:
    """Return Hotelling's test of q contrasts, given the degrees of freedom."""
    rest = max(freedom - q + 1.0, 1.0)
    scaled = statistic * rest / (max(freedom, 1.0) * q)
    p_value = float(special.fdtrc(q, rest, scaled))
    return OverallTest(scaled, q, rest, p_value, freedom >= 2.0 * q)


def contrast_basis(total: Floats, difference: Floats) -> tuple[Floats, bool]:
    """Return a basis of the contrasts with a variance.

    The flag is whether a contrast without variance has a difference.
    """
    # The covariance matrix is singular if rankings are equal.
    variance, direction = np.linalg.eigh(total)
    tolerance = max(1e-10 * float(variance[-1]), 1e-300)
    is_tested = variance > tolerance
    rest = difference @ direction[:, ~is_tested]
    return direction[:, is_tested], bool((np.abs(rest) > 10.0 * np.sqrt(tolerance)).any())


def without_variance(difference: Floats, q: int) -> OverallTest:
    """Return the test of contrasts if a difference has no variance."""
    if bool(np.abs(difference).max() <= 1e-14):
        return OverallTest(0.0, 0, np.inf, 1.0, is_reliable=True)
    return OverallTest(np.inf, max(q, 1), np.inf, 0.0, is_reliable=False)

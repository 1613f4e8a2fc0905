"""Studies in which several readers rate the same cases with several modalities.

An analysis of variance of the metric over modalities and readers, whose errors are
correlated because all readers rate the same cases (Obuchowski and Rockette, 1995), with
the degrees of freedom of Hillis (2007).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from scipy import special

from rocpath.evaluation.designs.overall import OverallTest
from rocpath.evaluation.influence import Variance
from rocpath.validation import Floats

FixedFactor: TypeAlias = Literal["readers", "cases"] | None


@dataclass(frozen=True, eq=False)
class ReaderDesign:
    """The value of a metric for each modality and reader, and their covariance matrix.

    Attributes
    ----------
    value : array, shape (n_modalities, n_readers)
        Value of the metric.
    covariance : array, shape (n_modalities, n_readers, n_modalities, n_readers)
        Covariance of any two values for fixed readers, over samples of cases.
    case_freedom : array, shape (n_modalities,)
        Degrees of freedom of the variance of each modality's mean over samples of cases.
    fixed : {"readers", "cases"} or None
        What the conclusions are not generalized over.
    """

    value: Floats
    covariance: Floats
    case_freedom: Floats
    fixed: FixedFactor = None

    @property
    def n_modalities(self) -> int:
        """Number of modalities."""
        return len(self.value)

    @property
    def n_readers(self) -> int:
        """Number of readers."""
        return len(self.value[0])

    @cached_property
    def error_variance(self) -> float:
        """Average variance of a value over samples of cases."""
        return float(np.einsum("irir->", self.covariance)) / self.value.size

    @cached_property
    def error_covariances(self) -> tuple[float, float, float]:
        """Average covariances of values with different modalities, readers, or both."""
        n_modalities, n_readers = self.value.shape
        variance = np.einsum("irir->", self.covariance)
        same_reader = np.einsum("irjr->", self.covariance) - variance
        same_modality = np.einsum("iris->", self.covariance) - variance
        others = self.covariance.sum() - variance - same_reader - same_modality
        n_pairs = (n_modalities - 1, n_readers - 1, (n_modalities - 1) * (n_readers - 1))
        sums = (same_reader, same_modality, others)
        first, second, third = (
            float(total) / (self.value.size * n) for total, n in zip(sums, n_pairs, strict=True)
        )
        return first, second, third

    @cached_property
    def modality_mean_square(self) -> float:
        """Mean square of the modalities."""
        return self.n_readers * float(np.var(self.value.mean(axis=1), ddof=1))

    @cached_property
    def interaction_mean_square(self) -> float:
        """Mean square of the interaction of modalities and readers."""
        rest = self.value - self.value.mean(axis=0) - self.value.mean(axis=1, keepdims=True)
        squares = float(np.sum((rest + self.value.mean()) ** 2))
        return squares / ((self.n_modalities - 1) * (self.n_readers - 1))

    @cached_property
    def error(self) -> Variance:
        """Expected mean square of equal modalities, and its degrees of freedom."""
        different_modality, same_modality, both = self.error_covariances
        # Covariances are expected to be larger for the same modality.
        excess = max(same_modality - both, 0.0)
        mean_square = self.interaction_mean_square
        freedom = (self.n_modalities - 1.0) * (self.n_readers - 1.0)
        if self.fixed == "cases":
            return Variance(mean_square, freedom)
        if self.fixed == "readers":
            own = self.error_variance - different_modality
            return Variance(own + (self.n_readers - 1) * excess, np.inf)
        return _hillis(mean_square, self.n_readers * excess, freedom)

    @property
    def difference_variance(self) -> Variance:
        """Variance of the difference between the means of two modalities."""
        return Variance(2.0 / self.n_readers * self.error.value, self.error.freedom)

    def mean_variance(self, modality: int) -> Variance:
        """Return the variance of the mean of a modality, from its own values.

        Hillis' degrees of freedom treat the covariances as known. Here they count too,
        since intervals of means would otherwise be too short with few positive cases.
        """
        n_readers = self.n_readers
        covariance = self.covariance[modality, :, modality]
        variance = float(np.trace(covariance)) / n_readers
        shared = (float(covariance.sum()) / n_readers - variance) / (n_readers - 1)
        mean_square = float(self.value[modality].var(ddof=1))
        if self.fixed == "cases":
            total = Variance(mean_square, n_readers - 1.0)
        elif self.fixed == "readers":
            by_case = variance + (n_readers - 1) * max(shared, 0.0)
            total = Variance(by_case, float(self.case_freedom[modality]))
        else:
            by_case = n_readers * max(shared, 0.0)
            total = _hillis(
                mean_square, by_case, n_readers - 1.0, float(self.case_freedom[modality])
            )
        return total._replace(value=total.value / n_readers)

    def test(self) -> OverallTest:
        """Test whether all modalities have the same mean."""
        q, error = self.n_modalities - 1, self.error
        if error.value <= 0:
            p_value = 1.0 if self.modality_mean_square <= 0 else 0.0
            return OverallTest(0.0 if p_value else np.inf, q, error.freedom, p_value, True)
        statistic = self.modality_mean_square / error.value
        p_value = (
            special.chdtrc(q, q * statistic)
            if np.isinf(error.freedom)
            else special.fdtrc(q, error.freedom, statistic)
        )
        return OverallTest(statistic, q, error.freedom, float(p_value), True)

    def power(
        self, difference: float, *, n_readers: int, case_ratio: float, confidence: float
    ) -> float:
        """Return the probability of finding a difference between two modalities.

        ``case_ratio`` is the number of cases of the new study, relative to this one; a
        study with infinitely many cases has the largest power (Hillis, Obuchowski and
        Berbaum, 2011).
        """
        different_modality, same_modality, both = self.error_covariances
        excess = max(same_modality - both, 0.0)
        own = self.error_variance - different_modality
        interaction = max(self.interaction_mean_square - own + excess, 0.0)
        freedom = (self.n_modalities - 1.0) * (n_readers - 1.0)
        if self.fixed == "readers":
            error = Variance((own + (n_readers - 1) * excess) / case_ratio, np.inf)
        else:
            mean_square = interaction + (own - excess) / case_ratio
            error = _hillis(mean_square, n_readers * excess / case_ratio, freedom)
        if error.value <= 0:
            return 1.0
        shift = 0.5 * n_readers * difference**2 / error.value
        if np.isinf(error.freedom):
            return 1.0 - float(special.chndtr(special.chdtri(1, 1 - confidence), 1, shift))
        quantile = special.fdtri(1, error.freedom, confidence)
        return 1.0 - float(special.ncfdtr(1, error.freedom, shift, quantile))


def _hillis(
    mean_square: float, added: float, freedom: float, added_freedom: float = np.inf
) -> Variance:
    """Return a mean square plus a variance, with Satterthwaite's degrees of freedom.

    They are Hillis' if the added variance is treated as known.
    """
    total = mean_square + added
    squares = mean_square**2 / freedom + added**2 / added_freedom
    return Variance(total, total**2 / squares if squares > 0 else np.inf)

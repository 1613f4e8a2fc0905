"""The result of a study with several readers, printed as tables."""

from bisect import bisect_left
from dataclasses import dataclass
from typing import Any

import numpy as np

from rocpath.evaluation.comparison_results import MetricComparison
from rocpath.evaluation.designs.readers import ReaderDesign
from rocpath.evaluation.results import frame_of
from rocpath.validation import Floats, finite_number, share_between, whole_number


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class ReaderComparison(MetricComparison):
    """A metric of several modalities, averaged over readers, and all differences.

    Attributes
    ----------
    readers : list of str
        Names of the readers.
    design : ReaderDesign
        Values and covariances for each modality and reader, with mean squares.

    See Also
    --------
    MetricComparison : The attributes that all comparisons have.
    """

    readers: list[str]
    design: ReaderDesign

    @property
    def values(self) -> Floats:
        """Value of the metric for each modality (rows) and reader (columns)."""
        return self.design.value

    def _tables(self) -> list[tuple[list[str], list[list[str]]]]:
        values = zip(self.readers, self.values.T.tolist(), strict=True)
        rows = [[reader, *(f"{value:.4f}" for value in row)] for reader, row in values]
        header = [f"{self.name} by reader", *self.intervals]
        # Without zero arguments, because slots replace the class.
        return [(header, rows), *MetricComparison._tables(self)]

    def _below(self) -> list[str]:
        populations = {
            "readers": "these readers and the population of cases",
            "cases": "these cases and the population of readers",
        }
        whom = populations.get(str(self.design.fixed), "the populations of readers and cases")
        sentence = f"{len(self.readers)} readers; conclusions hold for {whom}."
        return [*MetricComparison._below(self), sentence]

    def n_cases_needed(
        self, difference: float, *, n_readers: int | None = None, power: float = 0.8
    ) -> int:
        """Compute how many cases a new study needs to find a difference.

        The method is that of Hillis, Obuchowski and Berbaum (2011). The components of
        variance are those of this study, and the test has its confidence level.

        Parameters
        ----------
        difference : float
            Difference between two modalities.
        n_readers : int, optional
            Number of readers of the new study; by default that of this one.
        power : float
            Probability of finding the difference.

        Returns
        -------
        int
            Number of cases, with the same share of positives as in this study.
        """
        if self.design.fixed == "cases":
            raise ValueError("n_cases_needed is not defined for fixed cases.")
        size = abs(finite_number("difference", difference))
        n_readers = whole_number("n_readers", n_readers or len(self.readers), least=2)
        power = share_between("power", power)
        first = next(iter(self.intervals.values()))
        n_cases = (first.n_positives or 0) + (first.n_negatives or 0)

        def reached(case_ratio: float) -> float:
            return self.design.power(
                size, n_readers=n_readers, case_ratio=case_ratio, confidence=self.confidence
            )

        if reached(np.inf) < power:
            raise ValueError(
                f"n_readers must be larger than {n_readers}: even with any number of cases, the "
                f"power is at most {reached(np.inf):.2f}, because readers disagree."
            )
        high = 4
        while reached(high / n_cases) < power:
            high *= 2
        return bisect_left(range(high), power, lo=4, key=lambda n: reached(n / n_cases))

    def to_reader_frame(self) -> Any:
        """Return a data frame with the value for each modality and reader."""
        return frame_of(
            [
                {"modality": name, "reader": reader, "value": value}
                for name, values in zip(self.intervals, self.values.tolist(), strict=True)
                for reader, value in zip(self.readers, values, strict=True)
            ]
        )

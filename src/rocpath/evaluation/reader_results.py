"""The result of a study with several readers, printed as tables."""

from dataclasses import dataclass
from typing import Any

from rocpath.evaluation.comparison_results import MetricComparison
from rocpath.evaluation.designs.readers import ReaderDesign
from rocpath.evaluation.results import frame_of
from rocpath.validation import Floats


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
        kinds = {"readers": "these readers", "cases": "these cases"}
        fixed = kinds.get(str(self.design.fixed), "populations of readers and cases")
        return [*MetricComparison._below(self), f"{len(self.readers)} readers; for {fixed}."]

    def to_reader_frame(self) -> Any:
        """Return a data frame with the value for each modality and reader."""
        return frame_of(
            [
                {"modality": name, "reader": reader, "value": value}
                for name, values in zip(self.intervals, self.values.tolist(), strict=True)
                for reader, value in zip(self.readers, values, strict=True)
            ]
        )

"""Partial AUCs: the area up to a false positive rate, above a true positive rate, or both."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from rocpath.evaluation.metrics.auc import AreaColumn, AreaScale
from rocpath.evaluation.metrics.metric import Estimate
from rocpath.sample import Sample
from rocpath.search.partial_auc import checked_region, standardized_area
from rocpath.validation import Floats, set_fields


@dataclass(frozen=True)
class PartialAUC:
    """Area under a part of the ROC curve.

    Parameters
    ----------
    max_fpr : float, optional
        Upper limit of the false positive rate.
    min_tpr : float, optional
        Lower limit of the true positive rate; only the area above it counts.
    standardized : bool
        Whether to scale the area to 1/2 for chance and 1 for a perfect ranking
        (McClish, 1989).

    Examples
    --------
    >>> import rocpath as rp
    >>> metric = rp.metrics.PartialAUC(max_fpr=0.5)
    >>> rp.interval([0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6], metric)
    partial AUC (FPR up to 0.5) 0.3889 (95% CI 0.0980 to 0.4865), 3 positives, 3 negatives
    """

    max_fpr: float | None = None
    min_tpr: float | None = None
    standardized: bool = False
    outcome: ClassVar[Literal["labels"]] = "labels"
    scale = AreaScale()
    digits = 4

    def __post_init__(self) -> None:
        region = checked_region("scores", True, self.max_fpr, self.min_tpr)
        if region == {"max_fpr": 1.0, "min_tpr": 0.0}:
            raise ValueError("max_fpr or min_tpr must limit the region, got the whole curve.")
        set_fields(self, **region)

    @property
    def region(self) -> dict[str, float]:
        """The limits of the region."""
        return {"max_fpr": self.max_fpr or 1.0, "min_tpr": self.min_tpr or 0.0}

    @property
    def name(self) -> str:
        """Name with the region."""
        limits = []
        if self.region["max_fpr"] < 1:
            limits.append(f"FPR up to {self.max_fpr:g}")
        if self.region["min_tpr"] > 0:
            limits.append(f"TPR from {self.min_tpr:g}")
        kind = "standardized partial AUC" if self.standardized else "partial AUC"
        return f"{kind} ({', '.join(limits)})"

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest possible value."""
        return self.scaled(0.0), self.scaled(self.largest)

    @property
    def largest(self) -> float:
        """The area of the region."""
        return self.region["max_fpr"] * (1.0 - self.region["min_tpr"])

    def scaled(self, area: float) -> float:
        """Return the area, standardized if asked for."""
        return standardized_area(area, **self.region) if self.standardized else area

    def estimate(self, sample: Sample, score: Floats) -> Estimate:
        """Compute the partial AUC and the influence of each row."""
        column = self.column(sample, score)
        return Estimate(column.value, column.influence)

    def column(self, sample: Sample, score: Floats) -> AreaColumn:
        """Sort the rows once, for the value, its variance and its interval."""
        return AreaColumn(self, sample, score)

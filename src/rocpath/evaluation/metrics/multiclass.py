"""Averages over classes: of each class against the rest, or of each pair of classes."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath.evaluation.metrics.auc import AUC
from rocpath.evaluation.metrics.average_areas import AverageAreaScale
from rocpath.evaluation.metrics.metric import Column, Estimate
from rocpath.evaluation.metrics.partial_auc import PartialAUC
from rocpath.evaluation.metrics.scales import LogitScale
from rocpath.sample import Codes, Sample, count_groups, group_codes, label_vector, row_weights
from rocpath.validation import Floats, check_count, check_none, describe


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassSample(Sample):
    """Labels of several classes, and how the rows were sampled.

    ``code`` is the index of the class of each row in ``labels``.
    """

    code: Codes
    labels: tuple[Any, ...]

    @classmethod
    def from_classes(
        cls, y: ArrayLike, sample_weight: ArrayLike | None, groups: ArrayLike | None
    ) -> "ClassSample":
        """Validate labels of several classes, weights and groups."""
        classes, code = np.unique(label_vector("y", y), return_inverse=True)
        weight = row_weights(sample_weight, code.size)
        size: NDArray[Any] = np.bincount(code, weight, classes.size)
        if size.size and size.min() <= 0:
            empty = classes[int(size.argmin())].item()
            raise ValueError(
                f"sample_weight of class {empty!r} must sum to a positive number, got 0."
            )
        group = None if groups is None else group_codes("groups", groups, code.size)
        if group is not None and count_groups(group) == code.size:
            group = None
        no_labels = np.zeros(code.size, dtype=bool)
        weights = None if sample_weight is None else weight
        return cls(no_labels, weights, group, code=code, labels=tuple(classes.tolist()))

    @property
    def class_masks(self) -> Iterator[tuple[str, NDArray[np.bool_]]]:
        """Names of the classes, and masks of their rows."""
        for k, label in enumerate(self.labels):
            yield str(label), self.code == k

    @cached_property
    def counts(self) -> dict[str, Any]:
        """Number of groups, by its name in the results."""
        return {"n_groups": None if self.unit is None else count_groups(self.unit)}

    def matrix(self, name: str, scores: ArrayLike) -> Floats:
        """Validate scores with one column per class."""
        score = np.asarray(scores, dtype=np.float64)
        if score.ndim != 2:
            raise ValueError(f"{name} must be two-dimensional, got shape {score.shape}.")
        check_count(f"{name} must have a row", score.shape[0], self.code.size, "labels")
        n_classes = len(self.labels)
        if n_classes < 2 or n_classes != score.shape[1]:
            raise ValueError(
                f"{name} must have a column for each class of y, got {score.shape[1]} "
                f"columns and {n_classes} classes: {describe(list(self.labels))}."
            )
        for k, column in enumerate(score.T):
            check_none(~np.isfinite(column), f"column {k} of {name} must be finite", column)
        return score


@dataclass(frozen=True)
class OverClasses:
    """A metric of two classes, averaged over several classes."""

    metric: Any
    is_pairwise: bool
    is_weighted: bool
    n_classes: int
    outcome: ClassVar[Literal["labels"]] = "labels"

    @property
    def name(self) -> str:
        """Name with the kind of average."""
        kind = "one-vs-one" if self.is_pairwise else "one-vs-rest"
        weights = "weighted" if self.is_weighted else "macro"
        return f"{weights} {kind} {self.metric.name} of {self.n_classes} classes"

    @property
    def scale(self) -> Any:
        """How intervals are formed."""
        if isinstance(self.metric, AUC):
            return AverageAreaScale()
        # The scale of a partial AUC needs a single ROC curve.
        return LogitScale() if isinstance(self.metric, PartialAUC) else self.metric.scale

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest possible value."""
        return self.metric.bounds  # type: ignore[no-any-return]

    @property
    def digits(self) -> int:
        """Number of decimals in sentences."""
        return int(self.metric.digits)

    def column(self, sample: ClassSample, score: Floats) -> Column:
        """Return the column of a matrix of scores."""
        return Column(self, sample, score)

    def estimate(self, sample: ClassSample, score: Floats) -> Estimate:
        """Average the metric of pairs of classes, or of each class against the rest."""
        weight = sample.weights
        size = np.bincount(sample.code, weight, self.n_classes)
        value, influence = 0.0, np.zeros(len(sample))
        for first, others, share in self._problems(size):
            is_first = sample.code == first
            rows = np.flatnonzero(is_first | np.isin(sample.code, others))
            part = Sample(is_first[rows], None if sample.weight is None else weight[rows])
            column = np.ascontiguousarray(score[rows, first])
            estimate = self.metric.estimate(part, column)
            value += share * estimate.value
            influence[rows] += share * estimate.influence
        return Estimate(min(value, self.bounds[1]), influence)

    def _problems(self, size: NDArray[Any]) -> list[tuple[int, list[int], float]]:
        """Return the class, the other classes and the weight of each term of the average."""
        every = range(size.size)
        if self.is_pairwise:  # each ordered pair of classes (Hand and Till, 2001)
            problems = [(i, [j], size[i] + size[j]) for i, j in permutations(every, 2)]
        else:
            problems = [(i, [j for j in every if j != i], size[i]) for i in every]
        weights = [weight if self.is_weighted else 1.0 for *_, weight in problems]
        return [(i, j, w / sum(weights)) for (i, j, _), w in zip(problems, weights, strict=True)]

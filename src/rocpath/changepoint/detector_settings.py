"""Settings of a LearnedDetector, and the problem of learning a penalty that they define."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from rocpath.changepoint.adapters import detector_errors
from rocpath.changepoint.cost_properties import COSTS
from rocpath.changepoint.error_functions import PenaltyErrors, errors_by_penalty
from rocpath.changepoint.penalty_default import default_penalty
from rocpath.changepoint.penalty_evaluation import PenaltyProblem
from rocpath.changepoint.segment_costs import Constraint, SegmentCost
from rocpath.changepoint.training_sequences import TrainingSequence, features_and_units
from rocpath.validation import Floats, one_of

_TINY = np.finfo(float).tiny


@dataclass(frozen=True, slots=True)
class DetectorSettings:
    """Settings that determine label errors, features and units of penalties."""

    max_changes: int
    cost: SegmentCost
    constraint: Constraint
    min_length: int
    unit: Literal["noise", "free"] | None
    search: Any  # a detector of another library, or None

    def __post_init__(self) -> None:
        """Raise if the unit is unknown."""
        one_of("unit", self.unit, ("noise", "free", None))

    @property
    def search_settings(self) -> dict[str, Any]:
        """Settings of the search for changes."""
        return {"cost": self.cost, "constraint": self.constraint, "min_length": self.min_length}

    def errors(self, one: TrainingSequence) -> PenaltyErrors:
        """Return the label errors of a sequence as a function of the penalty."""
        shared: dict[str, Any] = {"max_changes": self.max_changes, "position": one.position}
        if self.search is not None:
            return detector_errors(self.search, one.value, one.labels, **shared)
        shared |= {"weights": one.weight, **self.search_settings}
        return errors_by_penalty(one.value, one.labels, **shared)

    def features(
        self, value: Sequence[Floats], weights: Sequence[ArrayLike | None], *, has_runs: bool
    ) -> tuple[Floats, Floats]:
        """Return the features of each sequence, and the unit of its penalty."""
        # Counts and fractions have no unit, and other detectors have their own penalties.
        has_unit = COSTS[self.cost].has_unit and self.search is None
        X, unit = features_and_units(
            value, weights, unit=self.unit if has_unit else None, has_runs=has_runs
        )
        # A likelihood has no unit, but features depend on the unit of the data.
        return X, np.ones_like(unit) if COSTS[self.cost].power == 0 else unit

    def problem(
        self, training: Sequence[TrainingSequence], functions: Sequence[PenaltyErrors]
    ) -> PenaltyProblem:
        """Return the features, label errors and penalties of baselines of all sequences."""
        X, unit = self.features(
            [one.value for one in training],
            [one.weight for one in training],
            has_runs=all(one.has_runs for one in training),
        )
        default = [
            default_penalty(one.value, cost=self.cost, weights=one.weight) for one in training
        ]
        group = [one.group for one in training]
        return PenaltyProblem(
            X,
            np.log([[len(one.value)] for one in training]),
            np.log(np.maximum(default / unit, _TINY)),
            [one.per_unit(v) for one, v in zip(functions, unit, strict=True)],
            None if group[0] is None else np.array(group),
            unit,
            sum(len(one.labels) for one in training),
        )

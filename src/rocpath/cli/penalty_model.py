"""A model of changepoint penalties for the sequences of long tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import KFold

from rocpath.changepoint import (
    Labels,
    PenaltyErrors,
    Segmentation,
    error_breakpoints,
    errors_by_penalty,
    target_interval,
)
from rocpath.changepoint.error_functions import can_be_learned
from rocpath.changepoint.interval_regression import IntervalRegression, useful_columns
from rocpath.changepoint.penalty_regressor import PenaltyRegressor
from rocpath.cli.long_tables import LongSequence, features_of
from rocpath.roc import auc, inside_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from rocpath.changepoint.segmentation import Constraint, SegmentCost

METHODS = ("PenaltyRegressor", "interval regression", "constant penalty")
MOST_FOLDS = 5
_PEAK_KINDS = ("no_peaks", "peaks", "peak_start", "peak_end")


@dataclass(frozen=True, slots=True, eq=False)
class PenaltyModel:
    """Hold a fitted regressor, and how sequences were segmented for it."""

    regressor: PenaltyRegressor
    feature_names: tuple[str, ...]
    cost: SegmentCost
    constraint: Constraint
    has_runs: bool

    def segmentations(self, sequences: Sequence[LongSequence]) -> list[Segmentation]:
        """Segment sequences with the penalties predicted for them."""
        X, _ = features_of(list(sequences), has_runs=self.has_runs)
        ones = [np.ones(sequence.value.size) for sequence in sequences]
        found: list[Segmentation] = self.regressor.predict_changes(
            [sequence.value for sequence in sequences],
            X,
            cost=self.cost,
            constraint=self.constraint,
            weights=[
                one if sequence.weight is None else sequence.weight
                for one, sequence in zip(ones, sequences, strict=True)
            ],
        )
        return found

    def state(self) -> dict[str, Any]:
        """Return what is to be saved, in types that need no trust."""
        return {
            "regressor": self.regressor,
            "feature_names": list(self.feature_names),
            "cost": self.cost,
            "constraint": self.constraint,
            "has_runs": self.has_runs,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> PenaltyModel:
        """Make the model again."""
        if type(state["regressor"]) is not PenaltyRegressor:
            raise ValueError("the regressor is not one that rocpath makes.")
        return cls(
            state["regressor"],
            tuple(state["feature_names"]),
            state["cost"],
            state["constraint"],
            state["has_runs"],
        )


def error_functions(
    sequences: Sequence[LongSequence],
    labels: dict[str, Labels],
    *,
    max_changes: int,
    cost: SegmentCost,
    constraint: Constraint,
    progress: Callable[[str], None],
) -> list[PenaltyErrors]:
    """Compute the label errors of each sequence as a function of its penalty."""
    kinds = {kind for one in labels.values() for kind in one.kind}
    if constraint is None and kinds.intersection(_PEAK_KINDS):
        raise ValueError("labels of peaks need --constraint up_down.")
    functions = []
    for sequence in sequences:
        progress(f"segmenting {sequence.name}")
        functions.append(
            errors_by_penalty(
                sequence.value,
                labels[sequence.name],
                max_changes=max_changes,
                cost=cost,
                weights=sequence.weight,
                constraint=constraint,
                position=sequence.position,
            )
        )
    if not can_be_learned(functions):
        raise ValueError(
            "no penalty trades false positives for false negatives: labels must say "
            "both where changes are and where none are, of values that change."
        )
    return functions


def compare_penalties(
    X: NDArray[np.float64],
    functions: Sequence[PenaltyErrors],
    *,
    random_state: int,
    progress: Callable[[str], None],
) -> dict[str, dict[str, float]]:
    """Measure AUC and label errors of each method on sequences held out."""
    n_folds = min(MOST_FOLDS, len(functions))
    if n_folds < 2:
        raise ValueError("labels must be of at least two sequences, to hold one out.")
    log_penalty = {method: np.zeros(len(functions)) for method in METHODS}
    parts = KFold(n_folds, shuffle=True, random_state=random_state)
    for fold, (train, test) in enumerate(parts.split(X), 1):
        progress(f"part {fold} of {n_folds}")
        known = [functions[row] for row in train]
        for method in METHODS:
            log_penalty[method][test] = _predicted(
                method, X[train], known, X[test], random_state
            )
    bp = error_breakpoints(functions)
    return {
        method: {
            "auc": auc(bp, -predicted),
            "label_errors": int(
                sum(f.at(one) for f, one in zip(functions, predicted, strict=True))
            ),
            "fewest_label_errors": int(sum((f.fp + f.fn).min() for f in functions)),
        }
        for method, predicted in log_penalty.items()
    }


def _predicted(
    method: str,
    X: NDArray[np.float64],
    functions: Sequence[PenaltyErrors],
    X_new: NDArray[np.float64],
    random_state: int,
) -> NDArray[np.float64]:
    is_constant = method == "constant penalty" or not useful_columns(X).any()
    if is_constant or not can_be_learned(functions):
        return np.full(len(X_new), _best_constant(functions))
    is_ours = method == "PenaltyRegressor"
    model = (
        PenaltyRegressor(random_state=random_state) if is_ours else IntervalRegression()
    )
    return np.asarray(model.fit(X, functions).predict(X_new))


def _best_constant(functions: Sequence[PenaltyErrors]) -> float:
    """Return a log penalty with the fewest errors of all sequences together."""
    penalty = np.unique(np.concatenate([f.min_penalty for f in functions]))
    rows = [np.searchsorted(f.min_penalty, penalty, "right") - 1 for f in functions]
    pairs = list(zip(functions, rows, strict=True))
    fp = np.sum([f.fp[row] for f, row in pairs], axis=0)
    fn = np.sum([f.fn[row] for f, row in pairs], axis=0)
    return inside_interval(*target_interval(PenaltyErrors(penalty, fp, fn)))

"""Thresholds that meet a target: a rate, a precision, or a number of rows."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocpath.evaluation.operating_points import DEFAULT_CONFIDENCE, OperatingPoint
from rocpath.evaluation.thresholds import checked_target, choose_threshold
from rocpath.validation import Floats


@dataclass(frozen=True, slots=True)
class ThresholdTargets:
    """The targets for a threshold; those not given are None.

    Attributes
    ----------
    max_fpr : float or None
        Maximum false positive rate.
    min_precision : float or None
        Minimum precision.
    top : int or None
        Maximum number of rows predicted positive.
    """

    max_fpr: float | None = None
    min_precision: float | None = None
    top: int | None = None

    def __post_init__(self) -> None:
        for name, target in self.given.items():
            checked_target(name, target)

    @property
    def given(self) -> dict[str, float]:
        """The targets that are not None, by name."""
        return {name: one for name, one in asdict(self).items() if one is not None}

    @property
    def n_given(self) -> int:
        """Number of targets that are not None."""
        return len(self.given)


NO_TARGETS = ThresholdTargets()
GUARANTEED = "guaranteed for new rows"


class NamedPoint(NamedTuple):
    """An operating point, and the rule that chose it."""

    rule: str
    point: OperatingPoint
    is_requested: bool = False
    is_bounded: bool = False  # whether a confidence bound meets the target


def describe_target(name: str, target: float) -> str:
    """Describe a target in words, for tables and reports."""
    if name == "top":
        return f"the {target:,} rows ranked highest"
    rule = "false positive rate at most" if name == "max_fpr" else "precision at least"
    return f"{rule} {100 * target:g}%"


def target_point(
    is_positive: NDArray[np.bool_],
    score: Floats,
    targets: ThresholdTargets,
    confidence: float | None = None,
    *,
    groups: NDArray[np.intp] | None = None,
    sample_weight: Floats | None = None,
) -> OperatingPoint:
    """Choose a threshold that meets all targets; raise if there is none.

    With groups, guarantees are for a random row of a new group.
    """
    return choose_threshold(
        is_positive,
        score,
        **asdict(targets),
        positive=True,
        confidence=confidence,
        sample_weight=sample_weight,
        # Weights and groups cannot be combined.
        groups=groups if sample_weight is None else None,
    )


def points_for_targets(
    targets: ThresholdTargets,
    choose: Callable[[ThresholdTargets, float | None], OperatingPoint],
    claim: str = GUARANTEED,
) -> list[NamedPoint]:
    """Choose a threshold for each target, with and without a confidence bound.

    ``claim`` describes what the bound means. ``choose`` takes one target and a
    confidence level, and raises ValueError if no threshold meets the target, which is
    then skipped.
    """
    points = []
    for name, target in targets.given.items():
        rule = describe_target(name, target)
        one = ThresholdTargets(**{name: target})  # type: ignore[arg-type]
        # A number of rows needs no guarantee, because it can be met on any table.
        for confidence in (None,) if name == "top" else (None, DEFAULT_CONFIDENCE):
            is_bounded = confidence is not None
            full = f"{rule}, {claim}" if is_bounded else rule
            try:
                points.append(NamedPoint(full, choose(one, confidence), True, is_bounded))
            except ValueError:  # no threshold meets the target
                continue
    return points


def target_points(
    is_positive: NDArray[np.bool_],
    score: Floats,
    targets: ThresholdTargets,
    claim: str = GUARANTEED,
    **sample: Any,
) -> list[NamedPoint]:
    """Choose a threshold for each target, given rows in memory."""
    return points_for_targets(targets, partial(target_point, is_positive, score, **sample), claim)

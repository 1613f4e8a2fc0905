"""Thresholds that reach a target: a rate, a precision, or a number of rows."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rocpath.arguments import share_between, whole_number
from rocpath.auc_statistics.operating_points import (
    DEFAULT_CONFIDENCE,
    OperatingPoint,
    RankedRows,
    operating_point,
    rates_of_any_place,
)
from rocpath.auc_statistics.thresholds import choose_threshold

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class ThresholdTargets:
    """Hold the targets that a threshold should reach; any of them may be None.

    Attributes
    ----------
    max_fpr : float or None
        Largest false positive rate.
    min_precision : float or None
        Smallest precision.
    top : int or None
        Largest number of rows predicted positive.
    """

    max_fpr: float | None = None
    min_precision: float | None = None
    top: int | None = None

    def __post_init__(self) -> None:
        for name, target in self.given.items():
            if name == "top":
                whole_number(name, target, least=1)
            else:
                share_between(name, target)

    @property
    def given(self) -> dict[str, float]:
        """The targets that are not None, by name."""
        return {name: one for name, one in asdict(self).items() if one is not None}

    @property
    def n_given(self) -> int:
        """Number of targets that are not None."""
        return len(self.given)


NO_TARGETS = ThresholdTargets()


class NamedPoint(NamedTuple):
    """An operating point, the rule that chose it, and its true and false positives."""

    rule: str
    point: OperatingPoint
    tp: int
    fp: int
    is_requested: bool = False

    @classmethod
    def at(cls, is_positive: NDArray[np.bool_], rule: str, point: OperatingPoint) -> NamedPoint:
        """Count the rows that the point predicts positive."""
        n_positive = int(is_positive.sum())
        counts = point_counts(point, n_positive, is_positive.size - n_positive)
        return cls(rule, point, *counts)


def point_counts(point: OperatingPoint, n_positives: int, n_negatives: int) -> tuple[int, int]:
    """Return the true and false positives of a point, from its rates."""
    return round(point.tpr * n_positives), round(point.fpr * n_negatives)


def describe_target(name: str, target: float) -> str:
    """Return a target in words, for tables and reports."""
    if name == "top":
        return f"the {target:,} rows ranked highest"
    rate, limit = {
        "max_fpr": ("false positive rate", "at most"),
        "min_precision": ("precision", "at least"),
    }[name]
    return f"{rate} {limit} {100 * target:g}%"


def point_for_target(
    is_positive: NDArray[np.bool_],
    score: NDArray[np.float64],
    targets: ThresholdTargets,
    confidence: float | None = None,
) -> OperatingPoint:
    """Choose a threshold that reaches all targets; raise if there is none."""
    return choose_threshold(
        is_positive,
        score,
        max_fpr=targets.max_fpr,
        min_precision=targets.min_precision,
        top=targets.top,
        positive=True,
        confidence=confidence,
    )


def points_for_targets(
    targets: ThresholdTargets,
    choose: Callable[[ThresholdTargets, float | None], OperatingPoint],
    count: Callable[[OperatingPoint], tuple[int, int]],
) -> list[NamedPoint]:
    """Choose a threshold for each target, observed and guaranteed for new rows.

    ``choose`` takes one target and a confidence level, and raises ValueError if no
    threshold reaches it; that target is skipped. ``count`` returns the true and false
    positives of a point.
    """
    points = []
    for name, target in targets.given.items():
        rule = describe_target(name, target)
        one = ThresholdTargets(**{name: target})  # type: ignore[arg-type]
        # A number of rows needs no guarantee: it can be reached on any table.
        for confidence in (None,) if name == "top" else (None, DEFAULT_CONFIDENCE):
            full = rule if confidence is None else f"{rule}, guaranteed for new rows"
            try:
                point = choose(one, confidence)
            except ValueError:  # no threshold reaches it
                continue
            points.append(NamedPoint(full, point, *count(point), is_requested=True))
    return points


def point_at(rows: RankedRows, place: int) -> OperatingPoint:
    """Return the operating point at one of the distinct scores."""
    return operating_point(rows, place, rates_of_any_place(rows, place), None)

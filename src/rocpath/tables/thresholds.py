"""Thresholds for targets on rows that may belong to groups or have weights."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from rocpath.auc_statistics.threshold_targets import (
    NamedPoint,
    ThresholdTargets,
    describe_target,
)
from rocpath.auc_statistics.thresholds import choose_threshold

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rocpath.auc_statistics.operating_points import OperatingPoint
    from rocpath.tables.folds import RowDesign

GUARANTEE = 0.95  # confidence of a threshold that is guaranteed for new rows


def target_point(
    is_positive: NDArray[np.bool_],
    score: NDArray[np.float64],
    targets: ThresholdTargets,
    design: RowDesign,
    confidence: float | None = None,
) -> OperatingPoint:
    """Choose a threshold that reaches all targets; raise if there is none.

    With groups, a guarantee is for a random row of a new group.
    """
    weight = design.sample_weight
    # Weights and groups cannot be combined.
    groups = design.unit if weight is None else None
    return choose_threshold(
        is_positive,
        score,
        **asdict(targets),
        positive=True,
        confidence=confidence,
        sample_weight=weight,
        groups=groups,
    )


def target_points(
    is_positive: NDArray[np.bool_],
    score: NDArray[np.float64],
    targets: ThresholdTargets,
    design: RowDesign,
) -> list[NamedPoint]:
    """Choose a threshold for each target, observed and guaranteed for new rows.

    Thresholds that no score reaches are skipped.
    """
    points = []
    for name, target in targets.given.items():
        rule, one = describe_target(name, target), ThresholdTargets(**{name: target})  # type: ignore[arg-type]
        # A number of rows needs no guarantee.
        for confidence in (None,) if name == "top" else (None, GUARANTEE):
            full = rule if confidence is None else f"{rule}, guaranteed for new rows"
            try:
                point = target_point(is_positive, score, one, design, confidence)
            except ValueError:  # no threshold reaches it
                continue
            is_called = score >= point.threshold
            tp = int((is_called & is_positive).sum())
            points.append(NamedPoint(full, point, tp, int(is_called.sum()) - tp, True))
    return points

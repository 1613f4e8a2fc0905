"""Thresholds for targets on rows that may belong to groups or have weights."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from rocpath.auc_statistics.threshold_targets import points_for_targets
from rocpath.auc_statistics.thresholds import choose_threshold

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rocpath.auc_statistics.operating_points import OperatingPoint
    from rocpath.auc_statistics.threshold_targets import NamedPoint, ThresholdTargets
    from rocpath.tables.folds import RowDesign


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
    """Choose a threshold for each target, observed and guaranteed for new rows."""

    def count(point: OperatingPoint) -> tuple[int, int]:
        # Not from the rates, which are means over groups or weighted.
        is_called = score >= point.threshold
        tp = int((is_called & is_positive).sum())
        return tp, int(is_called.sum()) - tp

    def choose(one: ThresholdTargets, confidence: float | None) -> OperatingPoint:
        return target_point(is_positive, score, one, design, confidence)

    return points_for_targets(targets, choose, count)

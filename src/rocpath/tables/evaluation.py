"""Evaluation of scores against labels: AUC, partial AUC, and thresholds."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocpath.evaluation.intervals import auc_interval
from rocpath.evaluation.results import AUCInterval
from rocpath.evaluation.threshold_targets import (
    GUARANTEED,
    NO_TARGETS,
    NamedPoint,
    ThresholdTargets,
    describe_target,
    target_points,
)
from rocpath.sample import Sample
from rocpath.tables.labels import LabelColumn
from rocpath.tables.table_warnings import TableWarning

_INTERVAL_FIELDS = ("standard_error", "low", "high", "confidence")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TableEvaluation:
    """AUC of a model on labeled rows, and thresholds for targets.

    Attributes
    ----------
    label : LabelColumn
        Classes and their numbers of rows.
    auc : AUCInterval
        AUC with its standard error and interval.
    partial_auc : AUCInterval or None
        Partial AUC up to ``targets.max_fpr``.
    targets : ThresholdTargets
        Requested targets.
    points : list of NamedPoint
        Thresholds that meet the targets, observed and guaranteed.
    n_groups : int or None
        Number of groups; None if rows have none.
    warnings : tuple of TableWarning
        Reasons to doubt the results, such as test rows that are also training rows.
    """

    label: LabelColumn
    auc: AUCInterval
    partial_auc: AUCInterval | None = None
    targets: ThresholdTargets = NO_TARGETS
    points: tuple[NamedPoint, ...] = ()
    n_groups: int | None = None
    warnings: tuple[TableWarning, ...] = ()

    @property
    def unreachable(self) -> list[str]:
        """Targets that no threshold meets on these rows."""
        rules = [describe_target(*one) for one in self.targets.given.items()]
        reached = [one.rule for one in self.points]
        return [rule for rule in rules if not any(one.startswith(rule) for one in reached)]

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers, for JSON."""
        summary: dict[str, Any] = {"auc": self.auc.value, **_interval_fields(self.auc)}
        if self.partial_auc is not None:
            summary["partial_auc"] = {
                "max_fpr": self.targets.max_fpr,
                "area": self.partial_auc.value,
                **_interval_fields(self.partial_auc),
            }
        if self.targets.n_given:
            summary["operating_points"] = [point_dict(one) for one in self.points]
            summary["unreachable"] = self.unreachable
        if self.n_groups is not None:
            summary["n_groups"] = self.n_groups
        summary["warnings"] = [one.message for one in self.warnings]
        return summary | self.label.summary

    @property
    def rows(self) -> list[tuple[str, str]]:
        """Formatted names and values of the results."""
        rows = [("AUC", _interval(self.auc))]
        if self.partial_auc is not None and self.targets.max_fpr is not None:
            limit, part = self.targets.max_fpr, self.partial_auc
            rows.append((f"partial AUC up to an FPR of {limit:g}", _interval(part, 5)))
            rows.append(("mean TPR up to this FPR", f"{part.value / limit:.4f}"))
        label = self.label
        rows.append((f"rows of {label.positive!r} (positive)", f"{label.n_positive:,}"))
        rows.append((f"rows of {label.negative!r}", f"{label.n_negative:,}"))
        if self.n_groups is not None:
            rows.append(("groups", f"{self.n_groups:,}"))
        return rows

    @property
    def point_table(self) -> tuple[str, Sequence[str], Sequence[Sequence[str]]]:
        """Title, column names and formatted cells of the table of thresholds."""
        title = "Thresholds (95% confidence bounds for new rows in parentheses)"
        if self.n_groups is not None:
            title = (
                "Thresholds (TPR and FPR are means over groups; 95% confidence bounds for new "
                "groups in parentheses)"
            )
        rows = [
            (
                one.rule,
                f"{one.point.threshold:.4g}",
                _rate(one.point.tpr, one.point.tpr_interval),
                _rate(one.point.fpr, one.point.fpr_interval),
                _rate(one.point.precision, one.point.precision_interval),
                f"{one.point.tp:,}",
                f"{one.point.fp:,}",
            )
            for one in self.points
        ]
        return title, ("rule", "score", "TPR", "FPR", "precision", "TP", "FP"), rows

    def __repr__(self) -> str:
        """Show one result per line."""
        width = max(len(name) for name, _ in self.rows)
        lines = [f"{name:<{width}}  {value}" for name, value in self.rows]
        return "\n".join([*lines, *(f"Warning: {one.message}." for one in self.warnings)])


def evaluate_scores(
    label: LabelColumn,
    sample: Sample,
    score: NDArray[np.float64],
    targets: ThresholdTargets,
    warnings: Iterable[TableWarning] = (),
) -> TableEvaluation:
    """Evaluate scores of labeled rows, which may belong to groups."""
    y, given = sample.is_positive, sample.arguments
    area = auc_interval(y, score, positive=True, **given)
    partial, max_fpr = None, targets.max_fpr
    if max_fpr is not None:
        partial = auc_interval(y, score, max_fpr=max_fpr, positive=True, **given)
    # The model is fixed and has not seen these rows.
    claim = GUARANTEED if sample.group is None else "guaranteed for new groups"
    points = target_points(y, score, targets, claim, **given)
    n_groups = None if sample.group is None else np.unique(sample.group).size
    return TableEvaluation(label, area, partial, targets, tuple(points), n_groups, tuple(warnings))


def point_dict(one: NamedPoint) -> dict[str, Any]:
    """Return the numbers of an operating point, for JSON."""
    names = ("threshold", "tpr", "fpr", "precision")
    values = {name: getattr(one.point, name) for name in names}
    values |= {f"{name}_interval": getattr(one.point, f"{name}_interval") for name in names[1:]}
    # JSON has no NaN, which represents unknown bounds, such as those of weighted rows.
    known = {name: None if np.isnan(value).any() else value for name, value in values.items()}
    return {"rule": one.rule, **known, "tp": one.point.tp, "fp": one.point.fp}


def _interval_fields(area: AUCInterval) -> dict[str, float]:
    return {name: getattr(area, name) for name in _INTERVAL_FIELDS}


def _interval(area: AUCInterval, digits: int = 4) -> str:
    return (
        f"{area.value:.{digits}f} ± {area.standard_error:.{digits}f} "
        f"({100 * area.confidence:g}% interval {area.low:.{digits}f} to "
        f"{area.high:.{digits}f})"
    )


def _rate(value: float, interval: tuple[float, float]) -> str:
    low, high = (100 * bound for bound in interval)
    # The value is NaN if no row is predicted positive.
    shown = "-" if value != value else f"{100 * value:.1f}%"
    # Some rates have no bounds, such as the precision of grouped rows.
    return shown if low != low else f"{shown} ({low:.0f}-{high:.0f}%)"

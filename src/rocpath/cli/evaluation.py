"""What a model does to the rows of a table with labels: areas, and thresholds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from rocpath.auc_statistics.intervals import auc_interval
from rocpath.cli.terminal import say, show_table
from rocpath.pages.score_view import asked_points, rule_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rocpath.auc_statistics.intervals import AucInterval
    from rocpath.pages.score_view import NamedPoint, Promises
    from rocpath.tables.labels import KnownLabels


class Evaluation(NamedTuple):
    """The AUC of scores, the area left of an FPR, and a threshold for each promise."""

    area: AucInterval
    partial: AucInterval | None
    points: list[NamedPoint]
    out_of_reach: list[str]


def evaluated(
    is_positive: NDArray[np.bool_], score: NDArray[np.float64], promises: Promises
) -> Evaluation:
    """Measure scores by labels."""
    partial = None
    if promises.max_fpr is not None:
        partial = auc_interval(is_positive, score, max_fpr=promises.max_fpr)
    points = asked_points(is_positive, score, promises)
    # What cannot be kept is named: silence would look like a promise.
    kept = {one.rule for one in points}
    rules = [rule_of(*promise) for promise in promises.given.items()]
    missing = [rule for rule in rules if rule not in kept]
    return Evaluation(auc_interval(is_positive, score), partial, points, missing)


def evaluation_summary(found: Evaluation, promises: Promises) -> dict[str, Any]:
    """Write down what was found."""
    # It imports what writes reports, which most evaluations do without.
    from rocpath.cli.table_report import point_summary

    summary: dict[str, Any] = {"auc": found.area.value, **_ends(found.area)}
    if found.partial is not None:
        partial = {"area": found.partial.value, **_ends(found.partial)}
        summary["partial_auc"] = {"max_fpr": promises.max_fpr, **partial}
    if promises.n_given:
        points = [point_summary(one) for one in found.points]
        summary |= {"operating_points": points, "out_of_reach": found.out_of_reach}
    return summary


def show_evaluation(
    title: str,
    found: Evaluation,
    label: KnownLabels,
    promises: Promises,
) -> None:
    """Show what was found."""
    area, rows = found.area, []
    # A partial area is at most its FPR, so that its mean TPR is told as well.
    if found.partial is not None and promises.max_fpr is not None:
        part = found.partial
        rows = [
            (f"area up to an FPR of {promises.max_fpr:g}", f"{part.value:.5f}"),
            ("its standard error", f"{part.standard_error:.5f}"),
            ("its 95% interval", f"{part.low:.5f} to {part.high:.5f}"),
            ("mean TPR there", f"{part.value / promises.max_fpr:.4f}"),
        ]
    show_table(
        title,
        ("", "value"),
        (
            ("AUC", f"{area.value:.4f}"),
            ("standard error", f"{area.standard_error:.4f}"),
            ("95% interval", f"{area.low:.4f} to {area.high:.4f}"),
            *rows,
            (f"rows of {label.positive!r} (positive)", f"{label.n_positive:,}"),
            (f"rows of {label.negative!r}", f"{label.n_negative:,}"),
        ),
    )
    if found.points:
        _show_points(found.points)
    for rule in found.out_of_reach:
        say(f"note: {rule}: out of reach, no threshold keeps it on these rows.")


def _show_points(points: list[NamedPoint]) -> None:
    show_table(
        "Thresholds (rates with bounds for new rows, each with 95% confidence)",
        ("rule", "score from", "TPR", "FPR", "precision", "TP", "FP"),
        [
            (
                one.rule,
                f"{one.point.threshold:.4g}",
                _rate(one.point.tpr, one.point.tpr_interval),
                _rate(one.point.fpr, one.point.fpr_interval),
                _rate(one.point.precision, one.point.precision_interval),
                f"{one.tp:,}",
                f"{one.fp:,}",
            )
            for one in points
        ],
    )


def _rate(value: float, ends: tuple[float, float]) -> str:
    low, high = (100 * end for end in ends)
    # Not a number where no row is called.
    told = "-" if value != value else f"{100 * value:.1f}%"
    return f"{told} ({low:.0f}-{high:.0f}%)"


def _ends(area: AucInterval) -> dict[str, float]:
    # Under the names that metrics.json of a fit has for them.
    names = ("standard_error", "low", "high", "confidence")
    return {name: getattr(area, name) for name in names}

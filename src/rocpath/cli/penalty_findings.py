"""What is told of learned penalties: the report, and its pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rocpath import changepoint as cp
from rocpath.cli.penalty_comparison import OURS
from rocpath.matrices import Columns
from rocpath.pages.penalty_report import (
    ReportedSequence,
    Tried,
    penalty_report_html,
)
from rocpath.roc import roc_curve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rocpath.cli.long_tables import LeftOut, LongSequence, Request
    from rocpath.cli.penalty_comparison import Comparison
    from rocpath.roc import ROCCurve


_DAY = 86_400e6  # in microseconds: matplotlib counts time in days


class Findings(NamedTuple):
    """A fitted model, how it was judged, and the sequences it was learned from."""

    sequences: Sequence[LongSequence]
    labels: dict[str, cp.Labels]
    comparison: Comparison
    regressor: cp.PenaltyRegressor
    feature_names: tuple[str, ...]
    left_out: Sequence[LeftOut]
    is_time: bool

    @property
    def n_labels(self) -> int:
        """How many labels the sequences have."""
        return sum(len(self.labels[one.name]) for one in self.sequences)

    @property
    def coefficients(self) -> list[tuple[str, float]]:
        """Features that are used, and what a standard deviation of each adds."""
        coef = self.regressor.coef_
        # Measured as for the fit, where sizes up to 1e300 do not overflow.
        scale = Columns.from_matrix(self.comparison.problem.X).scale
        # The L1 term leaves features out, and a list of zeros says nothing.
        used = np.flatnonzero(coef)
        return [(self.feature_names[k], float(coef[k] * scale[k])) for k in used]

    @property
    def roc(self) -> dict[str, ROCCurve]:
        """The curve of each rule."""
        bp = cp.error_breakpoints(self.comparison.problem.functions)
        predicted = self.comparison.log_penalty.items()
        return {method: roc_curve(bp, -one) for method, one in predicted}

    @property
    def tried(self) -> Tried:
        """What was tried to find the model."""
        one = self.regressor
        losses = one.alphas_, one.monitor_mean_, one.monitor_error_
        return Tried(*losses, one.alpha_, len(self.coefficients), one.monitor)

    @property
    def intercept(self) -> float:
        """The mean log penalty of the sequences."""
        return float(self.regressor.predict(self.comparison.problem.X).mean())


def report(found: Findings, request: Request) -> str:
    """Make the page about a fit."""
    comparison = found.comparison
    problem = comparison.problem
    settings = {
        "cost": request.cost,
        "constraint": request.constraint or "none",
        "most changes": f"{request.max_changes:,}",
        "sequences": f"{len(found.sequences):,}",
        "labels": f"{found.n_labels:,}",
        "parts held out": str(comparison.n_folds),
        "seed": str(request.seed),
    }
    if request.group is not None:
        settings["groups"] = f"{problem.n_units:,}, of column {request.group}"
    return penalty_report_html(
        title=f"Penalties learned from {request.source}",
        headline=comparison.headline(found.n_labels),
        metrics=comparison.metrics,
        roc=found.roc,
        sequences=_reported(found, request),
        coefficients=found.coefficients,
        intercept=found.intercept,
        tried=found.tried,
        settings=settings,
        is_time=found.is_time,
        left_out=[str(one) for one in found.left_out],
    )


def _reported(found: Findings, request: Request) -> list[ReportedSequence]:
    problem = found.comparison.problem
    final = found.regressor.predict(problem.X)
    reported = []
    for place, one in enumerate(found.sequences):
        # Of the model that did not see the sequence: the page must show the errors that
        # the comparison counts, and not those of a model that knows the labels.
        log_penalty = float(found.comparison.log_penalty[OURS][place])
        changes, mean = _segmentation(one, log_penalty, request)
        group = None if problem.groups is None else str(problem.groups[place])
        reported.append(
            ReportedSequence(
                name=one.name,
                group=group,
                position=one.position,
                value=one.value,
                labels=found.labels[one.name],
                changes=changes,
                mean=mean,
                errors=problem.functions[place],
                log_penalty=log_penalty,
                final_log_penalty=float(final[place]),
            )
        )
    return reported


def _segmentation(
    one: LongSequence, log_penalty: float, request: Request
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the segmentation whose errors the comparison counts.

    Small penalties may select more changes than were tried; the most tried count then.
    """
    penalty = float(np.exp(log_penalty))
    best = request.segmentation(one, penalty)
    if best.n_changes <= request.max_changes:
        return best.changes, best.mean
    models = request.models(one)
    k = int(cp.model_selection(models.cost).select(penalty))
    return models.changes[k], models.mean[k]

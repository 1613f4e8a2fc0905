"""HTML report of learned penalties, which shows every labeled sequence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocpath.changepoint import Labels, PenaltyErrors
from rocpath.model_selection.comparison import ModelComparison
from rocpath.pages.page import page_html
from rocpath.palette import KIND_COLORS
from rocpath.search.roc import ROCCurve
from rocpath.search.step_view import drawn_curve, extremes

_MAX_POINTS = 2_000_000  # drawn for all sequences together
_MIN_BINS, _MAX_BINS = 50, 500  # per sequence, with up to four points each
_MILLISECOND = 1000.0  # in microseconds, the unit of times
_PADDING = 1.5  # range of log penalties drawn beyond the first and the last step


class RegularizationPath(NamedTuple):
    """Candidate L1 penalties, and their cross-validated losses.

    Penalties are fractions of the largest one, for which the model is constant.
    """

    alpha: NDArray[np.float64]
    mean: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    selected: float
    n_features: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ReportedSequence:
    """Labeled sequence, and its segmentation for the predicted penalty.

    Attributes
    ----------
    name, group : str
        Name and group of the sequence, as plain text; the group may be None.
    position, value : array, shape (n,)
        Positions and values of the observations; times are in microseconds since 1970.
    labels : Labels
        Labeled regions of the sequence.
    outcomes : list of str
        ``"FP"``, ``"FN"`` or ``""`` for each label.
    changes, mean : array
        Segmentation for the cross-validated penalty.
    gain : array
        Increase in cost if each change is removed separately.
    errors : PenaltyErrors
        Label errors as a function of the penalty.
    target : tuple of float
        Interval of log penalties with the fewest label errors.
    log_penalty : float
        Cross-validated prediction of the log penalty.
    final_log_penalty : float
        Prediction of the model that was fitted to all sequences.
    """

    name: str
    group: str | None
    position: NDArray[np.float64]
    value: NDArray[np.float64]
    labels: Labels
    outcomes: Sequence[str]
    changes: NDArray[np.int64]
    gain: NDArray[np.float64]
    mean: NDArray[np.float64]
    errors: PenaltyErrors
    target: tuple[float, float]
    log_penalty: float
    final_log_penalty: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PenaltyReport:
    """Content of a page about learned penalties.

    Attributes
    ----------
    title, headline : str
        Title and summary, as plain text.
    comparison : ModelComparison
        Cross-validated label errors of each rule for the penalty.
    roc : dict of ROCCurve
        ROC curve of each rule; the point at constant 0 corresponds to its predictions.
    sequences : list of ReportedSequence
        Every labeled sequence.
    coefficients : list of tuple of str and float
        Name of each selected feature, and the change in the log penalty per standard
        deviation of the feature.
    intercept : float
        Mean predicted log penalty.
    path : RegularizationPath or None
        Losses of the candidate models; None if the regressor has no such path.
    settings : dict of str
        Other settings by name.
    is_time : bool
        Whether positions are times.
    notes : tuple of str
        Sentences to show above the results, for example about skipped sequences.
    """

    title: str
    headline: str
    comparison: ModelComparison
    roc: Mapping[str, ROCCurve]
    sequences: Sequence[ReportedSequence]
    coefficients: Sequence[tuple[str, float]]
    intercept: float
    path: RegularizationPath | None = None
    settings: Mapping[str, str]
    is_time: bool = False
    notes: Sequence[str] = ()


def penalty_report_html(report: PenaltyReport) -> str:
    """Return a self-contained page about learned penalties.

    All text is escaped.

    Parameters
    ----------
    report : PenaltyReport
        Content of the page.

    Returns
    -------
    str
        HTML, to be written as UTF-8.
    """
    sequences, path = report.sequences, report.path
    ordered = sorted(report.coefficients, key=lambda pair: -abs(pair[1]))
    # The total number of points is limited, so that the size of the page is bounded.
    n_bins = _MAX_POINTS // (4 * max(1, len(sequences)))
    n_bins = int(np.clip(n_bins, _MIN_BINS, _MAX_BINS))
    data = {
        "is_time": report.is_time,
        "kinds": KIND_COLORS,
        "roc": [_curve(name, curve) for name, curve in report.roc.items()],
        # Plotly renders names as HTML.
        "errors": [
            [escape(one.name), one.value, one.low, one.high] for one in report.comparison.scores
        ],
        "coefficients": [[escape(name), value] for name, value in ordered],
        "path": None if path is None else path[:4],
        "sequences": [_sequence(one, n_bins, report.is_time) for one in sequences],
    }
    return page_html(
        "penalty_report.html",
        title=report.title,
        scripts=["penalty_panels", "penalty_report"],
        styles=("page", "penalty_report"),
        report=report,
        coefficients=ordered,
        data=data,
    )


def _sequence(sequence: ReportedSequence, n_bins: int, is_time: bool) -> dict[str, Any]:
    """Return the data of the panel of a sequence."""
    # Browsers measure times in milliseconds.
    unit = _MILLISECOND if is_time else 1.0
    position = sequence.position / unit
    width = position[-1] - position[0]
    seen = np.flatnonzero(np.isfinite(sequence.value))  # since JSON has no NaN
    place = (position[seen] - position[0]) / (width or 1.0)
    kept = seen[extremes(place, sequence.value[seen], n_bins)]
    # The last segment ends one step after the last observation, so that it has a width.
    step = position[-1] - position[-2] if position.size > 1 else 1.0
    edge = np.append(position, position[-1] + step)
    limits = [(limit / unit).tolist() for limit in (sequence.labels.start, sequence.labels.end)]
    jumps = sequence.errors.min_log_penalty[1:]
    ends = [*jumps, sequence.log_penalty, sequence.final_log_penalty]
    return {
        "name": sequence.name,
        "group": sequence.group,
        "position": position[kept],
        # Six digits exceed the resolution of a screen, and keep the page small.
        "value": np.array([float(f"{value:.6g}") for value in sequence.value[kept]]),
        "n": sequence.value.size,
        "edge": edge[np.concatenate(([0], sequence.changes, [sequence.value.size]))],
        "mean": sequence.mean,
        "gain": sequence.gain,
        "labels": list(zip(*limits, sequence.labels.kind, sequence.outcomes, strict=True)),
        "n_errors": sum(outcome != "" for outcome in sequence.outcomes),
        "penalty_edge": [min(ends) - _PADDING, *jumps.tolist(), max(ends) + _PADDING],
        "fp": sequence.errors.fp,
        "fn": sequence.errors.fn,
        "log_penalty": sequence.log_penalty,
        "final": sequence.final_log_penalty,
        "target": [_finite(limit) for limit in sequence.target],
    }


def _curve(name: str, curve: ROCCurve) -> dict[str, Any]:
    # Thresholds are constants added to the predictions; 0 leaves them unchanged.
    low, high = curve.threshold.T
    at = int(((low <= 0) & (high > 0)).argmax())
    predicted = [curve.fpr[at], curve.tpr[at]]
    drawn = drawn_curve(name, curve.fpr, curve.tpr)
    return drawn | {"auc": curve.auc, "predicted": predicted}


def _finite(value: float) -> float | None:
    # JSON has no infinity; null represents an infinite limit.
    return value if np.isfinite(value) else None

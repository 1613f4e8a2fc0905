"""The report of learned penalties: every labeled sequence, and how well they do."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rocpath.changepoint import Labels, label_errors, target_interval
from rocpath.pages.page import page_html
from rocpath.pages.step_view import drawn_curve, extremes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rocpath.changepoint import PenaltyErrors
    from rocpath.roc import ROCCurve

_MOST_POINTS = 2_000_000  # drawn of all sequences together
_FEWEST_BINS, _MOST_BINS = 50, 500  # of a sequence, with up to four points each
_MILLISECOND = 1000.0  # in microseconds, which times come in
_REACH = 1.5  # log penalties drawn beyond the first and the last jump


class Tried(NamedTuple):
    """The L1 weights that were tried, and what they lose on parts held out.

    Weights are parts of the largest, at which a constant is best.
    """

    alpha: NDArray[np.float64]
    mean: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    chosen: float
    n_features: int
    monitor: str


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ReportedSequence:
    """Hold a labeled sequence, and what a penalty predicted for it gives.

    Attributes
    ----------
    name, group : str
        Plain text; the group may be None.
    position, value : array, shape (n,)
        The observations; times are microseconds since 1970.
    labels : Labels
        Its labeled regions.
    changes, mean : array
        The segmentation for the predicted penalty.
    errors : PenaltyErrors
        Its label errors as a function of the penalty.
    log_penalty : float
        Predicted by a model that was not fitted to it.
    final_log_penalty : float
        Predicted by the model that is saved.
    """

    name: str
    group: str | None
    position: NDArray[np.float64]
    value: NDArray[np.float64]
    labels: Labels
    changes: NDArray[np.int64]
    mean: NDArray[np.float64]
    errors: PenaltyErrors
    log_penalty: float
    final_log_penalty: float


def penalty_report_html(
    *,
    title: str,
    headline: str,
    metrics: Mapping[str, Mapping[str, float]],
    roc: Mapping[str, ROCCurve],
    sequences: Sequence[ReportedSequence],
    coefficients: Sequence[tuple[str, float]],
    intercept: float,
    tried: Tried,
    settings: Mapping[str, str],
    is_time: bool = False,
    left_out: Sequence[str] = (),
) -> str:
    """Make a page about learned penalties; it needs no other file and no network.

    Any text is shown as it is, and never run.

    Parameters
    ----------
    title, headline : str
        Plain text.
    metrics : dict of dict of float
        By rule for the penalty, its ``label_errors``, ``standard_error``,
        ``difference`` to the last rule, ``difference_error`` and ``auc``.
    roc : dict of ROCCurve
        By rule, the curve of its predictions; constants near 0 are the predictions.
    sequences : list of ReportedSequence
        Every labeled sequence.
    coefficients : list of tuple of str and float
        Name of each feature that is used, and the log penalty that one standard
        deviation of it adds.
    intercept : float
        The mean log penalty, of a sequence with the mean of every feature.
    tried : Tried
        How the model was chosen.
    settings : dict of str
        What else is to be known, by name.
    is_time : bool
        Whether positions are times.
    left_out : list of str
        Sentences about sequences that were not used.

    Returns
    -------
    str
        HTML, to be written as UTF-8.

    Examples
    --------
    >>> import numpy as np
    >>> import rocpath as rp
    >>> from rocpath import changepoint as cp
    >>> from rocpath.pages.penalty_report import *
    >>> x, labels = [1, 1, 5, 5, 5, 2], cp.Labels([0], [3], ["one_change"])
    >>> errors = cp.PenaltyErrors([0, 14], fp=[1, 0], fn=[0, 1])
    >>> models = cp.segment(x, 1)
    >>> one = ReportedSequence(
    ...     name="a", group=None, position=np.arange(6.0), value=np.array(x),
    ...     labels=labels, changes=models.changes[1], mean=models.mean[1],
    ...     errors=errors, log_penalty=1.0, final_log_penalty=1.0,
    ... )
    >>> curve = rp.roc_curve(cp.error_breakpoints([errors]), [-1.0])
    >>> page = penalty_report_html(
    ...     title="Penalties of <x>", headline="", metrics={}, roc={"ours": curve},
    ...     sequences=[one], coefficients=[], intercept=1.0, settings={},
    ...     tried=Tried(np.ones(1), np.zeros(1), np.zeros(1), 1.0, 0, "errors"),
    ... )
    >>> "&lt;x&gt;" in page, "<x>" in page
    (True, False)
    """
    ordered = sorted(coefficients, key=lambda pair: -abs(pair[1]))
    data = {
        "is_time": is_time,
        "roc": [_curve(name, curve) for name, curve in roc.items()],
        "errors": _errors(metrics),
        "coefficients": [[escape(name), value] for name, value in ordered],
        "tried": [tried.alpha, tried.mean, tried.standard_error, tried.chosen],
        "sequences": _sequences(sequences, is_time),
    }
    return page_html(
        "penalty_report.html",
        title=title,
        scripts=["penalty_panels", "penalty_report"],
        styles=("page", "penalty_report"),
        headline=headline,
        metrics=metrics,
        coefficients=ordered,
        intercept=intercept,
        tried=tried,
        settings=settings,
        left_out=left_out,
        has_groups=any(one.group is not None for one in sequences),
        n_sequences=len(sequences),
        data=data,
    )


def label_verdicts(
    labels: Labels, changes: NDArray[np.int64], position: NDArray[np.float64]
) -> list[str]:
    """Tell of each label whether it is a false positive, a false negative, or right."""
    verdicts = []
    # One by one, as the errors of all labels are only counted.
    for k in range(len(labels)):
        one = slice(k, k + 1)
        label = Labels(labels.start[one], labels.end[one], labels.kind[one])
        errors = label_errors([changes], label, position=position)
        verdicts.append("FP" if errors.fp[0] else "FN" if errors.fn[0] else "")
    return verdicts


def _errors(metrics: Mapping[str, Mapping[str, float]]) -> list[list[str | float]]:
    return [
        # Plotly reads the names as HTML.
        [escape(name), row["label_errors"], row["standard_error"]]
        for name, row in metrics.items()
    ]


def _sequences(
    sequences: Sequence[ReportedSequence], is_time: bool
) -> list[dict[str, Any]]:
    # Many sequences share the points of a page, so that its size has a bound.
    n_bins = _MOST_POINTS // (4 * max(1, len(sequences)))
    n_bins = int(np.clip(n_bins, _FEWEST_BINS, _MOST_BINS))
    return [_sequence(one, n_bins, is_time) for one in sequences]


def _sequence(one: ReportedSequence, n_bins: int, is_time: bool) -> dict[str, Any]:
    """Compute what the panel of a sequence draws."""
    # Browsers count times in milliseconds.
    unit = _MILLISECOND if is_time else 1.0
    position = one.position / unit
    width = position[-1] - position[0]
    kept = extremes((position - position[0]) / (width or 1.0), one.value, n_bins)
    # The last mean reaches one observation beyond the last, or it could have no length.
    step = position[-1] - position[-2] if position.size > 1 else 1.0
    edge = np.append(position, position[-1] + step)
    verdicts = label_verdicts(one.labels, one.changes, one.position)
    jumps = one.errors.min_log_penalty[1:]
    ends = [*jumps, one.log_penalty, one.final_log_penalty]
    return {
        "name": one.name,
        "group": one.group,
        "position": position[kept],
        # Six digits are more than a screen shows, and less text.
        "value": np.array([float(f"{value:.6g}") for value in one.value[kept]]),
        "n": one.value.size,
        "edge": edge[np.concatenate(([0], one.changes, [one.value.size]))],
        "mean": one.mean,
        "labels": [
            [start / unit, end / unit, kind, verdict]
            for start, end, kind, verdict in zip(
                one.labels.start.tolist(),
                one.labels.end.tolist(),
                one.labels.kind,
                verdicts,
                strict=True,
            )
        ],
        "n_errors": sum(verdict != "" for verdict in verdicts),
        "penalty_edge": [min(ends) - _REACH, *jumps.tolist(), max(ends) + _REACH],
        "fp": one.errors.fp,
        "fn": one.errors.fn,
        "log_penalty": one.log_penalty,
        "final": one.final_log_penalty,
        "target": [_finite(end) for end in target_interval(one.errors)],
    }


def _curve(name: str, curve: ROCCurve) -> dict[str, Any]:
    # Constants are added to the predictions: the piece around 0 is what they do as
    # they are.
    low, high = curve.threshold.T
    at = int(((low <= 0) & (high > 0)).argmax())
    predicted = [curve.fpr[at], curve.tpr[at]]
    drawn = drawn_curve(name, curve.fpr, curve.tpr)
    return drawn | {"auc": curve.auc, "predicted": predicted}


def _finite(value: float) -> float | None:
    # JSON has no infinity; null is an interval's open end.
    return value if np.isfinite(value) else None

"""Summary of calibration: intercept, slope, observed / expected and Brier score."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rocpath.evaluation.columns import design_warnings, interval_of
from rocpath.evaluation.designs import design_of
from rocpath.evaluation.metrics.brier import Brier
from rocpath.evaluation.metrics.calibration import (
    CalibrationIntercept,
    CalibrationSlope,
    ObservedExpected,
)
from rocpath.evaluation.metrics.metric import column_of
from rocpath.evaluation.results import MetricInterval, TextTable, frame_of, percent
from rocpath.sample import Sample
from rocpath.validation import Floats, check_none, share_between

_PERFECT = {"intercept": "0", "slope": "1", "observed_expected": "1", "brier": ""}


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class CalibrationSummary(TextTable):
    """How far predicted probabilities agree with observed shares of positives.

    Attributes
    ----------
    intercept : MetricInterval
        Mean log-odds by which predictions are too low; 0 if calibrated.
    slope : MetricInterval
        Slope of the log-odds; 1 if calibrated, less than 1 if predictions are too extreme.
    observed_expected : MetricInterval
        Observed number of positives, divided by the sum of the probabilities.
    brier : MetricInterval
        Brier score: the mean squared difference between probability and label.
    positive : label
        Positive class.
    notes : tuple of str
        Reasons for which a value is NaN, or to doubt an interval.
    """

    intercept: MetricInterval
    slope: MetricInterval
    observed_expected: MetricInterval
    brier: MetricInterval
    positive: Any
    notes: tuple[str, ...] = ()

    @property
    def intervals(self) -> dict[str, MetricInterval]:
        """The four measures by their names."""
        return {name: getattr(self, name) for name in _PERFECT}

    def to_frame(self) -> Any:
        """Return a data frame with a row per measure."""
        return frame_of([one.row() for one in self.intervals.values()])

    def _tables(self) -> list[tuple[list[str], list[list[str]]]]:
        header = ["", "value", f"{percent(self.brier.confidence)} CI", "calibrated"]
        rows = []
        for name, one in self.intervals.items():
            limits = "" if np.isnan(one.low) else f"{one.low:.4f} to {one.high:.4f}"
            value = "undefined" if np.isnan(one.value) else f"{one.value:.4f}"
            rows.append([one.name, value, limits, _PERFECT[name]])
        return [(header, rows)]

    def _below(self) -> list[str]:
        one = self.brier
        sizes = f"{one.n_positives:,} positives ({self.positive}), {one.n_negatives:,} negatives"
        if one.n_groups is not None:
            sizes += f", {one.n_groups:,} groups"
        return [f"{sizes}.", *(f"Note: {note}." for note in self.notes)]


def calibration_summary(
    y: ArrayLike,
    probability: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    confidence: float = 0.95,
    positive: Any = None,
) -> CalibrationSummary:
    """Summarize the calibration of predicted probabilities, with intervals.

    Parameters
    ----------
    y : array-like, shape (n_rows,)
        Labels with exactly two distinct values, from rows that the model was not
        fitted to.
    probability : array-like, shape (n_rows,)
        Predicted probabilities of the positive class.
    groups : array-like, shape (n_rows,), optional
        Group of each row, as in :func:`auc_interval`.
    sample_weight : array-like, shape (n_rows,), optional
        Non-negative weight of each row.
    confidence : float
        Nominal coverage of each interval.
    positive : label, optional
        Positive class; by default, the larger of the two labels.

    Returns
    -------
    CalibrationSummary

    Examples
    --------
    >>> import numpy as np
    >>> import rocpath as rp
    >>> y, p = np.repeat([1, 0, 1, 0], [20, 10, 10, 20]), np.repeat([0.8, 0.2], 30)
    >>> summary = rp.calibration_summary(y, p)
    >>> round(summary.slope.value, 3), round(summary.observed_expected.value, 3)
    (0.5, 1.0)
    """
    confidence = share_between("confidence", confidence)
    sample = Sample.from_labels(y, groups=groups, sample_weight=sample_weight, positive=positive)
    score = sample.scores("probability", probability)
    check_none((score < 0) | (score > 1), "probability must be in [0, 1]", score)
    return summarize_calibration(sample, score, confidence)


def summarize_calibration(sample: Sample, score: Floats, confidence: float) -> CalibrationSummary:
    """Summarize the calibration of validated probabilities."""
    notes = [text.rstrip(".") for text in design_warnings(sample)]
    n_certain = int(np.count_nonzero((score == 0) | (score == 1)))
    if n_certain:
        notes.append(
            "intercept and slope require probabilities strictly between 0 and 1, but "
            f"{n_certain:,} rows have 0 or 1"
        )
    measures: dict[str, MetricInterval] = {}
    metrics: dict[str, Any] = {
        "intercept": CalibrationIntercept(),
        "slope": CalibrationSlope(),
        "observed_expected": ObservedExpected(),
        "brier": Brier(),
    }
    for name, metric in metrics.items():
        if n_certain and name in ("intercept", "slope"):
            measures[name] = _undefined(metric.name, sample, confidence)
            continue
        column = column_of(metric, sample, score)
        if not np.isfinite(column.value):
            notes.append(f"the {metric.name} does not exist: a threshold separates the classes")
            measures[name] = _undefined(metric.name, sample, confidence)
            continue
        measures[name] = interval_of(design_of([[column]]), 0, confidence)
    return CalibrationSummary(**measures, positive=sample.classes[1], notes=tuple(notes))


def _undefined(name: str, sample: Sample, confidence: float) -> MetricInterval:
    unknown = float("nan")
    return MetricInterval(
        name=name,
        value=unknown,
        low=unknown,
        high=unknown,
        confidence=confidence,
        positive=sample.classes[1],
        **sample.counts,
    )

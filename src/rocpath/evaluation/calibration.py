"""Calibration curve: observed shares of positives against predicted probabilities."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath.evaluation.rate_bounds import effective_counts, rate_bounds
from rocpath.evaluation.results import TextTable, percent
from rocpath.sample import Sample
from rocpath.validation import Floats, check_none, share_between

_MAX_BINS = 10  # more bins would be too narrow to see
_POSITIVES_PER_BIN = 10  # expected number; with fewer, the observed share is too uncertain


class CalibrationBin(NamedTuple):
    """Mean predicted probability and observed share of positives in one bin."""

    probability: float
    share: float
    low: float
    high: float
    n_rows: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CalibrationCurve(TextTable):
    """The calibration curve of predicted probabilities.

    Attributes
    ----------
    bins : list of CalibrationBin
        Bins by increasing probability: ``probability`` is the mean prediction,
        ``share`` the observed share of positives, ``low`` and ``high`` its confidence
        limits, and ``n_rows`` the number of rows.
    confidence : float
        Nominal coverage of each interval.
    """

    bins: list[CalibrationBin]
    confidence: float

    def _tables(self) -> list[tuple[list[str], list[list[str]]]]:
        header = ["predicted", "observed", f"{percent(self.confidence)} CI", "rows"]
        rows = [
            [
                f"{one.probability:.4f}",
                f"{one.share:.4f}",
                f"{one.low:.4f} to {one.high:.4f}",
                f"{one.n_rows:,}",
            ]
            for one in self.bins
        ]
        return [(header, rows)]


def calibration_curve(
    y: ArrayLike,
    probabilities: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
    positive: Any = None,
) -> CalibrationCurve:
    """Compare predicted probabilities with observed shares of positives.

    Rows are sorted by probability and divided into at most ten bins with equal
    expected numbers of positives, at least ten in each bin if possible. The intervals
    are Clopper-Pearson intervals.

    Parameters
    ----------
    y : array-like, shape (n_rows,)
        Labels with exactly two distinct values, from rows that the model was not
        fitted to.
    probabilities : array-like, shape (n_rows,)
        Predicted probabilities of the positive class.
    groups : array-like, shape (n_rows,), optional
        Group of each row, as in :func:`auc_interval`. The intervals then use effective
        sample sizes (Korn and Graubard, 1998).
    confidence : float
        Nominal coverage of each interval.
    positive : label, optional
        Positive class; by default, the larger of the two labels.

    Returns
    -------
    CalibrationCurve

    Examples
    --------
    >>> import numpy as np
    >>> import rocpath as rp
    >>> y, probability = np.arange(100) % 4 == 0, np.linspace(0.1, 0.4, 100)
    >>> rp.calibration_curve(y, probability)
    predicted  observed            95% CI  rows
    0.1939       0.2540  0.1527 to 0.3794    63
    0.3455       0.2432  0.1177 to 0.4120    37
    """
    sample = Sample.from_labels(y, groups=groups, positive=positive)
    probability = sample.scores("probabilities", probabilities)
    is_outside = (probability < 0) | (probability > 1)
    check_none(is_outside, "probabilities must be in [0, 1]", probability)
    confidence = share_between("confidence", confidence)
    bins = calibration_bins(sample.is_positive, probability, confidence, sample.unit)
    return CalibrationCurve(bins, confidence)


def calibration_bins(
    is_positive: NDArray[np.bool_],
    probability: Floats,
    confidence: float = 0.95,
    groups: NDArray[np.intp] | None = None,
) -> list[CalibrationBin]:
    """Bin rows by probability, with equal expected numbers of positives in each bin.

    Rows with equal probabilities are in the same bin, so that the bins do not depend on
    the order of the rows.
    """
    # With equal numbers of rows, most bins would contain no positives of a rare class.
    order = np.argsort(probability, kind="stable")
    ranked = probability[order]
    expected = np.cumsum(ranked)
    n_bins = int(expected[-1] // _POSITIVES_PER_BIN)
    n_bins = min(max(n_bins, 2), _MAX_BINS, order.size)
    last = np.searchsorted(expected, expected[-1] * np.arange(1, n_bins) / n_bins)
    # A bin starts at the first of several tied rows.
    edges = np.unique(np.searchsorted(ranked, ranked[last]))
    bins = []
    for rows in np.split(order, edges):
        if rows.size:
            code = None if groups is None else groups[rows]
            counts = effective_counts(is_positive[rows], code)
            limits = rate_bounds(*counts, 0.5 * (1.0 + confidence))
            share = float(is_positive[rows].mean())
            bins.append(CalibrationBin(float(probability[rows].mean()), share, *limits, rows.size))
    return bins

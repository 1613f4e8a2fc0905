"""Validation of sequences, and the search for segmentations in the C++ core."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import rocpath._core as _core
from rocpath.changepoint.cost_properties import COSTS
from rocpath.changepoint.labels import KINDS, Labels, sequence_places
from rocpath.changepoint.observations import (
    observed,
    positive_squares,
    robust_threshold,
    variance_floor,
)
from rocpath.changepoint.segment_costs import Constraint, SegmentCost
from rocpath.files.value_limits import value_limits
from rocpath.validation import check_none, one_of, read_only

# First and last change (for labels of peaks, observation) in each region, and its kind.
LabelRules = tuple[NDArray[np.int32], ...]

# If values and weights are at most this limit, weighted sums of squares do not overflow.
LARGEST_OBSERVATION = 1e100
# Approximate number of observations whose median is the origin of the data.
_SAMPLE_SIZE = 997
# Number of observations that are passed to the core at a time. Their scaled copies take
# little memory, and progress is reported several times per second.
_BLOCK_SIZE = 2**18


@dataclass(frozen=True, slots=True, eq=False)
class CheckedSequence:
    """A validated sequence without missing observations, and the units of the search.

    The search uses (x - origin) / 2**exponent and weight / 2**weight_exponent to avoid
    overflow and cancellation.
    """

    x: NDArray[np.float64]  # squared values for the variance cost
    weight: NDArray[np.float64]
    cost: str  # name in the C++ core
    constraint: Constraint
    low: float  # range of x - origin
    high: float
    origin: NDArray[np.float64]  # one entry per column, or a scalar
    exponent: int
    weight_exponent: int
    rules: LabelRules
    threshold: float  # threshold of a robust cost, 0 for other costs
    floor: NDArray[np.float64]  # smallest segment variance of each column
    # Indices of the observations that are not missing, or None if no observation is missing.
    index: NDArray[np.intp] | None
    n: int  # length of the sequence, including missing observations

    def original(self, changes: NDArray[Any]) -> NDArray[np.int64]:
        """Convert changes to indices of the sequence that includes missing observations."""
        found = changes if self.index is None else self.index[changes]
        return read_only(found.astype(np.int64))

    @property
    def time(self) -> NDArray[np.float64]:
        """Index of each observation in the sequence that includes missing observations."""
        return np.arange(float(self.n)) if self.index is None else self.index.astype(float)

    def penalty_in_units(self, penalty: float) -> float:
        """Return the penalty in the units of the search; positive penalties stay positive."""
        power = COSTS[self.cost].power * self.exponent + self.weight_exponent
        with np.errstate(over="ignore", under="ignore"):
            scaled = float(np.ldexp(penalty, -power))
        # A penalty of 0 would allow changes without a gain.
        return max(scaled, np.finfo(float).smallest_subnormal) if penalty else 0.0


def checked_sequence(
    x: ArrayLike,
    weights: ArrayLike | None,
    position: ArrayLike | None = None,
    *,
    cost: SegmentCost,
    constraint: Constraint = None,
    labels: Labels | None = None,
    threshold: float | None = None,
) -> CheckedSequence:
    """Return a validated sequence, or raise if it cannot be segmented."""
    core_cost = core_name(x, cost, constraint, threshold)
    check_label_kinds(labels, constraint)
    value, weight, index = observed("x", x, weights)
    check_observations("x", value, cost)
    _check_size("weights", weight)
    value = positive_squares(value, weight) if cost == "variance" else value
    # The core numbers observations with signed 32-bit integers.
    if len(value) >= 2**31:
        raise ValueError(f"x must be shorter than 2**31, got {len(value)}.")
    place = None
    if labels is not None or position is not None:
        # Labels refer to positions, which do not depend on missing observations.
        place = sequence_places(np.shape(x)[0], position, labels)
        place = place if index is None else place[index]
    origin = _origin(value, core_cost)
    low = float((value.min(axis=0) - origin).min())
    high = float((value.max(axis=0) - origin).max())
    return CheckedSequence(
        value,
        weight,
        core_cost,
        constraint,
        low,
        high,
        origin,
        int(np.frexp(max(high, -low))[1]) if COSTS[cost].is_homogeneous else 0,
        int(np.frexp(weight.max())[1]),
        label_rules(labels, place),
        *_threshold_and_floor(value, weight, cost, threshold),
        index,
        np.shape(x)[0],
    )


def core_name(
    x: Any, cost: str, constraint: Constraint = None, threshold: float | None = None
) -> str:
    """Return the name of the cost in the core, or raise if other arguments are incompatible."""
    one_of("constraint", constraint, (None, "up_down"))
    is_table = np.ndim(x) == 2
    what = "several columns" if is_table and cost == "normal" else f"cost={cost!r}"
    core_cost = "multivariate_normal" if is_table and cost == "normal" else cost
    properties = COSTS[core_cost]
    if is_table and not properties.allows_columns:
        raise ValueError(
            f"x must be one-dimensional for {what}, got an array of shape {np.shape(x)}."
        )
    if constraint is not None and not properties.allows_constraint:
        raise ValueError(f"constraint must be None for {what}, got {constraint!r}.")
    if threshold is not None and not properties.is_robust:
        raise ValueError(f"threshold must be None for {what}, got {threshold!r}.")
    return core_cost


def _origin(x: NDArray[np.float64], cost: str) -> NDArray[np.float64]:
    """Return the values that are subtracted from x, 0 unless the cost is shift-invariant.

    Sums of values far from zero would suffer from cancellation. The origin is an
    observed value, so its differences from nearby values are exact.
    """
    if not COSTS[cost].is_shift_invariant:
        return np.zeros(())
    sample = x[:: max(1, len(x) // _SAMPLE_SIZE)]
    return np.asarray(np.sort(sample, axis=0)[len(sample) // 2])


def _threshold_and_floor(
    x: NDArray[np.float64], weight: NDArray[np.float64], cost: str, threshold: float | None
) -> tuple[float, NDArray[np.float64]]:
    """Return the threshold of a robust cost, and the smallest segment variance of each column."""
    columns = x.reshape(len(x), -1).T
    if COSTS[cost].is_robust:
        return robust_threshold(x, weight, cost, threshold), np.zeros(1)
    if cost == "mean_variance":
        return 0.0, np.array([variance_floor(column, weight) for column in columns])
    return 0.0, np.zeros(len(columns))


def search(
    sequence: CheckedSequence,
    *,
    penalty: float | None = None,
    max_changes: int = 0,
    min_length: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Find the changes of the best models."""
    exponent = sequence.exponent
    low, high = np.ldexp([sequence.low, sequence.high], -exponent)
    segmenter = _core.segmenter(
        sequence.cost,
        sequence.constraint == "up_down",
        # The interval of means must not be empty.
        (low, high if low < high else low + 1.0),
        penalty is not None,
        0.0 if penalty is None else sequence.penalty_in_units(penalty),
        max_changes,
        min_length,
        float(np.ldexp(sequence.threshold, -exponent)),
        _scaled(sequence.floor, -2 * exponent),
        *sequence.rules,
    )
    n_done = 0
    for x, weight in _blocks(sequence):
        segmenter.push(_scaled(x, -exponent), _scaled(weight, -sequence.weight_exponent))
        n_done += weight.size
        if progress is not None:
            progress(n_done, sequence.weight.size)
    return segmenter.finish()


def fit(
    sequence: CheckedSequence,
    change: NDArray[np.int32],
    is_tied: NDArray[np.int32],
    n_changes: NDArray[np.int64],
) -> dict[str, Any]:
    """Compute costs, and means relative to the origin, in the units of the data."""
    fitter = _core.model_fitter(
        sequence.cost, sequence.threshold, sequence.floor, change, is_tied, n_changes
    )
    for x, weight in _blocks(sequence):
        fitter.push(x, weight)
    return fitter.finish()


def _blocks(sequence: CheckedSequence) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Yield blocks of flattened observations, relative to the origin, and their weights."""
    for start in range(0, sequence.weight.size, _BLOCK_SIZE):
        block = slice(start, start + _BLOCK_SIZE)
        x = sequence.x[block] - sequence.origin
        if COSTS[sequence.cost].uses_time:
            # The search scales times together with values, which does not affect lines.
            x = np.column_stack((x, sequence.time[block]))
        yield x.ravel(), sequence.weight[block]


def check_observations(name: str, x: NDArray[np.float64], cost: SegmentCost) -> None:
    """Raise if the observations cannot be segmented."""
    if x.size == 0:
        raise ValueError(f"{name} must have at least one observation, got none.")
    _check_size(name, x)
    least, most, rule = value_limits(cost)
    if x.min() < least or x.max() > most:
        check_none((x < least) | (x > most), f"{name} {rule}", x)


def _scaled(values: NDArray[np.float64], exponent: int) -> NDArray[np.float64]:
    """Multiply values by 2**exponent; multiplication is faster than ldexp."""
    if abs(exponent) < 1000:
        return values * float(np.ldexp(1.0, exponent))
    return np.ldexp(values, exponent)


def _check_size(name: str, values: NDArray[np.float64]) -> None:
    # This comparison is also false for NaN.
    if -LARGEST_OBSERVATION <= values.min() <= values.max() <= LARGEST_OBSERVATION:
        return
    # Of several columns, the first bad value in each row is reported.
    rows = values.reshape(len(values), -1)
    worst = rows[np.arange(len(rows)), np.argmax(~(np.abs(rows) <= LARGEST_OBSERVATION), axis=1)]
    rule = f"{name} must be finite and at most {LARGEST_OBSERVATION:g} in absolute value"
    check_none(~(np.abs(worst) <= LARGEST_OBSERVATION), rule, worst)


def label_rules(labels: Labels | None, place: NDArray[np.float64] | None) -> LabelRules:
    """Convert labels to constraints, given the position of each observation."""
    if labels is None or place is None:
        return (np.empty(0, dtype=np.int32),) * 3
    up_to_start = np.searchsorted(place, labels.start, side="right")
    below_end = np.searchsorted(place, labels.end, side="left")
    up_to_end = np.searchsorted(place, labels.end, side="right")
    is_of_peaks = np.array([KINDS[kind].counts == "peak" for kind in labels.kind], dtype=bool)
    # A change at t lies in a region if t >= 1 and start < position[t] <= end.
    # Observation t extends to position[t + 1], so it overlaps a region if
    # position[t] < end and position[t + 1] > start.
    first = np.where(is_of_peaks, np.maximum(up_to_start - 1, 0), np.maximum(up_to_start, 1))
    last = np.where(is_of_peaks, below_end, up_to_end) - 1
    for row in np.flatnonzero(first > last):
        if KINDS[labels.kind[row]].least > 0:
            raise ValueError(
                f"labels{labels.where} must allow the changes they require, got "
                f"{labels.kind[row]!r} in row {labels.row[row]}, where no change can lie in "
                f"({labels.start[row]}, {labels.end[row]}]."
            )
    kind = np.array([_core.LabelKind[kind].value for kind in labels.kind], dtype=np.int32)
    # The search reads labels in order of position; empty regions have no effect.
    order = np.argsort(labels.start, kind="stable")
    kept = order[(first <= last)[order]]
    return tuple(column[kept].astype(np.int32) for column in (first, last, kind))


def check_label_kinds(labels: object, constraint: Constraint) -> None:
    """Raise if labels are given that cannot be used with the constraint."""
    if labels is None:
        return
    if not isinstance(labels, Labels):
        raise TypeError(f"labels must be Labels, got {type(labels).__name__}.")
    if constraint is None:
        for row, kind in zip(labels.row, labels.kind, strict=True):
            if KINDS[kind].counts != "change":
                raise ValueError(
                    "labels of peaks require constraint='up_down', got constraint=None and "
                    f"{kind!r} in row {row}{labels.where}."
                )

"""The passes of a segmentation over its sequence: check, search and fit.

A sequence is read in pieces and not kept, so that memory does not depend on its length.
Robust costs and costs with a variance need an array, from which the noise is estimated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import rocpath._core as _core
from rocpath.arguments import check_count, one_of, read_only, refuse_any, refuse_masked
from rocpath.changepoint.label_rules import LabelPlaces, LabelRules
from rocpath.changepoint.noise import ROBUST, robust_threshold, variance_floor
from rocpath.changepoint.observations import is_incomplete, observed
from rocpath.changepoint.pieces import SequencePieces, array_pieces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike, NDArray

    from rocpath.changepoint.labels import Labels
    from rocpath.changepoint.segmentation import Constraint, SegmentCost

# Sums of squares of values up to this limit, times weights up to it, do not overflow.
LARGEST_OBSERVATION = 1e100
COSTS = _core.segment_costs()
_FUNCTIONS_OF_A_MEAN = ("normal", "poisson")
# Approximate number of values per piece from which the center of the data is computed.
_SAMPLE_SIZE = 997


@dataclass(frozen=True, slots=True, eq=False)
class CheckedSequence:
    """A validated sequence, and the units of the search.

    The search uses (x - origin) / 2**exponent and weights / 2**weight_exponent to avoid
    overflow and cancellation.
    """

    source: SequencePieces
    cost: str  # its name in the C++ core
    constraint: Constraint
    n: int
    low: float
    high: float
    origin: NDArray[np.float64]  # of each column, or a scalar
    exponent: int
    weight_exponent: int
    rules: LabelRules
    threshold: float  # of robust costs
    floor: NDArray[np.float64]  # smallest variance of each column
    # Indices of the observations that are not missing, or None if no observation is missing.
    index: NDArray[np.intp] | None
    n_all: int

    def original(self, changes: NDArray[Any]) -> NDArray[np.int64]:
        """Convert changes to indices of the sequence that includes missing observations."""
        found = changes if self.index is None else self.index[changes]
        return read_only(found.astype(np.int64))

    def penalty_in_units(self, penalty: float) -> float:
        """Return the penalty in the units of the search; it stays positive if it is positive."""
        power = COSTS[self.cost]["power"] * self.exponent + self.weight_exponent
        with np.errstate(over="ignore", under="ignore"):
            scaled = float(np.ldexp(penalty, -power))
        # A penalty of 0 would allow changes without a gain.
        return max(scaled, np.finfo(float).smallest_subnormal) if penalty else 0.0


def checked_sequence(
    x: ArrayLike | SequencePieces,
    weights: ArrayLike | None,
    position: ArrayLike | None = None,
    *,
    cost: SegmentCost,
    constraint: Constraint = None,
    labels: Labels | None = None,
    threshold: float | None = None,
) -> CheckedSequence:
    """Validate the sequence in a first pass; raise if it cannot be segmented."""
    core_cost = _core_cost(x, cost, constraint, threshold)
    # In this pass, both the positions of labels and the indices of the search are known.
    places = LabelPlaces(labels, constraint)
    source, index = _source(x, weights, position, labels)
    n, lowest, highest, max_weight, sample = _first_pass(source, cost, places)
    origin = _origin(sample, core_cost)
    low, high = float((lowest - origin).min()), float((highest - origin).max())
    return CheckedSequence(
        source,
        core_cost,
        constraint,
        n,
        low,
        high,
        origin,
        int(np.frexp(max(high, -low))[1]),
        int(np.frexp(max_weight or 1.0)[1]),
        places.rules(n),
        *_noise_limits(x, weights, cost, threshold, origin.size),
        index,
        n if index is None else len(x),  # type: ignore[arg-type]
    )


def _first_pass(
    source: SequencePieces, cost: SegmentCost, places: LabelPlaces
) -> tuple[int, NDArray[np.float64], NDArray[np.float64], float, NDArray[np.float64]]:
    """Return the length, limits of each column, the largest weight, and a sample of rows."""
    low, high, max_weight = np.array(np.inf), np.array(-np.inf), 0.0
    n, sample = 0, []
    for piece in source.read():
        check_observations("x", piece.x, cost, offset=n)
        low = np.minimum(low, piece.x.min(axis=0))
        high = np.maximum(high, piece.x.max(axis=0))
        if piece.weights is not None:
            _refuse_huge("weights", piece.weights, offset=n)
            rule = "weights must be positive"
            refuse_any(piece.weights <= 0, rule, piece.weights, offset=n)
            max_weight = max(max_weight, piece.weights.max())
        sample.append(piece.x[:: max(1, len(piece.x) // _SAMPLE_SIZE)])
        places.add(piece, offset=n)
        n += len(piece.x)
    if n == 0:
        raise ValueError("x must have at least one observation, got none.")
    # The core numbers observations with signed 32-bit integers.
    if n >= 2**31:
        raise ValueError(f"x must be shorter than 2**31, got {n}.")
    return n, low, high, max_weight, np.concatenate(sample)


def _core_cost(x: Any, cost: str, constraint: Constraint, threshold: float | None) -> str:
    """Return the core's name of the cost, or raise if another setting is incompatible."""
    one_of("constraint", constraint, (None, "up_down"))
    is_table = not isinstance(x, SequencePieces) and np.ndim(x) == 2
    what = "several columns" if is_table and cost == "normal" else f"cost={cost!r}"
    if is_table and cost not in ("normal", "mean_variance"):
        raise ValueError(
            f"x must be one-dimensional for {what}, got an array of shape {np.shape(x)}."
        )
    if isinstance(x, SequencePieces) and cost not in _FUNCTIONS_OF_A_MEAN:
        raise ValueError(f"x must be an array for {what}, got SequencePieces.")
    if constraint is not None and (is_table or cost not in _FUNCTIONS_OF_A_MEAN):
        raise ValueError(f"constraint must be None for {what}, got {constraint!r}.")
    if threshold is not None and cost not in ROBUST:
        raise ValueError(f"threshold must be None for {what}, got {threshold!r}.")
    return "columns" if is_table and cost == "normal" else cost


def _source(
    x: Any, weights: Any, position: Any, labels: Labels | None
) -> tuple[SequencePieces, NDArray[np.intp] | None]:
    """Return the observations that are not missing, and their indices if some are missing.

    Observations keep their positions, to which labels refer.
    """
    columns = {"weights": weights, "position": position}
    if isinstance(x, SequencePieces):
        for name, given in columns.items():
            if given is not None:
                raise ValueError(f"{name} must be None for pieces, which have their own.")
        return x, None
    refuse_masked("x", x)
    value = np.asanyarray(x)
    if value.dtype.kind != "f" or not np.isnan(value).any():
        return array_pieces(x, **columns), None
    n = len(value)
    index = np.flatnonzero(~is_incomplete(value))
    if index.size == 0:
        raise ValueError("x must have an observation that is not NaN, got none.")
    if position is None and labels is not None:
        columns["position"] = np.arange(float(n))
    for name, given in columns.items():
        if given is not None:
            check_count(f"{name} must have an entry", np.size(given), n, "observations")
            columns[name] = np.asarray(given)[index]
    return array_pieces(value[index], **columns), index


def _origin(sample: NDArray[np.float64], cost: str) -> NDArray[np.float64]:
    """Return the values to subtract if the cost is invariant to shifts.

    Sums of values far from zero would suffer from cancellation. The origin is a value
    of the data, so that it is subtracted from nearby values without rounding.
    """
    if not COSTS[cost]["is_shift_invariant"]:
        return np.zeros(())
    return np.asarray(np.sort(sample, axis=0)[len(sample) // 2])


def _noise_limits(
    x: Any, weights: Any, cost: str, threshold: float | None, n_columns: int
) -> tuple[float, NDArray[np.float64]]:
    """Return the threshold of a robust cost, and the smallest variance of each column."""
    floor = np.zeros(n_columns)
    if cost in _FUNCTIONS_OF_A_MEAN:
        return 0.0, floor
    value, weight = observed("x", x, weights)
    if cost in ROBUST:
        return robust_threshold(value, weight, cost, threshold), floor
    columns = value.reshape(len(value), -1).T
    return 0.0, np.array([variance_floor(column, weight) for column in columns])


def search(
    sequence: CheckedSequence,
    *,
    penalty: float | None = None,
    max_changes: int = 0,
    min_length: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Find the changes of the best models, in a second pass over the sequence."""
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
    n_read = 0
    for x, weight, _ in _centered(sequence):
        segmenter.push(_scaled(x, -exponent), _scaled(weight, -sequence.weight_exponent))
        n_read += weight.size
        if progress is not None:
            progress(n_read, sequence.n)
    return segmenter.finish()


def fit(
    sequence: CheckedSequence,
    change: NDArray[np.int32],
    is_tied: NDArray[np.int32],
    n_changes: NDArray[np.int64],
) -> tuple[dict[str, Any], NDArray[np.float64] | None]:
    """Compute costs, means and positions of changes, in a third pass over the sequence."""
    fitter = _core.model_fitter(
        sequence.cost, sequence.threshold, sequence.floor, change, is_tied, n_changes
    )
    start, n_read = [], 0
    for x, weight, position in _centered(sequence):
        # Costs and means in the units of the data, without the scaling of the search.
        fitter.push(x, weight)
        if position is not None:
            # Changes that lie in this piece, counted from its start.
            own = change - n_read
            start.append(position[own[(own >= 0) & (own < weight.size)]])
        n_read += weight.size
    return fitter.finish(), read_only(np.concatenate(start)) if start else None


def check_observations(
    name: str, x: NDArray[np.float64], cost: SegmentCost, *, offset: int = 0
) -> None:
    """Raise unless observations, which start at index ``offset``, can be segmented."""
    if x.size == 0:
        raise ValueError(f"{name} must have at least one observation, got none.")
    _refuse_huge(name, x, offset)
    least = COSTS[cost]["least_x"]
    if x.min() < least:
        sign = "negative" if least == 0 else f"below {least}"
        refuse_any(x < least, f"{name} must not be {sign} for cost={cost!r}", x, offset=offset)


def _centered(
    sequence: CheckedSequence,
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64] | None]]:
    """Yield the flattened observations of each piece, their weights and their positions."""
    for piece in sequence.source.read():
        yield (piece.x - sequence.origin).ravel(), piece.weight, piece.position


def _scaled(values: NDArray[np.float64], exponent: int) -> NDArray[np.float64]:
    """Multiply by a power of two; multiplication is faster than ldexp."""
    if abs(exponent) < 1000:
        return values * float(np.ldexp(1.0, exponent))
    return np.ldexp(values, exponent)


def _refuse_huge(name: str, values: NDArray[np.float64], offset: int) -> None:
    # NaN fails this comparison too.
    if -LARGEST_OBSERVATION <= values.min() <= values.max() <= LARGEST_OBSERVATION:
        return
    # If there are several columns, the first bad value of each row.
    rows = values.reshape(len(values), -1)
    worst = rows[np.arange(len(rows)), np.argmax(~(np.abs(rows) <= LARGEST_OBSERVATION), axis=1)]
    rule = f"{name} must be finite and at most {LARGEST_OBSERVATION:g} in size"
    refuse_any(~(np.abs(worst) <= LARGEST_OBSERVATION), rule, worst, offset=offset)

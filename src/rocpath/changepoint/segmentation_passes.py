"""The passes of a segmentation over its sequence: check, search and fit.

A sequence is read in pieces and not kept, so that memory does not depend on its length.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import rocpath._core as _core
from rocpath.arguments import LARGEST_VALUE, one_of, read_only, refuse_any, same_length
from rocpath.changepoint.label_rules import LabelPlaces, LabelRules
from rocpath.changepoint.pieces import SequencePieces, array_pieces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike, NDArray

    from rocpath.changepoint.labels import Labels
    from rocpath.changepoint.pieces import Piece
    from rocpath.changepoint.segmentation import Constraint, SegmentCost

# Squares of such values, times such weights, can still be summed.
LARGEST_OBSERVATION = 1e100
COSTS = _core.segment_costs()
# Values of each piece that determine the center of the data.
_SAMPLE_SIZE = 997


@dataclass(frozen=True, slots=True, eq=False)
class CheckedSequence:
    """A valid sequence, and the units of the search.

    The search uses (x - origin) / 2**exponent and weights / 2**weight_exponent, which
    neither overflow nor cancel.
    """

    source: SequencePieces
    cost: SegmentCost
    constraint: Constraint
    n: int
    low: float
    high: float
    origin: float
    exponent: int
    weight_exponent: int
    rules: LabelRules
    # Indices of the observations that are not missing, or None if all are there.
    index: NDArray[np.intp] | None = None
    n_all: int = 0

    def original(self, changes: NDArray[Any]) -> NDArray[np.int64]:
        """Return changes as indices of the sequence with its missing observations."""
        if self.index is None:
            return changes.astype(np.int64)
        return np.asarray(self.index[changes], dtype=np.int64)

    def penalty_in_units(self, penalty: float) -> float:
        """Return the penalty for the search; a positive one stays positive."""
        power = COSTS[self.cost]["power"] * self.exponent + self.weight_exponent
        with np.errstate(over="ignore", under="ignore"):
            scaled = float(np.ldexp(penalty, -power))
        # A penalty of 0 would allow changes without a gain.
        return max(scaled, np.finfo(float).smallest_subnormal) if penalty else 0.0


def checked_sequence(
    x: ArrayLike | SequencePieces,
    weights: ArrayLike | None,
    position: ArrayLike | None,
    *,
    cost: SegmentCost,
    constraint: Constraint,
    labels: Labels | None,
) -> CheckedSequence:
    """Read the sequence once, and raise if it cannot be segmented."""
    one_of("constraint", constraint, (None, "up_down"))
    # This pass knows both the positions of labels and the indices of the search.
    places = LabelPlaces(labels, constraint)
    x, weights, position, index, n_all = _without_missing(x, weights, position, labels)
    source = _as_pieces(x, weights, position)
    low, high, max_weight = np.inf, -np.inf, 0.0
    n, sample = 0, []
    for piece in source.read():
        check_observations("x", piece.x, cost, offset=n)
        _check_weights(piece, offset=n)
        low, high = min(low, piece.x.min()), max(high, piece.x.max())
        if piece.weights is not None:
            max_weight = max(max_weight, piece.weights.max())
        sample.append(piece.x[:: max(1, piece.x.size // _SAMPLE_SIZE)])
        places.add(piece, offset=n)
        n += piece.x.size
    _check_length(n)
    origin = _origin(np.concatenate(sample), cost)
    return CheckedSequence(
        source,
        cost,
        constraint,
        n,
        low - origin,
        high - origin,
        origin,
        int(np.frexp(max(high - origin, origin - low))[1]),
        int(np.frexp(max_weight or 1.0)[1]),
        places.rules(n),
        index,
        n if index is None else n_all,
    )


def _without_missing(
    x: Any, weights: Any, position: Any, labels: Labels | None
) -> tuple[Any, Any, Any, NDArray[np.intp] | None, int]:
    """Drop missing observations; those left keep their positions for labels."""
    if isinstance(x, SequencePieces):
        return x, weights, position, None, 0
    given = np.asanyarray(x)
    if given.ndim != 1 or given.dtype.kind != "f" or not np.isnan(given).any():
        return x, weights, position, None, 0
    index = np.flatnonzero(~np.isnan(given))
    n_all = given.size
    if index.size == 0:
        raise ValueError("x must have an observation that is not NaN, got none.")
    same_length(
        **{
            name: np.asarray(one)
            for name, one in (("x", x), ("weights", weights), ("position", position))
            if one is not None
        }
    )
    if position is None and labels is not None:
        position = np.arange(float(n_all))
    weights, position = (
        None if one is None else np.asarray(one)[index] for one in (weights, position)
    )
    return given[index], weights, position, index, n_all


def _origin(sample: NDArray[np.float64], cost: SegmentCost) -> float:
    """Return the value to subtract if the cost is invariant to shifts.

    Far from zero, sums would cancel; values near one of the data are subtracted
    exactly.
    """
    if not COSTS[cost]["is_shift_invariant"]:
        return 0.0
    return float(np.sort(sample)[sample.size // 2])


def _check_length(n: int) -> None:
    if n == 0:
        raise ValueError("x must have at least one observation, got none.")
    # The core numbers observations with signed 32-bit integers.
    if n >= 2**31:
        raise ValueError(f"x must be shorter than 2**31, got {n}.")


def search(
    sequence: CheckedSequence,
    *,
    penalty: float | None = None,
    max_changes: int = 0,
    min_length: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Read the sequence a second time, and return the changes of the best models."""
    low, high = np.ldexp([sequence.low, sequence.high], -sequence.exponent)
    segmenter = _core.segmenter(
        sequence.cost,
        sequence.constraint == "up_down",
        # The interval of means must not be empty.
        (low, high if low < high else low + 1.0),
        penalty is not None,
        0.0 if penalty is None else sequence.penalty_in_units(penalty),
        max_changes,
        min_length,
        *sequence.rules,
    )
    n_read = 0
    for x, weight, _ in _centered(sequence):
        segmenter.push(_scaled(x, -sequence.exponent), _scaled(weight, -sequence.weight_exponent))
        n_read += x.size
        if progress is not None:
            progress(n_read, sequence.n)
    return segmenter.finish()


def fit(
    sequence: CheckedSequence, found: dict[str, Any]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64] | None]:
    """Read the sequence a third time: costs, means, and positions of the changes."""
    # -1 marks numbers of changes that labels or the minimum length do not allow.
    is_model = found["n_changes"] >= 0
    fitter = _core.model_fitter(
        sequence.cost, found["change"], found["is_tied"], found["n_changes"][is_model]
    )
    start, n_read = [], 0
    for x, weight, position in _centered(sequence):
        # Costs and means in the units of the data, without the scaling of the search.
        fitter.push(x, weight)
        n_read += x.size
        if position is not None:
            # Changes that lie in this piece, counted from its start.
            change = found["change"] - (n_read - x.size)
            start.append(position[change[(change >= 0) & (change < x.size)]])
    costs, mean = fitter.finish()
    cost = np.full(is_model.size, np.inf)
    cost[is_model] = costs
    place = read_only(np.concatenate(start)) if start else None
    return read_only(cost), read_only(mean + sequence.origin), place


def check_observations(
    name: str, x: NDArray[np.float64], cost: SegmentCost, *, offset: int = 0
) -> None:
    """Raise unless the sequence, of which x begins at the offset, can be segmented."""
    if x.size == 0:
        raise ValueError(f"{name} must have at least one observation, got none.")
    _refuse_huge(name, x, offset)
    least = COSTS[cost]["least_x"]
    sign = "negative" if least == 0 else f"below {least}"
    rule = f"{name} must not be {sign} for cost={cost!r}"
    refuse_any(x < least, rule, x, offset=offset)


def _as_pieces(
    x: ArrayLike | SequencePieces, weights: ArrayLike | None, position: ArrayLike | None
) -> SequencePieces:
    if not isinstance(x, SequencePieces):
        return array_pieces(x, weights=weights, position=position)
    for name, given in (("weights", weights), ("position", position)):
        if given is not None:
            raise ValueError(f"{name} must be None for pieces, which have their own.")
    return x


def _centered(
    sequence: CheckedSequence,
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64] | None]]:
    for piece in sequence.source.read():
        weight = np.ones(piece.x.size) if piece.weights is None else piece.weights
        yield piece.x - sequence.origin, weight, piece.position


def _scaled(values: NDArray[np.float64], exponent: int) -> NDArray[np.float64]:
    """Multiply by a power of two; a product is faster than ldexp."""
    if abs(exponent) < 1000:
        return values * float(np.ldexp(1.0, exponent))
    return np.ldexp(values, exponent)


def _check_weights(piece: Piece, offset: int) -> None:
    if piece.weights is None:
        return
    _refuse_huge("weights", piece.weights, offset)
    is_bad = piece.weights <= 0
    refuse_any(is_bad, "weights must be positive", piece.weights, offset=offset)


def _refuse_huge(name: str, values: NDArray[np.float64], offset: int) -> None:
    # NaN fails this comparison too.
    if -LARGEST_OBSERVATION <= values.min() <= values.max() <= LARGEST_OBSERVATION:
        return
    rule = f"{name} must be finite and below {LARGEST_VALUE:g} in size"
    refuse_any(~(np.abs(values) < LARGEST_VALUE), rule, values, offset=offset)
    rule = f"{name} must be at most {LARGEST_OBSERVATION:g} in size"
    refuse_any(np.abs(values) > LARGEST_OBSERVATION, rule, values, offset=offset)

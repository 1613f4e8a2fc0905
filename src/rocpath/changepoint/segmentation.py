"""Best segmentations of one sequence: with 0..K changes, or for a penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import rocpath._core as _core
from rocpath.arguments import (
    finite_vector,
    number_from_zero,
    one_of,
    read_only,
    same_length,
    whole_number,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

SegmentCost = Literal["normal", "poisson"]
Constraint = Literal["up_down"] | None

# Squares of such values, times such weights, can still be summed.
LARGEST_OBSERVATION = 1e100


@dataclass(frozen=True, slots=True, eq=False)
class Segmentations:
    """Hold the best segmentations of a sequence with 0, 1, 2, ... changes.

    Attributes
    ----------
    cost : array, shape (max_changes + 1,)
        Cost of the best model with k changes. Without a constraint it never increases
        with k; under ``"up_down"`` it may, where a parity of changes does not suit.
    changes : tuple of arrays of int
        ``changes[k]`` has the k positions where a new segment starts, increasing, from
        1 to n - 1: the segments are ``x[0:c0], x[c0:c1], ...``.
    mean : tuple of arrays
        ``mean[k]`` has the k + 1 means of the segments.
    n : int
        Length of the sequence.
    """

    cost: NDArray[np.float64]
    changes: tuple[NDArray[np.int64], ...]
    mean: tuple[NDArray[np.float64], ...]
    n: int

    def __len__(self) -> int:
        """Return the number of models, ``max_changes + 1``."""
        return len(self.changes)


@dataclass(frozen=True, slots=True, eq=False)
class Segmentation:
    """Hold the best segmentation of a sequence for one penalty.

    Attributes
    ----------
    cost : float
        Cost without the penalty.
    changes : array of int
        Positions where a new segment starts, as in `Segmentations`.
    mean : array
        Means of the segments.
    penalty : float
        The penalty of each change.
    n : int
        Length of the sequence.
    """

    cost: float
    changes: NDArray[np.int64]
    mean: NDArray[np.float64]
    penalty: float
    n: int

    @property
    def n_changes(self) -> int:
        """The number of changes."""
        return self.changes.size


def segment(
    x: ArrayLike,
    max_changes: int,
    *,
    cost: SegmentCost = "normal",
    weights: ArrayLike | None = None,
    constraint: Constraint = None,
) -> Segmentations:
    """Find the best segmentation with every number of changes up to a largest.

    Exact, by functional pruning: in practice O(K n log n) time for K changes of n
    observations, and 4 K n bytes. Among segmentations of equal cost the answer depends
    on the data alone. Consecutive segments may have equal means where nothing better is
    left.

    Parameters
    ----------
    x : array-like, shape (n,)
        The sequence; for ``cost="poisson"`` not negative.
    max_changes : int
        The largest number of changes, below n.
    cost : {"normal", "poisson"}
        Cost of observations x of weights w in a segment of mean μ: Σ w (x - μ)², or
        Σ w (μ - x log μ) with 0 log 0 = 0.
    weights : array-like, shape (n,), optional
        Positive weights; 1 by default. For run-length coded data, the lengths of the
        runs: changes are then found between runs, where the best ones are anyway.
    constraint : {None, "up_down"}
        With ``"up_down"`` the means alternate: not lower in segments 1, 3, ... (peaks)
        than in their neighbours 0, 2, ... (background). An even number of changes gives
        whole peaks. Means may be equal.

    Returns
    -------
    Segmentations

    Examples
    --------
    >>> from rocpath import changepoint as cp
    >>> models = cp.segment([1, 1, 5, 5, 5, 2], 2)
    >>> models.cost.tolist()
    [20.833333333333332, 6.75, 0.0]
    >>> [changes.tolist() for changes in models.changes]
    [[], [2], [2, 5]]
    >>> models.mean[2].tolist()
    [1.0, 5.0, 2.0]
    """
    data = _Sequence.checked(x, weights, cost, constraint)
    max_changes = whole_number("max_changes", max_changes, least=0)
    if max_changes >= data.x.size:
        raise ValueError(
            f"max_changes must be below the length of x, {data.x.size}, "
            f"got {max_changes}."
        )
    found = _core.segment(
        data.scaled, data.scaled_weight, max_changes, data.cost, data.constraint
    )
    n_changes = np.arange(max_changes + 1)
    costs, mean = data.fit(found, n_changes)
    if constraint is None:
        # Equal models can differ by a rounding.
        costs = np.minimum.accumulate(costs)
        costs.setflags(write=False)
    position = read_only(found["position"].astype(np.int64))
    ends = np.cumsum(n_changes)
    return Segmentations(
        costs,
        tuple(np.split(position, ends[:-1])),
        tuple(np.split(mean, ends[:-1] + n_changes[1:])),
        data.x.size,
    )


def segment_penalty(
    x: ArrayLike,
    penalty: float,
    *,
    cost: SegmentCost = "normal",
    weights: ArrayLike | None = None,
    constraint: Constraint = None,
) -> Segmentation:
    """Find the segmentation with the smallest cost plus penalty times changes.

    Exact, by functional pruning, in practice in O(n log n) time. It is the model that
    `model_selection` selects for the penalty, when that knows enough models; where two
    are equally good, it may be either.

    Parameters
    ----------
    x : array-like, shape (n,)
        The sequence; for ``cost="poisson"`` not negative.
    penalty : float
        The price of a change, from 0 up; infinity allows none.
    cost, weights, constraint
        As for `segment`.

    Returns
    -------
    Segmentation

    Examples
    --------
    >>> from rocpath import changepoint as cp
    >>> best = cp.segment_penalty([1, 1, 5, 5, 5, 2], penalty=10)
    >>> best.changes.tolist(), best.cost
    ([2], 6.75)
    """
    data = _Sequence.checked(x, weights, cost, constraint)
    penalty = number_from_zero("penalty", penalty)
    # A change inside a run of equal values never helps, and for penalty 0 would not
    # hurt. Under a constraint it may help.
    is_new = np.append(True, data.x[1:] != data.x[:-1])
    start = np.flatnonzero(is_new if constraint is None else np.ones(data.x.size))
    found = _core.segment_penalty(
        data.scaled[start],
        np.add.reduceat(data.scaled_weight, start),
        penalty / data.cost_unit,
        data.cost,
        data.constraint,
    )
    found["position"] = start[found["position"]].astype(np.int32)
    position = read_only(found["position"].astype(np.int64))
    costs, mean = data.fit(found, np.array([position.size]))
    return Segmentation(float(costs[0]), position, mean, penalty, data.x.size)


@dataclass(frozen=True, slots=True, eq=False)
class _Sequence:
    """A checked sequence, and the same in units where nothing overflows or cancels."""

    x: NDArray[np.float64]
    weight: NDArray[np.float64]
    origin: float
    scaled: NDArray[np.float64]
    scaled_weight: NDArray[np.float64]
    cost_unit: float
    cost: _core.SegmentCost
    constraint: _core.SegmentConstraint

    @classmethod
    def checked(
        cls,
        x: ArrayLike,
        weights: ArrayLike | None,
        cost: SegmentCost,
        constraint: Constraint,
    ) -> _Sequence:
        values = finite_vector("x", x)
        one_of("cost", cost, ("normal", "poisson"))
        one_of("constraint", constraint, (None, "up_down"))
        check_observations("x", values, cost)
        weight = np.ones(values.size)
        if weights is not None:
            weight = finite_vector("weights", weights)
            same_length(x=values, weights=weight)
            if weight.min() <= 0:
                raise ValueError(
                    f"weights must be positive, got {weight.min()} at index "
                    f"{weight.argmin()}."
                )
            _refuse_huge("weights", weight)
        # Far from zero all would cancel; a value of the data itself is taken away
        # exactly from those near it.
        origin = float(np.sort(values)[values.size // 2]) if cost == "normal" else 0.0
        centered = values - origin
        exponent = int(np.frexp(np.abs(centered).max())[1])
        weight_exponent = int(np.frexp(weight.max())[1])
        power = 2 if cost == "normal" else 1
        return cls(
            centered,
            weight,
            origin,
            np.ldexp(centered, -exponent),
            np.ldexp(weight, -weight_exponent),
            float(np.ldexp(1.0, power * exponent + weight_exponent)),
            getattr(_core.SegmentCost, cost),
            getattr(_core.SegmentConstraint, constraint or "none"),
        )

    def fit(
        self, found: dict[str, Any], n_changes: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the cost of each model and the means of all segments."""
        costs, mean = _core.fit_models(
            self.x,
            self.weight,
            found["position"],
            found["is_tied"],
            n_changes.astype(np.int64),
            self.cost,
        )
        return costs, read_only(mean + self.origin)


def check_observations(name: str, x: NDArray[np.float64], cost: SegmentCost) -> None:
    """Raise unless the sequence can be segmented with the cost."""
    if x.size == 0:
        raise ValueError(f"{name} must have at least one observation, got none.")
    if x.size >= 2**31:
        raise ValueError(f"{name} must be shorter than 2**31, got {x.size}.")
    _refuse_huge(name, x)
    if cost == "poisson" and x.min() < 0:
        raise ValueError(
            f"{name} must not be negative for cost='poisson', got {x.min()} at index "
            f"{x.argmin()}."
        )


def _refuse_huge(name: str, values: NDArray[np.float64]) -> None:
    worst = np.abs(values).argmax()
    if abs(values[worst]) > LARGEST_OBSERVATION:
        raise ValueError(
            f"{name} must be at most {LARGEST_OBSERVATION:g} in size, got "
            f"{values[worst]} at index {worst}."
        )

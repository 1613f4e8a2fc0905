"""Predictions of a ReLU network as functions of a step along a direction of one layer.

The parameters of the layer change by ``step * direction``. Its outputs are linear in the
step, a ReLU bends a line where it crosses zero, and later layers add such functions. A
prediction is therefore a line at step 0 and a list of kinks, at which the line changes.
With upward bends in P and downward bends in Q, it is a difference P - Q of two convex
functions, regardless of the depth of the network and the signs of its weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn
from torch.nn import functional

from rocpath.sample import positive_labels
from rocpath.torch.network_parts import (
    Layer,
    Vector,
    checked_direction,
    folded_layers,
    outputs,
    split_network,
)
from rocpath.validation import check_count

_CHUNK = 2**20  # number of lines of inner layers that are in memory at once


class Kinks(NamedTuple):
    """Steps at which the lines of rows change, in order of the step."""

    step: NDArray[Any]
    row: NDArray[Any]
    intercept: NDArray[Any]  # intercept of the line after the kink
    slope: NDArray[Any]
    intercept_change: NDArray[Any]
    slope_change: NDArray[Any]

    def take(self, index: NDArray[Any] | slice) -> Kinks:
        """Return a subset of the kinks."""
        return Kinks(*(column[index] for column in self))


class RowLines(NamedTuple):
    """Intercept and slope of the line of each prediction."""

    intercept: NDArray[Any]
    slope: NDArray[Any]

    def after(self, kinks: Kinks) -> RowLines:
        """Return the lines after the given kinks; the last kink of a row defines its line."""
        intercept, slope = self.intercept.copy(), self.slope.copy()
        intercept[kinks.row], slope[kinks.row] = kinks.intercept, kinks.slope
        return RowLines(intercept, slope)


class Ray(NamedTuple):
    """Predictions of all rows as functions of the step."""

    lines: RowLines  # just after step 0
    kinks: Kinks
    # Bounds on the rounding errors of the intercept and slope of any line of a row.
    intercept_error: NDArray[Any]
    slope_error: NDArray[Any]


@dataclass(frozen=True, eq=False)
class MovedLayer:
    """Inputs of a layer, the parameters from this layer on, and the direction of the layer."""

    features: NDArray[np.float64]
    source: NDArray[np.intp]  # index of the first row with the same features
    is_positive: NDArray[np.bool_]
    layers: list[Layer]
    direction: Layer

    @classmethod
    def from_network(
        cls,
        network: nn.Module,
        layer: nn.Linear,
        X: Tensor,
        y: ArrayLike | Tensor,
        direction: Sequence[Tensor],
    ) -> MovedLayer:
        """Validate the arguments, and split the network at the layer, in float64."""
        before, after = split_network(network, layer)
        layers, scale = folded_layers(after)
        weight, bias = checked_direction(layer, direction)
        move = Layer(scale[:, None] * weight, scale * bias)
        if not isinstance(X, Tensor):
            raise TypeError(f"X must be a tensor, got {type(X).__name__}.")
        labels = y.detach().cpu().double().numpy() if isinstance(y, Tensor) else y
        is_positive = positive_labels(labels)
        check_count("X must have one row", len(X), len(is_positive), "labels")
        features = outputs(before, X)
        if features.ndim != 2 or features.shape[1] != layer.in_features:
            raise ValueError(
                f"layer must receive inputs of shape (n_examples, {layer.in_features}), got "
                f"{features.shape}."
            )
        if not np.isfinite(features).all():
            raise ValueError("X must result in finite inputs of layer, got NaN or infinity.")
        _, first, group = np.unique(features, axis=0, return_index=True, return_inverse=True)
        source = first[group.reshape(-1)]
        return cls(features, source, is_positive, layers, move)

    @property
    def inactive_prediction(self) -> float:
        """Prediction of a row for which no unit of the layer is active, without kinks."""
        inactive = np.full((1, len(self.layers[0].bias)), -1.0)
        start = np.zeros(1)
        segments = _Segments(np.zeros(1, int), start, start + 1.0, inactive, 0.0 * inactive)
        lines, _ = _sum_of_units(_through_layers(segments, self.layers[1:-1]), self.layers[-1])
        return float(lines.intercept[0])

    @property
    def default_max_step(self) -> float:
        """Step beyond which the parameters are nearly a multiple of the direction."""
        if len(self.layers) == 1:
            return np.inf
        largest, change = (
            max(abs(weight).max(), abs(bias).max())
            for weight, bias in (self.layers[0], self.direction)
        )
        return float(2.0**20 * largest / change) if largest and change else 1.0

    def ray(self, max_step: float) -> Ray:
        """Return the predictions of all rows as functions of the step.

        Equal rows have bitwise equal lines. Time and memory are proportional to the number
        of kinks.
        """
        layers = self.layers
        source = self.source
        n_rows = len(self.source)
        intercept, slope = (
            (self.features @ layer.weight.T + layer.bias)[source]
            for layer in (layers[0], self.direction)
        )
        if len(layers) == 1:
            # As in line searches, these float64 lines are exact by definition.
            kinks = Kinks(np.empty(0), np.empty(0, dtype=np.intp), *np.empty((4, 0)))
            lines = RowLines(intercept[:, 0], slope[:, 0])
            return Ray(lines, kinks, np.zeros(n_rows), np.zeros(n_rows))
        starts, ends = np.zeros(n_rows), np.full(n_rows, max_step)
        segments = _Segments(np.arange(n_rows), starts, ends, intercept, slope)
        # Inner layers hold all lines of a row for each of its kinks.
        size = max(1, _CHUNK // slope.shape[1] ** min(len(layers) - 1, 2))
        found = []
        for begin in range(0, n_rows, size):
            chunk = _Segments(*(column[begin : begin + size] for column in segments))
            found.append(_sum_of_units(_through_layers(chunk, layers[1:-1]), layers[-1]))
        lines, kinks = (
            kind(*map(np.concatenate, zip(*chunks, strict=True)))
            for kind, chunks in zip((RowLines, Kinks), zip(*found, strict=True), strict=True)
        )
        n_kinks = np.bincount(kinks.row, minlength=1).max()
        errors = (error[source] for error in self._rounding_errors(n_kinks))
        return Ray(lines, kinks.take(np.argsort(kinks.step, kind="stable")), *errors)

    def _rounding_errors(self, n_kinks: int) -> tuple[Vector, Vector]:
        """Bound the rounding errors of the intercept and the slope of any line of a row.

        The error of a sum of n products is at most n rounding errors of the sum of their
        absolute values. Later layers multiply it by at most their absolute weights. A chord
        adds the changes at up to ``n_kinks`` kinks.
        """
        factor = np.ones(1)
        later_bias = 0.0
        n_terms = 64.0 + n_kinks
        for layer in self.layers[:0:-1]:
            later_bias += float(factor @ np.abs(layer.bias))
            factor = factor @ np.abs(layer.weight)
            n_terms += layer.weight.shape[1]
        length = np.linalg.norm(self.features, axis=1)
        intercept, slope = (
            length * (factor @ np.linalg.norm(layer.weight, axis=1)) + factor @ np.abs(layer.bias)
            for layer in (self.layers[0], self.direction)
        )
        relative = 8.0 * len(self.layers) * (n_terms + self.features.shape[1]) * 2.0**-53
        return relative * (intercept + later_bias), relative * slope

    def resting_rows(self) -> NDArray[np.bool_]:
        """Return which rows have a unit that stays at zero, where rounding may activate it."""
        weight, bias = self.layers[0]
        move, bias_move = self.direction
        length = np.linalg.norm(self.features, axis=1)[:, None]
        is_zero = np.ones((len(self.features), len(bias)), dtype=bool)
        for matrix, constant in ((weight, bias), (move, bias_move)):
            size = length * np.linalg.norm(matrix, axis=1) + np.abs(constant)
            error = 8.0 * (64.0 + self.features.shape[1]) * 2.0**-53 * size
            is_zero &= np.abs(self.features @ matrix.T + constant) <= error
        is_resting: NDArray[np.bool_] = np.any(is_zero, axis=1)
        return is_resting[self.source]

    def scores(self, step: float) -> Vector:
        """Return the predictions of a forward pass at a step, identical for equal rows."""
        moved = Layer(
            *(one + step * move for one, move in zip(self.layers[0], self.direction, strict=True))
        )
        output = torch.from_numpy(self.features)
        for number, layer in enumerate([moved, *self.layers[1:]]):
            inputs = functional.relu(output) if number else output
            output = functional.linear(inputs, *map(torch.from_numpy, layer))
        return output[:, 0].numpy()[self.source]


class _Segments(NamedTuple):
    """Ranges of steps in which the inputs of a ReLU layer are linear."""

    row: NDArray[Any]
    low: NDArray[Any]
    high: NDArray[Any]
    intercept: NDArray[Any]  # (n_segments, n_units)
    slope: NDArray[Any]

    def zeros(self) -> NDArray[Any]:
        """Return the step at which each unit crosses zero; NaN or infinite if it does not."""
        with np.errstate(all="ignore"):
            step = -self.intercept / self.slope
        # A quotient that underflows is not a kink at 0.
        step[(step == 0) & (self.intercept != 0)] = 5e-324
        return step

    def is_active(self, zero: NDArray[Any]) -> NDArray[Any]:
        """Return whether each unit is positive just after the start of its segment."""
        has_crossed = zero <= self.low[:, None]
        return np.where(self.slope == 0, self.intercept > 0, has_crossed == (self.slope > 0))

    def has_kink(self, zero: NDArray[Any]) -> NDArray[Any]:
        """Return whether each unit crosses zero inside its segment."""
        return (zero > self.low[:, None]) & (zero < self.high[:, None])


def _through_layers(segments: _Segments, layers: list[Layer]) -> _Segments:
    """Split segments at the kinks of a ReLU and apply the next linear layer, repeatedly."""
    for layer in layers:
        zero = segments.zeros()
        has_kink = segments.has_kink(zero)
        within, _ = np.nonzero(has_kink)
        kink = zero[has_kink]
        kink = kink[np.lexsort((kink, within))]
        # Each kink ends one piece of its segment and begins the next.
        n_pieces = 1 + has_kink.sum(axis=1)
        first = np.cumsum(n_pieces) - n_pieces
        low = np.insert(kink, first - np.arange(len(first)), segments.low)
        high = np.insert(kink, first + n_pieces - 1 - np.arange(len(first)), segments.high)
        source = np.repeat(np.arange(len(first)), n_pieces)
        # Equal kinks leave empty pieces between them; a first piece may be a single step.
        is_piece = (low < high) | (low == segments.low[source])
        source = source[is_piece]
        low = low[is_piece]
        high = high[is_piece]
        pieces = _Segments(
            segments.row[source], low, high, segments.intercept[source], segments.slope[source]
        )
        is_active = pieces.is_active(zero[source])
        segments = pieces._replace(
            intercept=(pieces.intercept * is_active) @ layer.weight.T + layer.bias,
            slope=(pieces.slope * is_active) @ layer.weight.T,
        )
    return segments


def _sum_of_units(segments: _Segments, last: Layer) -> tuple[RowLines, Kinks]:
    """Return the first line of each row, and the kinks of the weighted sum of ReLUs."""
    is_used = last.weight[0] != 0
    weight = last.weight[0][is_used]
    segments = segments._replace(
        intercept=segments.intercept[:, is_used], slope=segments.slope[:, is_used]
    )
    zero = segments.zeros()
    is_active, is_moving = segments.is_active(zero), segments.slope != 0
    within, unit = np.nonzero(segments.has_kink(zero))
    order = np.lexsort((zero[within, unit], within))
    within, unit = within[order], unit[order]
    # A unit that becomes active adds its line; a unit that becomes inactive removes it.
    sign = np.sign(segments.slope[within, unit])
    n_lines = 1 + np.bincount(within, minlength=len(segments.row))
    source = np.repeat(np.arange(n_lines.size), n_lines)
    is_start = np.diff(source, prepend=-1) != 0
    place = np.arange(n_lines.max()) < n_lines[:, None]

    def sums(unit_value: NDArray[Any], start: float) -> NDArray[Any]:
        """Sum over the active units, at the start of each segment and after its kinks."""
        change = np.empty(source.size)
        change[is_start] = np.where(is_active, unit_value, 0.0).sum(axis=1) + start
        change[~is_start] = sign * unit_value[within, unit]
        table = np.zeros(place.shape)
        table[place] = change
        return table.cumsum(axis=1)[place]

    # Without a moving unit, the line is constant, and its ties with other rows are exact.
    constant = np.where(is_active & ~is_moving, segments.intercept * weight, 0.0).sum(axis=1)
    is_constant = sums(is_moving.astype(np.float64), 0.0) == 0
    moving = sums(segments.intercept * weight, last.bias[0])
    intercept = np.where(is_constant, (constant + last.bias[0])[source], moving)
    slope = np.where(is_constant, 0.0, sums(segments.slope * weight, 0.0))
    step = np.empty(source.size)
    step[is_start], step[~is_start] = segments.low, zero[within, unit]
    row = segments.row[source]
    is_first = np.diff(row, prepend=-1) != 0
    kinks = Kinks(
        step, row, intercept, slope, np.diff(intercept, prepend=0), np.diff(slope, prepend=0)
    )
    # Most kinks of inner layers do not reach the output.
    is_kink = ~is_first & ((kinks.intercept_change != 0) | (kinks.slope_change != 0))
    return RowLines(intercept[is_first], slope[is_first]), kinks.take(is_kink)

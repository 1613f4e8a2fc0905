"""One linear layer of a network that moves along a direction, and the layers after it."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from rocpath.arguments import positive_labels
from rocpath.torch.relu_rays import Layer, Ray, make_ray

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

_BATCH_SIZE = 1024  # rows per forward pass of the modules before the layer
_WITHOUT_EFFECT = (nn.Identity, nn.Dropout, nn.Flatten)  # on a matrix, in evaluation mode


@dataclass(frozen=True, eq=False)
class MovedLayer:
    """The inputs of a layer, this layer and all later ones, and the direction of the first."""

    features: Tensor  # distinct rows
    source: NDArray[np.intp]  # index of the features of each row
    is_positive: NDArray[np.bool_]
    parameters: list[tuple[Tensor, Tensor]]
    direction: tuple[Tensor, Tensor]

    @classmethod
    def from_network(
        cls,
        network: nn.Module,
        layer: nn.Linear,
        X: Tensor,
        y: ArrayLike | Tensor,
        direction: Sequence[Tensor],
    ) -> MovedLayer:
        """Split a network at the layer, in float64, or raise."""
        before, layers = _split_network(network, layer)
        move = _checked_direction(layer, direction)
        if not isinstance(X, Tensor):
            raise TypeError(f"X must be a tensor, got {type(X).__name__}.")
        labels = y.detach().cpu().numpy() if isinstance(y, Tensor) else np.asarray(y)
        is_positive = positive_labels(labels)
        if len(X) != len(is_positive):
            raise ValueError(
                f"X must have one row for each of the {len(is_positive)} labels, got {len(X)}."
            )
        features = _outputs(before, X)
        if features.ndim != 2 or features.shape[1] != layer.in_features:
            raise ValueError(
                f"layer must receive inputs of shape (n_examples, {layer.in_features}), got "
                f"{tuple(features.shape)}."
            )
        if not bool(torch.isfinite(features).all()):
            raise ValueError("X must give finite inputs to the layer, got NaN or infinity.")
        distinct, source = _distinct_rows(features)
        parameters = [_float64(one.weight, one.bias) for one in layers]
        return cls(distinct, source, is_positive, parameters, move)

    @property
    def default_max_step(self) -> float:
        """The step beyond which the layer is a multiple of its direction up to a millionth."""
        if len(self.parameters) == 1:
            return np.inf
        largest = max(float(one.abs().max()) for one in self.parameters[0])
        change = max(float(one.abs().max()) for one in self.direction)
        return 2.0**20 * largest / change if largest and change else 1.0

    def ray(self, max_step: float) -> Ray:
        """Return the predictions of all rows as functions of the step."""
        layers = [Layer(weight.numpy(), bias.numpy()) for weight, bias in self.parameters]
        move = Layer(*(tensor.numpy() for tensor in self.direction))
        return make_ray(self.features.numpy(), self.source, layers, move, max_step)

    def scores(self, step: float) -> NDArray[np.float64]:
        """Return the predictions of a forward pass at a step; equal rows have equal ones."""
        (weight, bias), *later = self.parameters
        output = functional.linear(
            self.features, weight + step * self.direction[0], bias + step * self.direction[1]
        )
        for weight, bias in later:
            output = functional.linear(functional.relu(output), weight, bias)
        return output[:, 0].numpy()[self.source]


def _split_network(network: nn.Module, layer: nn.Linear) -> tuple[list[nn.Module], list[nn.Linear]]:
    """Return the modules before a layer, and the linear layers from it on."""
    modules = list(_leaves(network))
    if not isinstance(layer, nn.Linear):
        raise TypeError(f"layer must be an nn.Linear, got {type(layer).__name__}.")
    places = [place for place, module in enumerate(modules) if module is layer]
    if len(places) != 1:
        raise ValueError(
            f"layer must occur once in network, an nn.Sequential, got {len(places)} times."
        )
    before, after = modules[: places[0]], modules[places[0] :]
    after = [module for module in after if not isinstance(module, _WITHOUT_EFFECT)]
    for place, module in enumerate(after):
        expected = nn.ReLU if place % 2 else nn.Linear
        if not isinstance(module, expected):
            raise ValueError(
                "network must alternate between nn.Linear and nn.ReLU from layer on, got "
                f"{module} where {expected.__name__} was expected."
            )
    last = after[-1]
    if not isinstance(last, nn.Linear) or last.out_features != 1:
        raise ValueError(f"network must end in an nn.Linear with one output, got {last}.")
    return before, [module for module in after if isinstance(module, nn.Linear)]


def _leaves(network: nn.Module) -> list[nn.Module]:
    if not isinstance(network, nn.Sequential):
        return [network]
    return [leaf for module in network for leaf in _leaves(module)]


def _checked_direction(layer: nn.Linear, direction: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    expected = [tuple(parameter.shape) for parameter in layer.parameters()]
    given = [tuple(one.shape) for one in direction]
    if given != expected:
        raise ValueError(
            f"direction must have the shapes of layer.parameters(), {expected}, got {given}."
        )
    if not all(bool(torch.isfinite(one).all()) for one in direction):
        raise ValueError("direction must be finite, got NaN or infinity.")
    return _float64(direction[0], direction[1] if len(direction) > 1 else None)


def _float64(weight: Tensor, bias: Tensor | None) -> tuple[Tensor, Tensor]:
    weight = weight.detach().cpu().double()
    if bias is None:
        return weight, torch.zeros(len(weight), dtype=torch.float64)
    return weight, bias.detach().cpu().double()


def _outputs(modules: list[nn.Module], X: Tensor) -> Tensor:
    """Return the outputs of modules in float64, on the CPU."""
    if not modules:
        return X.detach().cpu().double()
    # A copy: the modes, buffers and dtypes of the network itself must not change.
    first_part = copy.deepcopy(nn.Sequential(*modules)).cpu().double().eval()
    with torch.no_grad():
        return torch.cat(
            [first_part(rows.detach().cpu().double()) for rows in X.split(_BATCH_SIZE)]
        )


def _distinct_rows(features: Tensor) -> tuple[Tensor, NDArray[np.intp]]:
    """Return the distinct rows in order of appearance, and the index of each row's."""
    _, first, group = np.unique(features.numpy(), axis=0, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    return features[np.sort(first)], rank[group.reshape(-1)]

"""One linear layer of a network that moves along a direction, and the layers after it."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn
from torch.nn import functional

from rocpath.arguments import check_count, positive_labels
from rocpath.torch.relu_rays import Layer, Ray, make_ray

_BATCH_SIZE = 1024  # rows per forward pass of the modules before the layer
_WITHOUT_EFFECT = (nn.Identity, nn.Dropout, nn.Flatten)  # on a matrix, in evaluation mode


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
        before, layers = _split_network(network, layer)
        move = _checked_direction(layer, direction)
        if not isinstance(X, Tensor):
            raise TypeError(f"X must be a tensor, got {type(X).__name__}.")
        labels = y.detach().cpu().double().numpy() if isinstance(y, Tensor) else y
        is_positive = positive_labels(labels)
        check_count("X must have one row", len(X), len(is_positive), "labels")
        features = _outputs(before, X)
        if features.ndim != 2 or features.shape[1] != layer.in_features:
            raise ValueError(
                f"layer must receive inputs of shape (n_examples, {layer.in_features}), got "
                f"{features.shape}."
            )
        if not np.isfinite(features).all():
            raise ValueError("X must result in finite inputs of layer, got NaN or infinity.")
        _, first, group = np.unique(features, axis=0, return_index=True, return_inverse=True)
        source = first[group.reshape(-1)]
        parameters = [_float64("parameters of network", one.parameters()) for one in layers]
        return cls(features, source, is_positive, parameters, move)

    @property
    def default_max_step(self) -> float:
        """The step beyond which the layer is nearly a multiple of its direction."""
        if len(self.layers) == 1:
            return np.inf
        largest, change = (
            max(abs(weight).max(), abs(bias).max())
            for weight, bias in (self.layers[0], self.direction)
        )
        return float(2.0**20 * largest / change) if largest and change else 1.0

    def ray(self, max_step: float) -> Ray:
        """Return the predictions of all rows as functions of the step."""
        return make_ray(self.features, self.source, self.layers, self.direction, max_step)

    def scores(self, step: float) -> NDArray[np.float64]:
        """Return the predictions of a forward pass at a step, identical for equal rows."""
        moved = Layer(
            *(one + step * move for one, move in zip(self.layers[0], self.direction, strict=True))
        )
        output = torch.from_numpy(self.features)
        for number, layer in enumerate([moved, *self.layers[1:]]):
            inputs = functional.relu(output) if number else output
            output = functional.linear(inputs, *map(torch.from_numpy, layer))
        return output[:, 0].numpy()[self.source]


def _split_network(network: nn.Module, layer: nn.Linear) -> tuple[list[nn.Module], list[nn.Linear]]:
    """Return the modules before a layer, and the linear layers from it on."""
    modules = list(_leaves(network))
    if not isinstance(layer, nn.Linear):
        raise TypeError(f"layer must be an nn.Linear, got {type(layer).__name__}.")
    places = [place for place, module in enumerate(modules) if module is layer]
    if len(places) != 1:
        raise ValueError(
            "layer must occur exactly once in network, which must be an nn.Sequential, got "
            f"{len(places)} times."
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


def _checked_direction(layer: nn.Linear, direction: Sequence[Tensor]) -> Layer:
    if not all(isinstance(one, Tensor) for one in direction):
        raise TypeError("direction must be a sequence of tensors.")
    expected = [tuple(parameter.shape) for parameter in layer.parameters()]
    given = [tuple(one.shape) for one in direction]
    if given != expected:
        raise ValueError(
            f"direction must have the shapes of layer.parameters(), {expected}, got {given}."
        )
    return _float64("direction", direction)


def _float64(name: str, parameters: Iterable[Tensor]) -> Layer:
    """Return a weight and a bias (zeros if there is none), or raise if not finite."""
    weight, *bias = (one.detach().cpu().double().numpy() for one in parameters)
    layer = Layer(weight, bias[0] if bias else np.zeros(len(weight)))
    if not all(np.isfinite(one).all() for one in layer):
        raise ValueError(f"{name} must be finite, got NaN or infinity.")
    return layer


def _outputs(modules: list[nn.Module], X: Tensor) -> NDArray[np.float64]:
    """Return the outputs of the modules in float64."""
    # A copy: the modes, buffers and dtypes of the network itself must not change.
    first_part = copy.deepcopy(nn.Sequential(*modules)).cpu().double().eval()
    with torch.no_grad():
        batches = [first_part(rows.cpu().double()) for rows in X.detach().split(_BATCH_SIZE)]
    return torch.cat(batches).numpy()

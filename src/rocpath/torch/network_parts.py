"""Split a network at a layer: the inputs of the layer, and the linear layers from it on."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

Vector = NDArray[np.float64]

_BATCH_SIZE = 1024  # number of rows per forward pass of the modules before the layer
# Modules that do not change a matrix in evaluation mode.
_WITHOUT_EFFECT = (nn.Identity, nn.Dropout, nn.AlphaDropout, nn.Flatten)


class Layer(NamedTuple):
    """Weights and biases of a linear layer; a ReLU follows unless it is the last layer."""

    weight: NDArray[np.float64]
    bias: Vector


def split_network(network: nn.Module, layer: nn.Linear) -> tuple[list[nn.Module], list[nn.Module]]:
    """Return the modules before a layer, and those from it on that have an effect."""
    modules = list(_leaves(network))
    if not isinstance(layer, nn.Linear):
        raise TypeError(f"layer must be an nn.Linear, got {type(layer).__name__}.")
    positions = [k for k, module in enumerate(modules) if module is layer]
    if len(positions) != 1:
        raise ValueError(
            "layer must occur exactly once in network, which must be an nn.Sequential, got "
            f"{len(positions)} times."
        )
    before, after = modules[: positions[0]], modules[positions[0] :]
    return before, [module for module in after if not isinstance(module, _WITHOUT_EFFECT)]


def folded_layers(modules: list[nn.Module]) -> tuple[list[Layer], Vector]:
    """Return the linear layers with batch normalization folded in, and the first one's scale."""
    layers: list[Layer] = []
    first_scale = np.ones(1)
    scale, shift = np.ones(1), np.zeros(1)  # of the inputs of the next linear layer
    expected: type[nn.Module] = nn.Linear
    for module in modules:
        if isinstance(module, nn.BatchNorm1d):
            factor, constant = _normalization(module)
            if expected is nn.Linear:
                scale, shift = factor * scale, factor * shift + constant
                continue
            weight, bias = layers[-1]
            layers[-1] = Layer(factor[:, None] * weight, factor * bias + constant)
            first_scale = first_scale * factor if len(layers) == 1 else first_scale
            continue
        if not isinstance(module, expected):
            raise ValueError(
                "network must alternate between nn.Linear and nn.ReLU from layer on, apart from "
                f"nn.BatchNorm1d, got {module} where {expected.__name__} was expected."
            )
        if isinstance(module, nn.Linear):
            weight, bias = float64("parameters of network", module.parameters())
            layers.append(Layer(weight * scale, bias + (weight * shift).sum(axis=1)))
            scale, shift = np.ones(1), np.zeros(1)
        expected = nn.ReLU if expected is nn.Linear else nn.Linear
    if expected is nn.Linear or len(layers[-1].bias) != 1:
        raise ValueError(f"network must end in an nn.Linear with one output, got {modules[-1]}.")
    return layers, np.broadcast_to(first_scale, layers[0].bias.shape)


def _normalization(module: nn.BatchNorm1d) -> tuple[Vector, Vector]:
    """Return the factors and constants of batch normalization in evaluation mode."""
    if module.running_mean is None or module.running_var is None:
        raise ValueError(
            f"network must have running statistics from layer on, got {module}, which depends on "
            "the batch: set track_running_stats=True."
        )
    mean, variance = float64("buffers of network", (module.running_mean, module.running_var))
    factor = 1.0 / np.sqrt(variance + module.eps)
    if module.affine:
        weight, bias = float64("parameters of network", (module.weight, module.bias))
        return weight * factor, bias - mean * weight * factor
    return factor, -mean * factor


def _leaves(network: nn.Module) -> list[nn.Module]:
    if not isinstance(network, nn.Sequential):
        return [network]
    return [leaf for module in network for leaf in _leaves(module)]


def checked_direction(layer: nn.Linear, direction: Sequence[Tensor]) -> Layer:
    """Return the direction in float64, or raise if it does not have the shapes of the layer."""
    if not all(isinstance(one, Tensor) for one in direction):
        raise TypeError("direction must be a sequence of tensors.")
    expected = [tuple(parameter.shape) for parameter in layer.parameters()]
    given = [tuple(one.shape) for one in direction]
    if given != expected:
        raise ValueError(
            f"direction must have the shapes of layer.parameters(), {expected}, got {given}."
        )
    return float64("direction", direction)


def float64(name: str, parameters: Iterable[Tensor]) -> Layer:
    """Return a weight and a bias (zeros if there is none), and check that they are finite."""
    weight, *bias = (one.detach().cpu().double().numpy() for one in parameters)
    layer = Layer(weight, bias[0] if bias else np.zeros(len(weight)))
    if not all(np.isfinite(one).all() for one in layer):
        raise ValueError(f"{name} must be finite, got NaN or infinity.")
    return layer


def outputs(modules: list[nn.Module], X: Tensor) -> NDArray[np.float64]:
    """Return the outputs of the modules in float64."""
    # Modules are copied, so that the modes, buffers and dtypes of the network do not change.
    first_part = copy.deepcopy(nn.Sequential(*modules)).cpu().double().eval()
    with torch.no_grad():
        batches = [first_part(rows.cpu().double()) for rows in X.detach().split(_BATCH_SIZE)]
    return torch.cat(batches).numpy()

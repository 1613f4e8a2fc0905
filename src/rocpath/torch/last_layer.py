"""Exact steps for the last layer of a network, in which predictions are linear."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, cast

import numpy as np
import torch
from torch import Tensor, nn

from rocpath.arguments import describe, whole_number
from rocpath.breakpoints import ErrorBreakpoints
from rocpath.descent import ArraySamples, Descent, descend
from rocpath.linear_model import LinearPredictor
from rocpath.matrices import Columns
from rocpath.step_choice import best_auc

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rocpath.step_choice import ChosenStep, Movement, Quadratic

_BATCH_SIZE = 1024  # rows per forward pass: inner layers may be wide
_TOLERANCE = 1e-5  # of AUC, in the search for a step


class _LastLayer:
    """The last layer of a network, and the linear model of its inputs.

    The parameters are the weights of the layer, each multiplied by the standard
    deviation of its input, so that directions do not depend on the units of the
    inputs. They are normalized to length one, which does not change AUC; ``write``
    restores their scale.
    """

    def __init__(self, network: nn.Module, *samples: Tensor) -> None:
        self._network = network
        self._layer = _find_layer(network, samples[0][:2])
        features = [_features(network, self._layer, X) for X in samples]
        self._columns = Columns.from_matrix(features[0])
        self.model = LinearPredictor(
            # Of unit length: AUM alone would shrink the weights (`LinearPredictor`).
            tuple(self._columns.scaled(X) for X in features),
            unit_norm=True,
        )
        self._weight = self._layer.weight.detach().cpu().double().numpy().ravel()
        scaled = self._columns.scaled_coef(self._weight)
        self._length = float(np.linalg.norm(scaled))
        if not self._length > 0:
            raise ValueError(
                "model must have nonzero weights in its last layer, got scores that are all equal."
            )
        self.initial = scaled / self._length

    def write(self, parameters: NDArray[np.float64], constant: float) -> nn.Module:
        """Return a copy of the network with other parameters in its last layer."""
        network = copy.deepcopy(self._network)
        named = {module: name for name, module in self._network.named_modules()}
        layer = cast("nn.Linear", network.get_submodule(named[self._layer]))
        weight, bias = self._columns.unscaled(self._length * parameters, self._length * constant)
        # The weight of a constant input is not identified, so it is kept.
        kept = np.where(np.isinf(self._columns.scale), self._weight, 0.0)
        with torch.no_grad():
            layer.weight.copy_(torch.as_tensor(weight + kept)[None])
            if layer.bias is not None:
                layer.bias.fill_(bias - float(self._columns.center @ kept))
        return network


def refine_last_layer(
    model: nn.Module,
    X: Tensor,
    y: ArrayLike | Tensor | ErrorBreakpoints,
    *,
    validation: tuple[Tensor, ArrayLike | Tensor | ErrorBreakpoints] | None = None,
    max_steps: int = 30,
    patience: int = 5,
) -> tuple[nn.Module, Descent]:
    """Increase AUC by exact steps in the last layer of a trained network.

    Each step follows the AUM gradient to the globally largest AUC. Use rows that the
    network was *not* trained on: it usually ranks its own training rows too well to
    gain anything. With validation rows, the result is the step with the largest
    validation AUC; if that is the initial network, it is returned unchanged.

    Parameters
    ----------
    model : nn.Module
        Network that ends in an ``nn.Linear`` with one output. It is not modified.
    X : Tensor
        Inputs of the network.
    y : array-like or Tensor, shape (n_examples,), or ErrorBreakpoints
        Labels, or the error functions of the rows.
    validation : tuple of X and y, optional
        Rows on which the number of steps is selected.
    max_steps : int
        Maximum number of steps.
    patience : int
        Number of steps without a larger validation AUC after which to stop.

    Returns
    -------
    model : nn.Module
        Copy of the network with new weights in its last layer. Its bias minimizes the
        number of errors at a threshold of 0.
    history : Descent
        AUM and AUC after each step.

    Examples
    --------
    >>> import torch
    >>> from rocpath.torch import refine_last_layer
    >>> network = torch.nn.Linear(2, 1)
    >>> with torch.no_grad():
    ...     _ = network.weight.copy_(torch.tensor([[0.0, -1.0]]))
    >>> X = torch.tensor([[0.0, 0.0], [2.0, 1.0], [1.0, 2.0], [3.0, 3.0]])
    >>> refined, history = refine_last_layer(network, X, [0, 0, 1, 1])
    >>> float(history.auc[0]), float(history.auc[-1])
    (0.0, 1.0)
    """
    max_steps = whole_number("max_steps", max_steps, least=0)
    patience = whole_number("patience", patience, least=1)
    samples = [_checked_sample("X", X, y)]
    if validation is not None:
        if not isinstance(validation, tuple) or len(validation) != 2:
            raise TypeError(f"validation must be a tuple of X and y, got {describe(validation)}.")
        samples.append(_checked_sample("validation X", *validation))
    inputs, bps = zip(*samples, strict=True)
    layer = _LastLayer(model, *inputs)
    history = descend(
        ArraySamples(bps, _best_auc),
        layer.model,
        layer.initial,
        max_steps=max_steps,
        patience=None if validation is None else patience,
        criterion="auc",
    )
    # An exact copy, bias and rounding included, if no step improves on the network.
    if history.chosen == 0:
        return copy.deepcopy(model), history
    return layer.write(history.coef, history.intercept), history


def _best_auc(train: Movement, _: Movement, __: Quadratic) -> ChosenStep:
    return best_auc(train.lines, tol=_TOLERANCE)


def _checked_sample(
    name: str, X: Tensor, y: ArrayLike | Tensor | ErrorBreakpoints
) -> tuple[Tensor, ErrorBreakpoints]:
    if not isinstance(X, Tensor):
        raise TypeError(f"{name} must be a tensor, got {type(X).__name__}.")
    if not isinstance(y, ErrorBreakpoints):
        labels = y.detach().cpu().numpy() if isinstance(y, Tensor) else np.asarray(y)
        y = ErrorBreakpoints.from_labels(labels.reshape(len(labels)))
    if X.shape[0] != y.n_examples:
        raise ValueError(
            f"{name} must have one row for each of the {y.n_examples} labels, got {X.shape[0]}."
        )
    return X, y


def _find_layer(model: nn.Module, X: Tensor) -> nn.Linear:
    """Return the layer whose output is the output of the network, or raise."""
    called: list[tuple[nn.Linear, Tensor]] = []
    hooks = [
        layer.register_forward_hook(lambda layer, _, out: called.append((layer, out)))
        for layer in model.modules()
        if isinstance(layer, nn.Linear) and layer.out_features == 1
    ]
    out = _run(model, X)
    for hook in hooks:
        hook.remove()
    # Identified by its output: the last module of a network need not be the one that
    # is called last.
    for layer, score in reversed(called):
        if out.numel() == len(X) and torch.equal(out.reshape(-1), score.reshape(-1)):
            return layer
    raise ValueError(
        "model must end in an nn.Linear with one output and return that output: the "
        "logit, not a probability."
    )


def _features(model: nn.Module, layer: nn.Linear, X: Tensor) -> NDArray[np.float64]:
    """Return the inputs of a layer, one row for each row of X."""
    blocks: list[Tensor] = []
    hook = layer.register_forward_pre_hook(
        lambda _, inputs: blocks.append(inputs[0].detach().cpu().double())
    )
    for rows in X.split(_BATCH_SIZE):
        _run(model, rows)
    hook.remove()
    return torch.cat(blocks).reshape(len(X), -1).numpy()


def _run(model: nn.Module, X: Tensor) -> Tensor:
    """Apply a network in evaluation mode and without gradients."""
    # Only these modules return to training mode: others may be frozen on purpose.
    training = [module for module in model.modules() if module.training]
    device = next(model.parameters()).device
    model.eval()
    with torch.no_grad():
        out = model(X.to(device))
    for module in training:
        module.training = True
    return out

"""Minimal replacement for `torchmetrics.Metric`, for use without torchmetrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import torch
from torch import Tensor, nn
from torch import distributed as dist


class Metric(nn.Module):
    """Base class of metrics whose states are combined over batches and processes.

    A state is a list of tensors, which are concatenated, or a tensor, which is summed. A
    subclass defines ``update`` and ``compute``.
    """

    update: Callable[..., None]
    compute: Any
    _compute_own: Any

    def __init_subclass__(cls) -> None:
        """Make ``compute`` return the result over all processes, as in torchmetrics."""
        super().__init_subclass__()
        compute = cls.compute

        @wraps(compute)
        def compute_all(self: Metric) -> Any:
            with self.sync_context():
                return compute(self)

        cls._compute_own, cls.compute = compute, compute_all

    def __init__(self) -> None:
        super().__init__()
        self._defaults: dict[str, Any] = {}

    def add_state(self, name: str, default: Any, dist_reduce_fx: str) -> None:
        """Add a state: an empty list, or a tensor of zeros."""
        self._defaults[name] = default
        setattr(self, name, _each(torch.clone, default))

    @property
    def metric_state(self) -> dict[str, Any]:
        """States by name."""
        return {name: getattr(self, name) for name in self._defaults}

    @property
    def device(self) -> torch.device:
        """Device of the states."""
        devices: list[torch.device] = []
        for state in self.metric_state.values():
            _each(lambda tensor: devices.append(tensor.device), state)
        return devices[0] if devices else torch.device("cpu")

    def reset(self) -> None:
        """Reset all states to their defaults."""
        for name, default in self._defaults.items():
            setattr(self, name, _each(torch.clone, default))

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Add a batch, and return the metric of this batch alone."""
        before = self.metric_state
        self.reset()
        self.update(*args, **kwargs)
        value = self._compute_own()
        self.merge_state(before)
        return value

    def merge_state(self, incoming: Metric | dict[str, Any]) -> None:
        """Add the batches of another metric, given as a metric or its ``metric_state``."""
        state = incoming.metric_state if isinstance(incoming, Metric) else incoming
        for name, other in state.items():
            setattr(self, name, other + getattr(self, name))

    @contextmanager
    def sync_context(self, **_: Any) -> Iterator[None]:
        """Combine the states of all processes within a ``with`` block."""
        if not (dist.is_available() and dist.is_initialized()):
            yield
            return
        own = self.metric_state
        states: list[Any] = [None] * dist.get_world_size()
        dist.all_gather_object(states, {k: _each(Tensor.cpu, v) for k, v in own.items()})
        self.reset()
        for state in reversed(states):
            self.merge_state(state)
        yield
        self.set_extra_state(own)

    def get_extra_state(self) -> dict[str, Any]:
        """Return the states, so that an interrupted evaluation can be resumed."""
        return self.metric_state

    def set_extra_state(self, state: dict[str, Any]) -> None:
        """Restore the states from a ``state_dict``."""
        for name, value in state.items():
            setattr(self, name, value)

    def _plot(self, *_: Any) -> Any:
        raise ImportError("plot requires torchmetrics.")

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Any:
        # The device changes, but not the dtype: float16 would round the scores.
        device = fn(torch.empty(0)).device
        for name, state in self.metric_state.items():
            setattr(self, name, _each(lambda tensor: tensor.to(device), state))
        return super()._apply(fn, recurse)


def _each(function: Callable[[Tensor], Any], state: Any) -> Any:
    """Apply a function to a state, or to each tensor of a list."""
    return function(state) if isinstance(state, Tensor) else [function(one) for one in state]

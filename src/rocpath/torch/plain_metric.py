"""The methods of `torchmetrics.Metric` that a metric needs, without torchmetrics."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch import distributed as dist

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Metric(nn.Module):
    """Keep the state of a metric, and combine it over batches and processes.

    A state is a list of tensors, which are concatenated, or a tensor, which is summed.
    """

    def __init__(self) -> None:
        super().__init__()
        self._defaults: dict[str, Any] = {}
        # As in torchmetrics, the result of all processes; a subclass defines `update`
        # and `compute` for its own.
        compute = self.compute

        def compute_all() -> Any:
            with self.sync_context():
                return compute()

        self.compute = compute_all  # type: ignore[method-assign]

    def add_state(self, name: str, default: Any, dist_reduce_fx: str) -> None:
        """Add a state: an empty list, or a tensor of zeros."""
        self._defaults[name] = default
        setattr(self, name, _copy(default))

    @property
    def metric_state(self) -> dict[str, Any]:
        """The states by name."""
        return {name: getattr(self, name) for name in self._defaults}

    @property
    def device(self) -> torch.device:
        """The device of the states."""
        tensors = [one for state in self.metric_state.values() for one in _listed(state)]
        return tensors[0].device if tensors else torch.device("cpu")

    def reset(self) -> None:
        """Forget all batches."""
        for name, default in self._defaults.items():
            setattr(self, name, _copy(default))

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Add a batch."""
        raise NotImplementedError

    def compute(self) -> Any:
        """Compute the metric of all batches."""
        raise NotImplementedError

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Add a batch, and return the metric of this batch alone."""
        before = self.metric_state
        self.reset()
        self.update(*args, **kwargs)
        value = type(self).compute(self)
        self.merge_state(before)
        return value

    def merge_state(self, incoming: Metric | dict[str, Any]) -> None:
        """Add the batches of another metric, or of its ``metric_state``."""
        state = incoming.metric_state if isinstance(incoming, Metric) else incoming
        for name, other in state.items():
            setattr(self, name, other + getattr(self, name))

    @contextmanager
    def sync_context(self, **_: Any) -> Iterator[None]:
        """Hold the states of all processes for the time of a block."""
        if not (dist.is_available() and dist.is_initialized()):
            yield
            return
        own = self.metric_state
        states: list[Any] = [None] * dist.get_world_size()
        dist.all_gather_object(states, {k: _on_cpu(v) for k, v in own.items()})
        self.reset()
        for state in reversed(states):
            self.merge_state(state)
        yield
        for name, state in own.items():
            setattr(self, name, state)

    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        """Return the states, so that an interrupted evaluation can be resumed."""
        return dict(super().state_dict(*args, **kwargs), **self.metric_state)

    def load_state_dict(self, state_dict: Any, *_: Any, **__: Any) -> Any:
        """Restore the states."""
        for name in self._defaults:
            setattr(self, name, state_dict[name])

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Any:
        # The device changes, but not the dtype: a score in float16 would be rounded.
        device = fn(torch.empty(0)).device
        for name, state in self.metric_state.items():
            moved = [one.to(device) for one in _listed(state)]
            setattr(self, name, moved[0] if isinstance(state, Tensor) else moved)
        return super()._apply(fn, recurse)


def _copy(default: Any) -> Any:
    return default.clone() if isinstance(default, Tensor) else []


def _listed(state: Any) -> list[Tensor]:
    return [state] if isinstance(state, Tensor) else state


def _on_cpu(state: Any) -> Any:
    return state.cpu() if isinstance(state, Tensor) else [one.cpu() for one in state]

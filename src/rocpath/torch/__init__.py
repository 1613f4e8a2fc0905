"""AUC losses and a metric for torch, and certified steps for layers of ReLU networks.

Requires ``pip install "rocpath[torch]"``. Losses accept logits on any device and of any
floating-point dtype, and compute in float64 where the device supports it. If a score is
not finite, the loss and its gradient are NaN, as for torch's own losses.
"""

from typing import TYPE_CHECKING, Any

from rocpath.torch.aum import AUMLoss, aum_loss
from rocpath.torch.certified_steps import certified_step, layer_path
from rocpath.torch.pair_losses import (
    PairwiseSquaredHinge,
    SmoothedAUCLoss,
    pairwise_squared_hinge,
    smoothed_auc_loss,
)

if TYPE_CHECKING:
    from rocpath.torch.metric import BinaryAUC

__all__ = [
    "AUMLoss",
    "BinaryAUC",
    "PairwiseSquaredHinge",
    "SmoothedAUCLoss",
    "aum_loss",
    "certified_step",
    "layer_path",
    "pairwise_squared_hinge",
    "smoothed_auc_loss",
]


def __getattr__(name: str) -> Any:
    """Import the metric when it is used, because torchmetrics takes a second to import."""
    if name == "BinaryAUC":
        from rocpath.torch.metric import BinaryAUC

        return BinaryAUC
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

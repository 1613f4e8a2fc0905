"""AUC losses and a metric for torch, and exact steps for a network's last layer.

Requires ``pip install "rocpath[torch]"``. Losses accept logits on any device and of any
floating-point dtype, and compute in float64 where the device supports it. If a score is
not finite, the loss and its gradient are NaN, as for torch's own losses.
"""

from rocpath.torch.aum import AUMLoss, aum_loss
from rocpath.torch.last_layer import refine_last_layer
from rocpath.torch.metric import BinaryAUC
from rocpath.torch.pairwise import PairwiseSquaredHinge, pairwise_squared_hinge
from rocpath.torch.smoothed import SmoothedAUCLoss, smoothed_auc_loss

__all__ = [
    "AUMLoss",
    "BinaryAUC",
    "PairwiseSquaredHinge",
    "SmoothedAUCLoss",
    "aum_loss",
    "pairwise_squared_hinge",
    "refine_last_layer",
    "smoothed_auc_loss",
]

"""Losses and a metric of AUC for torch, and exact steps for a network's last layer.

Needs the extra: ``pip install "rocpath[torch]"``. Losses take logits of any device and
floating-point type, compute in float64 where the device has it, and give NaN, with a
gradient of NaN, where a score is not finite, as torch's own losses do.
"""

from rocpath.torch.aum import AUMLoss, aum_loss
from rocpath.torch.last_layer import LastLayer, refine_last_layer
from rocpath.torch.metric import BinaryAUC
from rocpath.torch.pairwise import PairwiseSquaredHinge, pairwise_squared_hinge
from rocpath.torch.smoothed import SmoothedAUCLoss, smoothed_auc_loss

__all__ = [
    "AUMLoss",
    "BinaryAUC",
    "LastLayer",
    "PairwiseSquaredHinge",
    "SmoothedAUCLoss",
    "aum_loss",
    "pairwise_squared_hinge",
    "refine_last_layer",
    "smoothed_auc_loss",
]

"""The Brier score of predicted probabilities."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from rocpath.evaluation.metrics.metric import Estimate
from rocpath.evaluation.metrics.scales import LogScale
from rocpath.sample import Sample
from rocpath.validation import Floats, check_none


@dataclass(frozen=True)
class Brier:
    """Mean squared difference between predicted probabilities and labels."""

    name = "Brier score"
    outcome: ClassVar[Literal["labels"]] = "labels"
    scale = LogScale()
    bounds = (0.0, 1.0)
    digits = 4

    def estimate(self, sample: Sample, score: Floats) -> Estimate:
        """Compute the Brier score and the influence of each row."""
        check_none((score < 0) | (score > 1), "scores must be probabilities in [0, 1]", score)
        loss = (score - sample.is_positive) ** 2
        weight = sample.weights
        value = float(np.average(loss, weights=weight))
        return Estimate(value, weight * (loss - value) / weight.sum())

"""Average precision, as in scikit-learn's ``average_precision_score``."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from rocpath.evaluation.influence import class_sums, descending_order
from rocpath.evaluation.metrics.metric import Estimate
from rocpath.evaluation.metrics.scales import LogitScale
from rocpath.sample import Sample
from rocpath.validation import Floats


@dataclass(frozen=True)
class AveragePrecision:
    """Mean over the positives of the precision at their scores."""

    name = "average precision"
    outcome: ClassVar[Literal["labels"]] = "labels"
    scale = LogitScale()
    bounds = (0.0, 1.0)
    digits = 3

    def estimate(self, sample: Sample, score: Floats) -> Estimate:
        """Compute the average precision and the influence of each row."""
        order = descending_order(score)
        ranked, label = score[order], sample.is_positive[order]
        if sample.weight is None and not (ranked[1:] == ranked[:-1]).any():
            return _without_ties(order, sample.is_positive, np.flatnonzero(label))
        start = np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1]))
        weight = None if sample.weight is None else sample.weight[order]
        tp, fp = class_sums(label, weight, start)
        true, predicted = np.cumsum(tp), np.cumsum(tp) + np.cumsum(fp)
        total, predicted = float(true[-1]), np.maximum(predicted, 1e-300)
        precision = true / predicted
        value = float(tp @ precision) / total
        # A row contributes to the precision at all positives with a lower or equal score:
        # to the denominator and, if it is positive, to the numerator.
        numerator = np.cumsum((tp / predicted)[::-1])[::-1]
        denominator = np.cumsum((tp * precision / predicted)[::-1])[::-1]
        size = np.diff(np.append(start, score.size))
        of_positive = np.repeat((precision - value + numerator - denominator) / total, size)
        of_ranked = np.where(label, of_positive, np.repeat(-denominator / total, size))
        influence = np.empty(score.size)
        influence[order] = of_ranked if weight is None else of_ranked * weight
        return Estimate(min(value, 1.0), influence, sample.is_positive)


def _without_ties(
    order: NDArray[Any], is_positive: NDArray[np.bool_], rank: NDArray[np.intp]
) -> Estimate:
    """Compute the same from the ranks of the positives; it takes half of the time."""
    n_positive = rank.size
    n_predicted = rank + 1.0
    precision = np.arange(1.0, n_positive + 1.0) / n_predicted
    value = float(precision.sum()) / n_positive
    numerator = np.cumsum((1.0 / n_predicted)[::-1])[::-1]
    denominator = np.cumsum((precision / n_predicted)[::-1])[::-1]
    # Each row above a positive, and below the one before, is in its denominator.
    size = np.diff(rank, prepend=-1, append=order.size - 1)
    of_ranked = np.repeat(np.append(-denominator / n_positive, 0.0), size)
    of_ranked[rank] = (precision - value + numerator - denominator) / n_positive
    influence = np.empty(order.size)
    influence[order] = of_ranked
    return Estimate(min(value, 1.0), influence, is_positive)

"""Adapters for detectors from ruptures, skchange and sktime."""

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from rocpath.changepoint.error_functions import PenaltyErrors, penalty_errors
from rocpath.changepoint.labels import Labels, label_errors
from rocpath.changepoint.segmentation_results import Segmentation, model_selection
from rocpath.validation import Floats, describe, finite_vector, nonnegative_number, whole_number

Changes = NDArray[np.int64]

_SMALLEST_PENALTY = 1e-12  # relative to the cost of the model without changes


class _Search(NamedTuple):
    """Detector that is fitted to a sequence."""

    find: Callable[[float], Changes]  # returns the best changes for a penalty
    cost: Callable[[Changes], float]  # returns the cost without penalties


def detector_errors(
    detector: Any,
    x: ArrayLike,
    labels: Labels,
    *,
    max_changes: int = 20,
    position: ArrayLike | None = None,
) -> PenaltyErrors:
    """Count the label errors of a detector from another package for every penalty.

    This is the counterpart of `errors_by_penalty` for other detectors. The models that
    are optimal for some penalty are found by CROPS [1]_, with about two searches per
    model.

    Parameters
    ----------
    detector : object
        ``Pelt`` or ``KernelCPD`` from ruptures, or a skchange detector with the parameters
        ``penalty`` and ``cost``, such as ``PELT``. It is copied and need not be fitted.
    x : array-like, shape (n,)
        The sequence.
    labels : Labels
        Labeled regions of the sequence.
    max_changes : int
        Maximum number of changes. The errors of the largest model are also used for
        smaller penalties.
    position : array-like, shape (n,), optional
        As for `label_errors`.

    Returns
    -------
    PenaltyErrors

    References
    ----------
    .. [1] Haynes, Eckley & Fearnhead, "Computationally Efficient Changepoint Detection
       for a Range of Penalties", 2017.

    Examples
    --------
    >>> import ruptures
    >>> from rocpath import changepoint as cp
    >>> from rocpath.changepoint.adapters import detector_errors
    >>> labels = cp.Labels([0, 3], [3, 6], ["one_change", "no_change"])
    >>> search = ruptures.Pelt(model="l2", min_size=1, jump=1)
    >>> errors = detector_errors(search, [1, 1, 5, 5, 5, 2], labels, max_changes=2)
    >>> errors.min_penalty.round(3).tolist()
    [0.0, 6.75, 14.083]
    """
    max_changes = whole_number("max_changes", max_changes, least=1)
    value = finite_vector("x", x)
    search = _fitted_search(detector, value)
    models = _models(search, max_changes)
    errors = label_errors(models, labels, n=value.size, position=position)
    costs = [search.cost(one) for one in models]
    return penalty_errors(model_selection(costs, [one.size for one in models]), errors)


def detector_segmentation(detector: Any, x: ArrayLike, penalty: float) -> Segmentation:
    """Segment a sequence with a detector from another package.

    Parameters
    ----------
    detector : object
        Detector as for `detector_errors`. It is copied.
    x : array-like, shape (n,)
        The sequence.
    penalty : float
        Penalty per change. If the detector has a ``penalty_scale``, it is set to 1.

    Returns
    -------
    Segmentation
        The segmentation, with the detector's cost, which excludes penalties.

    Examples
    --------
    >>> import ruptures
    >>> from rocpath.changepoint.adapters import detector_segmentation
    >>> search = ruptures.Pelt(model="l2", min_size=1, jump=1)
    >>> best = detector_segmentation(search, [1, 1, 5, 5, 5, 2], penalty=10)
    >>> best.changes.tolist(), round(best.cost, 3)
    ([2], 6.75)
    """
    penalty = nonnegative_number("penalty", penalty)
    value = finite_vector("x", x)
    search = _fitted_search(detector, value)
    changes = search.find(penalty)
    mean = np.array([part.mean() for part in np.split(value, changes)])
    return Segmentation(search.cost(changes), changes, mean, penalty, value.size)


def _fitted_search(detector: Any, x: Floats) -> _Search:
    names = {(one.__module__.partition(".")[0], one.__name__) for one in type(detector).__mro__}
    # Other searches in ruptures have no penalty, or do not minimize the penalized cost.
    if names & {("ruptures", "Pelt"), ("ruptures", "KernelCPD")}:
        return _ruptures_search(detector, x)
    if "skchange" in dict(names) and {"penalty", "cost"} <= set(detector.get_params(deep=False)):
        return _skchange_search(detector, x)
    raise TypeError(
        "detector must be Pelt or KernelCPD from ruptures, or a skchange detector with the "
        f"parameters penalty and cost, got {describe(detector)}."
    )


def _ruptures_search(detector: Any, x: Floats) -> _Search:
    search = copy.deepcopy(detector).fit(x)  # fit modifies the detector

    # In ruptures, lists of changes end with the length of the sequence.
    def find(penalty: float) -> Changes:
        return np.array(search.predict(pen=penalty)[:-1], dtype=np.int64)

    def cost(changes: Changes) -> float:
        return float(search.cost.sum_of_costs([*changes.tolist(), x.size]))

    return _Search(find, cost)


def _skchange_search(detector: Any, x: Floats) -> _Search:
    column = x[:, None]
    settings = detector.get_params(deep=False)
    unscaled = {"penalty_scale": 1.0} if "penalty_scale" in settings else {}

    def fitted(penalty: float) -> Any:
        return clone(detector).set_params(penalty=penalty, **unscaled).fit(column)

    def find(penalty: float) -> Changes:
        return np.array(fitted(penalty).predict(column), dtype=np.int64)

    scorer = fitted(1.0).cost_
    prepared = scorer.precompute(column)

    def cost(changes: Changes) -> float:
        ends = np.concatenate(([0], changes, [x.size]))
        intervals = np.column_stack((ends[:-1], ends[1:]))
        return float(scorer.evaluate(prepared, intervals).sum())

    return _Search(find, cost)


def _models(search: _Search, max_changes: int) -> list[Changes]:
    """Find the optimal models with at most ``max_changes`` changes, by CROPS."""
    none = np.array([], dtype=np.int64)
    penalty = abs(search.cost(none)) or 1.0
    least = penalty * _SMALLEST_PENALTY
    most = search.find(penalty)
    while most.size < max_changes and penalty > least:
        penalty /= 10
        most = search.find(penalty)
    models = {0: none, most.size: most}
    unseen = [(most.size, 0)] if most.size else []
    while unseen:
        many, few = unseen.pop()
        # At the penalty where both models are equally good, a third model may be better.
        difference = search.cost(models[few]) - search.cost(models[many])
        found = search.find(difference / (many - few)) if difference > 0 else none
        if few < found.size < many:
            models[found.size] = found
            unseen.append((found.size, few))
            if found.size < max_changes:
                unseen.append((many, found.size))
    return [one for size, one in models.items() if size <= max_changes]


def skchange_detector(learned: Any) -> Any:
    """Convert a fitted `LearnedDetector` to a skchange detector.

    Parameters
    ----------
    learned : LearnedDetector
        Fitted detector. It stays fitted when it is cloned.

    Returns
    -------
    skchange.detectors.BaseChangeDetector
        Detector whose ``predict`` takes an array of shape (n, 1).
    """
    from rocpath.changepoint.skchange_interface import SkchangeDetector

    return SkchangeDetector(FrozenEstimator(learned))


def sktime_detector(learned: Any) -> Any:
    """Convert a fitted `LearnedDetector` to an sktime detector.

    Parameters
    ----------
    learned : LearnedDetector
        As for `skchange_detector`.

    Returns
    -------
    sktime.detection.base.BaseDetector
        Detector whose ``predict`` returns a data frame with the column ``ilocs``.
    """
    from rocpath.changepoint.sktime_interface import SktimeDetector

    return SktimeDetector(FrozenEstimator(learned))

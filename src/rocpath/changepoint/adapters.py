"""Adapters for detectors of ruptures, skchange and sktime."""

from __future__ import annotations

import copy
import inspect
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from rocpath.arguments import describe, finite_vector, nonnegative_number, whole_number
from rocpath.changepoint.error_functions import PenaltyErrors, penalty_errors
from rocpath.changepoint.labels import label_errors
from rocpath.changepoint.segmentation_results import Segmentation, model_selection

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from rocpath.changepoint.labels import Labels
    from rocpath.changepoint.learned_detector import LearnedDetector

    Changes = NDArray[np.int64]

_FIRST_PENALTY = 1.0  # arbitrary; the search continues with multiples by powers of ten
_WIDEST = 1e12  # ratio of the largest to the smallest penalty
_NARROWEST = 1.001  # ratio at which bisection of penalties stops
_MOST_HALVINGS = 20  # bisections of a factor of ten, which give five digits


class _Search(NamedTuple):
    """A detector that is fitted to a sequence.

    ``find`` returns the changes for a penalty, and ``cost`` returns the cost of changes.
    ``cost`` is None if it is not available or is not what the search minimizes.
    """

    find: Callable[[float], Changes]
    cost: Callable[[Changes], float] | None


def detector_errors(
    detector: Any,
    x: ArrayLike,
    labels: Labels,
    *,
    max_changes: int = 20,
    position: ArrayLike | None = None,
) -> PenaltyErrors:
    """Count the label errors of another package's detector for every penalty.

    This is the counterpart of `errors_by_penalty` for other searches. The models that
    penalties select are found by CROPS [1]_, with about two searches per model. For
    detectors with a penalty but no cost, penalties are bisected, with about ten
    searches per model.

    Parameters
    ----------
    detector : object
        ``Pelt``, ``KernelCPD``, ``Binseg`` or a similar search of ruptures with a penalty,
        or a detector of skchange with a penalty. It is copied and need not be fitted.
    x : array-like, shape (n,)
        The sequence.
    labels : Labels
        Its labeled regions.
    max_changes : int
        Approximate maximum number of changes. Penalties below the smallest one that was
        tried have the same errors as that one.
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
    search = _bound(detector, value)
    known = _models_by_penalty(search, max_changes)
    penalties = sorted(known)
    models = [known[penalty] for penalty in penalties]
    if search.cost is None:
        errors = label_errors(models, labels, n=value.size, position=position)
        return PenaltyErrors(np.array([0.0, *penalties[1:]]), errors.fp, errors.fn)
    by_size = {one.size: one for one in models}
    costs = [search.cost(one) for one in by_size.values()]
    errors = label_errors([*by_size.values()], labels, n=value.size, position=position)
    return penalty_errors(model_selection(costs, [*by_size]), errors)


def detector_segmentation(detector: Any, x: ArrayLike, penalty: float) -> Segmentation:
    """Segment a sequence with a penalty and another package's detector.

    Parameters
    ----------
    detector : object
        Detector as for `detector_errors`. It is copied.
    x : array-like, shape (n,)
        The sequence.
    penalty : float
        Penalty per change; settings that scale it are set to 1.

    Returns
    -------
    Segmentation
        The segmentation; its cost is that of the detector, or NaN if not available.

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
    search = _bound(detector, value)
    changes = search.find(penalty)
    cost = np.nan if search.cost is None else search.cost(changes)
    mean = np.array([part.mean() for part in np.split(value, changes)])
    return Segmentation(float(cost), changes, mean, penalty, value.size)


def _bound(detector: Any, x: NDArray[np.float64]) -> _Search:
    packages = {one.__module__.partition(".")[0] for one in type(detector).__mro__}
    if "ruptures" in packages:
        return _of_ruptures(detector, x)
    if "skchange" in packages and "penalty" in detector.get_params(deep=False):
        return _of_skchange(detector, x)
    raise TypeError(
        "detector must be a search of ruptures or a detector of skchange with a "
        f"penalty, got {describe(detector)}."
    )


def _of_ruptures(detector: Any, x: NDArray[np.float64]) -> _Search:
    search = copy.deepcopy(detector).fit(x)  # fit modifies the detector
    if "pen" not in inspect.signature(search.predict).parameters:
        raise TypeError(
            f"detector must have a penalty, got {describe(detector)}: for example, "
            "use Pelt or KernelCPD."
        )

    # Lists of ruptures end with the length.
    def find(penalty: float) -> Changes:
        return _whole(search.predict(pen=penalty)[:-1])

    def cost(changes: Changes) -> float:
        return float(search.cost.sum_of_costs([*changes.tolist(), x.size]))

    # Greedy searches do not minimize the penalized cost.
    is_exact = type(search).__name__ in ("Pelt", "KernelCPD")
    return _Search(find, cost if is_exact else None)


def _of_skchange(detector: Any, x: NDArray[np.float64]) -> _Search:
    column = x[:, None]
    settings = detector.get_params(deep=False)
    unscaled = {"penalty_scale": 1.0} if "penalty_scale" in settings else {}

    def fitted(penalty: float) -> Any:
        return clone(detector).set_params(penalty=penalty, **unscaled).fit(column)

    def find(penalty: float) -> Changes:
        return _whole(fitted(penalty).predict(column))

    scorer = getattr(fitted(_FIRST_PENALTY), "cost_", None)
    if scorer is None:
        return _Search(find, None)
    prepared = scorer.precompute(column)

    def cost(changes: Changes) -> float:
        ends = np.concatenate(([0], changes, [x.size]))
        intervals = np.column_stack((ends[:-1], ends[1:]))
        return float(scorer.evaluate(prepared, intervals).sum())

    return _Search(find, cost)


def _whole(changes: ArrayLike) -> Changes:
    return np.asarray(changes, dtype=np.int64)


def _models_by_penalty(search: _Search, max_changes: int) -> dict[float, Changes]:
    """Find the models that penalties select.

    With a cost, this is CROPS, which is exact. Without one, penalties are bisected to a
    relative error of .001.
    """
    known = _ends(search.find, max_changes)
    unseen = [tuple(known)]
    while unseen:
        low, high = unseen.pop()
        many, few = known[low], known[high]
        if search.cost is None:
            is_done = high < low * _NARROWEST or np.array_equal(many, few)
            middle = float(np.sqrt(low * high))
        else:
            is_done = many.size <= few.size + 1
            # At the penalty where both are equally good, a third model may be better.
            difference = search.cost(few) - search.cost(many)
            middle = difference / max(many.size - few.size, 1)
        if is_done or not low < middle < high:
            continue
        known[middle] = search.find(middle)
        if search.cost is None or known[middle].size not in (many.size, few.size):
            unseen += [(low, middle), (middle, high)]
    return known


def _ends(find: Callable[[float], Changes], max_changes: int) -> dict[float, Changes]:
    """Find a penalty with about max_changes changes, and one without changes."""
    high = low = _FIRST_PENALTY
    none = some = find(_FIRST_PENALTY)
    while none.size and high < _FIRST_PENALTY * _WIDEST:
        high *= 10
        none = find(high)
    few = high
    while some.size < max_changes and low > high / _WIDEST:
        few, low = low, low / 10
        some = find(low)
    for _ in range(_MOST_HALVINGS):
        if some.size <= 2 * max_changes:
            break
        middle = np.sqrt(low * few)
        found = find(middle)
        if found.size < max_changes:
            few = middle
        else:
            low, some = middle, found
    return {low: some, high: none}


def skchange_detector(learned: LearnedDetector) -> Any:
    """Convert a fitted `LearnedDetector` to a detector of skchange.

    Parameters
    ----------
    learned : LearnedDetector
        A fitted detector, which stays fitted in clones.

    Returns
    -------
    skchange.detectors.BaseChangeDetector
        Its ``predict`` takes an array of shape (n, 1).
    """
    return _skchange_class()(FrozenEstimator(learned))


def sktime_detector(learned: LearnedDetector) -> Any:
    """Convert a fitted `LearnedDetector` to a detector of sktime.

    Parameters
    ----------
    learned
        As for `skchange_detector`.

    Returns
    -------
    sktime.detection.base.BaseDetector
        Its ``predict`` returns a data frame with the column ``ilocs``.
    """
    return _sktime_class()(FrozenEstimator(learned))


def __getattr__(name: str) -> Any:
    # Subclasses of classes from optional packages; pickle looks them up here.
    if name == "SkchangeDetector":
        return _skchange_class()
    if name == "SktimeDetector":
        return _sktime_class()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@cache
def _skchange_class() -> Any:
    from skchange.detectors import BaseChangeDetector
    from skchange.utils.validation import validate_data

    class SkchangeDetector(BaseChangeDetector):  # type: ignore[misc]
        """A detector of skchange with a penalty for each sequence."""

        __qualname__ = "SkchangeDetector"

        def __init__(self, learned: Any) -> None:
            self.learned = learned

        def __sklearn_tags__(self) -> Any:
            tags = super().__sklearn_tags__()
            tags.input_tags.multivariate = False
            return tags

        def fit(self, X: ArrayLike, y: object = None) -> Any:
            """Predict the penalty of a sequence; nothing else is learned."""
            column = validate_data(self, X, reset=True, ensure_2d=True)
            (self.penalty_,) = self.learned.predict_penalty([column[:, 0]])
            return self

        def predict(self, X: ArrayLike) -> NDArray[np.intp]:
            """Detect changes with the penalty predicted for this sequence."""
            column = validate_data(self, X, reset=False, ensure_2d=True)
            (changes,) = self.learned.predict([column[:, 0]])
            return np.asarray(changes, dtype=np.intp)

    return SkchangeDetector


@cache
def _sktime_class() -> Any:
    from sktime.detection.base import BaseDetector

    class SktimeDetector(BaseDetector):  # type: ignore[misc]
        """A detector of sktime with a penalty for each series."""

        __qualname__ = "SktimeDetector"
        _tags = {  # noqa: RUF012
            "task": "change_point_detection",
            "learning_type": "unsupervised",  # the labels were used before
            "capability:multivariate": False,
            "fit_is_empty": True,
            "X_inner_mtype": "np.ndarray",
        }

        def __init__(self, learned: Any) -> None:
            self.learned = learned
            super().__init__()

        def _predict(self, X: ArrayLike) -> NDArray[np.int64]:
            (changes,) = self.learned.predict([np.ravel(np.asarray(X))])
            return np.asarray(changes)

    return SktimeDetector

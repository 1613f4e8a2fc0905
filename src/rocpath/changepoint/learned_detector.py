"""From sequences and labeled regions to changes of new sequences, in one estimator."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from rocpath.arguments import check_count, describe
from rocpath.changepoint.adapters import detector_errors, detector_segmentation
from rocpath.changepoint.error_functions import errors_by_penalty
from rocpath.changepoint.features import sequence_features
from rocpath.changepoint.labels import Labels, label_errors
from rocpath.changepoint.penalty_regressor import PenaltyRegressor
from rocpath.changepoint.segmentation import segment_penalty

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from rocpath.changepoint.segmentation import Constraint, SegmentCost
    from rocpath.changepoint.segmentation_results import Segmentation


class LearnedDetector(BaseEstimator):  # type: ignore[misc]
    """Detect changes with a penalty learned from labeled regions.

    ``fit`` segments every labeled sequence, counts its label errors for every penalty,
    computes its features, and learns to predict the penalty from them. ``predict``
    segments new sequences with the penalties predicted for them. Sequences come as a
    list, so that cross-validation can divide them, by ``groups`` too.

    Parameters
    ----------
    max_changes : int
        The most changes of a labeled sequence that are tried.
    cost, constraint, min_length
        As for :func:`~rocpath.changepoint.segment`.
    regressor : estimator, optional
        Predicts the log penalty; by default :class:`PenaltyRegressor`.
    search : object, optional
        A detector of ruptures or skchange, as for
        :func:`~rocpath.changepoint.adapters.detector_errors`, to use instead of
        :func:`~rocpath.changepoint.segment`; cost, constraint and min_length are then
        its own.

    Attributes
    ----------
    regressor_ : estimator
        The fitted model of the penalty.
    n_labeled_ : int
        How many sequences had labels.

    Examples
    --------
    >>> import numpy as np
    >>> from rocpath import changepoint as cp
    >>> rng = np.random.default_rng(0)
    >>> noise = rng.choice([0.2, 2.0], size=30)
    >>> x = [np.repeat([0, 8 * s], 20) + s * rng.normal(size=40) for s in noise]
    >>> kind = ["no_change", "one_change", "no_change"]
    >>> labels = [cp.Labels([0, 15, 25], [15, 25, 40], kind) for _ in x]
    >>> detector = cp.LearnedDetector(max_changes=10).fit(x[:20], labels[:20])
    >>> [changes.tolist() for changes in detector.predict(x[20:22])]
    [[20], [20]]
    >>> detector.score(x[20:], labels[20:])
    1.0
    """

    def __init__(
        self,
        *,
        max_changes: int = 20,
        cost: SegmentCost = "normal",
        constraint: Constraint = None,
        min_length: int = 1,
        regressor: Any = None,
        search: Any = None,
    ) -> None:
        self.max_changes = max_changes
        self.cost = cost
        self.constraint = constraint
        self.min_length = min_length
        self.regressor = regressor
        self.search = search

    def fit(
        self,
        sequences: Sequence[ArrayLike],
        labels: Sequence[Labels | None],
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Learn the penalty.

        Parameters
        ----------
        sequences : list of array-like
            The sequences.
        labels : list of Labels or None
            The labeled regions of each; None where there are none.
        groups : array-like, shape (n_sequences,), optional
            What sequences belong together, as for :meth:`PenaltyRegressor.fit`.
        """
        sequences, labels = _paired(sequences, labels)
        labeled = {k: one for k, one in enumerate(labels) if one is not None}
        if not labeled:
            raise ValueError(
                "labels must have a sequence with labeled regions, got none."
            )
        if self.search is not None:
            errors = partial(detector_errors, self.search)
        else:
            errors = partial(errors_by_penalty, **self._segment_settings)
        functions = [
            errors(sequences[k], one, max_changes=self.max_changes)
            for k, one in labeled.items()
        ]
        features = sequence_features([sequences[k] for k in labeled]).value
        regressor = PenaltyRegressor() if self.regressor is None else self.regressor
        own = {} if groups is None else {"groups": np.asarray(groups)[list(labeled)]}
        self.regressor_ = clone(regressor).fit(features, functions, **own)
        self.n_labeled_ = len(labeled)
        return self

    @property
    def _segment_settings(self) -> dict[str, Any]:
        return {
            "cost": self.cost,
            "constraint": self.constraint,
            "min_length": self.min_length,
        }

    def predict_penalty(self, sequences: Sequence[ArrayLike]) -> NDArray[np.float64]:
        """Predict the penalty of each sequence."""
        check_is_fitted(self)
        features = sequence_features(list(sequences)).value
        return np.asarray(np.exp(self.regressor_.predict(features)))

    def segment(self, sequences: Sequence[ArrayLike]) -> list[Segmentation]:
        """Segment each sequence with the penalty predicted for it."""
        if self.search is not None:
            find = partial(detector_segmentation, self.search)
        else:
            find = partial(segment_penalty, **self._segment_settings)
        penalties = self.predict_penalty(sequences).tolist()
        pairs = zip(sequences, penalties, strict=True)
        return [find(sequence, penalty=penalty) for sequence, penalty in pairs]

    def predict(self, sequences: Sequence[ArrayLike]) -> list[NDArray[np.int64]]:
        """Detect the changes of each sequence: where new segments start."""
        return [found.changes for found in self.segment(sequences)]

    def score(
        self, sequences: Sequence[ArrayLike], labels: Sequence[Labels | None]
    ) -> float:
        """Return the part of labeled regions without an error."""
        sequences, labels = _paired(sequences, labels)
        n_errors = n_labels = 0
        for found, regions in zip(self.segment(sequences), labels, strict=True):
            if regions is not None:
                errors = label_errors([found.changes], regions, n=found.n)
                n_errors += int(errors.fp[0] + errors.fn[0])
                n_labels += len(regions)
        if n_labels == 0:
            raise ValueError("labels must have at least one region, got none.")
        return 1.0 - n_errors / n_labels


def _paired(sequences: Any, labels: Any) -> tuple[list[ArrayLike], list[Labels | None]]:
    sequences, labels = list(sequences), list(labels)
    check_count("labels must have an entry", len(labels), len(sequences), "sequences")
    for k, one in enumerate(labels):
        if one is not None and not isinstance(one, Labels):
            raise TypeError(
                f"labels must be a list of Labels or None, got {describe(one)} for "
                f"sequence {k}."
            )
    return sequences, labels

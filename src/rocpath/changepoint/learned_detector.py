"""Detector of changes with a penalty learned from labeled sequences."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from rocpath.changepoint.adapters import detector_segmentation
from rocpath.changepoint.detection import detect_changes, warn_of_unusual
from rocpath.changepoint.detector_settings import DetectorSettings
from rocpath.changepoint.error_functions import can_be_learned
from rocpath.changepoint.labels import Labels, label_errors
from rocpath.changepoint.observations import checked_sequences, one_for_each
from rocpath.changepoint.penalty_default import noise_scaled
from rocpath.changepoint.penalty_evaluation import PenaltyEvaluation, evaluate_penalties
from rocpath.changepoint.penalty_regressor import PenaltyRegressor
from rocpath.changepoint.saved_detector import SavedDetector
from rocpath.changepoint.segment_costs import Constraint, SegmentCost
from rocpath.changepoint.segmentation_results import Segmentation
from rocpath.changepoint.training_sequences import (
    check_columns,
    labeled_sequences,
    training_sequences,
)
from rocpath.changepoint.worth import ChangeWorth, changes_worth
from rocpath.files.writer import write_file
from rocpath.model_selection.comparison import ModelComparison
from rocpath.validation import Floats

_OptionalArrays = Sequence[ArrayLike | None] | None  # one entry per sequence


class LearnedDetector(BaseEstimator):  # type: ignore[misc]
    """Changepoint detector with a penalty learned from labeled regions.

    ``fit`` segments every labeled sequence, counts its label errors for every penalty,
    computes its features, and learns to predict the penalty from them. ``predict``
    segments new sequences with their predicted penalties. Sequences are passed as a
    list, so that cross-validation can split them, optionally by ``groups``.

    Penalties and features are in units of the noise, so that a model learned from
    percentages can be applied to byte counts.

    Parameters
    ----------
    max_changes : int
        Initial maximum number of changes of a labeled sequence, which grows until the
        label errors at small penalties are known, as in `errors_by_penalty`; for other
        libraries, with ``search``, it does not grow.
    cost, constraint, min_length
        Settings of the segmentations, as for :func:`~rocpath.changepoint.segment`.
    regressor : estimator, optional
        Model of the log penalty; by default :class:`PenaltyRegressor`.
    search : object, optional
        Detector from ruptures or skchange to use instead of
        :func:`~rocpath.changepoint.segment`, as for
        :func:`~rocpath.changepoint.adapters.detector_errors`. It has its own cost,
        constraint and minimum length.
    unit : {"noise", "free", None}
        Unit of the penalty. ``"noise"`` uses the noise variance of each sequence.
        ``None`` uses no unit. ``"free"`` also uses no unit, but adds the log noise
        variance as a feature, whose coefficient is learned. The unit is always None for the
        Poisson and binomial costs, whose penalties have no unit, and with ``search``.
        For the exponential, variance and mean-variance costs, it applies only to features.
    random_state : int, RandomState or None
        Seed of the assignment of groups to folds.

    Attributes
    ----------
    regressor_ : estimator
        The fitted model of the log penalty.
    n_labeled_, n_labels_, n_columns_ : int
        Numbers of labeled sequences, of labeled regions, and of columns per sequence.
    has_runs_ : bool
        Whether all weights are whole numbers, which are treated as run lengths.
    metadata_ : dict
        The metadata that was saved with a loaded model; empty otherwise.

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
    >>> detector.comparison_.selected
    'PenaltyRegressor'
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
        unit: Literal["noise", "free"] | None = "noise",
        random_state: Any = None,
    ) -> None:
        self.max_changes = max_changes
        self.cost = cost
        self.constraint = constraint
        self.min_length = min_length
        self.regressor = regressor
        self.search = search
        self.unit = unit
        self.random_state = random_state

    def fit(
        self,
        sequences: Sequence[ArrayLike],
        labels: Sequence[Labels | None],
        *,
        weights: _OptionalArrays = None,
        positions: _OptionalArrays = None,
        groups: ArrayLike | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Self:
        """Learn to predict the penalty.

        Parameters
        ----------
        sequences : list of array-like
            Sequences of observations, as for :func:`~rocpath.changepoint.segment`.
        labels : list of Labels or None
            The labeled regions of each sequence; None for unlabeled sequences.
        weights : list of array-like or None, optional
            Weights of the observations. If all are whole numbers, they are treated as
            run lengths in the computation of features.
        positions : list of array-like or None, optional
            Positions of the observations in the units of the labels; by default their
            indices.
        groups : array-like, shape (n_sequences,), optional
            Groups of sequences that cross-validation keeps together, as for
            :meth:`PenaltyRegressor.fit`.
        progress : callable, optional
            Function that is called with the number of segmented sequences and the total
            number of labeled sequences.
        """
        training = training_sequences(
            sequences, labels, weights=weights, positions=positions, groups=groups
        )
        settings = self._settings
        self.n_columns_ = check_columns([one.value for one in training])
        functions = []
        for done, one in enumerate(training):
            if progress is not None:
                progress(done, len(training))
            functions.append(settings.errors(one))
        if not can_be_learned(functions):
            raise ValueError(
                "labels must allow both false positives and false negatives: label "
                "regions with and without changes, in sequences with changes."
            )
        self.has_runs_ = all(one.has_runs for one in training)
        problem = settings.problem(training, functions)
        self.regressor_ = clone(self._unfitted).fit(
            problem.X, problem.functions, groups=problem.groups
        )
        self.n_labeled_ = len(training)
        self.n_labels_ = problem.n_labels
        self.metadata_: dict[str, Any] = {}
        self._training, self._problem = training, problem
        self._evaluation: PenaltyEvaluation | None = None
        return self

    @property
    def _unfitted(self) -> Any:
        if self.regressor is not None:
            return self.regressor
        return PenaltyRegressor(random_state=self.random_state)

    @property
    def _settings(self) -> DetectorSettings:
        return DetectorSettings(
            self.max_changes, self.cost, self.constraint, self.min_length, self.unit, self.search
        )

    def evaluate(self) -> PenaltyEvaluation:
        """Cross-validate the model and the baselines on the training sequences.

        Returns
        -------
        PenaltyEvaluation
            Cross-validated penalties of each model, with ``comparison``, the table of
            their label errors, and ``headline()``, a summary in two sentences.
        """
        self._check_training("evaluate")
        if self._evaluation is None:
            seed = 0 if self.random_state is None else self.random_state
            self._evaluation = evaluate_penalties(self._problem, self._unfitted, seed=seed)
        return self._evaluation

    @property
    def comparison_(self) -> ModelComparison:
        """Cross-validated label errors of the model and of the baselines, from `evaluate`."""
        return self.evaluate().comparison

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        title: str = "Learned penalties",
        names: Sequence[str] | None = None,
        is_time: bool = False,
        notes: Sequence[str] = (),
    ) -> None:
        """Write a self-contained HTML page about the fit.

        Parameters
        ----------
        path : path
            File to write.
        title : str
            Title of the page.
        names : list of str, optional
            Names of all sequences passed to ``fit``; by default their indices.
        is_time : bool
            Whether positions are times, in microseconds since 1970.
        notes : list of str
            Sentences to show above the results.
        """
        # Pages are above the results that they show.
        from rocpath.pages.detector_report import detector_report

        self._check_training("report")
        page = detector_report(self, title=title, names=names, is_time=is_time, notes=notes)
        write_file(path, page)

    def save(
        self, path: str | os.PathLike[str], *, metadata: Mapping[str, Any] | None = None
    ) -> None:
        """Save the fitted model, without its training data.

        :func:`rocpath.load_model` returns the fitted detector.

        Parameters
        ----------
        path : path
            File with the extension ``.skops``, or folder in which ``model.skops`` is
            written.
        metadata : dict, optional
            Strings and numbers to save with the model, such as names of columns.
        """
        from rocpath.files.models import save_model

        check_is_fitted(self)
        save_model(path, SavedDetector.from_detector(self, metadata or {}))

    def predict_penalty(
        self, sequences: Sequence[ArrayLike], *, weights: _OptionalArrays = None
    ) -> Floats:
        """Predict the penalty of each sequence.

        Parameters
        ----------
        sequences, weights
            As for :meth:`segment`.

        Returns
        -------
        array, shape (n_sequences,)
            Penalty per change, in the units of the data.
        """
        return self._predicted(sequences, weights)[0]

    def _predicted(
        self, sequences: Sequence[ArrayLike], weights: _OptionalArrays
    ) -> tuple[Floats, Floats]:
        """Return the predicted penalties, and the features."""
        check_is_fitted(self)
        values = checked_sequences(sequences)
        check_columns(values, self.n_columns_)
        every = one_for_each("weights", weights, len(values))
        scaled = [noise_scaled(x, weight)[0] for x, weight in zip(values, every, strict=True)]
        X, unit = self._settings.features(scaled, every, has_runs=self.has_runs_)
        return np.asarray(np.exp(self.regressor_.predict(X)) * unit), X

    def segment(
        self,
        sequences: Sequence[ArrayLike],
        *,
        weights: _OptionalArrays = None,
        names: Sequence[str] | None = None,
    ) -> list[Segmentation]:
        """Segment each sequence with its predicted penalty.

        A warning lists sequences with unusual features or unusually many changes.

        Parameters
        ----------
        sequences : list of array-like
            Sequences of observations, with as many columns as those of the fit.
        weights : list of array-like or None, optional
            Weights of the observations of each sequence.
        names : list of str, optional
            Names of the sequences in warnings; by default their indices.
        """
        penalty, X = self._predicted(sequences, weights)
        found = self._segmentations(sequences, penalty.tolist(), weights)
        shown = names or [str(k) for k in range(len(found))]
        warn_of_unusual(self.regressor_, X, found, shown)
        return found

    def _segmentations(
        self, sequences: Sequence[ArrayLike], penalty: Sequence[float], weights: _OptionalArrays
    ) -> list[Segmentation]:
        if self.search is None:
            return detect_changes(
                sequences, penalty, weights=weights, **self._settings.search_settings
            )
        pairs = zip(sequences, penalty, strict=True)
        return [detector_segmentation(self.search, x, one) for x, one in pairs]

    def worth(
        self,
        sequences: Sequence[ArrayLike],
        found: Sequence[Segmentation],
        *,
        weights: _OptionalArrays = None,
    ) -> list[ChangeWorth]:
        """Return the gain and the penalty interval of each change.

        Parameters
        ----------
        sequences : list of array-like
            The sequences that were passed to :meth:`segment`.
        found : list of Segmentation
            The segmentations that :meth:`segment` returned.
        weights : list of array-like or None, optional
            Weights of the observations of each sequence.

        Returns
        -------
        list of ChangeWorth
        """
        if self.search is not None:
            raise ValueError("search must be None to compute the worth of changes.")
        return changes_worth(sequences, found, weights=weights, **self._settings.search_settings)

    def predict(
        self, sequences: Sequence[ArrayLike], *, weights: _OptionalArrays = None
    ) -> list[NDArray[np.int64]]:
        """Detect the changes of each sequence with its predicted penalty.

        Parameters
        ----------
        sequences, weights
            As for :meth:`segment`.

        Returns
        -------
        list of array of int
            Indices where new segments start.
        """
        return [found.changes for found in self.segment(sequences, weights=weights)]

    def score(self, sequences: Sequence[ArrayLike], labels: Sequence[Labels | None]) -> float:
        """Return the fraction of labeled regions without an error.

        Parameters
        ----------
        sequences, labels
            As for :meth:`fit`.

        Returns
        -------
        float
        """
        values, regions = labeled_sequences(sequences, labels)
        pairs = [
            (label_errors([found.changes], one, n=found.n), len(one))
            for found, one in zip(self.segment(values), regions, strict=True)
            if one is not None
        ]
        if not pairs:
            raise ValueError("labels must have at least one region, got none.")
        n_errors = sum(int(errors.fp[0] + errors.fn[0]) for errors, _ in pairs)
        return 1.0 - n_errors / sum(n_labels for _, n_labels in pairs)

    def _check_training(self, name: str) -> None:
        check_is_fitted(self)
        if not hasattr(self, "_training"):
            raise AttributeError(
                f"{name} requires the training data, which is not saved: fit the model again."
            )

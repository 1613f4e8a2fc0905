"""Learn changepoint penalties from label errors, by descent on AUM."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.model_selection import KFold
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from rocpath.arguments import describe, number_from_zero, one_of, whole_number
from rocpath.changepoint.error_functions import (
    PenaltyErrors,
    can_be_learned,
    error_breakpoints,
)
from rocpath.changepoint.features import sequence_features
from rocpath.changepoint.interval_regression import (
    IntervalRegression,
    predict_log_penalty,
    useful_columns,
)
from rocpath.changepoint.segmentation import segment_penalty
from rocpath.descent import fewest_errors_constant
from rocpath.linear_model import minimize_aum
from rocpath.roc import auc
from rocpath.step_choice import STEP_CHOICES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from rocpath.changepoint.segmentation import Constraint, SegmentCost
    from rocpath.changepoint.segmentation_results import Segmentation
    from rocpath.step_choice import StepChoice


class PenaltyRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Predict the log penalty of a sequence, such that label errors rank well.

    A linear model starts from interval regression, or from zero, and descends on the
    AUM of the label errors (:func:`minimize_aum`). How many steps it takes is decided
    by cross-validation: as many as have the best mean on the parts held out, if they
    beat the start by more than two standard errors over the parts, and none otherwise.
    The constant is then the one with the fewest label errors in training; after no
    step it is that of the start. Columns that are not finite, or constant, in training
    are dropped.

    Parameters
    ----------
    start : {"interval_regression", "zero"}
        Where to start.
    step : str
        How to choose the size of a step, as in :func:`minimize_aum`, without those
        that need validation data.
    monitor : {"auc", "aum"}
        What decides about the number of steps, on the parts held out.
    n_folds : int
        Number of parts.
    max_steps : int
        Most steps.
    tol : float
        A descent ends after a step that improves AUM by no more than this.
    random_state : int, RandomState or None
        Decides about the parts.

    Attributes
    ----------
    coef_ : array, shape (n_features,)
        Coefficients of the log penalty; 0 for dropped columns.
    intercept_ : float
        Constant of the log penalty.
    n_iter_ : int
        Steps taken.
    kept_features_ : array of bool, shape (n_features,)
        The columns that were finite and not constant in training.
    start_ : IntervalRegression or None
        The start.
    monitor_mean_, monitor_error_ : arrays, shape (n_steps + 1,)
        What was monitored, mean over the parts by number of steps, and the standard
        error of its difference to no step.
    n_features_in_ : int
        Number of columns of X.

    Examples
    --------
    >>> import numpy as np
    >>> import rocpath as rp
    >>> from rocpath import changepoint as cp
    >>> rng = np.random.default_rng(0)
    >>> noise = rng.choice([0.2, 2.0], size=30)
    >>> x = [np.repeat([0.0, 8 * s], 20) + s * rng.normal(size=40) for s in noise]
    >>> kind = ["no_change", "one_change", "no_change"]
    >>> labels = cp.Labels([0, 15, 25], [15, 25, 40], kind)
    >>> y = [cp.errors_by_penalty(one, labels, max_changes=10) for one in x]
    >>> X = np.log(noise)[:, None]
    >>> model = rp.PenaltyRegressor(random_state=0).fit(X, y)
    >>> model.predict_changes(x[:1], X[:1])[0].changes.tolist()
    [20]
    """

    def __init__(
        self,
        *,
        start: str = "interval_regression",
        step: StepChoice = "first_min",
        monitor: str = "auc",
        n_folds: int = 5,
        max_steps: int = 200,
        tol: float = 1e-5,
        random_state: Any = None,
    ) -> None:
        self.start = start
        self.step = step
        self.monitor = monitor
        self.n_folds = n_folds
        self.max_steps = max_steps
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Sequence[PenaltyErrors]) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Features of each sequence.
        y : list of PenaltyErrors
            Label errors of each sequence, as functions of the penalty.

        Returns
        -------
        self
        """
        X = validate_data(self, X, ensure_all_finite=False, dtype=np.float64)
        functions = _error_functions(y, len(X))
        self._check_parameters()
        self.kept_features_ = useful_columns(X)
        if not self.kept_features_.any():
            raise ValueError(
                "X must have a column that is finite and differs between sequences, "
                f"got none in {X.shape[1]}."
            )
        kept = X[:, self.kept_features_]
        scale = _Scale(kept.mean(axis=0), kept.std(axis=0))
        problem = _Problem(scale.of(kept), functions)

        n_steps = self._choose_steps(problem)
        self.start_, weights, constant = self._started(problem)
        self.n_iter_ = 0
        if n_steps > 0:
            descent = self._descend(problem, weights, n_steps)
            self.n_iter_ = descent.n_steps
            weights = descent.coef
            constant = fewest_errors_constant(problem.bp, problem.X @ weights)
        # The descent is on minus the log penalty.
        self.coef_ = np.zeros(X.shape[1])
        self.coef_[self.kept_features_] = -weights / scale.deviation
        self.intercept_ = float(
            -constant - scale.center @ self.coef_[self.kept_features_]
        )
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict the log penalty.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Features; columns without a coefficient are ignored.

        Returns
        -------
        array, shape (n_samples,)
        """
        return predict_log_penalty(self, X)

    def predict_changes(
        self,
        sequences: Sequence[ArrayLike],
        X: Any = None,
        *,
        cost: SegmentCost = "normal",
        weights: Sequence[ArrayLike] | None = None,
        constraint: Constraint = None,
    ) -> list[Segmentation]:
        """Segment sequences with the penalties predicted for them.

        Parameters
        ----------
        sequences : list of array-like
            The sequences.
        X : array-like, shape (n_sequences, n_features), optional
            Their features; by default those of
            :func:`~rocpath.changepoint.sequence_features`.
        cost : str
            As in :func:`~rocpath.changepoint.segment`; the one with which the label
            errors were computed.
        weights : list of array-like, optional
            Weights of the observations of each sequence.
        constraint : str, optional
            As ``cost``.

        Returns
        -------
        list of Segmentation
        """
        if X is None:
            X = sequence_features(list(sequences)).value
        penalty = np.exp(self.predict(X))
        if len(penalty) != len(sequences):
            raise ValueError(
                f"X must have a row for each of the {len(sequences)} sequences, got "
                f"{len(penalty)}."
            )
        every_weight = [None] * len(sequences) if weights is None else list(weights)
        return [
            segment_penalty(
                sequence, one, cost=cost, weights=weight, constraint=constraint
            )
            for sequence, one, weight in zip(
                sequences, penalty, every_weight, strict=True
            )
        ]

    def score(self, X: Any, y: Sequence[PenaltyErrors]) -> float:
        """Return the AUC of the label errors.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Features.
        y : list of PenaltyErrors
            Label errors of each sequence.

        Returns
        -------
        float
        """
        prediction = self.predict(X)
        functions = _error_functions(y, prediction.size)
        return auc(error_breakpoints(functions), -prediction)

    def _check_parameters(self) -> None:
        one_of("start", self.start, ("interval_regression", "zero"))
        one_of("monitor", self.monitor, ("auc", "aum"))
        one_of("step", self.step, tuple(c for c in STEP_CHOICES if "valid" not in c))
        whole_number("n_folds", self.n_folds, least=2)
        whole_number("max_steps", self.max_steps, least=0)
        number_from_zero("tol", self.tol)

    def _started(
        self, problem: _Problem
    ) -> tuple[IntervalRegression | None, NDArray[np.float64], float]:
        """Fit the start; return it with weights and constant of -log penalty."""
        if self.start == "zero":
            weights = np.zeros(problem.X.shape[1])
            constant = fewest_errors_constant(problem.bp, problem.X @ weights)
            return None, weights, constant
        model = IntervalRegression().fit(problem.X, problem.functions)
        return model, -model.coef_, -model.intercept_

    def _descend(
        self,
        problem: _Problem,
        weights: NDArray[np.float64],
        max_steps: int,
        validation: Any = None,
    ) -> Any:
        return minimize_aum(
            problem.X,
            problem.bp,
            coef=weights,
            step=self.step,
            max_steps=max_steps,
            tol=self.tol,
            validation=validation,
        )

    def _choose_steps(self, problem: _Problem) -> int:
        rng = check_random_state(self.random_state)
        n_folds = min(self.n_folds, len(problem.functions))
        self.monitor_mean_ = self.monitor_error_ = np.zeros(1)
        if self.max_steps == 0 or n_folds < 2:
            return self.max_steps
        paths = []
        for train, test in KFold(n_folds, shuffle=True, random_state=rng).split(
            problem.X
        ):
            part, held_out = problem.at(train), problem.at(test)
            if not all(can_be_learned(one.functions) for one in (part, held_out)):
                continue
            _, weights, _ = self._started(part)
            descent = self._descend(
                part, weights, self.max_steps, (held_out.X, held_out.bp)
            )
            is_auc = self.monitor == "auc"
            paths.append(descent.validation_auc if is_auc else -descent.validation_aum)
        if not paths:
            return self.max_steps
        longest = max(map(len, paths))
        # A descent that has ended stays where it is.
        table = np.array([np.pad(p, (0, longest - len(p)), "edge") for p in paths])
        gain = table - table[:, :1]
        error = gain.std(axis=0, ddof=1 if len(paths) > 1 else 0) / np.sqrt(len(paths))
        self.monitor_mean_ = table.mean(axis=0)
        self.monitor_error_ = error
        best = int(self.monitor_mean_.argmax())
        return best if gain.mean(axis=0)[best] > 2.0 * error[best] else 0


class _Scale(NamedTuple):
    center: NDArray[np.float64]
    deviation: NDArray[np.float64]

    def of(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray((X - self.center) / self.deviation)


class _Problem:
    """Scaled features and label errors of some sequences."""

    def __init__(
        self, X: NDArray[np.float64], functions: Sequence[PenaltyErrors]
    ) -> None:
        self.X = X
        self.functions = list(functions)

    @property
    def bp(self) -> Any:
        return error_breakpoints(self.functions)

    def at(self, rows: NDArray[np.intp]) -> _Problem:
        return _Problem(self.X[rows], [self.functions[row] for row in rows])


def _error_functions(y: Any, n_samples: int) -> list[PenaltyErrors]:
    functions = list(y) if isinstance(y, (list, tuple, np.ndarray)) else [y]
    for row, function in enumerate(functions):
        if not isinstance(function, PenaltyErrors):
            raise TypeError(
                f"y must be a list of PenaltyErrors, got {describe(function)} in row "
                f"{row}."
            )
    if len(functions) != n_samples:
        raise ValueError(
            f"y must have an entry for each of the {n_samples} rows of X, got "
            f"{len(functions)}."
        )
    return functions

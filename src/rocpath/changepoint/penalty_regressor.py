"""Learn changepoint penalties from cross-validated label errors."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rocpath.changepoint.error_functions import (
    PenaltyErrors,
    can_be_learned,
    checked_functions,
    error_breakpoints,
)
from rocpath.changepoint.interval_path import LinearModels, LogPenaltyModel
from rocpath.changepoint.penalty_candidates import (
    ErrorSteps,
    LabeledSequences,
    fit_path,
    with_intercepts,
)
from rocpath.model_selection.comparison import CandidateChoice, choose_candidate
from rocpath.model_selection.folds import Fold, block_folds
from rocpath.search.linear_model import minimize_aum
from rocpath.search.roc import auc
from rocpath.search.step_choice import STEP_CHOICES, StepChoice
from rocpath.validation import Floats, nonnegative_number, one_of, share_between, whole_number

# Number of standard errors by which a simpler model may be worse than the best. On five
# data sets and subsets of them, label errors with 0, 0.5 and 1 did not differ
# significantly; 0.5 had the largest mean AUC.
_SLACK = 0.5


class PenaltyRegressor(LogPenaltyModel):
    """Linear model of the log penalty, selected by cross-validated label errors.

    The candidates are linear models of increasing complexity: a constant, then interval
    regression (:class:`IntervalRegression`) with decreasing L1 weights, which select an
    increasing number of features. Each is evaluated by its cross-validated label errors,
    and the simplest within half a standard error of the best is selected. If
    ``max_steps`` is positive, the AUM of the label errors is then decreased by descent
    steps from this model (:func:`minimize_aum`); cross-validation chooses their number.

    The intercept of each model is halfway between the minimizers of the interval loss
    and of the label errors in training. All label errors are averaged over penalties
    from half to twice the predicted one.

    Features are clipped to the range of the training data, and NaNs are replaced by the
    training median.

    Parameters
    ----------
    start : {"interval_regression", "zero"}
        Candidates for the initial model; with ``"zero"``, only the constant.
    max_steps : int
        Maximum number of descent steps on AUM.
    step : str
        Rule for the step size, as in :func:`minimize_aum`, except rules that need
        validation data.
    n_folds : int
        Maximum number of cross-validation folds, which consist of whole groups or,
        without groups, of consecutive rows.
    n_alphas : int
        Number of L1 weights to try.
    alpha_ratio, margin
        As for :class:`IntervalRegression`.
    tol : float
        Improvement of AUM below which the descent stops.
    random_state : int, RandomState or None
        Seed of the assignment of groups to folds.

    Attributes
    ----------
    coef_ : array, shape (n_features,)
        Coefficients of the log penalty; 0 for constant columns.
    intercept_ : float
        Intercept of the log penalty.
    n_iter_ : int
        Number of descent steps.
    alpha_ : float
        The selected L1 weight, as a fraction of the largest; 1 is the constant model.
    alphas_, monitor_mean_, monitor_error_ : array, shape (n_alphas,)
        The L1 weights, as fractions of the largest, their cross-validated label errors,
        and the standard errors of the differences from the best.
    steps_, steps_mean_, steps_error_ : array
        Candidate numbers of descent steps, their cross-validated label errors, and the
        standard errors of the differences from the best.
    kept_features_, low_, high_, median_, n_features_in_
        As for :class:`IntervalRegression`.

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
    >>> cp.detect_changes(x[:1], np.exp(model.predict(X[:1])))[0].changes.tolist()
    [20]
    """

    def __init__(
        self,
        *,
        start: str = "interval_regression",
        max_steps: int = 0,
        step: StepChoice = "first_min",
        n_folds: int = 10,
        n_alphas: int = 15,
        alpha_ratio: float = 0.01,
        margin: float = 1.0,
        tol: float = 1e-5,
        random_state: Any = None,
    ) -> None:
        self.start = start
        self.max_steps = max_steps
        self.step = step
        self.n_folds = n_folds
        self.n_alphas = n_alphas
        self.alpha_ratio = alpha_ratio
        self.margin = margin
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Sequence[PenaltyErrors], *, groups: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Features of each sequence.
        y : list of PenaltyErrors
            Label errors of each sequence, as functions of the penalty.
        groups : array-like, shape (n_samples,), optional
            Groups of sequences that are kept together in a fold, such as genomic
            regions or subjects. Group by the unit you want to generalize to: the groups
            determine how many features are selected.
        """
        X = self._checked(X, reset=True)
        sequences = LabeledSequences(X, checked_functions("y", y, n=len(X)))
        self._check_parameters()
        splits = block_folds(len(X), groups, self.n_folds, self.random_state)
        n_alphas = 1 if self.start == "zero" else self.n_alphas
        self.alphas_ = np.geomspace(1.0, self.alpha_ratio, n_alphas)

        # Two one-dimensional searches replace a grid search: first over L1 weights, then
        # over the number of descent steps from the selected model.
        fit = partial(fit_path, fraction=self.alphas_, margin=self.margin)
        path = self._select(sequences, splits, n_alphas, fit)
        self.monitor_mean_, self.monitor_error_ = path.mean, path.standard_error
        self.alpha_ = float(self.alphas_[path.chosen])
        # Later steps gain less, so powers of two are enough.
        powers = 2 ** np.arange(self.max_steps.bit_length())
        self.steps_ = np.unique([0, *powers, self.max_steps])
        descend = partial(self._descent, chosen=path.chosen)
        steps = self._select(sequences, splits, self.steps_.size, descend)
        self.steps_mean_, self.steps_error_ = steps.mean, steps.standard_error
        models = descend(sequences)
        self.n_iter_ = int(models.n_iter[steps.chosen])
        self._set_model(models, steps.chosen)
        return self

    def _descent(self, sequences: LabeledSequences, chosen: int) -> LinearModels:
        """Minimize AUM from a model of the path; return a model for each number of steps.

        AUM is a function of minus the log penalties, and invariant to added constants.
        """
        path = fit_path(sequences, self.alphas_, margin=self.margin)
        scaled = path.features.scaled(sequences.X)
        # Interval regression predicts log penalties; breakpoints use their negatives.
        coef, taken = -path.coef[chosen], 0
        coefs, counts = [], []
        for most in self.steps_:
            # A single descent continues from the previous number of steps until it has
            # converged.
            if most > taken and can_be_learned(sequences.functions):
                descent = minimize_aum(
                    scaled,
                    error_breakpoints(sequences.functions),
                    coef=coef,
                    step=self.step,
                    max_steps=int(most) - taken,
                    tol=self.tol,
                )
                coef, taken = descent.coef, taken + descent.n_steps
            coefs.append(-coef)
            counts.append(taken)
        models = path._replace(coef=np.array(coefs), n_iter=np.array(counts))
        return with_intercepts(sequences, models, self.margin)

    def _select(
        self,
        sequences: LabeledSequences,
        splits: list[Fold],
        n_models: int,
        fit: Callable[[LabeledSequences], LinearModels],
    ) -> CandidateChoice:
        """Choose a model by its cross-validated label errors."""

        def losses(train: NDArray[np.intp], test: NDArray[np.intp]) -> Floats:
            X, functions = sequences.take(test)
            return ErrorSteps(functions).averaged(fit(sequences.take(train)).predict(X))

        choice = choose_candidate(splits, losses, n_errors=_SLACK) if n_models > 1 else None
        # Without alternatives or folds, the simplest model is selected.
        zero = np.zeros(n_models)
        return CandidateChoice(0, zero, zero) if choice is None else choice

    def score(self, X: Any, y: Sequence[PenaltyErrors]) -> float:
        """Return the AUC of the predictions, computed from label errors."""
        prediction = self.predict(X)
        functions = checked_functions("y", y, n=prediction.size)
        return auc(error_breakpoints(functions), -prediction)

    def _check_parameters(self) -> None:
        one_of("start", self.start, ("interval_regression", "zero"))
        # Rules that need validation rows are excluded, because there are none.
        one_of("step", self.step, tuple(c for c in STEP_CHOICES if "valid" not in c))
        whole_number("n_folds", self.n_folds, least=2)
        whole_number("n_alphas", self.n_alphas, least=2)
        whole_number("max_steps", self.max_steps, least=0)
        nonnegative_number("tol", self.tol)
        nonnegative_number("margin", self.margin)
        share_between("alpha_ratio", self.alpha_ratio)

"""Cross-validated label errors of several rules for choosing the penalty."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from sklearn.base import clone

from rocpath.changepoint.error_functions import (
    PenaltyErrors,
    can_be_learned,
    error_breakpoints,
    target_interval,
)
from rocpath.changepoint.interval_regression import IntervalRegression
from rocpath.model_selection.comparison import ModelComparison, ModelScore
from rocpath.model_selection.folds import block_folds
from rocpath.search.roc import ROCCurve, inside_interval, roc_curve
from rocpath.validation import Floats

CONSTANT, LOG_N = "constant penalty", "log n"
DEFAULT, INTERVAL = "default penalty, no labels", "interval regression"
_N_FOLDS = 5  # more folds take longer, because every rule is fitted in each of them
_TWO_SIDED_95 = float(ndtri(0.975))


class PenaltyProblem(NamedTuple):
    """Labeled sequences: features, label errors, groups, and penalties of baselines."""

    X: Floats
    log_length: Floats
    log_default: Floats
    functions: Sequence[PenaltyErrors]
    groups: NDArray[Any] | None
    unit: Floats  # unit of the penalty of each sequence
    n_labels: int

    @property
    def sample_size(self) -> str:
        """The numbers of labels and of independent units, as text."""
        labels = f"{self.n_labels:,} labels in {len(self.X):,} sequences"
        return labels if self.n_groups is None else f"{labels} of {self.n_groups:,} groups"

    @property
    def n_groups(self) -> int | None:
        """The number of groups, if there are any."""
        return None if self.groups is None else int(np.unique(self.groups).size)


@dataclass(frozen=True, eq=False)
class PenaltyEvaluation:
    """Log penalties that each rule predicts for held-out sequences.

    The first rule is the model that was fitted.
    """

    problem: PenaltyProblem
    log_penalty: dict[str, Floats]
    n_folds: int

    @property
    def fitted_rule(self) -> str:
        """The name of the fitted model."""
        return next(iter(self.log_penalty))

    def errors(self, rule: str) -> NDArray[np.int64]:
        """Return the number of label errors of a rule in each sequence."""
        pairs = zip(self.problem.functions, self.log_penalty[rule], strict=True)
        return np.array([int(f.at(one)) for f, one in pairs])

    @cached_property
    def comparison(self) -> ModelComparison:
        """The total label errors of all rules, in increasing order."""
        ours = self.errors(self.fitted_rule)
        scores = []
        for rule in self.log_penalty:
            errors = self.errors(rule)
            total, error = float(errors.sum()), self._standard_error(errors)
            margin = _TWO_SIDED_95 * error
            difference: tuple[float, float] | tuple[()] = ()
            if rule != self.fitted_rule:
                gap = errors - ours
                difference = float(gap.sum()), self._standard_error(gap)
            low, high = max(total - margin, 0.0), total + margin
            scores.append(ModelScore(rule, total, error, low, high, *difference))
        return ModelComparison(
            metric="label errors",
            greater_is_better=False,
            scores=tuple(sorted(scores, key=lambda one: one.value)),
            selected=self.fitted_rule,
            n_folds=self.n_folds,
            sample_size=self.problem.sample_size,
            decimals=0,
        )

    @cached_property
    def roc(self) -> dict[str, ROCCurve]:
        """The ROC curve of each rule, whose predictions are minus the log penalties."""
        bp = error_breakpoints(self.problem.functions)
        predicted = self.log_penalty.items()
        return {rule: roc_curve(bp, -one) for rule, one in predicted}

    def headline(self) -> str:
        """Return two sentences that compare the fitted model with a constant penalty."""
        comparison = self.comparison
        ours, constant = comparison[self.fitted_rule], comparison[CONSTANT]
        finding = next(one for one in comparison.findings() if one.startswith(f"{CONSTANT} vs. "))
        return (
            f"Cross-validated label errors: {ours.value:,.0f} of {self.problem.n_labels:,} with "
            f"learned penalties, {constant.value:,.0f} with a constant penalty. "
            f"{finding[0].upper()}{finding[1:]}"
        )

    @property
    def fewest_errors(self) -> int:
        """The number of label errors with the best penalty for each sequence."""
        return int(sum((f.fp + f.fn).min() for f in self.problem.functions))

    def _standard_error(self, errors: NDArray[np.int64]) -> float:
        """Return the standard error of a sum over sequences or groups."""
        total = errors.astype(float)
        if self.problem.groups is not None:
            # Errors within a group are correlated; totals of groups are independent.
            _, group = np.unique(self.problem.groups, return_inverse=True)
            total = np.bincount(group, weights=errors)
        return float(total.std(ddof=1) * np.sqrt(total.size))


def evaluate_penalties(
    problem: PenaltyProblem, regressor: Any, *, seed: Any = 0
) -> PenaltyEvaluation:
    """Cross-validate a model of the penalty and the usual baselines.

    Parameters
    ----------
    problem : PenaltyProblem
        The labeled sequences.
    regressor : estimator
        The model to evaluate; it is cloned.
    seed : int, RandomState or None
        Seed of the assignment of groups to folds.

    Returns
    -------
    PenaltyEvaluation
    """
    n_rows = len(problem.functions)
    splits = block_folds(n_rows, problem.groups, _N_FOLDS, seed)
    if not splits:
        unit = "sequences" if problem.groups is None else "groups"
        raise ValueError(f"labels must cover at least two {unit} for cross-validation, got one.")
    rules = {
        type(regressor).__name__: regressor,
        INTERVAL: IntervalRegression(),
        LOG_N: IntervalRegression(alpha=0),
        DEFAULT: None,
        CONSTANT: None,
    }
    log_penalty = {rule: np.zeros(n_rows) for rule in rules}
    # All rules use the same folds, so that their errors are paired.
    for train, test in splits:
        for rule, model in rules.items():
            log_penalty[rule][test] = _predicted(rule, model, problem, train, test)
    return PenaltyEvaluation(problem, log_penalty, len(splits))


def _predicted(
    rule: str, model: Any, problem: PenaltyProblem, train: NDArray[Any], test: NDArray[Any]
) -> Floats:
    """Fit a rule to the training rows, and predict the log penalties of the test rows."""
    if rule == DEFAULT:
        return np.asarray(problem.log_default[test])
    functions = [problem.functions[row] for row in train]
    # A few sequences may not determine a regression, but there is always a best constant.
    if rule == CONSTANT or not can_be_learned(functions):
        return np.full(len(test), _best_constant(functions))
    # Information criteria have penalties proportional to log n.
    X = problem.log_length if rule == LOG_N else problem.X
    groups = None if problem.groups is None else problem.groups[train]
    fitted = clone(model).fit(X[train], functions, groups=groups)
    return np.asarray(fitted.predict(X[test]))


def _best_constant(functions: Sequence[PenaltyErrors]) -> float:
    """Return a log penalty that minimizes the total errors of all sequences."""
    # The sum of errors changes only where the errors of some sequence change.
    penalty = np.unique(np.concatenate([f.min_penalty for f in functions]))
    rows = [np.searchsorted(f.min_penalty, penalty, "right") - 1 for f in functions]
    pairs = list(zip(functions, rows, strict=True))
    fp = np.sum([f.fp[row] for f, row in pairs], axis=0)
    fn = np.sum([f.fn[row] for f, row in pairs], axis=0)
    return inside_interval(*target_interval(PenaltyErrors(penalty, fp, fn)))

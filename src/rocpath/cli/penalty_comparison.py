"""Compare rules for penalties by the label errors they make on sequences held out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rocpath import changepoint as cp
from rocpath.changepoint.error_functions import can_be_learned
from rocpath.changepoint.held_out import group_splits
from rocpath.roc import auc, inside_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

OURS, CONSTANT, LOG_N = "PenaltyRegressor", "constant penalty", "log n"
DEFAULT = "default penalty, no labels"
METHODS = (OURS, "interval regression", LOG_N, DEFAULT, CONSTANT)
MOST_FOLDS = 5  # parts held out; more take longer, as each fits every rule again


class Problem(NamedTuple):
    """Labeled sequences to learn from, and what belongs together of them."""

    X: NDArray[np.float64]
    log_length: NDArray[np.float64]
    log_default: NDArray[np.float64]
    functions: Sequence[cp.PenaltyErrors]
    groups: NDArray[np.str_] | None
    seed: int

    @property
    def n_units(self) -> int:
        """How many groups there are, or sequences where there are no groups."""
        return len(self.X) if self.groups is None else np.unique(self.groups).size

    @property
    def unit(self) -> str:
        """What is held out together."""
        return "sequences" if self.groups is None else "groups"

    def at(self, rows: NDArray[np.intp]) -> Problem:
        """Return some of them."""
        return Problem(
            self.X[rows],
            self.log_length[rows],
            self.log_default[rows],
            [self.functions[row] for row in rows],
            None if self.groups is None else self.groups[rows],
            self.seed,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Hold the log penalties that each rule predicts for sequences held out."""

    problem: Problem
    log_penalty: dict[str, NDArray[np.float64]]
    n_folds: int

    def errors(self, method: str) -> NDArray[np.int64]:
        """Return the label errors of each sequence."""
        pairs = zip(self.problem.functions, self.log_penalty[method], strict=True)
        return np.array([int(f.at(one)) for f, one in pairs])

    @property
    def metrics(self) -> dict[str, dict[str, float]]:
        """Areas and errors of each rule, and how they differ from the constant's."""
        functions = self.problem.functions
        bp = cp.error_breakpoints(functions)
        fewest = int(sum((f.fp + f.fn).min() for f in functions))
        # Against the constant, as it is what labels give without learning anything of
        # a sequence.
        simple = self.errors(CONSTANT)
        found: dict[str, dict[str, float]] = {}
        for method, predicted in self.log_penalty.items():
            own = self.errors(method)
            found[method] = {
                "auc": auc(bp, -predicted),  # large penalties make few changes
                "label_errors": int(own.sum()),
                "standard_error": self._standard_error(own),
                "difference": int(own.sum() - simple.sum()),
                "difference_error": self._standard_error(own - simple),
                "fewest_label_errors": fewest,
            }
        return found

    def _standard_error(self, errors: NDArray[np.int64]) -> float:
        """Return the standard error of a sum over sequences, by group if there are."""
        if self.problem.groups is None:
            total = errors.astype(float)
        else:
            # Errors of one group rise and fall together; summed, groups are
            # independent, and sequences are not.
            _, group = np.unique(self.problem.groups, return_inverse=True)
            total = np.bincount(group, weights=errors)
        return float(total.std(ddof=1) * np.sqrt(total.size))

    def headline(self, n_labels: int) -> str:
        """Say in a sentence what the label errors show."""
        ours, simple = (self.metrics[method] for method in (OURS, CONSTANT))
        text = (
            f"On sequences held out, learned penalties get {ours['label_errors']:,} of "
            f"{n_labels:,} labels wrong, and a constant penalty "
            f"{simple['label_errors']:,}"
        )
        difference, error = ours["difference"], ours["difference_error"]
        if difference == 0:
            return f"{text}: as many."
        shown = f"{abs(difference):,} {'fewer' if difference < 0 else 'more'}"
        # Within two standard errors, the usual bound of 95 %, a lead may be chance.
        if abs(difference) <= 2 * error:
            units = f"{self.problem.n_units:,} {self.problem.unit}"
            shown = f"no difference that {units} could show"
        return f"{text}: {shown}, with a standard error of {error:.1f}."


def compare_penalties(
    problem: Problem, *, progress: Callable[[str], None]
) -> Comparison:
    """Predict the penalty of each sequence by rules that were not fitted to it."""
    n_rows = len(problem.functions)
    splits = group_splits(n_rows, problem.groups, MOST_FOLDS, problem.seed)
    if not splits:
        raise ValueError(
            f"labels must be of at least two {problem.unit}, to hold one out."
        )
    log_penalty = {method: np.zeros(n_rows) for method in METHODS}
    # Every rule sees the same parts, so that their errors can be paired.
    for fold, (train, test) in enumerate(splits, 1):
        progress(f"part {fold} of {len(splits)}")
        for method in METHODS:
            log_penalty[method][test] = _predicted(
                method, problem.at(train), problem.at(test)
            )
    return Comparison(problem, log_penalty, len(splits))


def _predicted(method: str, known: Problem, new: Problem) -> NDArray[np.float64]:
    if method == DEFAULT:
        return new.log_default
    # Parts of a few sequences may lack what a regression needs; a constant always is.
    if method == CONSTANT or not can_be_learned(known.functions):
        return np.full(len(new.X), _best_constant(known.functions))
    model: Any
    X, X_new = known.X, new.X
    if method == OURS:
        model = cp.PenaltyRegressor(random_state=known.seed)
    elif method == LOG_N:
        model = cp.IntervalRegression(alpha=0)
        X, X_new = known.log_length, new.log_length
    else:
        model = cp.IntervalRegression()
    model.fit(X, known.functions, groups=known.groups)
    return np.asarray(model.predict(X_new))


def _best_constant(functions: Sequence[cp.PenaltyErrors]) -> float:
    """Return a log penalty with the fewest errors of all sequences together."""
    # Errors change only where some sequence's do: at these penalties their sum is
    # known everywhere.
    penalty = np.unique(np.concatenate([f.min_penalty for f in functions]))
    rows = [np.searchsorted(f.min_penalty, penalty, "right") - 1 for f in functions]
    pairs = list(zip(functions, rows, strict=True))
    fp = np.sum([f.fp[row] for f, row in pairs], axis=0)
    fn = np.sum([f.fn[row] for f, row in pairs], axis=0)
    return inside_interval(*cp.target_interval(cp.PenaltyErrors(penalty, fp, fn)))

"""Cross-validated comparison of models: scores, paired differences, and selection.

Tables and changepoint penalties share these results, so that reports, the command line
and notebooks show every comparison in the same way.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from rocpath.evaluation.results import html_table, text_table
from rocpath.model_selection.folds import Fold
from rocpath.validation import Floats, read_only


@dataclass(frozen=True, slots=True)
class ModelScore:
    """Score of one model on held-out data.

    Attributes
    ----------
    name : str
        Name of the model.
    value : float
        Mean of the metric over the folds.
    standard_error : float
        Standard error of ``value``.
    low, high : float
        Limits of the 95% confidence interval of ``value``.
    difference : float or None
        ``value`` minus that of the selected model; None for the selected model.
    difference_standard_error : float or None
        Standard error of ``difference``, from the paired scores of the same rows.
    critical_value : float
        Number of standard errors above which a difference is significant (5% level);
        larger than the normal quantile for small samples.
    """

    name: str
    value: float
    standard_error: float
    low: float
    high: float
    difference: float | None = None
    difference_standard_error: float | None = None
    critical_value: float = float(ndtri(0.975))

    @property
    def is_different(self) -> bool:
        """Whether the difference from the selected model is significant (5% level)."""
        if self.difference is None or not self.difference_standard_error:
            return False
        return abs(self.difference) > self.critical_value * self.difference_standard_error


@dataclass(frozen=True, slots=True, repr=False)
class ModelComparison:
    """Scores of several models on the same held-out data.

    Attributes
    ----------
    metric : str
        Name of the metric, such as ``"AUC"``.
    greater_is_better : bool
        Whether a larger value of the metric is better.
    scores : tuple of ModelScore
        Scores of all models, the best first.
    selected : str
        Name of the model that was selected.
    n_folds : int
        Number of cross-validation folds; 1 for a separate test set.
    sample_size : str
        Description of the size of the sample, such as ``"293 positives"``.
    decimals : int
        Number of decimals of the metric in tables and sentences; differences have one
        more.

    Examples
    --------
    >>> from rocpath.model_selection.comparison import ModelComparison, ModelScore
    >>> comparison = ModelComparison(
    ...     metric="AUC",
    ...     greater_is_better=True,
    ...     scores=(
    ...         ModelScore("boosting", 0.812, 0.01, 0.792, 0.832, 0.0012, 0.004),
    ...         ModelScore("linear", 0.8108, 0.011, 0.789, 0.832),
    ...     ),
    ...     selected="linear",
    ...     n_folds=5,
    ...     sample_size="293 positives",
    ... )
    >>> comparison
    AUC, 5 cross-validation folds, 293 positives
    model              AUC    95% interval    difference
    boosting           0.812  0.792 to 0.832  +0.0012 ± 0.0040
    linear (selected)  0.811  0.789 to 0.832
    >>> print(*comparison.findings())
    boosting vs. linear: no significant difference (+0.0012 ± 0.0040, 293 positives).
    """

    metric: str
    greater_is_better: bool
    scores: tuple[ModelScore, ...]
    selected: str
    n_folds: int
    sample_size: str
    decimals: int = 3

    def __getitem__(self, name: str) -> ModelScore:
        """Return the score of one model by name."""
        return {one.name: one for one in self.scores}[name]

    @property
    def description(self) -> str:
        """Metric, evaluation method and sample size, in one line."""
        folds = f"{self.n_folds} cross-validation folds"
        method = folds if self.n_folds > 1 else "held-out test set"
        return f"{self.metric}, {method}, {self.sample_size}"

    @property
    def header(self) -> tuple[str, ...]:
        """Column names of the table of scores."""
        return ("model", self.metric, "95% interval", "difference")

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """Cells of the table of scores, formatted, the best model first."""
        digits = self.decimals
        return [
            (
                f"{one.name} (selected)" if one.name == self.selected else one.name,
                f"{one.value:.{digits}f}",
                f"{one.low:.{digits}f} to {one.high:.{digits}f}",
                self._difference(one),
            )
            for one in self.scores
        ]

    def findings(self) -> list[str]:
        """Compare every other model with the selected one, in one sentence each.

        Returns
        -------
        list of str
        """
        sentences = []
        for one in self.scores:
            if one.difference is None:
                continue
            details = f"({self._difference(one)}, {self.sample_size})"
            finding = f"no significant difference {details}"
            if one.is_different:
                direction = "higher" if one.difference > 0 else "lower"
                finding = f"significantly {direction} {self.metric} {details}"
            sentences.append(f"{one.name} vs. {self.selected}: {finding}.")
        return sentences

    def _difference(self, one: ModelScore) -> str:
        if one.difference is None or one.difference_standard_error is None:
            return ""
        digits = self.decimals + 1
        # Adding 0.0 removes the minus sign of a rounded zero.
        signed = f"{round(one.difference, digits) + 0.0:+.{digits}f}".replace("-", "\u2212")
        return f"{signed} ± {one.difference_standard_error:.{digits}f}"

    def __repr__(self) -> str:
        """Show the scores as a plain-text table."""
        return f"{self.description}\n{text_table(self.header, self.rows, n_left=len(self.header))}"

    def _repr_html_(self) -> str:
        """Show the scores as an HTML table in notebooks."""
        return f"<p>{escape(self.description)}</p>{html_table(self.header, self.rows)}"


def simplest_model(
    values: Mapping[str, float],
    standard_error: Callable[[str, str], float],
    *,
    greater_is_better: bool = True,
) -> str:
    """Select the simplest model within one standard error of the best.

    Parameters
    ----------
    values : dict of float
        Value of the metric for each model, the simplest model first.
    standard_error : callable
        Function that returns the standard error of the difference between two models,
        given their names.
    greater_is_better : bool
        Whether a larger value is better.

    Returns
    -------
    str
        Name of the selected model.

    Examples
    --------
    >>> from rocpath.model_selection.comparison import simplest_model
    >>> values = {"linear": 0.80, "boosting": 0.81}
    >>> simplest_model(values, lambda first, second: 0.02)
    'linear'
    >>> simplest_model(values, lambda first, second: 0.005)
    'boosting'
    """
    sign = 1.0 if greater_is_better else -1.0
    best = max(values, key=lambda name: sign * values[name])
    loss = np.array([sign * (values[best] - value) for value in values.values()])
    error = np.array([0.0 if name == best else standard_error(name, best) for name in values])
    return list(values)[simplest_candidate(loss, error)]


def simplest_candidate(loss: Floats, standard_error: Floats, *, n_errors: float = 1.0) -> int:
    """Return the index of the simplest candidate that is about as good as the best.

    Parameters
    ----------
    loss : array, shape (n_candidates,)
        By how much each candidate is worse than the best, the simplest candidate first.
    standard_error : array, shape (n_candidates,)
        Standard error of ``loss``; 0 for the best candidate.
    n_errors : float
        Number of standard errors by which a candidate may be worse than the best.

    Examples
    --------
    >>> import numpy as np
    >>> from rocpath.model_selection.comparison import simplest_candidate
    >>> simplest_candidate(np.array([0.3, 0.1, 0.0]), np.array([0.2, 0.2, 0.0]))
    1
    """
    # argmax returns the first, which is the simplest.
    return int((loss <= n_errors * standard_error).argmax())


class CandidateChoice(NamedTuple):
    """Cross-validated losses of the candidates, and the chosen one."""

    chosen: int  # simplest candidate within ``n_errors`` standard errors of the best
    mean: Floats  # mean loss of each candidate
    standard_error: Floats  # standard error of the paired difference from the best


def choose_candidate(
    folds: Iterable[Fold],
    losses: Callable[[NDArray[np.intp], NDArray[np.intp]], Floats],
    *,
    n_errors: float,
) -> CandidateChoice | None:
    """Choose the simplest candidate within ``n_errors`` standard errors of the best.

    Parameters
    ----------
    folds : iterable of Fold
        Training and held-out rows of each fold.
    losses : callable
        Function that fits the candidates to the training rows and returns their losses
        on the held-out rows, the simplest candidate first.
    n_errors : float
        Number of standard errors by which a candidate may be worse than the best; 0
        chooses the best.

    Returns
    -------
    CandidateChoice or None
        None if there are no folds.
    """
    table = np.array([losses(train, test) for train, test in folds])
    if not len(table):
        return None
    mean = table.mean(axis=0)
    # Differences are paired by fold, because losses vary more between folds than between
    # candidates.
    difference = table - table[:, [mean.argmin()]]
    n_folds = len(table)
    # The standard error of a single fold is 0, so that the best candidate is chosen.
    error = difference.std(axis=0, ddof=min(1, n_folds - 1)) / np.sqrt(n_folds)
    chosen = simplest_candidate(difference.mean(axis=0), error, n_errors=n_errors)
    return CandidateChoice(chosen, read_only(mean), read_only(error))

"""Compare models of a table by the AUC of their scores on held-out rows."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from rocpath.evaluation.influence import auc_with_influence
from rocpath.evaluation.intervals import auc_interval
from rocpath.model_selection.comparison import ModelComparison, ModelScore, simplest_model
from rocpath.model_selection.folds import Fold
from rocpath.sample import Sample

# The interval of an AUC near chance is widened by one half, and that of an AUC six
# standard errors above chance by one quarter. Nested cross-validation would estimate the
# factor with 245 additional fits.
_EXTRA_WIDTH = 0.5
_ERRORS_FROM_CHANCE = 6.0


class CrossValidatedScores(NamedTuple):
    """Scores of several models on the same held-out rows.

    Attributes
    ----------
    row : array of int
        Indices of the held-out rows, in ascending order.
    fold : array of int
        Fold of each of these rows.
    score : dict of array
        Log-odds of these rows by the name of the model.
    sample : Sample
        Labels, weights and dependence of these rows.
    """

    row: NDArray[np.intp]
    fold: NDArray[np.intp]
    score: dict[str, NDArray[np.float64]]
    sample: Sample

    @classmethod
    def from_folds(
        cls, folds: Sequence[Fold], score: Mapping[str, NDArray[np.float64]], sample: Sample
    ) -> Self:
        """Select the rows that are held out in a fold, from scores of all rows."""
        fold = np.full(len(sample), -1, dtype=np.intp)
        for k, (_, test) in enumerate(folds):
            fold[test] = k
        # The first time window is used only for training.
        rows = np.flatnonzero(fold >= 0)
        of_rows = {name: column[rows] for name, column in score.items()}
        return cls(rows, fold[rows], of_rows, sample.take(rows))

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return np.unique(self.fold).size

    @property
    def n_groups(self) -> int | None:
        """Number of groups; None if rows have none."""
        return None if self.sample.group is None else np.unique(self.sample.group).size

    @property
    def n_rarer(self) -> int:
        """Number of rows of the rarer class."""
        return int(np.bincount(self.sample.is_positive, minlength=2).min())

    @property
    def sample_size(self) -> str:
        """Numbers of rows of the rarer class and of groups or distinct rows, as text."""
        rarer = "positives" if self.sample.is_positive.mean() <= 0.5 else "negatives"
        size = f"{self.n_rarer:,} {rarer}"
        if self.n_groups is not None:
            size += f", {self.n_groups:,} groups"
        elif self.sample.copy is not None:
            size += f", {np.unique(self.sample.copy).size:,} distinct rows"
        return size


def compare_models(
    held_out: CrossValidatedScores, *, candidates: Sequence[str], max_fpr: float | None = None
) -> ModelComparison:
    """Compare models by AUC or partial AUC, and select the simplest of the best ones.

    Parameters
    ----------
    held_out : CrossValidatedScores
        Scores of all models.
    candidates : list of str
        Models that may be selected, the simplest first.
    max_fpr : float, optional
        Maximum false positive rate. If given, models are compared by the mean true
        positive rate up to this rate instead of the AUC.

    Returns
    -------
    ModelComparison
        Mean over the folds, paired differences, and the selected model.
    """
    mean = {name: mean_auc(held_out, name, max_fpr) for name in held_out.score}

    def error(name: str, other: str | None = None) -> float:
        change = mean[name].influence - (0.0 if other is None else mean[other].influence)
        return float(np.sqrt(change @ change))

    selected = simplest_model({name: mean[name].value for name in candidates}, error)
    critical_value = float(stdtrit(max(held_out.n_rarer - 1, 1), 0.975))
    scores = []
    for name, (value, _) in mean.items():
        low, high = _interval(held_out, name, value, error(name), max_fpr)
        difference = (value - mean[selected].value, error(name, selected), critical_value)
        paired = difference if name != selected else ()
        scores.append(ModelScore(name, value, error(name), low, high, *paired))
    return ModelComparison(
        metric="AUC" if max_fpr is None else f"mean TPR up to an FPR of {max_fpr:g}",
        greater_is_better=True,
        scores=tuple(sorted(scores, key=lambda one: -one.value)),
        selected=selected,
        n_folds=held_out.n_folds,
        sample_size=held_out.sample_size,
    )


class MeanAUC(NamedTuple):
    """Mean AUC over the folds, and the influence of each independent unit on it."""

    value: float
    influence: NDArray[np.float64]


def mean_auc(held_out: CrossValidatedScores, name: str, max_fpr: float | None = None) -> MeanAUC:
    """Compute the mean over the folds of the AUC, or of the mean TPR up to ``max_fpr``.

    The sum of squared influences is the variance of the mean: DeLong's in every fold,
    or, with units of several rows, the cluster-robust one. Where a class has a single
    unit in a fold, its influence is the deviation of the fold's AUC from the mean. Scores
    of different folds come from different fits and are not compared.
    """
    sample, width = held_out.sample, max_fpr or 1.0
    y = sample.is_positive
    unit = sample.units
    weight = sample.weights
    areas, influence = [], np.zeros(y.size)
    for k in np.unique(held_out.fold):
        rows = held_out.fold == k
        area, on_rows = auc_with_influence(
            held_out.score[name][rows], y[rows], weight[rows], max_fpr=width
        )
        areas.append(area)
        # The factor m / (m - 1) makes the variance of m units, or of m rows of a class,
        # unbiased. That of a single one cannot be estimated within the fold.
        n_units = np.array(np.unique(unit[rows]).size)
        if sample.unit is None:
            n_units = np.bincount(y[rows])[y[rows].astype(int)]
        influence[rows] = on_rows * np.sqrt(n_units / np.maximum(n_units - 1, 1))
    n_folds = len(areas)
    for k, area in zip(np.unique(held_out.fold), areas, strict=True):
        for is_class in (y, ~y):
            rows = np.flatnonzero((held_out.fold == k) & is_class)
            if n_folds > 1 and np.unique(unit[rows]).size == 1:
                change = area - sum(areas) / n_folds
                influence[rows[0]] += change * np.sqrt(n_folds / (n_folds - 1))
    scale = n_folds * width
    return MeanAUC(sum(areas) / scale, np.bincount(unit, influence) / scale)


def _interval(
    held_out: CrossValidatedScores, name: str, value: float, error: float, max_fpr: float | None
) -> tuple[float, float]:
    """Return the interval of the pooled scores, rescaled to the mean over folds and widened.

    The shape of the interval depends on the total number of rows and groups, not on
    their number in a fold; its width is that of the mean over folds, times a factor for
    the uncertainty of the models.
    """
    sample, score = held_out.sample, held_out.score[name]
    pooled = auc_interval(
        sample.is_positive, score, max_fpr=max_fpr, positive=True, **sample.arguments
    )
    # At an AUC of 1 the standard error is 0, but the interval has a positive width.
    scale = 1.0 / (max_fpr or 1.0)
    if error and pooled.standard_error:
        scale = error / pooled.standard_error
    below, above = scale * (pooled.value - pooled.low), scale * (pooled.high - pooled.value)
    factor = _widening(abs(value - 0.5 * (max_fpr or 1.0)), below + above)
    return max(value - factor * below, 0.0), min(value + factor * above, 1.0)


def _widening(distance: float, width: float) -> float:
    """Return the factor by which the interval of a cross-validated AUC is widened.

    Standard errors treat the scores of the folds as those of one fixed model. Models of
    other training rows differ, most of all if the AUC is close to that of chance;
    ``distance`` is the distance from it. On ten simulated designs, the widened
    intervals contained the AUC of the fitted model on new rows in 94% to 99% of the
    tables (benchmarks/coverage/cross_validated_auc.py).
    """
    n_errors = distance / max(width / (2.0 * float(ndtri(0.975))), 1e-300)
    return 1.0 + _EXTRA_WIDTH / (1.0 + (n_errors / _ERRORS_FROM_CHANCE) ** 2)

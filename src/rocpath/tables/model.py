"""Fitted model of a table, with the columns it reads and how it reads them."""

from copy import copy
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from rocpath.matrices import Columns
from rocpath.ranking import History
from rocpath.ranking.auc_blender import AUCBlender
from rocpath.ranking.auc_classifier import AUCClassifier
from rocpath.search.breakpoints import ErrorBreakpoints
from rocpath.search.lines import Lines
from rocpath.tables.calibration import PlattScaling
from rocpath.tables.columns import TableFeatures, column
from rocpath.tables.labels import LabelColumn, labels_of_classes

# Scikit-learn's prefix of missing indicators, and its name for all rare categories.
_MISSING, _RARE = "missingindicator_", "infrequent_sklearn"
_PIPELINES: tuple[list[type], ...] = (
    [ColumnTransformer, AUCClassifier],
    [ColumnTransformer, StandardScaler, LogisticRegression],
    [ColumnTransformer, ColumnTransformer, PlattScaling],
    [ColumnTransformer, ColumnTransformer, AUCBlender],
)
_FAR = 1.0  # distance from the training range, in widths of the range
_NO_NUMBERS = np.zeros((0, 0))  # for a table without numeric columns


@dataclass(frozen=True, slots=True, eq=False)
class TableModel:
    """Fitted pipeline, the columns it reads, and the names of its classes.

    Attributes
    ----------
    pipeline : Pipeline
        Steps from ``"columns"`` to ``"ranking"``; class 1 is the positive one.
    features : TableFeatures
        Columns that the pipeline reads, and their formats.
    label, positive, negative : str
        Column of labels, and the two classes as text.
    seen : array, shape (n_numbers, 2)
        Smallest and largest training value of each numeric column.
    row_hashes : array of uint64
        Hashes of training rows, to recognize them among test rows.
    threshold : float or None
        Smallest score that is predicted positive; None for a probability of one half.
    labels : array or None
        Negative and positive label if they are numbers or booleans, otherwise None.
    parameters : dict
        Parameters of the estimator that fitted the model.
    """

    kind: ClassVar = "table"
    pipeline: Any
    features: TableFeatures
    label: str
    positive: str
    negative: str
    seen: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 2)))
    row_hashes: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))
    threshold: float | None = None
    labels: NDArray[Any] | None = None
    parameters: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Reject a pipeline of unknown types, which a file might contain."""
        # Exact types, since subclasses could contain other code.
        steps = [step for _, step in self.pipeline.steps]
        is_known = type(self.pipeline) is Pipeline
        is_known &= [type(step) for step in steps] in _PIPELINES
        if isinstance(steps[-1], PlattScaling):
            is_known &= type(steps[-1].estimator) is HistGradientBoostingClassifier
        if not is_known:
            raise ValueError("its pipeline has unknown steps.")

    @classmethod
    def from_pipeline(
        cls, pipeline: Pipeline, features: TableFeatures, frame: pl.DataFrame, label: LabelColumn
    ) -> Self:
        """Combine a fitted pipeline with the columns that it was fitted to."""
        # Older versions of Polars cannot convert zero columns to an array.
        X = frame.select(features.number).to_numpy() if features.number else _NO_NUMBERS
        low = np.fmin.reduce(X, axis=0, initial=np.inf)
        high = np.fmax.reduce(X, axis=0, initial=-np.inf)
        seen = np.column_stack((low, high))
        names = label.column, label.positive, label.negative
        return cls(pipeline, features, *names, seen, labels=label.values)

    def frame(self, table: pl.DataFrame) -> pl.DataFrame:
        """Select the columns that the model reads."""
        return self.features.select(table)

    @property
    def classes(self) -> NDArray[Any]:
        """Negative and positive label, with the type of the labels of the fit."""
        names = [self.negative, self.positive]
        return np.array(names, dtype=object) if self.labels is None else self.labels

    @property
    def text(self) -> set[str]:
        """Columns to read as text from files; some are then parsed as numbers."""
        return {*self.features.category, *self.features.style}

    @property
    def codes(self) -> set[str]:
        """Categorical columns in which ``NA`` is a category."""
        return {name for name, values in self._categories().items() if "NA" in values}

    def far_values(self, table: pl.DataFrame) -> list[str]:
        """Describe numbers far outside the range of the training rows."""
        if not len(self.seen):
            return []
        X = self.frame(table).select(self.features.number).to_numpy()
        low, high = self.seen.T
        # This detects a changed unit, such as mm instead of m, which raises no error.
        margin = _FAR * (high - low)
        is_far = (low - margin > X) | (high + margin < X)
        notes = []
        for k in np.flatnonzero(is_far.any(axis=0)):
            # Later dates are expected.
            if self.features.style.get(self.features.number[k], "").startswith("%"):
                continue
            far = np.flatnonzero(is_far[:, k])
            notes.append(
                f"column {self.features.number[k]!r} has {far.size:,} "
                f"value{'' if far.size == 1 else 's'} far outside the range of the training rows "
                f"({low[k]:g} to {high[k]:g}), such as {X[far[0], k]:g} in row {far[0] + 1}."
            )
        return notes

    def unseen_categories(self, table: pl.DataFrame) -> list[str]:
        """Describe categories that do not occur in the training rows."""
        notes, frame = [], self.frame(table)
        for name, known in self._categories().items():
            values = frame[name].drop_nulls()
            unseen = values.filter(~values.is_in([one for one in known if one is not None]))
            if unseen.len():
                notes.append(
                    f"column {name!r} has categories that are not in the training rows, in "
                    f"{unseen.len():,} rows, such as {unseen[0]!r}."
                )
        return notes

    def unusual_values(self, table: pl.DataFrame) -> list[str]:
        """Describe numbers out of range, and unseen categories."""
        return [*self.far_values(table), *self.unseen_categories(table)]

    def _categories(self) -> dict[str, list[Any]]:
        """Categories of the training rows by column, including those that are merged."""
        encoder = self.pipeline[0].named_transformers_.get("category")
        levels = [] if encoder is None else [one.tolist() for one in encoder.categories_]
        return dict(zip(self.features.category, levels, strict=True))

    def scores(self, table: pl.DataFrame) -> NDArray[np.float64]:
        """Predict the log-odds of every row."""
        return np.asarray(self.pipeline.decision_function(self.frame(table)))

    def predictions(self, table: pl.DataFrame) -> pl.DataFrame:
        """Predict the score, probability and label of every row."""
        score = self.scores(table)
        label = np.where(self.is_positive(score), self.positive, self.negative)
        return pl.DataFrame({"score": score, "probability": expit(score), "prediction": label})

    def is_positive(self, score: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which scores are predicted positive."""
        return score > 0 if self.threshold is None else score >= self.threshold

    @property
    def history(self) -> History | None:
        """History of an AUCClassifier; None for other models."""
        ranking = self.pipeline[-1]
        return ranking.history_[0] if isinstance(ranking, AUCClassifier) else None

    @property
    def weights(self) -> dict[str, float]:
        """Weights of a blend by member; empty for other models."""
        ranking = self.pipeline[-1]
        if not isinstance(ranking, AUCBlender):
            return {}
        weights = ranking.weights_.tolist()
        return dict(zip(ranking.member_names_, weights, strict=True))

    def coefficients(self, table: pl.DataFrame) -> list[tuple[str, float]]:
        """Return the log-odds per standard deviation of each input.

        The largest absolute values come first. The list is empty for models without
        coefficients, such as trees.
        """
        ranking = self.pipeline[-1]
        if not hasattr(ranking, "coef_"):
            return []
        columns = Columns.from_matrix(self.pipeline[:-1].transform(self.frame(table)))
        effect = columns.scaled_coef(ranking.coef_[0])
        names = _input_names(self.pipeline[0])
        order = np.argsort(-np.abs(effect), kind="stable")
        return [(names[k], float(effect[k])) for k in order]

    def descent_lines(self, table: pl.DataFrame, label: str | None = None) -> Lines:
        """Return the lines of predictions along the negative gradient of AUM.

        By default, labels are read from the label column of the fit.
        """
        series = column(table, label or self.label, "label")
        _, is_positive = labels_of_classes(series, self.positive, self.negative)
        frame, bp = self.frame(table), ErrorBreakpoints.from_labels(is_positive, positive=True)
        X, predictions = self.pipeline[:-1].transform(frame), self.pipeline.decision_function(frame)
        return Lines.down_gradient(X, bp, predictions)


def table_inputs(features: TableFeatures, *, is_scores: bool = False) -> ColumnTransformer:
    """Return a transformer that imputes medians and encodes categories.

    It adds indicators of missing values. Scores are passed through unchanged: a blend
    rejects missing ones.
    """
    # Missingness may be more informative than the value would be.
    number = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    category = OneHotEncoder(
        min_frequency=features.min_frequency, handle_unknown="infrequent_if_exist"
    )
    # Numbers come first. Slices are faster than names, which scikit-learn looks up one by one.
    n_number = len(features.number)
    steps = [
        ("number", "passthrough" if is_scores else number, slice(0, n_number)),
        ("category", category, slice(n_number, n_number + len(features.category))),
    ]
    return ColumnTransformer([one for one in steps if one[2].start < one[2].stop])


def _input_names(columns: ColumnTransformer) -> list[str]:
    """Return readable names of the inputs in place of scikit-learn's."""
    names: list[str] = []
    for kind, step, place in columns.transformers_:
        used = columns.feature_names_in_[place].tolist()
        if kind == "number":
            # After the columns themselves come the indicators of missing values.
            missing = step.get_feature_names_out(used)[len(used) :]
            names += used
            names += [f"{one.removeprefix(_MISSING)} is missing" for one in missing]
        else:
            # Set on a copy, since a saved model should not contain a function.
            named = copy(step).set_params(feature_name_combiner=_category_name)
            names += named.get_feature_names_out(used).tolist()
    return names


def _category_name(column: str, value: str | None) -> str:
    if value is None:
        return f"{column} is missing"
    return f"{column} = {'(rare)' if value == _RARE else value}"

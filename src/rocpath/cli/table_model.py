"""A ranking model of the rows of a table, with all that its columns need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

from rocpath.breakpoints import ErrorBreakpoints
from rocpath.cli.table_columns import FeatureColumns
from rocpath.matrices import Columns
from rocpath.pages.step_view import lines_down_gradient
from rocpath.ranking.auc_classifier import AUCClassifier

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from rocpath.cli.table_columns import BinaryLabel
    from rocpath.line_search import Lines
    from rocpath.matrices import Matrix
    from rocpath.ranking import History

_PARTS = ("number", "category")


@dataclass(frozen=True, slots=True, eq=False)
class TableModel:
    """Hold a fitted pipeline, the columns it reads, and what its classes mean.

    Attributes
    ----------
    pipeline : Pipeline
        Steps ``columns`` and ``ranking``; its class 1 is the positive one.
    features : FeatureColumns
        The columns it reads.
    label, positive, negative : str
        Name of the label column, and of its two kinds of rows.
    """

    pipeline: Any
    features: FeatureColumns
    label: str
    positive: str
    negative: str

    def scores(self, table: pl.DataFrame) -> NDArray[np.float64]:
        """Predict the log-odds of every row."""
        return np.asarray(self.pipeline.decision_function(self.features.of(table)))

    def state(self) -> dict[str, Any]:
        """Return what is to be saved, in types that need no trust."""
        return {
            "pipeline": self.pipeline,
            "number": list(self.features.number),
            "category": list(self.features.category),
            "label": self.label,
            "positive": self.positive,
            "negative": self.negative,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> TableModel:
        """Make the model again."""
        pipeline = state["pipeline"]
        kinds = [type(step) for _, step in pipeline.steps]
        if type(pipeline) is not Pipeline or kinds != [
            ColumnTransformer,
            AUCClassifier,
        ]:
            raise ValueError("the pipeline is not one that rocpath makes.")
        features = FeatureColumns(tuple(state["number"]), tuple(state["category"]))
        return cls(
            pipeline, features, state["label"], state["positive"], state["negative"]
        )

    @property
    def history(self) -> History:
        """How the ranking was found."""
        history: History = self.pipeline[-1].history_[0]
        return history

    def coefficients(self, table: pl.DataFrame) -> list[tuple[str, float]]:
        """Return the log-odds for one standard deviation of each input, by size."""
        scale = _scale(self.pipeline[:-1].transform(self.features.of(table)))
        scale[np.isinf(scale)] = 0.0
        effect = scale * self.pipeline[-1].coef_[0]
        order = np.argsort(-np.abs(effect), kind="stable")
        names = _input_names(self.pipeline[0], self.features)
        return [(names[k], float(effect[k])) for k in order]

    def descent_lines(
        self, table: pl.DataFrame, is_positive: NDArray[np.bool_]
    ) -> Lines:
        """Make the lines of one gradient step on AUM from the model."""
        frame = self.features.of(table)
        return lines_down_gradient(
            self.pipeline[:-1].transform(frame),
            ErrorBreakpoints.from_labels(is_positive, positive=True),
            self.pipeline.decision_function(frame),
        )


def fit_table_model(
    table: pl.DataFrame,
    label: BinaryLabel,
    features: FeatureColumns,
    *,
    min_frequency: int,
    random_state: int,
) -> TableModel:
    """Fit a ranking to all rows of a table."""
    pipeline = make_pipeline(
        features, AUCClassifier(random_state=random_state), min_frequency=min_frequency
    )
    pipeline.fit(features.of(table), label.is_positive.astype(int))
    return TableModel(pipeline, features, label.column, label.positive, label.negative)


def make_pipeline(
    features: FeatureColumns, *estimators: Any, min_frequency: int
) -> Pipeline:
    """Turn columns into inputs: medians where missing, a column for each category."""
    number = SimpleImputer(
        strategy="median", add_indicator=True, keep_empty_features=True
    )
    category = OneHotEncoder(
        min_frequency=min_frequency, handle_unknown="infrequent_if_exist"
    )
    parts = zip(_PARTS, (number, category), features, strict=True)
    columns = ColumnTransformer(
        [(name, step, list(used)) for name, step, used in parts if used],
        verbose_feature_names_out=True,
    )
    names = [f"scale_{k}" for k in range(len(estimators) - 1)] + ["ranking"]
    return Pipeline([("columns", columns), *zip(names, estimators, strict=True)])


def min_frequency_for(n_rows: int) -> int:
    """Return how often a category must occur to count on its own."""
    return max(2, min(10, n_rows // 50))


def _scale(X: Matrix) -> NDArray[np.float64]:
    """Return standard deviations of the columns, infinite where constant."""
    return Columns.measured(X).scale


def _input_names(columns: Any, features: FeatureColumns) -> list[str]:
    names: list[str] = []
    if features.number:
        imputer = columns.named_transformers_["number"]
        names += features.number
        if imputer.indicator_ is not None:
            names += [
                f"{features.number[place]} is missing"
                for place in imputer.indicator_.features_
            ]
    if features.category:
        encoder = columns.named_transformers_["category"]
        for name, values, rare in zip(
            features.category,
            encoder.categories_,
            encoder.infrequent_categories_,
            strict=True,
        ):
            is_rare = (
                np.zeros(len(values), bool) if rare is None else _is_in(values, rare)
            )
            names += [
                f"{name} is missing" if value is None else f"{name} = {value}"
                for value in values[~is_rare]
            ]
            names += [f"{name} = (rare)"] if rare is not None else []
    return names


def _is_in(values: NDArray[Any], chosen: NDArray[Any]) -> NDArray[np.bool_]:
    kept = set(chosen.tolist())
    return np.array([value in kept for value in values.tolist()])

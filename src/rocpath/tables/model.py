"""A ranking model of the rows of a table, with all that its columns need."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl
from scipy.special import expit
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from rocpath.breakpoints import ErrorBreakpoints
from rocpath.lines import Lines
from rocpath.matrices import Columns
from rocpath.ranking.auc_blender import AUCBlender
from rocpath.ranking.auc_classifier import AUCClassifier
from rocpath.tables.columns import FeatureColumns
from rocpath.tables.labels import known_label
from rocpath.tables.rankers import DENSE, fitted_steps

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rocpath.ranking import History
    from rocpath.tables.labels import BinaryLabel, KnownLabels

# What scikit-learn calls the indicator of a gap, and the rare categories together.
_GAP, _RARE = "missingindicator_", "infrequent_sklearn"
_MADE: tuple[list[type], ...] = (
    [ColumnTransformer, AUCClassifier],
    [ColumnTransformer, StandardScaler, LogisticRegression],
    [ColumnTransformer, HistGradientBoostingClassifier],
    [ColumnTransformer, ColumnTransformer, HistGradientBoostingClassifier],
    [ColumnTransformer, AUCBlender],
)
_FAR = 1.0  # widths of the range seen, beyond its ends
_MOST_SHUFFLED = 2000  # rows by which a column's importance is measured
_MOST_IMPORTANCES = 300  # columns whose importance is measured: one takes a prediction
_NOTHING = np.zeros((0, 0))  # numbers of a table without any


@dataclass(frozen=True, slots=True, eq=False)
class TableModel:
    """Hold a fitted pipeline, the columns it reads, and what its classes mean."""

    kind: ClassVar = "table"
    pipeline: Any  # steps "columns" to "ranking"; its class 1 is the positive one
    number: tuple[str, ...]
    category: tuple[str, ...]
    label: str
    positive: str
    negative: str
    style: dict[str, str] = field(default_factory=dict)
    unreadable: dict[str, tuple[str, ...]] = field(default_factory=dict)
    # Of each number the smallest and the largest.
    seen: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 2)))
    threshold: float | None = None  # the least score of a row called positive

    def __post_init__(self) -> None:
        """Refuse a pipeline that a file might bring instead of ours."""
        # Exact types, not subclasses: those could bring code of their own.
        kinds = [type(step) for _, step in self.pipeline.steps]
        if type(self.pipeline) is not Pipeline or kinds not in _MADE:
            raise ValueError("the pipeline is not one that rocpath makes.")

    @classmethod
    def made(
        cls,
        pipeline: Pipeline,
        features: FeatureColumns,
        frame: pl.DataFrame,
        label: KnownLabels,
    ) -> TableModel:
        """Put a fitted pipeline together with what was seen of its columns."""
        # Of no columns at all older versions of Polars make no array.
        X = frame.select(features.number).to_numpy() if features.number else _NOTHING
        low = np.fmin.reduce(X, axis=0, initial=np.inf)
        high = np.fmax.reduce(X, axis=0, initial=-np.inf)
        return cls(
            pipeline,
            features.number,
            features.category,
            label.column,
            label.positive,
            label.negative,
            dict(features.style),
            dict(features.unreadable),
            np.column_stack((low, high)),
        )

    def frame(self, table: pl.DataFrame) -> pl.DataFrame:
        """Take the columns that it reads."""
        return FeatureColumns(
            self.number, self.category, self.style, self.unreadable
        ).of(table)

    @property
    def text(self) -> set[str]:
        """The columns that are to be read as text: some of it becomes numbers."""
        return {*self.category, *self.style}

    @property
    def codes(self) -> set[str]:
        """The columns of words that were seen to have ``NA`` as one of them."""
        parts = {part: step for part, step, _ in self.pipeline[0].transformers_}
        if not self.category:
            return set()
        levels = parts["category"].categories_
        return {
            name
            for name, known in zip(self.category, levels, strict=True)
            if "NA" in known
        }

    def strange_values(self, table: pl.DataFrame) -> list[str]:
        """Name numbers that lie far from all that the fit has seen."""
        if not len(self.seen):
            return []
        X = self.frame(table).select(self.number).to_numpy()
        low, high = self.seen.T
        # A unit that has changed, as from m to mm, is seen so; a ranking would only be
        # wrong.
        reach = _FAR * (high - low)
        is_far = (low - reach > X) | (high + reach < X)
        return [
            f"column {self.number[k]!r} has {is_far[:, k].sum():,} values far outside "
            f"those of the fit ({low[k]:g} to {high[k]:g}), as "
            f"{X[is_far[:, k], k][0]:g} in row {is_far[:, k].argmax() + 1}."
            for k in np.flatnonzero(is_far.any(axis=0))
        ]

    def labels(self, table: pl.DataFrame, name: str | None) -> BinaryLabel:
        """Read labels that the model knows, by default from the column of the fit."""
        return known_label(table, name or self.label, self.positive, self.negative)

    def scores(self, table: pl.DataFrame) -> NDArray[np.float64]:
        """Predict the log-odds of every row."""
        return np.asarray(self.pipeline.decision_function(self.frame(table)))

    def predictions(self, table: pl.DataFrame) -> pl.DataFrame:
        """Predict score, probability and label of every row."""
        score = self.scores(table)
        # Without a promise a row is called what is more probable.
        is_called = score > 0 if self.threshold is None else score >= self.threshold
        label = np.where(is_called, self.positive, self.negative)
        return pl.DataFrame(
            {"score": score, "probability": expit(score), "prediction": label}
        )

    @property
    def history(self) -> History | None:
        """How the ranking was found, if it is ours."""
        ranking = self.pipeline[-1]
        return ranking.history_[0] if isinstance(ranking, AUCClassifier) else None

    @property
    def weights(self) -> dict[str, float]:
        """The weights of a blend by member; otherwise none."""
        ranking = self.pipeline[-1]
        if not isinstance(ranking, AUCBlender):
            return {}
        weights = ranking.weights_.tolist()
        return dict(zip(ranking.member_names_, weights, strict=True))

    def coefficients(self, table: pl.DataFrame) -> list[tuple[str, float]]:
        """Return the log-odds for one standard deviation of each input, by size.

        Trees have none.
        """
        ranking = self.pipeline[-1]
        if not hasattr(ranking, "coef_"):
            return []
        columns = Columns.from_matrix(self.pipeline[:-1].transform(self.frame(table)))
        effect = columns.scaled_coef(ranking.coef_[0])
        names = _input_names(self.pipeline[0])
        order = np.argsort(-np.abs(effect), kind="stable")
        return [(names[k], float(effect[k])) for k in order]

    def importance(
        self, table: pl.DataFrame, is_positive: NDArray[np.bool_]
    ) -> list[tuple[str, float]]:
        """Return the AUC that is lost if a column is shuffled, by size.

        Of too many columns none is told: all of them would take minutes.
        """
        # The same rows for every column, so that what is lost can be compared.
        rng = np.random.default_rng(0)
        rows = rng.permutation(is_positive.size)[:_MOST_SHUFFLED]
        frame, y = self.frame(table)[rows], is_positive[rows]
        if y.all() or not y.any() or frame.width > _MOST_IMPORTANCES:
            return []
        whole = roc_auc_score(y, self.pipeline.decision_function(frame))
        lost = {}
        for name in frame.columns:
            shuffled = frame.with_columns(frame[name].shuffle(seed=0))
            score = self.pipeline.decision_function(shuffled)
            lost[name] = float(whole - roc_auc_score(y, score))
        return sorted(lost.items(), key=lambda pair: -pair[1])

    def descent_lines(
        self, table: pl.DataFrame, is_positive: NDArray[np.bool_]
    ) -> Lines:
        """Make the lines of one gradient step on AUM from the model."""
        frame = self.frame(table)
        return Lines.down_gradient(
            self.pipeline[:-1].transform(frame),
            ErrorBreakpoints.from_labels(is_positive, positive=True),
            self.pipeline.decision_function(frame),
        )


def fit_table_model(
    table: pl.DataFrame,
    label: BinaryLabel,
    features: FeatureColumns,
    *,
    method: str,
    random_state: int,
    max_fpr: float | None = None,
) -> TableModel:
    """Fit a ranking to all rows of a table."""
    frame = features.of(table)
    columns = table_inputs(features, is_dense=method in DENSE)
    steps = fitted_steps(
        method,
        columns.fit_transform(frame),
        label.is_positive,
        random_state=random_state,
        max_fpr=max_fpr,
    )
    # As one array of text each: of objects a saved model would hold every single one.
    for step in (columns, *(step for _, step, _ in columns.transformers_)):
        step.feature_names_in_ = step.feature_names_in_.astype(np.str_)
    pipeline = Pipeline([("columns", columns), *steps])
    return TableModel.made(pipeline, features, frame, label)


def table_inputs(features: FeatureColumns, *, is_dense: bool) -> ColumnTransformer:
    """Turn columns into inputs: medians where missing, a column for each category."""
    # That a value is missing may tell more than the value would.
    number = SimpleImputer(
        strategy="median", add_indicator=True, keep_empty_features=True
    )
    category = OneHotEncoder(
        min_frequency=features.min_frequency, handle_unknown="infrequent_if_exist"
    )
    # Numbers come first. By name, scikit-learn would search all names for each.
    n_number, n_category = len(features.number), len(features.category)
    parts = []
    if n_number:
        parts.append(("number", number, slice(0, n_number)))
    if n_category:
        parts.append(("category", category, slice(n_number, n_number + n_category)))
    return ColumnTransformer(parts, sparse_threshold=0.0 if is_dense else 0.3)


def _input_names(columns: ColumnTransformer) -> list[str]:
    """Name the inputs as a reader would, where scikit-learn's names are for code."""
    names: list[str] = []
    for part, step, place in columns.transformers_:
        used = columns.feature_names_in_[place].tolist()
        if part == "number":
            # After the columns themselves come the indicators of their gaps.
            gaps = step.get_feature_names_out(used)[len(used) :]
            names += used
            names += [f"{gap.removeprefix(_GAP)} is missing" for gap in gaps]
        else:
            # On a copy, as a saved model should not hold a function.
            named = copy(step).set_params(feature_name_combiner=_category_name)
            names += named.get_feature_names_out(used).tolist()
    return names


def _category_name(column: str, value: str | None) -> str:
    if value is None:
        return f"{column} is missing"
    return f"{column} = {'(rare)' if value == _RARE else value}"

"""A saved model of a table as a scikit-learn classifier of data frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator

from rocpath.ranking.scores import LogOddsClassifier

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rocpath.tables.model import TableModel


class TableClassifier(LogOddsClassifier, BaseEstimator):  # type: ignore[misc]
    """Classify the rows of data frames with a model that ``rocpath fit`` has saved.

    Columns are found by name and read as the fit read them: numbers, words and dates,
    as text or already parsed, with gaps. Further columns are ignored. It is fitted
    already; ``fit`` changes nothing.

    Parameters
    ----------
    model : TableModel
        What :func:`load_model` finds in the file.

    Attributes
    ----------
    classes_ : array, shape (2,)
        The labels as text, the positive one last.
    feature_names_in_ : array of str
        The columns that it reads.
    n_features_in_ : int
        Their number.
    """

    def __init__(self, model: TableModel) -> None:
        self.model = model

    @property
    def classes_(self) -> NDArray[np.str_]:  # type: ignore[override]
        """The labels as text, the positive one last."""
        return np.array([self.model.negative, self.model.positive])

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """The columns that it reads."""
        return np.array([*self.model.number, *self.model.category], dtype=object)

    @property
    def n_features_in_(self) -> int:
        """The number of columns that it reads."""
        return len(self.model.number) + len(self.model.category)

    def __sklearn_is_fitted__(self) -> bool:
        """Say that it is fitted."""
        return True

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Change nothing: the model is fitted already.

        Parameters
        ----------
        X, y : object, optional
            Not used; scikit-learn asks for a fit.

        Returns
        -------
        TableClassifier
        """
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Predict the log-odds of the positive label.

        Parameters
        ----------
        X : data frame of pandas or polars
            Rows with the columns of the fit.

        Returns
        -------
        array, shape (n_rows,)
        """
        return self.model.scores(as_table(X))

    def predict(self, X: Any) -> NDArray[np.str_]:
        """Predict labels, with the threshold of the fit.

        Parameters
        ----------
        X : data frame of pandas or polars
            Rows with the columns of the fit.

        Returns
        -------
        array of str, shape (n_rows,)
        """
        return np.array(self.model.predictions(as_table(X))["prediction"].to_list())


def as_table(frame: Any) -> pl.DataFrame:
    """Return a data frame of pandas or polars as one of polars."""
    if isinstance(frame, pl.DataFrame):
        return frame
    if isinstance(frame, pl.LazyFrame):
        return frame.collect()
    if not (hasattr(frame, "columns") and hasattr(frame, "dtypes")):
        raise TypeError(
            "X must be a data frame of pandas or polars with the columns of the table, "
            f"got {type(frame).__name__}."
        )
    # Column by column: polars would ask for pyarrow.
    return pl.DataFrame([_series(str(name), frame[name]) for name in frame.columns])


def _series(name: str, column: Any) -> pl.Series:
    kind = getattr(column.dtype, "kind", "O")
    if kind == "M":
        times = column.to_numpy(dtype="datetime64[us]")
        return pl.Series(name, times).dt.cast_time_unit("us")
    if isinstance(column.dtype, np.dtype) and kind in "iufb":
        return pl.Series(name, column.to_numpy())
    # Objects, categories and extension types: as Python values polars knows them all.
    values = [None if _is_gap(one) else one for one in column.tolist()]
    return pl.Series(name, values, strict=False)


def _is_gap(value: Any) -> bool:
    """Tell whether a value is one of pandas' ways to say that there is none."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value

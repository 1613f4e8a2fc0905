"""TableClassifier: compare, fit and evaluate models of raw data frames."""

import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from rocpath.evaluation.threshold_targets import ThresholdTargets
from rocpath.files.frames import as_table
from rocpath.files.models import save_model
from rocpath.files.writer import write_file
from rocpath.model_selection.comparison import ModelComparison
from rocpath.ranking.scores import LogOddsClassifier
from rocpath.sample import Sample
from rocpath.tables import preparation
from rocpath.tables.columns import ColumnAudit
from rocpath.tables.evaluation import TableEvaluation, evaluate_scores
from rocpath.tables.fit import TableFit, fit_table
from rocpath.tables.fold_fits import Progress
from rocpath.tables.labels import LabelColumn, labels_of_classes
from rocpath.tables.model import TableModel
from rocpath.tables.rankers import CANDIDATES, ModelChoice
from rocpath.tables.settings import FitSettings
from rocpath.tables.summaries import headline, result_files
from rocpath.tables.table_warnings import TableWarning
from rocpath.validation import one_of, share_between, whole_number


class TableClassifier(LogOddsClassifier, BaseEstimator):  # type: ignore[misc]
    """Classifier for raw data frames that selects one of several ranking models.

    Columns may contain numbers, booleans, dates, categories and missing values; numbers
    and dates may be stored as text. On held-out rows, :class:`AUCClassifier` is compared
    with tuned logistic regression (plain and class-balanced) and gradient boosting; the
    simplest model within one standard error of the best is fitted to all rows.
    Identical rows stay in one fold, and codes such as -999 are treated as missing.

    Parameters
    ----------
    model : {"auto", "linear", "logistic", "boosting", "blend", "scores"}
        Model to fit. ``"auto"`` selects among all models except blends, ``"linear"`` is
        :class:`AUCClassifier`, ``"logistic"`` is plain or balanced logistic regression,
        ``"boosting"`` is gradient boosting, and ``"blend"`` is a blend of several
        models, which takes many times longer. ``"scores"`` fits a blend of the columns,
        which are then scores of other models.
    positive : str, optional
        Positive label, as text; by default the second of two labels in sorted order.
    max_fpr : float, optional
        Maximum false positive rate of ``predict``. If given, models are fitted and
        compared by partial AUC up to this rate.
    min_precision : float, optional
        Minimum precision of ``predict``.
    top : int, optional
        Maximum number of training rows that are predicted positive.
    types : dict, optional
        Types of columns by name: ``"number"``, ``"number:."`` or ``"number:,"`` with
        the decimal separator, ``"category"``, ``"date"``, ``"date:%d/%m/%Y"`` or
        ``"drop"``. By default, types are inferred.
    drop : list of str
        Columns that are not features.
    cv : int
        Maximum number of cross-validation folds, or of time windows.
    fast : bool
        Whether to fit one model without a comparison. It is then evaluated on the
        inner folds of its tuning, or on three time windows.
    random_state : int, optional
        Seed of all random choices.
    calibration_size : float, optional
        Share of the rows, or of the groups, on which the threshold is chosen, such as
        0.4. The model is fitted to the other rows, so that the targets are guaranteed
        for new rows with 95% confidence. By default, the model is fitted to all rows,
        and the threshold is estimated from cross-validated scores.

    Attributes
    ----------
    classes_ : array, shape (2,)
        Labels, the positive one last.
    comparison_ : ModelComparison or None
        Scores of all models on held-out rows; None without held-out rows.
    columns_ : list of ColumnAudit
        Use of each column, and the reason for it.
    warnings_ : list of TableWarning
        Reasons to doubt the results, such as possible leaks, copies and groups.
    fit_ : TableFit
        All results shown in the report.
    model_ : TableModel
        Fitted pipeline with the rules for reading columns.
    feature_names_in_ : array of str
        Names of the columns that the model reads.
    n_features_in_ : int
        Number of columns that the model reads.

    Examples
    --------
    >>> import pandas as pd
    >>> import rocpath as rp
    >>> from sklearn.datasets import load_breast_cancer
    >>> data = load_breast_cancer(as_frame=True)
    >>> frame = data.data[["mean radius", "mean texture"]]
    >>> model = rp.TableClassifier("logistic", fast=True, random_state=0)
    >>> model.fit(frame, data.target.map({0: "malignant", 1: "benign"}))
    TableClassifier(fast=True, model='logistic', random_state=0)
    >>> model.classes_
    array(['benign', 'malignant'], dtype=object)
    >>> round(model.comparison_["logistic regression"].value, 2)
    0.95
    """

    def __init__(
        self,
        model: ModelChoice = "auto",
        *,
        positive: str | None = None,
        max_fpr: float | None = None,
        min_precision: float | None = None,
        top: int | None = None,
        types: Mapping[str, str] | None = None,
        drop: Iterable[str] = (),
        cv: int = 5,
        fast: bool = False,
        random_state: int | None = None,
        calibration_size: float | None = None,
    ) -> None:
        self.model = model
        self.positive = positive
        self.max_fpr = max_fpr
        self.min_precision = min_precision
        self.top = top
        self.types = types
        self.drop = drop
        self.cv = cv
        self.fast = fast
        self.random_state = random_state
        self.calibration_size = calibration_size

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        groups: Any = None,
        time: Any = None,
        sample_weight: Any = None,
        progress: Progress | None = None,
    ) -> Self:
        """Compare models on held-out rows, and fit the selected one to all rows.

        Parameters
        ----------
        X : pandas or polars data frame
            Features. Columns of labels, groups, times or weights are excluded, whether
            they are given by name or as ``frame["customer"]``.
        y : array-like or str
            Labels, or the name of the label column. Rows without a label are skipped.
        groups : array-like or str, optional
            Group of each row, or the name of the column of groups. Rows of a group stay
            in one fold, and standard errors are cluster-robust. Group by the unit you
            want to generalize to, such as customers.
        time : array-like or str, optional
            Time of each row, or the name of the column of times. If given, models are
            trained on the past and evaluated on the future.
        sample_weight : array-like or str, optional
            Non-negative weight of each row, or the name of the column of weights.
        progress : callable, optional
            Function called at the start of every step with its number, the number of
            steps and a description. ``columns_`` and ``warnings_`` are set before the
            first call.

        Returns
        -------
        TableClassifier
        """
        one_of("model", self.model, tuple(CANDIDATES))
        whole_number("cv", self.cv, least=2)
        # Invalid targets raise an error before anything is computed.
        if self.calibration_size is not None:
            share_between("calibration_size", self.calibration_size)
        settings = FitSettings(
            self.model, self.targets, self.cv, self.fast, self.random_state, self.calibration_size
        )
        values = {"y": y, "groups": groups, "time": time, "sample_weight": sample_weight}
        prepared = preparation.prepare_table(
            X, values, positive=self.positive, drop=self.drop, types=self.types
        )
        self.columns_: list[ColumnAudit] = prepared.columns
        self.warnings_: list[TableWarning] = prepared.warnings
        fit = fit_table(prepared, settings, progress)
        # An empty list is replaced by the default, which the repr of a loaded model omits.
        drop = list(self.drop) or ()
        parameters = self.get_params(deep=False) | {"drop": drop}
        self.fit_: TableFit = replace(fit, model=replace(fit.model, parameters=parameters))
        self._set_model(self.fit_.model)
        # Some warnings need held-out scores.
        self.warnings_ = fit.warnings
        self.comparison_: ModelComparison | None = fit.comparison
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Predict the log-odds of the positive label.

        Parameters
        ----------
        X : pandas or polars data frame
            Rows with the columns of the fit; other columns are ignored.

        Returns
        -------
        array, shape (n_rows,)
        """
        check_is_fitted(self, "model_")
        return self.model_.scores(as_table(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict labels with the threshold chosen in the fit.

        Warns of numbers far outside the range of the training rows, and of categories
        that do not occur in them.

        Parameters
        ----------
        X : pandas or polars data frame
            Rows with the columns of the fit; other columns are ignored.

        Returns
        -------
        array, shape (n_rows,)
        """
        check_is_fitted(self, "model_")
        table = as_table(X)
        for note in self.model_.unusual_values(table):
            warnings.warn(note, stacklevel=2)
        is_positive = self.model_.is_positive(self.model_.scores(table))
        return np.asarray(self.classes_[is_positive.astype(int)])

    def evaluate(
        self, X: Any, y: Any = None, *, groups: Any = None, sample_weight: Any = None
    ) -> TableEvaluation:
        """Evaluate the model on labeled rows that it was not fitted to.

        Parameters
        ----------
        X : pandas or polars data frame
            Rows with the columns of the fit.
        y : array-like or str, optional
            Labels, or the name of the label column; by default that of the fit.
        groups : array-like or str, optional
            Group of each row, or the name of the column of groups, for cluster-robust
            standard errors.
        sample_weight : array-like or str, optional
            Non-negative weight of each row, or the name of the column of weights.

        Returns
        -------
        TableEvaluation
            AUC with its interval, and thresholds for the targets of the estimator.
        """
        check_is_fitted(self, "model_")
        values = {"groups": groups, "sample_weight": sample_weight}
        table, label, sample, warnings = self._labeled(X, y, **values)
        warnings += preparation.warn_of_test_rows(self.model_, table, label, sample)
        return evaluate_scores(label, sample, self.model_.scores(table), self.targets, warnings)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy of ``predict`` on labeled rows.

        Parameters
        ----------
        X : pandas or polars data frame
            Rows with the columns of the fit.
        y : array-like or str, optional
            Labels, or the name of the label column; by default that of the fit.
        sample_weight : array-like or str, optional
            Weight of each row, or the name of the column of weights.

        Returns
        -------
        float
        """
        check_is_fitted(self, "model_")
        table, _, sample, _ = self._labeled(X, y, sample_weight=sample_weight)
        is_correct = self.model_.is_positive(self.model_.scores(table)) == sample.is_positive
        return float(np.average(is_correct, weights=sample.weight))

    def _labeled(
        self, X: Any, y: Any, **values: Any
    ) -> tuple[pl.DataFrame, LabelColumn, Sample, list[TableWarning]]:
        """Return the labeled rows of a table, their classes, their sample and warnings."""
        model = self.model_
        values = {"y": model.label if y is None else y, **values}
        table, roles, warnings = preparation.labeled_rows(as_table(X), values)
        label, is_positive = labels_of_classes(roles["y"], model.positive, model.negative)
        return table, label, preparation.sample_of_roles(roles, is_positive), warnings

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        title: str = "Table",
        test: TableEvaluation | None = None,
    ) -> None:
        """Write a self-contained HTML report of the fit.

        Parameters
        ----------
        path : path
            File to write.
        title : str
            Name of the table.
        test : TableEvaluation, optional
            Evaluation on test rows, for the headline.
        """
        # Pages are above the results that they show.
        from rocpath.pages.report import fit_report_html

        self._check_has_results("report")
        page = fit_report_html(self.fit_, title=title, headline=headline(self.fit_, test))
        write_file(path, page)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the model for :func:`load_model`.

        Parameters
        ----------
        path : path
            File that ends in ``.skops``, or folder in which to write ``model.skops``.
        """
        check_is_fitted(self, "model_")
        save_model(path, self.model_)

    def to_files(
        self, *, title: str = "Table", test: TableEvaluation | None = None
    ) -> dict[str, bytes | str]:
        """Return the contents of the result files by name.

        Parameters
        ----------
        title : str
            Name of the table.
        test : TableEvaluation, optional
            Evaluation on test rows.

        Returns
        -------
        dict
            ``model.skops``, ``metrics.json``, ``weights.csv`` of a blend of scores, and
            ``report.html`` if Plotly and Jinja are installed.
        """
        self._check_has_results("to_files")
        return result_files(self.fit_, title=title, test=test)

    def _check_has_results(self, method: str) -> None:
        """Raise if the results of the fit are not available."""
        check_is_fitted(self, "model_")
        if not hasattr(self, "fit_"):
            raise ValueError(
                f"{method} requires the held-out scores and the audit of the columns, which a "
                "saved model does not contain: fit the model again, or open the report.html that "
                "was written with it."
            )

    @property
    def targets(self) -> ThresholdTargets:
        """Targets for the threshold of ``predict``."""
        return ThresholdTargets(self.max_fpr, self.min_precision, self.top)

    def _set_model(self, model: TableModel) -> None:
        self.model_: TableModel = model
        names = [*model.features.number, *model.features.category]
        self.feature_names_in_: NDArray[np.object_] = np.array(names, dtype=object)
        self.n_features_in_ = len(names)
        self.classes_ = model.classes

    @classmethod
    def from_model(cls, model: TableModel) -> Self:
        """Create a fitted estimator from a model that was loaded from a file."""
        classifier = cls(**model.parameters)
        classifier._set_model(model)
        return classifier

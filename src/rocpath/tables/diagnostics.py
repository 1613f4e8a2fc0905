"""Checks of a fitted table that need held-out scores: groups, drift and leaks."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rocpath.evaluation.influence import auc_with_influence
from rocpath.model_selection.folds import Fold, forward_splits
from rocpath.sample import Sample
from rocpath.tables.comparison import CrossValidatedScores, mean_auc
from rocpath.tables.fold_fits import cross_validate, evaluation_folds, numbered_steps
from rocpath.tables.hidden_groups import dependent_residuals, without_aliases
from rocpath.tables.leaks import column_areas
from rocpath.tables.model import table_inputs
from rocpath.tables.preparation import PreparedTable
from rocpath.tables.rankers import INNER_FOLDS, METHODS
from rocpath.tables.settings import FitSettings
from rocpath.tables.table_warnings import TableWarning

_NEARLY_PERFECT = 0.998  # AUC of which the columns are named
_MAX_NAMED = 3  # columns
_MAX_CELLS = 200_000  # of a table that is fitted again by group
_MAX_DRIFT_CELLS = 2_000_000  # of a table whose folds in time are compared with random ones
_N_WINDOWS = 5
# Standard errors by which models of the past rank later rows less accurately.
_DRIFT = 3.0
_TREND = 0.01  # largest p-value of a trend that is reported
_MIN_UNITS = 5  # independent units of a window, to estimate a standard error
_C = 0.1  # of the logistic regression that compares folds


class WindowAUC(NamedTuple):
    """AUC of a time window, and its standard error."""

    start: float
    end: float
    n_rows: int
    value: float
    standard_error: float


def find_hidden_groups(
    table: PreparedTable, held_out: CrossValidatedScores, method: str
) -> list[TableWarning]:
    """Warn of columns within whose values the residuals of held-out rows are correlated."""
    if table.sample.group is not None or table.sample.weight is not None:
        return []
    # Residuals of copies are equal, whatever the column.
    first = np.unique(held_out.sample.units, return_index=True)[1]
    residual = (held_out.sample.is_positive - expit(held_out.score[method]))[first]
    codes = {name: code[held_out.row[first]] for name, code in table.codes.items()}
    flagged = [one.columns[0] for one in table.warnings if one.kind == "groups"]
    names = dict.fromkeys([*flagged, *dependent_residuals(codes, residual)])
    new = [name for name in without_aliases(names, codes) if name not in flagged]
    return [
        TableWarning.from_kind(
            "groups",
            name,
            count=np.unique(codes[name]).size,
            n_rows=len(table.sample),
            reason="; held-out rows with the same value have similar residuals",
        )
        for name in new
    ]


def auc_by_group(
    table: PreparedTable, settings: FitSettings, method: str, name: str
) -> float | None:
    """Cross-validate a method with folds by the values of a column, if that is cheap."""
    n_cells = len(table.sample) * table.frame.width
    if n_cells > _MAX_CELLS or table.sample.time is not None or method not in METHODS:
        return None
    sample = table.sample
    grouped = Sample(sample.is_positive, sample.weight, table.codes[name], copy=sample.copy)
    by_group = table._replace(sample=grouped)
    # Fits are not compared, so a few folds suffice.
    settings = replace(settings, fast=False, cv=INNER_FOLDS)
    try:
        folds = evaluation_folds(by_group, settings, method)
    except ValueError:  # a class occurs in one group only
        return None
    fits = cross_validate(by_group, settings, folds, [method], numbered_steps(None, 0))
    return None if fits.held_out is None else mean_auc(fits.held_out, method).value


def nearly_perfect(table: PreparedTable, area: float) -> list[TableWarning]:
    """Name the columns with the largest AUCs alone if the model is nearly perfect."""
    if area < _NEARLY_PERFECT:
        return []
    alone = column_areas(table.frame, table.features, table.sample.is_positive)
    names = sorted(alone, key=lambda name: -alone[name])[:_MAX_NAMED]
    shown = ", ".join(f"{name!r} (AUC alone {alone[name]:.3f})" for name in names)
    return [TableWarning.from_kind("perfect", *names, area=area, names=shown)]


def window_aucs(held_out: CrossValidatedScores, method: str) -> list[WindowAUC]:
    """Return the AUC of each time window; empty without times."""
    sample = held_out.sample
    if sample.time is None:
        return []
    windows = []
    for k in np.unique(held_out.fold):
        rows = np.flatnonzero(held_out.fold == k)
        value, error = _auc(sample.take(rows), held_out.score[method][rows])
        time = sample.time[rows]
        windows.append(WindowAUC(float(time.min()), float(time.max()), rows.size, value, error))
    return windows


def warn_of_trend(windows: Sequence[WindowAUC]) -> list[TableWarning]:
    """Warn if the AUCs of time windows have a linear trend."""
    if len(windows) < 3:
        return []
    value = np.array([one.value for one in windows])
    error = np.array([one.standard_error for one in windows])
    if not (error > 0).all():
        return []
    weight = error**-2
    index = np.arange(value.size) - weight @ np.arange(value.size) / weight.sum()
    information = float(weight @ index**2)
    slope = float(weight @ (index * value)) / information
    p_value = float(2.0 * ndtr(-abs(slope) * np.sqrt(information)))
    if p_value > _TREND:
        return []
    given = {"first": value[0], "last": value[-1], "n_windows": value.size, "p_value": p_value}
    return [TableWarning.from_kind("trend", **given)]


def warn_of_past(table: PreparedTable) -> list[TableWarning]:
    """Warn if models of earlier rows rank later rows worse than models of random rows.

    In each time window, a logistic regression of all earlier rows is compared with one
    of as many random rows outside the window. The differences of their AUCs are paired.
    """
    dates = [one.column for one in table.columns if one.kind == "date"]
    sample, n_cells = table.sample, len(table.sample) * table.frame.width
    if sample.time is not None or sample.weight is not None or n_cells > _MAX_DRIFT_CELLS:
        return []
    for name in dates:
        time = table.frame[name].to_numpy()
        known = np.flatnonzero(np.isfinite(time))
        dated = Sample(sample.is_positive, sample.weight, sample.unit, time=time).take(known)
        compared = [
            _past_and_mixed(table, dated, known, one) for one in _windows(dated, time[known])
        ]
        if len(compared) < 2:
            continue
        past, mixed, change, variance = np.array(compared).T
        if -change.sum() > _DRIFT * np.sqrt(variance.sum()):
            given = {"past": past.mean(), "mixed": mixed.mean()}
            return [TableWarning.from_kind("drift", name, **given)]
    return []


def _windows(dated: Sample, time: NDArray[np.float64]) -> list[Fold]:
    if np.unique(time).size < _N_WINDOWS or np.unique(dated.is_positive).size < 2:
        return []
    return list(forward_splits(dated, _N_WINDOWS))


def _past_and_mixed(
    table: PreparedTable, dated: Sample, known: NDArray[np.intp], fold: Fold
) -> tuple[float, float, float, float]:
    """Return the AUCs of models of past and of random rows, their difference and variance."""
    outside = np.setdiff1d(np.arange(known.size), fold.test)
    if dated.unit is not None:
        outside = outside[~np.isin(dated.unit[outside], dated.unit[fold.test])]
    rng = np.random.default_rng(0)
    random = rng.permutation(outside)[: fold.train.size]
    if np.unique(dated.is_positive[random]).size < 2:
        random = fold.train
    test, frame = dated.take(fold.test), table.frame[known]
    results = []
    for train in (fold.train, random):
        model = make_pipeline(
            # Dates must be centered: they vary little compared to their mean.
            table_inputs(table.features).set_params(sparse_threshold=0),
            StandardScaler(),
            LogisticRegression(C=_C, max_iter=200),
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(frame[train], dated.is_positive[train])
        score = model.decision_function(frame[fold.test])
        results.append(auc_with_influence(score, test.is_positive, test.weights))
    (past, first), (mixed, second) = results
    change = np.bincount(test.units, first - second)
    return past, mixed, past - mixed, float(change @ change)


def _auc(sample: Sample, score: NDArray[np.float64]) -> tuple[float, float]:
    """Return an AUC and its standard error; a window of few units has that of its rows."""
    value, influence = auc_with_influence(score, sample.is_positive, sample.weights)
    if np.unique(sample.units).size >= _MIN_UNITS:
        influence = np.asarray(np.bincount(sample.units, influence), dtype=np.float64)
    return value, float(np.sqrt(influence @ influence))

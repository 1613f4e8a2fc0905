"""Warnings about leaks, nearly perfect models and changes with time."""

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

import rocpath as rp
from rocpath.tables.diagnostics import WindowAUC, warn_of_trend


def kinds(model):
    return {one.kind: one for one in model.warnings_}


def noise(n_rows=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return rng, X, X[:, 0] + 2 * rng.normal(size=n_rows) > 0.8


def fitted(frame, y, **roles):
    return rp.TableClassifier("logistic", fast=True, random_state=0).fit(frame, y, **roles)


def test_an_ordinary_table_has_no_warnings():
    _, X, y = noise()
    days = [date(2024, 1, 1) + timedelta(days=k) for k in range(400)]
    frame = pl.DataFrame(X, schema=["a", "b", "c"]).with_columns(day=pl.Series(days))
    assert fitted(frame, y).warnings_ == []


def test_a_flag_that_equals_the_label_in_most_rows_is_a_possible_leak():
    rng, X, y = noise()
    flag = np.where(rng.random(400) < 0.985, y, ~y).astype(int)
    frame = pl.DataFrame(X, schema=["a", "b", "c"]).with_columns(closed=pl.Series(flag))
    (found,) = [one for one in fitted(frame, y).warnings_ if one.kind == "leak"]
    assert found.columns == ("closed",)


def test_an_amount_that_is_present_only_for_positives_is_a_possible_leak():
    rng, X, y = noise()
    amount = np.where(y & (rng.random(400) < 0.6), rng.normal(size=400), np.nan)
    frame = pl.DataFrame(X, schema=["a", "b", "c"]).with_columns(refund=pl.Series(amount))
    (found,) = [one for one in fitted(frame, y).warnings_ if one.kind == "leak"]
    assert found.columns == ("refund",)
    assert "100% of the rows in which it is present are positive" in found.message
    # Missingness that does not depend on the label is not a leak.
    amount = np.where(rng.random(400) < 0.5, rng.normal(size=400), np.nan)
    assert "leak" not in kinds(fitted(frame.with_columns(refund=pl.Series(amount)), y))


def test_a_category_of_one_class_only_is_a_possible_leak():
    rng, X, y = noise()
    code = np.where(y & (rng.random(400) < 0.7), "K9", rng.choice(list("ABCD"), 400))
    frame = pl.DataFrame(X, schema=["a", "b", "c"]).with_columns(closing=pl.Series(code))
    (found,) = [one for one in fitted(frame, y).warnings_ if one.kind == "leak"]
    assert "100% of the rows in which it is 'K9' are positive" in found.message


def test_a_nearly_perfect_model_names_the_columns_it_rests_on():
    rng, X, y = noise()
    # Each of two columns reveals half of the labels; together they reveal all.
    first = np.where(rng.random(400) < 0.5, 2.0 * y - 1.0, 0.0)
    second = np.where(first == 0, 2.0 * y - 1.0, 0.0)
    frame = pl.DataFrame(X, schema=["a", "b", "c"])
    frame = frame.with_columns(code=pl.Series(first), other=pl.Series(second))
    found = kinds(fitted(frame, y))["perfect"]
    assert set(found.columns[:2]) == {"code", "other"}
    assert found.message.startswith("the AUC of 1.000 is nearly perfect; it rests on 'code'")


def rotating(seed=0, n_rows=1200):
    """Return rows whose coefficients rotate with time, by a quarter turn in all."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    angle = np.linspace(0, np.pi, n_rows)
    score = np.cos(angle) * X[:, 0] + np.sin(angle) * X[:, 1]
    y = 2.0 * score + rng.normal(size=n_rows) > 0
    days = [date(2023, 1, 1) + timedelta(days=k // 2) for k in range(n_rows)]
    return pl.DataFrame(X, schema=["a", "b", "c"]).with_columns(day=pl.Series(days)), y


def test_rotating_coefficients_are_found_without_a_column_of_times():
    frame, y = rotating()
    found = kinds(fitted(frame, y))["drift"]
    assert found.columns == ("day",)
    past, mixed = (float(one.rstrip(":,")) for one in found.message.split() if one[:2] == "0.")
    assert past < mixed - 0.05


def test_a_fading_signal_has_a_trend_of_window_aucs():
    rng = np.random.default_rng(0)
    time = np.arange(1500)
    x = rng.normal(size=1500)
    y = np.linspace(4, 0, 1500) * x + rng.normal(size=1500) > 0
    model = fitted(pl.DataFrame({"x": x, "z": rng.normal(size=1500)}), y, time=time)
    windows = model.fit_.windows
    assert len(windows) == 3
    assert windows[0].value > windows[-1].value + 0.1
    assert windows[0].end < windows[1].start
    assert "the AUC changes from" in kinds(model)["trend"].message
    # The AUC of a window is that of its rows.
    held_out = model.fit_.held_out
    rows = held_out.fold == 1
    area = rp.auc(y[held_out.row[rows]], held_out.score["logistic regression"][rows])
    assert windows[1].value == pytest.approx(area)


def test_the_trend_is_tested_by_weighted_least_squares():
    # The slope of 0.9, 0.8, 0.7 with equal errors e is -0.1, with a standard error of
    # e / sqrt(2); p = 0.0455 and 0.0027 at 2 and 3 standard errors.
    def warnings(error):
        windows = [WindowAUC(k, k, 9, 0.9 - 0.1 * k, error) for k in range(3)]
        return warn_of_trend(windows)

    assert warnings(0.1 * np.sqrt(2) / 2) == []
    (found,) = warnings(0.1 * np.sqrt(2) / 3)
    assert "from 0.900 to 0.700 over 3 time windows (p = 0.0027)" in found.message


def test_times_may_be_dates_in_text():
    frame, y = rotating(n_rows=300)
    shown = frame.with_columns(day=pl.col("day").dt.strftime("%d.%m.%Y"))
    found = fitted(shown, y, time="day").fit_.windows
    expected = fitted(frame, y, time="day").fit_.windows
    assert [one[:4] for one in found] == [one[:4] for one in expected]

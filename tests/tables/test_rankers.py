"""Models of tables: tuning, calibration, selection and saving."""

import json
import os

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import StandardScaler

from rocpath.cli import main
from rocpath.ranking import convex_problem
from rocpath.ranking.labeled_rows import LabeledRows
from rocpath.sample import Sample
from rocpath.tables import rankers
from rocpath.tables.columns import TableFeatures
from tests.cli.command_tables import fails, labeled_table, read


def fitted_steps(method, X, y, **options):
    rows = LabeledRows(X, Sample(y), np.arange(y.size), **options)
    return rankers.fit_ranker(method, rows, random_state=0).steps


def noisy_rows(n_rows, n_columns, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    return X, X[:, 0] + 2 * rng.normal(size=n_rows) > 1


@pytest.mark.parametrize("weight", [None, "balanced"])
def test_logistic_regression_selects_the_penalty_of_a_grid_search(weight):
    X, _ = noisy_rows(120, 60)
    y = X.sum(axis=1) > 4  # all columns matter a little: a strong penalty is best
    X = StandardScaler().fit_transform(X)
    search = GridSearchCV(
        LogisticRegression(max_iter=1000, class_weight=weight),
        {"C": rankers._C},
        scoring="roc_auc",
        cv=StratifiedKFold(3, shuffle=True, random_state=0),
    ).fit(X, y)
    rows = LabeledRows(X, Sample(y), np.arange(y.size))
    # Columns of unit variance are not scaled again.
    method = rankers.LOGISTIC if weight is None else rankers.BALANCED
    steps, held_out = rankers.fit_ranker(method, rows, random_state=0)
    found = steps[-1][1]
    # The log-odds of the inner folds predict the share of positives.
    assert (1 / (1 + np.exp(-held_out))).mean() == pytest.approx(y.mean(), abs=0.02)
    # Warm starts converge to slightly different solutions; near ties may differ.
    area = search.cv_results_["mean_test_score"]
    assert area[list(rankers._C).index(found.C)] > area.max() - 0.004
    assert area.max() > area[-1] + 0.02
    again = LogisticRegression(C=found.C, max_iter=1000, class_weight=weight).fit(X, y)
    # The ranking is the same; the log-odds are rescaled on held-out rows.
    lengths = [np.linalg.norm(model.coef_) for model in (found, again)]
    np.testing.assert_allclose(found.coef_ / lengths[0], again.coef_ / lengths[1], atol=1e-4)


@pytest.mark.parametrize("method", [rankers.LOGISTIC, rankers.BALANCED])
def test_log_odds_are_calibrated_for_strong_penalties(method, monkeypatch):
    monkeypatch.setattr(rankers, "_C", np.array([1e-6]))
    rng = np.random.default_rng(1)
    X = rng.normal(size=(4000, 2))
    # The true log-odds are 3 x - 2; such a strong penalty alone shrinks them to almost zero.
    y = rng.random(4000) < 1 / (1 + np.exp(2 - 3 * X[:, 0]))
    steps = fitted_steps(method, X, y)
    (_, scale), (_, model) = steps
    assert (model.coef_ / scale.scale_)[0, 0] == pytest.approx(3.0, abs=0.4)
    assert model.predict_proba(scale.transform(X))[:, 1].mean() == pytest.approx(y.mean(), abs=0.02)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_logistic_regression_is_the_same_in_the_row_space(form):
    X, y = noisy_rows(40, 200)
    Z, back = convex_problem.row_space(form(X))
    assert Z.shape[1] <= 40
    fits = [LogisticRegression(C=0.1, tol=1e-9, max_iter=2000).fit(one, y) for one in (X, Z)]
    np.testing.assert_allclose(fits[1].coef_ @ back, fits[0].coef_, atol=1e-5)
    narrow, nothing = convex_problem.row_space(X[:, :40])
    assert narrow.shape == (40, 40)
    assert nothing is None


@pytest.mark.parametrize("method", [rankers.LOGISTIC, rankers.BALANCED, rankers.BOOSTING])
def test_mean_probability_is_the_share_of_positives(method):
    X, y = noisy_rows(600, 3)
    steps = fitted_steps(method, X, y)
    for _, step in steps[:-1]:
        X = step.transform(X)
    # Platt scaling fits the share of positives in the held-out rows.
    assert steps[-1][1].predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=0.03)


@pytest.mark.parametrize("method", rankers.METHODS)
def test_a_class_of_one_row_can_be_fitted_without_inner_folds(method):
    X, _ = noisy_rows(12, 2)
    steps = fitted_steps(method, X, np.arange(12) == 3)
    for _, step in steps[:-1]:
        X = step.transform(X)
    assert np.isfinite(steps[-1][1].decision_function(X)).all()


def curved_table(folder):
    """Write a table that only trees can rank: positives at both ends of a column."""
    rng = np.random.default_rng(0)
    size = rng.normal(size=240)
    is_far = np.abs(size) > 1
    table = pl.DataFrame({"size": size, "y": np.where(is_far, "far", "near")})
    kinds = rng.choice(["a", "b", "c"], size=240)
    name = str(folder / "curved.csv")
    table.with_columns(kind=kinds).write_csv(name)
    return name


def test_a_better_baseline_is_saved_and_reported(tmp_path, capsys):
    table, out = curved_table(tmp_path), str(tmp_path / "model")
    argv = ["fit", table, "--label", "y", "--positive", "far", "--out"]
    assert main([*argv, out]) == 0
    shown = capsys.readouterr()
    finding = "AUCClassifier vs. gradient boosting: significantly lower AUC (\u22120."
    assert finding in shown.err
    assert "Saved: gradient boosting, fitted to all rows (the simplest" in shown.err
    metrics = json.loads(read(os.path.join(out, "metrics.json")))
    assert metrics["saved"] == "gradient boosting"
    assert metrics["methods"]["AUCClassifier"]["difference"] < -0.2
    assert metrics["auc_decrease_if_permuted"][0][0] == "size"
    report = read(os.path.join(out, "report.html"))
    assert finding in report
    assert "Decrease in AUC on training rows" in report
    assert main(["evaluate", out, table, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["auc"] > 0.95
    assert main(["path", table, "--model", out]) == 0


@pytest.mark.parametrize("choice", ["linear", "logistic", "boosting"])
def test_a_requested_model_is_saved(tmp_path, capsys, choice):
    table, out = str(tmp_path / "t.csv"), str(tmp_path / "model")
    labeled_table().write_csv(table)
    argv = ["fit", table, "--label", "y", "--out", out, "--model", choice]
    assert main(argv) == 0
    saved = json.loads(read(os.path.join(out, "metrics.json")))["saved"]
    assert saved in rankers.CANDIDATES[choice]
    assert f"Saved: {saved}, fitted to all rows (--model {choice})" in (capsys.readouterr().err)
    assert main(["predict", out, table]) == 0
    assert "'trees'" in fails(capsys, [*argv, "--force", "--model", "trees"])


@pytest.mark.parametrize("method", [*rankers.METHODS, rankers.BLEND])
def test_every_method_is_fitted_by_partial_auc(monkeypatch, method):
    X, y = noisy_rows(200, 3)
    used = set()
    place_rows = rankers.place_rows

    def recorded(score, is_positive, weight, max_fpr):
        used.add(max_fpr)
        return place_rows(score, is_positive, weight, max_fpr)

    monkeypatch.setattr(rankers, "place_rows", recorded)
    steps = fitted_steps(method, X, y, max_fpr=0.2)
    # AUCClassifier and AUCBlender have this parameter; baselines are tuned by partial AUC.
    is_ours = method in (rankers.OURS, rankers.BLEND)
    assert used == (set() if is_ours else {0.2})
    if is_ours:
        assert steps[-1][1].max_fpr == 0.2


def test_boosting_of_many_columns_uses_the_most_informative():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 700))
    y = np.arange(120) % 3 == 0
    X[:, 650] += 4.0 * y
    X[:, 3] = 1.0  # a constant column
    columns, ranking = fitted_steps(rankers.BOOSTING, X, y)
    kept = columns[1].transform(X)
    assert kept.shape == (120, rankers._MAX_BOOSTED)
    assert (kept == X[:, [650]]).all(axis=0).any()
    assert not (kept == 1.0).all(axis=0).any()
    score = ranking[1].decision_function(kept)
    assert roc_auc_score(y, score) > 0.95
    sparse_steps = fitted_steps(rankers.BOOSTING, sparse.csr_array(X), y)
    np.testing.assert_array_equal(sparse_steps[0][1].transform(sparse.csr_array(X)), kept)


def test_boosting_of_many_columns_is_saved_and_predicts(tmp_path, capsys):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 620)).round(2)
    label = np.where(X[:, 0] > 0.4, "yes", "no")
    table = pl.DataFrame({**{f"c{k}": X[:, k] for k in range(620)}, "y": label})
    table.write_csv(tmp_path / "wide.csv")
    out = str(tmp_path / "model")
    given = ["fit", str(tmp_path / "wide.csv"), "--label", "y", "--out", out]
    assert main([*given, "--model", "boosting", "--fast", "--yes"]) == 0
    capsys.readouterr()
    assert main(["predict", out, str(tmp_path / "wide.csv")]) == 0
    scores = pl.read_csv(capsys.readouterr().out.encode())
    assert roc_auc_score(label == "yes", scores["score"]) > 0.9


def test_numeric_columns_read_together_equal_those_read_one_by_one():
    table = pl.DataFrame({"a": [1, None, 3], "b": [0.5, float("nan"), 2.0], "c": ["1", " 2", "3"]})
    features = TableFeatures(("b", "c", "a"), (), {}, {}, {})
    frame = features.select(table)
    assert frame.columns == ["b", "c", "a"]
    assert frame.rows() == [(0.5, 1.0, 1.0), (None, 2.0, None), (2.0, 3.0, 3.0)]
    large = table.with_columns(b=pl.Series([1.0, 1e101, 2.0]))
    with pytest.raises(ValueError, match=r"'b' must be finite .* got 1e\+101 in row 2"):
        features.select(large)

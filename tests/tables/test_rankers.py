"""The models that a table is fitted by, and what is said of them."""

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

from rocpath.auc_statistics.intervals import compare_auc
from rocpath.cli import comparison, main
from rocpath.ranking import convex_problem
from rocpath.tables import rankers
from rocpath.tables.columns import FeatureColumns
from rocpath.tables.labels import BinaryLabel
from tests.cli.command_tables import fails, labeled_table, read

LABEL = BinaryLabel.of("y", "yes", "no", np.arange(1000) < 135)


def noisy_rows(n_rows, n_columns, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    return X, X[:, 0] + 2 * rng.normal(size=n_rows) > 1


@pytest.mark.parametrize(
    ("lead", "error", "said"),
    [
        (0.0124, 0.004, "is ahead of boosting by 0.012 ± 0.004 on rows held out."),
        (-0.0124, 0.004, "is behind boosting by 0.012 ± 0.004 on rows held out."),
        (
            -0.01,
            0.01,
            "against boosting: no difference that 135 rows of 'yes' could show "
            "(behind by 0.010 ± 0.010 on rows held out).",
        ),
        (
            -0.0008,
            0.0005,
            "against boosting: no difference that 135 rows of 'yes' could show "
            "(behind by 0.0008 ± 0.0005 on rows held out).",
        ),
        (
            0.0,
            0.0,
            "against boosting: no difference that 135 rows of 'yes' could show "
            "(level).",
        ),
    ],
)
def test_a_verdict_says_what_the_rows_show(lead, error, said):
    metric = {"our_lead": lead, "our_lead_standard_error": error}
    assert comparison.verdict("boosting", metric, LABEL) == f"AUCClassifier {said}"


def test_leads_are_the_mean_of_delongs_over_the_parts():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3 == 0
    score = {method: y + rng.normal(size=60) for method in rankers.METHODS}
    parts = [np.arange(0, 30), np.arange(30, 60)]
    found = comparison.part_metrics("gradient boosting", score, y, parts)
    pairs = [score[name] for name in ("AUCClassifier", "gradient boosting")]
    tests = [compare_auc(y[part], *(one[part] for one in pairs)) for part in parts]
    areas = [roc_auc_score(y[part], pairs[1][part]) for part in parts]
    assert found["auc"] == pytest.approx(np.mean(areas))
    assert found["our_lead"] == pytest.approx(sum(t.difference for t in tests) / 2)
    # Parts share no row: variances add up, and the mean of two halves its error.
    variance = sum(t.standard_error**2 for t in tests) / 4
    assert found["our_lead_standard_error"] == pytest.approx(np.sqrt(variance))


@pytest.mark.parametrize("weight", [None, "balanced"])
def test_logistic_regression_has_the_penalty_that_a_grid_search_finds(weight):
    X, _ = noisy_rows(120, 60)
    y = X.sum(axis=1) > 4  # all columns tell a little: a strong penalty is best
    X = StandardScaler().fit_transform(X)
    search = GridSearchCV(
        LogisticRegression(max_iter=1000, class_weight=weight),
        {"C": rankers._C},
        scoring="roc_auc",
        cv=StratifiedKFold(3, shuffle=True, random_state=0),
    ).fit(X, y)
    found = rankers._tuned_logistic(X, y.astype(int), weight, 0)
    # A warm start ends a little elsewhere, which can part two nearly as good.
    area = search.cv_results_["mean_test_score"]
    assert area[list(rankers._C).index(found.C)] > area.max() - 0.004
    assert area.max() > area[-1] + 0.02
    again = LogisticRegression(C=found.C, max_iter=1000, class_weight=weight).fit(X, y)
    # The same ranking; its log-odds are scaled to those of the rows held out.
    lengths = [np.linalg.norm(model.coef_) for model in (found, again)]
    np.testing.assert_allclose(
        found.coef_ / lengths[0], again.coef_ / lengths[1], atol=1e-4
    )


@pytest.mark.parametrize("method", [rankers.LOGISTIC, rankers.BALANCED])
def test_log_odds_fit_new_rows_however_strong_the_penalty(method, monkeypatch):
    monkeypatch.setattr(rankers, "_C", np.array([1e-6]))
    rng = np.random.default_rng(1)
    X = rng.normal(size=(4000, 2))
    # Log-odds 3 x - 2, of which so strong a penalty alone leaves nothing.
    y = rng.random(4000) < 1 / (1 + np.exp(2 - 3 * X[:, 0]))
    steps = rankers.fitted_steps(method, X, y, random_state=0)
    (_, scale), (_, model) = steps
    assert (model.coef_ / scale.scale_)[0, 0] == pytest.approx(3.0, abs=0.4)
    assert model.predict_proba(scale.transform(X))[:, 1].mean() == pytest.approx(
        y.mean(), abs=0.02
    )


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_logistic_regression_is_the_same_in_the_space_of_the_rows(form):
    X, y = noisy_rows(40, 200)
    Z, back = convex_problem.row_space(form(X))
    assert Z.shape[1] <= 40
    fits = [
        LogisticRegression(C=0.1, tol=1e-9, max_iter=2000).fit(one, y) for one in (X, Z)
    ]
    np.testing.assert_allclose(fits[1].coef_ @ back, fits[0].coef_, atol=1e-5)
    narrow, nothing = convex_problem.row_space(X[:, :40])
    assert narrow.shape == (40, 40)
    assert nothing is None


@pytest.mark.parametrize(
    "method", [rankers.LOGISTIC, rankers.BALANCED, rankers.BOOSTING]
)
def test_probabilities_are_those_of_rows_as_they_occur(method):
    X, y = noisy_rows(600, 3)
    steps = rankers.fitted_steps(method, X, y, random_state=0)
    for _, step in steps[:-1]:
        X = step.transform(X)
    # Trees and a constant fit the number of positives exactly, but for the penalty.
    assert steps[-1][1].predict_proba(X)[:, 1].mean() == pytest.approx(
        y.mean(), abs=0.03
    )


@pytest.mark.parametrize("method", rankers.METHODS)
def test_a_class_of_one_row_can_be_fitted_without_rows_to_choose_by(method):
    X, _ = noisy_rows(12, 2)
    steps = rankers.fitted_steps(method, X, np.arange(12) == 3, random_state=0)
    for _, step in steps[:-1]:
        X = step.transform(X)
    assert np.isfinite(steps[-1][1].decision_function(X)).all()


def curved_table(folder):
    """Make a table that only trees can rank: positives at both ends of a column."""
    rng = np.random.default_rng(0)
    size = rng.normal(size=240)
    is_far = np.abs(size) > 1
    table = pl.DataFrame({"size": size, "y": np.where(is_far, "far", "near")})
    kinds = rng.choice(["a", "b", "c"], size=240)
    name = str(folder / "curved.csv")
    table.with_columns(kind=kinds).write_csv(name)
    return name


def test_the_better_model_is_saved_and_a_verdict_against_us_is_plain(tmp_path, capsys):
    table, out = curved_table(tmp_path), str(tmp_path / "model")
    argv = ["fit", table, "--label", "y", "--positive", "far", "--out"]
    assert main([*argv, out]) == 0
    shown = capsys.readouterr()
    assert "AUCClassifier is behind gradient boosting by 0." in shown.err
    assert "Saved: gradient boosting, fitted to all rows (the largest AUC)" in shown.err
    metrics = json.loads(read(os.path.join(out, "metrics.json")))
    assert metrics["saved"] == "gradient boosting"
    assert metrics["methods"]["gradient boosting"]["our_lead"] < -0.2
    assert metrics["auc_lost_if_shuffled"][0][0] == "size"
    report = read(os.path.join(out, "report.html"))
    assert "AUCClassifier is behind gradient boosting by 0." in report
    assert "AUC lost on rows of the fit" in report
    assert main(["evaluate", out, table, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["auc"] > 0.95
    assert main(["path", table, "--model", out]) == 0


@pytest.mark.parametrize("choice", ["linear", "logistic", "boosting"])
def test_a_model_asked_for_is_saved(tmp_path, capsys, choice):
    table, out = str(tmp_path / "t.csv"), str(tmp_path / "model")
    labeled_table().write_csv(table)
    argv = ["fit", table, "--label", "y", "--out", out, "--model", choice]
    assert main(argv) == 0
    saved = json.loads(read(os.path.join(out, "metrics.json")))["saved"]
    assert saved in rankers.OF_CHOICE[choice]
    assert f"Saved: {saved}, fitted to all rows (--model {choice})" in (
        capsys.readouterr().err
    )
    assert main(["predict", out, table]) == 0
    assert "'trees'" in fails(capsys, [*argv, "--force", "--model", "trees"])


@pytest.mark.parametrize("method", [*rankers.METHODS, rankers.BLEND])
def test_every_method_is_fitted_for_the_part_of_the_curve_that_counts(
    monkeypatch, method
):
    X, y = noisy_rows(200, 3)
    asked = []
    place_rows = rankers.place_rows

    def noted(score, is_positive, weight, max_fpr):
        asked.append(max_fpr)
        return place_rows(score, is_positive, weight, max_fpr)

    monkeypatch.setattr(rankers, "place_rows", noted)
    steps = rankers.fitted_steps(method, X, y, random_state=0, max_fpr=0.2)
    model = steps[-1][1]
    # Ours take it as a parameter; rivals are tuned by the same area.
    assert getattr(model, "max_fpr", None) == 0.2 or set(asked) == {0.2}


def test_boosting_of_many_columns_sees_those_that_tell_most():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 700))
    y = np.arange(120) % 3 == 0
    X[:, 650] += 4.0 * y
    X[:, 3] = 1.0  # has no spread
    columns, ranking = rankers.fitted_steps(rankers.BOOSTING, X, y, random_state=0)
    kept = columns[1].transform(X)
    assert kept.shape == (120, rankers._MOST_BOOSTED)
    assert (kept == X[:, [650]]).all(axis=0).any()
    assert not (kept == 1.0).all(axis=0).any()
    score = ranking[1].decision_function(kept)
    assert roc_auc_score(y, score) > 0.95
    sparse_steps = rankers.fitted_steps(
        rankers.BOOSTING, sparse.csr_array(X), y, random_state=0
    )
    np.testing.assert_array_equal(
        sparse_steps[0][1].transform(sparse.csr_array(X)), kept
    )


def test_boosting_of_many_columns_is_saved_and_predicts(tmp_path, capsys):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 620)).round(2)
    label = np.where(X[:, 0] > 0.4, "yes", "no")
    table = pl.DataFrame({**{f"c{k}": X[:, k] for k in range(620)}, "y": label})
    table.write_csv(tmp_path / "wide.csv")
    out = str(tmp_path / "model")
    given = ["fit", str(tmp_path / "wide.csv"), "--label", "y", "--out", out]
    assert main([*given, "--model", "boosting", "--fast", "--yes"]) == 0
    assert main(["predict", out, str(tmp_path / "wide.csv")]) == 0
    scores = pl.read_csv(capsys.readouterr().out.encode())
    assert roc_auc_score(label == "yes", scores["score"]) > 0.9


def test_plain_numbers_are_taken_together_as_one_by_one():
    table = pl.DataFrame(
        {"a": [1, None, 3], "b": [0.5, float("nan"), 2.0], "c": ["1", " 2", "3"]}
    )
    features = FeatureColumns(("b", "c", "a"), (), {}, {})
    frame = features.of(table)
    assert frame.columns == ["b", "c", "a"]
    assert frame.rows() == [(0.5, 1.0, 1.0), (None, 2.0, None), (2.0, 3.0, 3.0)]
    large = table.with_columns(b=pl.Series([1.0, 1e101, 2.0]))
    with pytest.raises(ValueError, match=r"'b' must be finite .* got 1e\+101 in row 2"):
        features.of(large)

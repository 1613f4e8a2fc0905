"""Commands for scores: compare and blend, and the thresholds of evaluate."""

import json
import os
import re

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import roc_auc_score

import rocpath as rp
from rocpath.cli import main
from tests.cli.command_tables import fails, labeled_table, read


@pytest.fixture
def scores(tmp_path):
    """Write a good score, and two scores that differ only in scale."""
    rng = np.random.default_rng(0)
    y = np.arange(200) % 4 == 0
    poor = rng.normal(size=200)
    table = pl.DataFrame({"good": y + 0.5 * rng.normal(size=200), "poor": poor})
    name = str(tmp_path / "scores.csv")
    table.with_columns(scaled=2 * poor, y=np.where(y, "b", "a")).write_csv(name)
    return name, table, y


def test_all_pairs_are_compared(scores, capsys):
    name, table, y = scores
    argv = ["compare", name, "--label", "y", "--scores", "good,poor", "--scores"]
    assert main([*argv, "scaled", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(one["first"], one["second"]) for one in found["pairs"]] == [
        ("good", "poor"),
        ("good", "scaled"),
        ("poor", "scaled"),
    ]
    test = rp.compare_auc(y, table["good"], table["poor"])
    pair = found["pairs"][0]
    assert pair["p_value"] == pytest.approx(test.p_value)
    assert pair["adjusted_p_value"] == pytest.approx(3 * test.p_value)
    assert found["pairs"][2]["value"] == 0
    assert found["scores"]["good"]["value"] == pytest.approx(roc_auc_score(y, table["good"]))
    assert main([*argv, "scaled", "--max-fpr", "0.1"]) == 0
    shown, notes = capsys.readouterr()
    assert "partial AUC (FPR up to 0.1)" in shown
    assert "'good' has a significantly higher partial AUC (FPR up to 0.1) than 'poor'" in notes
    assert "'scaled'" in notes


def test_the_page_shows_the_partial_aucs_that_the_terminal_prints(scores, tmp_path, capsys):
    name, table, y = scores
    page = tmp_path / "p.html"
    argv = ["compare", name, "--label", "y", "--max-fpr", "0.1"]
    assert main([*argv, "--out", str(page)]) == 0
    shown, html = capsys.readouterr().out, page.read_text()
    for score in ("good", "poor", "scaled"):
        values = table["poor"] if score == "scaled" else table[score]
        area = rp.auc_interval(y, values, max_fpr=0.1)
        for text in (f"{area.value:.4f}", f"{area.low:.4f} to {area.high:.4f}"):
            assert text in shown
            assert text in html
    p_value = re.search("Test of equal values: .*(p [=<] [^ \n]*)", shown)[1]
    assert f"Test of equal values: {p_value}.".replace("<", "&lt;") in html
    assert f"<h2>Differences in {area.name}</h2>" in html


def test_groups_make_the_comparison_cluster_robust(tmp_path, scores, capsys):
    name, table, y = scores
    group = np.arange(200) // 5
    rows = pl.read_csv(name).with_columns(group=group)
    rows.write_csv(tmp_path / "grouped.csv")
    argv = ["compare", str(tmp_path / "grouped.csv"), "--label", "y", "--group"]
    assert main([*argv, "group", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found["scores"]) == ["good", "poor", "scaled"]
    test = rp.compare_auc(y, table["good"], table["poor"], groups=group)
    assert found["pairs"][0]["p_value"] == pytest.approx(test.p_value)
    assert "group column 'no' not found" in fails(capsys, [*argv, "no"])


def test_scores_with_equal_rankings_do_not_differ(scores, capsys):
    argv = ["compare", scores[0], "--label", "y", "--scores", "poor,scaled"]
    assert main(argv) == 0
    assert capsys.readouterr().err == "No significant difference in AUC.\n"


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("good", "at least two different columns of scores are required, got good."),
        ("good,good", "at least two different columns of scores are required, got good, good"),
        ("good,none", "'none' not found"),
        ("good,y", "column 'y' must be numbers"),
    ],
)
def test_invalid_scores_are_errors(scores, capsys, names, message):
    argv = ["compare", scores[0], "--label", "y", "--scores", names]
    assert message in fails(capsys, argv)


def test_evaluate_finds_thresholds_that_meet_targets(fitted, capsys):
    argv = ["evaluate", *fitted, "--max-fpr", "0.2", "--top", "5", "--json"]
    assert main(argv) == 0
    found = json.loads(capsys.readouterr().out)
    assert main(["predict", *fitted]) == 0
    score = pl.read_csv(capsys.readouterr().out.encode())["score"].to_numpy()
    y = (pl.read_csv(fitted[1])["y"] == "yes").to_numpy()
    rules = {one["rule"]: one for one in found["operating_points"]}
    observed = rules["false positive rate at most 20%"]
    point = rp.choose_threshold(y, score, max_fpr=0.2)
    assert observed["threshold"] == pytest.approx(point.threshold)
    assert observed["fp"] == (score[~y] >= point.threshold).sum()
    top = rules["the 5 rows ranked highest"]
    assert top["tp"] + top["fp"] == 5
    area = rp.auc_interval(y, score, max_fpr=0.2)
    assert found["partial_auc"]["area"] == pytest.approx(area.value)
    assert found["partial_auc"]["high"] == pytest.approx(area.high)
    assert main([*argv[:-1], "--min-precision", "0.9999"]) == 0
    assert "mean TPR up to this FPR" in capsys.readouterr().out
    message = fails(capsys, [*argv[:3], "--max-fpr", "2"])
    assert "--max-fpr must be above 0 and below 1, got 2." in message


def test_blend_writes_weights_a_model_and_a_report(scores, tmp_path, capsys):
    name, table, y = scores
    out = str(tmp_path / "blend")
    assert main(["blend", name, "--label", "y", "--out", out]) == 0
    shown, notes = capsys.readouterr()
    assert "blend (selected)" in shown
    assert "poor vs. blend: significantly lower AUC (\u22120." in notes
    assert sorted(os.listdir(out)) == ["metrics.json", "model.skops", "report.html", "weights.csv"]
    weights = dict(pl.read_csv(os.path.join(out, "weights.csv")).iter_rows())
    assert list(weights) == ["good", "poor", "scaled"]
    assert sum(weights.values()) == pytest.approx(1)
    assert weights["good"] > 0.5
    saved = json.loads(read(os.path.join(out, "metrics.json")))["weights_of_blend"]
    assert saved == pytest.approx(weights)
    assert "Weights of the blend" in read(os.path.join(out, "report.html"))
    # The weights are those of fit_scores.
    S = table.with_columns(scaled=2 * table["poor"]).to_numpy()
    blender = rp.AUCBlender(random_state=0).fit_scores(S, y)
    assert list(weights.values()) == pytest.approx(blender.weights_)
    assert main(["predict", out, name]) == 0
    score = pl.read_csv(capsys.readouterr().out.encode())["score"]
    np.testing.assert_allclose(score, blender.decision_function(S))
    # Missing scores are rejected, not imputed.
    gap = str(tmp_path / "gap.csv")
    rows = pl.read_csv(name).with_columns(poor=pl.lit(None, dtype=pl.Float64))
    rows.write_csv(gap)
    assert "'poor'" in fails(capsys, ["predict", out, gap])
    assert "missing value in row 1" in fails(
        capsys, ["blend", gap, "--label", "y", "--out", out, "--force"]
    )


def test_a_blend_of_models_is_saved_and_loaded(tmp_path, capsys):
    table, out = str(tmp_path / "t.csv"), str(tmp_path / "model")
    labeled_table(60).write_csv(table)
    argv = ["fit", table, "--label", "y", "--out", out, "--model", "blend", "--fast"]
    assert main(argv) == 0
    assert "Saved: blend" in capsys.readouterr().err
    model = rp.load_model(out)
    score = model.decision_function(pl.read_csv(table))
    y = (pl.read_csv(table)["y"] == "yes").to_numpy()
    assert roc_auc_score(y, score) > 0.8
    assert set(model.model_.weights) >= {"linear", "trees", "boosting"}


def test_censored_times_are_compared_by_concordance(tmp_path, capsys):
    rng = np.random.default_rng(0)
    risk, end = rng.normal(size=120), rng.exponential(size=120)
    time = rng.exponential(size=120) * np.exp(-1.5 * risk)
    table = pl.DataFrame(
        {
            "months": np.minimum(time, end),
            "died": time <= end,
            "good": risk,
            "poor": rng.normal(size=120),
        }
    )
    name, page = str(tmp_path / "risks.csv"), tmp_path / "page.html"
    table.write_csv(name)
    argv = ["compare", name, "--survival-time", "months", "--event", "died"]
    assert main([*argv, "--out", str(page)]) == 0
    shown, notes = capsys.readouterr()
    y = rp.Survival(table["months"], table["died"])
    result = rp.compare(y, {"good": table["good"], "poor": table["poor"]}, "concordance")
    good = result.intervals["good"]
    for text in (f"{good.low:.4f} to {good.high:.4f}", f"{result.difference:+.4f}"):
        assert text in shown
        assert text in page.read_text("utf-8")
    assert "'good' has a significantly higher Harrell's C than 'poor'" in notes
    assert main([*argv, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["metrics"]["Harrell's C"]["good"]["value"] == good.value


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "either --label, or --survival-time and --event"),
        (["--survival-time", "good"], "--survival-time and --event must be given together"),
        (["--label", "y", "--survival-time", "good", "--event", "y"], "either --label"),
        (["--survival-time", "good", "--event", "missing"], "missing"),
        (["--survival-time", "poor", "--event", "poor", "--scores", "good,scaled"], "time must"),
    ],
)
def test_outcomes_that_cannot_be_compared(scores, capsys, options, message):
    assert message in fails(capsys, ["compare", scores[0], *options])

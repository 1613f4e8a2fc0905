"""Evaluations of censored times in the terminal and on a page."""

import json

import numpy as np
import pytest

import rocpath as rp

pytest.importorskip("jinja2")


def outcome(n=80):
    rng = np.random.default_rng(0)
    risk = rng.normal(size=n)
    time, end = rng.exponential(size=n) * np.exp(-1.5 * risk), rng.exponential(size=n)
    y = rp.Survival(np.minimum(time, end), time <= end)
    return y, {"risk": risk, "<noise>": rng.normal(size=n)}, np.arange(n) % 20


def test_the_terminal_json_and_page_show_the_same_numbers(tmp_path):
    y, scores, groups = outcome()
    result = rp.SurvivalEvaluation.from_scores(y, scores, groups=groups)
    single = rp.interval(y, scores["risk"], "concordance", groups=groups)
    found = json.loads(json.dumps(result.to_dict()))
    assert found["metrics"]["Harrell's C"]["risk"]["value"] == single.value
    assert found["metrics"]["Harrell's C"]["risk"]["low"] == single.low
    pair = rp.compare(y, scores, "concordance", groups=groups)
    assert found["pairs"][0]["value"] == pair.difference
    shown = rp.evaluation_report(y, scores, path=tmp_path / "page.html", groups=groups)
    assert shown.to_dict() == result.to_dict()
    page = (tmp_path / "page.html").read_text("utf-8")
    interval = f"{single.low:.4f} to {single.high:.4f}"
    assert interval in repr(result)
    assert interval in page
    assert "'risk' has a significantly higher Harrell's C than '<noise>'" in result.findings[0]


def test_the_page_names_the_metrics_and_has_no_roc_curve_and_no_script(tmp_path):
    y, scores, _ = outcome()
    rp.evaluation_report(y, scores, path=tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    median = np.quantile(y.time[y.event], 0.5, method="lower")
    for text in ("Harrell&#39;s C", "Uno&#39;s C", f"AUC at time {median:g}", "&lt;noise&gt;"):
        assert text in page
    assert "ROC" not in page
    assert "<script" not in page
    assert "script-src 'none'" in page
    assert "<noise>" not in page


def test_a_single_score_has_no_differences():
    y, scores, _ = outcome()
    result = rp.SurvivalEvaluation.from_scores(y, {"risk": scores["risk"]})
    assert result.comparison is None
    assert result.findings == []
    assert "events" in repr(result)


def test_undefined_metrics_are_left_out_and_arguments_of_labels_are_refused(tmp_path):
    # The last row has an event, so that no row survives the upper quartile of the events.
    y = rp.Survival([1, 2, 3, 3], [1, 1, 1, 1])
    result = rp.SurvivalEvaluation.from_scores(y, {"risk": [4, 3, 2, 1]})
    assert "AUC at time 3" not in result.intervals
    assert "AUC at time 2" in result.intervals
    with pytest.raises(ValueError, match=r"y must be a rocpath\.Survival"):
        rp.SurvivalEvaluation.from_scores([0, 1, 0, 1], {"risk": [4, 3, 2, 1]})
    with pytest.raises(ValueError, match="max_fpr must be None for censored times"):
        rp.evaluation_report(y, {"risk": [4, 3, 2, 1]}, path=tmp_path / "page.html", max_fpr=0.1)

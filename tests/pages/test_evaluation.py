"""The evaluation page: its numbers, its escapes, and its slider in a browser."""

import json
import re

import numpy as np
import pytest

import rocpath as rp

pytest.importorskip("jinja2")
pytest.importorskip("plotly")


def two_scores(n_rows=200):
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % 2
    return y, {"a <b>": rng.normal(size=n_rows) + y, "c": rng.random(n_rows)}


def charts_of(page):
    text = page.split('<script type="application/json">')[1].split("</script>")[0]
    return json.loads(text)


@pytest.mark.parametrize("has_groups", [False, True])
def test_the_page_has_the_numbers_of_the_library(tmp_path, has_groups):
    y, scores = two_scores()
    groups = np.arange(y.size) // 4 if has_groups else None
    path = rp.evaluation_report(y, scores, groups=groups, path=tmp_path / "e.html")
    page = path.read_text()
    found = rp.compare_aucs(y, scores, groups=groups)
    for one in found.intervals.values():
        assert f"{one.low:.4f} to {one.high:.4f}" in page
    assert f"{found.pairs[0].comparison.difference:+.4f}" in page
    assert "a &lt;b&gt;" in page
    assert "a <b>" not in page
    assert ("Obuchowski" in page) == has_groups
    model = charts_of(page)["models"][0]
    for threshold, tp, fp in zip(model["threshold"], model["tp"], model["fp"], strict=True):
        called = scores["a <b>"] >= threshold
        assert (called[y == 1].sum(), called[y == 0].sum()) == (tp, fp)
    # Only scores between 0 and 1 can be calibrated.
    assert model["calibration"] == []
    assert bool(charts_of(page)["models"][1]["calibration"]) != has_groups


def test_one_score_needs_no_comparison(tmp_path):
    y, scores = two_scores()
    path = rp.evaluation_report(y, {"c": scores["c"]}, path=tmp_path / "e.html")
    assert "Differences in AUC" not in path.read_text()
    with pytest.raises(ValueError, match="scores must have at least one entry"):
        rp.evaluation_report(y, {}, path=tmp_path / "e.html")


def test_no_script_or_style_comes_from_elsewhere(tmp_path):
    y, scores = two_scores()
    page = rp.evaluation_report(y, scores, path=tmp_path / "e.html").read_text()
    assert not re.search(r'<(script|link|img)[^>]+(src|href)="http', page)

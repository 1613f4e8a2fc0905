"""The evaluation page: its numbers, its escaping, and its slider in a browser."""

import json
import re

import numpy as np
import pytest

import rocpath as rp
from tests.pages.browsing import find, wait_until

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
    found = rp.compare(y, scores, groups=groups)
    for one in found.intervals.values():
        assert f"{one.low:.4f} to {one.high:.4f}" in page
    assert f"{found.difference:+.4f}" in page
    assert "a &lt;b&gt;" in page
    assert "a <b>" not in page
    assert ("jackknife over groups" in page) == has_groups
    model = charts_of(page)["models"][0]
    for threshold, tp, fp in zip(model["threshold"], model["tp"], model["fp"], strict=True):
        is_predicted = scores["a <b>"] >= threshold
        assert (is_predicted[y == 1].sum(), is_predicted[y == 0].sum()) == (tp, fp)
    # Calibration is shown only for scores between 0 and 1.
    assert model["calibration"] == []
    assert charts_of(page)["models"][1]["calibration"]


def test_one_score_needs_no_comparison(tmp_path):
    y, scores = two_scores()
    path = rp.evaluation_report(y, {"c": scores["c"]}, path=tmp_path / "e.html")
    assert "Differences in AUC" not in path.read_text()
    with pytest.raises(ValueError, match="scores must have at least one entry"):
        rp.evaluation_report(y, {}, path=tmp_path / "e.html")


def test_scripts_and_styles_are_embedded(tmp_path):
    y, scores = two_scores()
    page = rp.evaluation_report(y, scores, path=tmp_path / "e.html").read_text()
    assert not re.search(r'<(script|link|img)[^>]+(src|href)="http', page)


MOVE = """
const slider = document.querySelector("input.place");
slider.value = arguments[0];
slider.dispatchEvent(new Event("input"));
"""
SHOWN = """
const shown = (name) => [...document.querySelectorAll(`[data-${name}]`)].map(
  (one) => [one.dataset[name], one.textContent]);
const dot = document.querySelector(".roc-comparison").data.at(-1);
return { ...Object.fromEntries([...shown("cell"), ...shown("rate")]), dot: [dot.x[0], dot.y[0]] };
"""


def test_the_slider_shows_the_rows_predicted_positive(browser, tmp_path):
    y, scores = two_scores()
    path = rp.evaluation_report(y, scores, path=tmp_path / "e.html")
    browser.get(path.as_uri())
    wait_until(browser, "return document.querySelector('.roc-comparison').dataset.ready")
    models = charts_of(path.read_text())["models"]
    for number, score in enumerate(scores.values()):
        find(browser, f".model option[value='{number}']").click()
        has_calibration = bool(models[number]["calibration"])
        assert find(browser, ".calibrated").is_displayed() == has_calibration
        for place in (0, 7, len(models[number]["threshold"]) - 1):
            browser.execute_script(MOVE, place)
            is_predicted = score >= models[number]["threshold"][place]
            tp, fp = is_predicted[y == 1].sum(), is_predicted[y == 0].sum()
            shown = browser.execute_script(SHOWN)
            assert (shown["tp"], shown["fp"]) == (str(tp), str(fp))
            assert (shown["fn"], shown["tn"]) == (str(100 - tp), str(100 - fp))
            assert (shown["tpr"], shown["fpr"]) == (f"{tp:.1f}%", f"{fp:.1f}%")
            precision = f"{100 * tp / (tp + fp):.1f}%" if tp + fp else "\N{EN DASH}"
            assert shown["precision"] == precision
            assert shown["dot"] == pytest.approx([fp / 100, tp / 100])
    assert browser.get_log("browser") == []

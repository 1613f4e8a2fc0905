"""The evaluation page: its numbers, its escaping, and its slider in a browser."""

import json
import re
from html import unescape

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


def page_of(folder, *arguments, **options):
    path = folder / "e.html"
    return rp.evaluation_report(*arguments, path=path, **options), path.read_text()


def charts_of(page):
    text = page.split('<script type="application/json">')[1].split("</script>")[0]
    return json.loads(text)


@pytest.mark.parametrize("has_groups", [False, True])
def test_the_page_has_the_numbers_of_the_library(tmp_path, has_groups):
    y, scores = two_scores()
    groups = np.arange(y.size) // 4 if has_groups else None
    evaluation, page = page_of(tmp_path, y, scores, groups=groups)
    found = rp.compare(y, scores, groups=groups)
    for one in found.intervals.values():
        assert f"{one.low:.4f} to {one.high:.4f}" in page
    assert f"{found.difference:+.4f}" in page
    assert "a &lt;b&gt;" in page
    assert "a <b>" not in page
    assert ("jackknife over groups" in page) == has_groups
    for row in rp.threshold_table(y, scores["c"], ["youden", "fpr=0.05"], groups=groups):
        low, high = 100 * row.sensitivity.low, 100 * row.sensitivity.high
        assert f"{low:.1f} to {high:.1f}" in page
    slope = rp.calibration_summary(y, scores["c"], groups=groups).slope
    assert f"{slope.low:.3f} to {slope.high:.3f}" in page
    assert evaluation.methods in unescape(page)
    model = charts_of(page)["models"][0]
    for threshold, tp, fp in zip(model["threshold"], model["tp"], model["fp"], strict=True):
        is_predicted = scores["a <b>"] >= threshold
        assert (is_predicted[y == 1].sum(), is_predicted[y == 0].sum()) == (tp, fp)
    # Calibration and net benefit are shown only for scores between 0 and 1.
    assert model["calibration"] == []
    assert model["decision"] is None
    assert charts_of(page)["models"][1]["calibration"]


def test_the_charts_have_the_rates_of_the_threshold_table(tmp_path):
    y, scores = two_scores()
    model = charts_of(page_of(tmp_path, y, scores)[1])["models"][1]
    middle = len(model["threshold"]) // 2
    (row,) = rp.threshold_table(y, scores["c"], model["threshold"][middle])
    for name, limits in model["limits"].items():
        assert limits[middle] == pytest.approx(getattr(row, name)[1:])
    # Without rows predicted positive, there is no predictive value.
    assert model["limits"]["ppv"][0] is None
    curve = model["decision"]
    point = rp.net_benefit(y, scores["c"], curve["threshold"][9])[0]
    assert (curve["value"][9], curve["low"][9]) == pytest.approx((point.value, point.low))
    assert model["gains"]["recall"][-1] == model["gains"]["share"][-1] == 1
    assert model["precision"]["precision"][-1] == pytest.approx(y.mean())


def test_one_score_needs_no_comparison(tmp_path):
    y, scores = two_scores()
    evaluation, page = page_of(tmp_path, y, {"c": scores["c"]})
    assert "Differences in AUC" not in page
    assert evaluation.comparison is None
    with pytest.raises(ValueError, match="scores must have at least one entry"):
        rp.evaluation_report(y, {}, path=tmp_path / "e.html")


def test_subgroups_and_other_metrics_are_shown(tmp_path):
    y, scores = two_scores()
    site = np.where(np.arange(y.size) < 120, "north", "south")
    evaluation, page = page_of(tmp_path, y, scores, metric="average_precision", by=site)
    found = rp.interval(y, scores["c"], "average_precision", by=site)
    for part in found.subgroups.values():
        assert f"{part.low:.4f} to {part.high:.4f}" in page
    assert evaluation.subgroups["c"].equality_p_value == found.equality_p_value
    assert "average precision by subgroup" in page
    assert "Subgroups were compared" in evaluation.methods


def test_the_printed_evaluation_is_the_object_of_the_page(tmp_path):
    y, scores = two_scores()
    label = np.where(y == 1, "fraud", "other")
    evaluation, page = page_of(tmp_path, label, scores, positive="fraud", max_fpr=0.5)
    for text in ("'fraud' (positive)", "partial AUC (FPR up to 0.5)", "youden", "optimistic"):
        assert text in repr(evaluation)
    assert "of <b>fraud</b> against other" in page
    assert json.loads(json.dumps(evaluation.to_dict(), default=str))["positive"] == "fraud"


def test_scripts_and_styles_are_embedded(tmp_path):
    page = page_of(tmp_path, *two_scores())[1]
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
return { ...Object.fromEntries([...shown("cell"), ...shown("rate"), ...shown("share")]),
  dot: [dot.x[0], dot.y[0]] };
"""


def test_the_slider_shows_the_rows_predicted_positive(browser, tmp_path):
    y, scores = two_scores()
    page = page_of(tmp_path, y, scores)[1]
    browser.get((tmp_path / "e.html").as_uri())
    wait_until(browser, "return document.querySelector('.roc-comparison').dataset.ready")
    models = charts_of(page)["models"]
    for number, score in enumerate(scores.values()):
        find(browser, f".model option[value='{number}']").click()
        has_calibration = bool(models[number]["calibration"])
        assert find(browser, ".calibrated").is_displayed() == has_calibration
        shown = browser.find_elements("css selector", "[data-model]")
        assert {one.get_attribute("data-model") for one in shown if one.is_displayed()} == {
            str(number)
        }
        for place in (0, 7, len(models[number]["threshold"]) - 1):
            browser.execute_script(MOVE, place)
            is_predicted = score >= models[number]["threshold"][place]
            tp, fp = is_predicted[y == 1].sum(), is_predicted[y == 0].sum()
            shown = browser.execute_script(SHOWN)
            assert (shown["tp"], shown["fp"]) == (str(tp), str(fp))
            assert (shown["fn"], shown["tn"]) == (str(100 - tp), str(100 - fp))
            assert (shown["tpr"], shown["fpr"]) == (f"{tp:.1f}%", f"{fp:.1f}%")
            assert shown["sensitivity"].startswith(f"{tp:.1f}% (")
            precision = f"{100 * tp / (tp + fp):.1f}%" if tp + fp else "\N{EN DASH}"
            assert shown["precision"] == precision
            assert shown["dot"] == pytest.approx([fp / 100, tp / 100])
    charts = ".precision-recall", ".gains", ".decision", ".calibration"
    for chart in charts:
        assert find(browser, f"{chart} .main-svg").is_displayed()
    assert browser.get_log("browser") == []


def test_the_page_fits_a_phone(browser, tmp_path):
    y, scores = two_scores()
    page_of(tmp_path, y, {"c": scores["c"]}, by=np.arange(y.size) % 3)
    metrics = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        browser.get((tmp_path / "e.html").as_uri())
        wait_until(browser, "return document.querySelector('.roc-comparison').dataset.ready")
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
        widths = "return [...document.querySelectorAll('.main-svg')].map((one) => one.clientWidth)"
        assert max(browser.execute_script(widths)) <= 390
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

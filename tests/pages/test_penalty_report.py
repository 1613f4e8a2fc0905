"""Report of learned penalties: its numbers, and the page in a real browser."""

import json
import re

import numpy as np
import pytest

import rocpath as rp
from rocpath import changepoint as cp
from rocpath.changepoint.labels import label_outcomes
from rocpath.model_selection.comparison import ModelComparison, ModelScore
from rocpath.pages.penalty_report import (
    PenaltyReport,
    RegularizationPath,
    ReportedSequence,
    penalty_report_html,
)
from tests.pages.browsing import find, wait_until

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>"
X = np.array([1.0, 1, 5, 5, 5, 2])
# The first region contains the change at 2; the third should contain a change.
LABELS = cp.Labels([0, 2, 4], [2, 4, 5], ["one_change", "no_change", "one_change"])
# Label errors with more than two, two, one and no changes.
ERRORS = cp.PenaltyErrors([0, 1, 6.75, 14], fp=[1, 0, 0, 0], fn=[0, 0, 1, 2])
DAY = 86_400e6


def reported(name="a", n_changes=1, **changes):
    models = cp.segment(X, 2)
    arguments = {
        "name": name,
        "group": None,
        "position": np.arange(6.0),
        "value": X,
        "labels": LABELS,
        "changes": models.changes[n_changes],
        "mean": models.mean[n_changes],
        "errors": ERRORS,
        "log_penalty": 2.3,
        "final_log_penalty": 2.0,
    }
    arguments |= changes
    errors = arguments["errors"]
    arguments.setdefault("gain", np.ones(len(arguments["changes"])))
    outcomes = label_outcomes(arguments["changes"], arguments["labels"], arguments["position"])
    return ReportedSequence(outcomes=outcomes, target=cp.target_interval(errors), **arguments)


def page(sequences, **changes):
    functions = [one.errors for one in sequences]
    bp = cp.error_breakpoints(functions)
    predicted = np.array([-one.log_penalty for one in sequences])
    comparison = ModelComparison(
        metric="label errors",
        greater_is_better=False,
        scores=(
            ModelScore("PenaltyRegressor", 3, 1, 1, 5),
            ModelScore("constant penalty", 5, 1, 3, 7, 2, 0.5),
        ),
        selected="PenaltyRegressor",
        n_folds=5,
        sample_size="3 sequences",
        decimals=0,
    )
    arguments = {
        "title": HOSTILE,
        "headline": HOSTILE,
        "comparison": comparison,
        "roc": {"PenaltyRegressor": rp.roc_curve(bp, predicted)},
        "sequences": sequences,
        "coefficients": [("small", 0.1), (HOSTILE, -3.0)],
        "intercept": 1.5,
        "path": RegularizationPath(np.array([1.0, 0.1]), np.array([3.0, 2.0]), np.ones(2), 0.1, 2),
        "settings": {"cost": "normal"},
        "notes": [HOSTILE],
    }
    return penalty_report_html(PenaltyReport(**{**arguments, **changes}))


def embedded(html):
    (text,) = re.findall(r'<script type="application/json">(.*?)</script>', html)
    return json.loads(text)


def test_each_label_has_its_own_outcome():
    assert label_outcomes([2], LABELS, np.arange(6.0)) == ["", "", "FN"]
    assert label_outcomes([1, 2, 3], LABELS, np.arange(6.0)) == ["FP", "FP", "FN"]


def test_the_page_contains_the_segmentation_and_the_error_function():
    (one,) = embedded(page([reported(group="g")]))["sequences"]
    # One change at 2: the means are 1 and 17 / 4, and the last segment ends at 6.
    assert one["edge"] == [0, 2, 6]
    assert one["mean"] == [1, 4.25]
    assert one["labels"][2] == [4, 5, "one_change", "FN"]
    assert (one["n_errors"], one["group"], one["n"]) == (1, "g", 6)
    assert one["penalty_edge"][1:-1] == np.log([1, 6.75, 14]).tolist()
    assert (one["fp"], one["fn"]) == ([1, 0, 0, 0], [0, 0, 1, 2])
    assert one["target"] == np.log([1, 6.75]).tolist()


def test_times_are_converted_to_milliseconds():
    labels = cp.Labels(LABELS.start * DAY, LABELS.end * DAY, LABELS.kind)
    one = reported(position=np.arange(6) * DAY, labels=labels)
    (one,) = embedded(page([one], is_time=True))["sequences"]
    assert one["position"][1] == 86_400_000
    assert one["labels"][0][:2] == [0, 2 * 86_400_000]


def test_long_sequences_are_downsampled_and_keep_their_extremes():
    rng = np.random.default_rng(0)
    value = rng.normal(size=50_000)
    value[12_345], value[23_456] = 99, -99
    none = np.empty(0, dtype=np.int64)
    one = reported(value=value, position=np.arange(50_000.0), changes=none, mean=np.zeros(1))
    (one,) = embedded(page([one]))["sequences"]
    assert len(one["value"]) <= 2002
    assert (max(one["value"]), min(one["value"]), one["n"]) == (99, -99, 50_000)


def test_the_marker_on_a_curve_is_at_the_predictions():
    # exp(2.3) is between 6.75 and 14: no false positives, one of two false negatives.
    (curve,) = embedded(page([reported()]))["roc"]
    assert curve["predicted"] == [0, 0.5]
    assert curve["auc"] == 1


def test_a_constant_model_has_no_coefficients():
    html = page([reported()], coefficients=[])
    assert "No feature was selected: the log penalty is 1.500" in html


@pytest.fixture
def show(browser, tmp_path):
    """Open a page from disk, wait for its panels, and check the console at the end."""

    def opened(html, width=1300):
        file = tmp_path / "page.html"
        file.write_text(html, encoding="utf-8")
        screen = {"height": 900, "deviceScaleFactor": 1, "mobile": False}
        size = {**screen, "width": width}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        folder = {"behavior": "allow", "downloadPath": str(tmp_path)}
        browser.execute_cdp_cmd("Browser.setDownloadBehavior", folder)
        browser.get(file.as_uri())
        wait_for_charts(browser)
        return browser

    yield opened
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert browser.get_log("browser") == []


def wait_for_charts(browser):
    charts = "[...document.querySelectorAll('.chart')]"
    wait_until(browser, f"return {charts}.every((one) => one.dataset.ready)")


def names(browser):
    return [one.text for one in browser.find_elements("css selector", ".list h3")]


def many(n=20):
    return [reported(f"s{k}", n_changes=2 if k % 4 else 1) for k in range(n)]


@pytest.mark.parametrize("width", [1300, 420])
def test_text_is_shown_and_nothing_is_wider_than_the_page(show, width):
    browser = show(page([reported(HOSTILE)]), width)
    assert find(browser, "h1").text == HOSTILE
    assert find(browser, ".headline").text == HOSTILE
    assert names(browser) == [HOSTILE]
    assert HOSTILE in find(browser, ".warning").text
    wide = "document.documentElement"
    assert browser.execute_script(f"return {wide}.scrollWidth <= {wide}.clientWidth")
    requested = browser.execute_script(
        "return performance.getEntriesByType('resource').map((one) => one.name)"
    )
    assert [name for name in requested if not name.startswith(("data:", "blob:"))] == []


def test_wrong_labels_are_marked(show):
    browser = show(page([reported()]))
    marks = browser.find_elements("css selector", ".sequence .annotation-text")
    assert marks[0].text == "FN"
    assert find(browser, ".summary").text.startswith("1 of 3 labels wrong; 1 change;")


def test_lists_are_paged_sorted_and_searched(show):
    browser = show(page(many()))
    # Every fourth sequence has one change and one wrong label; the others have none.
    assert names(browser) == ["s0", "s4", "s8", "s12", "s16", "s1"]
    assert find(browser, ".place").text == "page 1 of 4"
    find(browser, ".after").click()
    assert names(browser)[0] == "s2"
    find(browser, ".which option[value=wrong]").click()
    assert names(browser) == ["s0", "s4", "s8", "s12", "s16"]
    assert not find(browser, ".after").is_enabled()
    find(browser, ".which option[value=all]").click()
    find(browser, ".order option[value=file]").click()
    assert names(browser)[:2] == ["s0", "s1"]
    find(browser, ".search").send_keys("19")
    assert names(browser) == ["s19"]
    find(browser, ".search").send_keys("x")
    assert find(browser, ".list").text == "No matching sequences."


@pytest.mark.parametrize("chart", ["errors", "roc", "coefficients", "path", None])
def test_every_panel_can_be_saved_as_png(show, tmp_path, chart):
    browser = show(page([reported("my sequence")]))
    selector = ".list .png" if chart is None else f".png[data-chart={chart}]"
    button = find(browser, selector)
    browser.execute_script("arguments[0].scrollIntoView()", button)
    button.click()
    file = tmp_path / f"{chart or 'my_sequence'}.png"
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(browser, 20).until(lambda _: file.exists())
    assert file.read_bytes().startswith(b"\x89PNG")

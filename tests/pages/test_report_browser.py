"""The explorer and the report in a real browser, opened from disk."""

import numpy as np
import pytest

import rocpath as rp
from rocpath.auc_statistics.score_summary import summarize_scores
from rocpath.auc_statistics.threshold_targets import ThresholdTargets
from rocpath.pages.explorer import explorer_html
from rocpath.pages.report import fit_report_html
from rocpath.pages.step_view import step_view
from tests.pages.browsing import find, wait_until

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>"
MOVE = """
const [tick, done] = arguments;
const page = document.querySelector(".explorer");
const slider = page.querySelector("input[type=range]");
slider.value = String(tick);
slider.dispatchEvent(new Event("input"));
requestAnimationFrame(() => requestAnimationFrame(
  () => done(Number(page.dataset.milliseconds))));
"""


@pytest.fixture
def show(browser, tmp_path):
    """Open a page from disk, wait for its panels, and check the console at the end."""

    def opened(html):
        file = tmp_path / "page.html"
        file.write_text(html, encoding="utf-8")
        browser.get(file.as_uri())
        ready = "return [...document.querySelectorAll('.explorer, .roc-comparison')]"
        wait_until(browser, f"{ready}.every((one) => one.dataset.ready)")
        return browser

    yield opened
    assert browser.get_log("browser") == []


def move(browser, tick):
    return browser.execute_async_script(MOVE, tick)


def drawn(browser):
    paths = browser.find_elements("css selector", ".explorer .overlay path")
    return {path.get_attribute("class"): path.get_attribute("d") for path in paths}


def shown(browser):
    return {
        name: float(find(browser, f"[data-value={name}]").get_attribute("data-number"))
        for name in ("step", "aum", "auc")
    }


def press(browser, name):
    browser.find_element("xpath", f"//button[.='{name}']").click()
    pressed = "const one = [...document.querySelectorAll('button')]"
    wait_until(
        browser,
        f"{pressed}.find((one) => one.textContent === {name!r}); "
        "return one.getAttribute('aria-pressed') === 'true' && "
        "document.querySelector('.explorer').dataset.shown === "
        "String(Number(one.dataset.step))",
    )


def binary_lines(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    bp = rp.ErrorBreakpoints.from_labels(
        X @ rng.normal(size=5) + rng.normal(size=n) > 1
    )
    prediction = X @ rng.normal(size=5)
    direction = -X @ (X.T @ rp.aum_gradient(bp, prediction))
    return rp.Lines.from_predictions(bp, prediction, direction)


def changepoint_lines():
    """Errors that are not monotone, in counts."""
    errors = [
        rp.changepoint.PenaltyErrors([0, 1, 2, 4], fp=[2, 0, 1, 0], fn=[0, 1, 0, 1]),
        rp.changepoint.PenaltyErrors([0, 2, 3, 5], fp=[1, 0, 1, 0], fn=[0, 0, 0, 2]),
    ]
    bp = rp.changepoint.error_breakpoints(errors)
    return rp.Lines.from_predictions(bp, [0.0, -1.0], [-1.0, 0.5])


@pytest.mark.parametrize(
    "lines", [binary_lines(30), binary_lines(400), changepoint_lines()]
)
def test_panels_follow_the_slider_and_numbers_are_those_of_python(show, lines):
    browser = show(explorer_html(lines))
    path = rp.sweep(lines)
    end = step_view(lines).max_step
    before = drawn(browser)
    for tick in (137, 500, 891):
        move(browser, tick)
        after = drawn(browser)
        assert after["cursor"] != before["cursor"]
        assert after["fp"] != before["fp"]
        at = shown(browser)
        assert at["step"] == pytest.approx(tick / 1000 * end)
        assert at["aum"] == pytest.approx(path.aum_at(at["step"]), abs=1e-9)
        assert at["auc"] == pytest.approx(path.auc_at(at["step"]), abs=1e-9)
        before = after
    assert all(before.values())
    assert "NaN" not in "".join(before.values())


@pytest.mark.parametrize("lines", [binary_lines(100), changepoint_lines()])
def test_every_button_goes_to_its_step_and_shows_exact_areas(show, lines):
    browser = show(explorer_html(lines))
    for one in step_view(lines).variants:
        press(browser, one.name[0].upper() + one.name[1:])
        assert shown(browser) == {"step": one.step, "aum": one.aum, "auc": one.auc}
        text = find(browser, "[data-value=auc]").text
        assert float(text) == pytest.approx(one.auc, rel=1e-5)
    press(browser, "Start")
    assert shown(browser)["step"] == 0


def test_tied_lines_show_the_tied_auc(show):
    bp = rp.ErrorBreakpoints.from_labels([0, 0, 1, 1])
    lines = rp.Lines.from_predictions(bp, [-7, -2, 0, -4], [0, -0.5, 0, 0.5])
    browser = show(explorer_html(lines, max_step=4.0))
    # At step 2 a positive and a negative meet: their pair counts one half.
    move(browser, 500)
    assert shown(browser) == {"step": 2, "aum": 0, "auc": 0.875}


def test_keyboard_and_typed_numbers_move_the_step(show):
    from selenium.webdriver.common.keys import Keys

    lines = binary_lines(30)
    browser = show(explorer_html(lines))
    end = step_view(lines).max_step
    page = "document.querySelector('.explorer').dataset.shown"
    find(browser, "input[type=range]").send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    wait_until(browser, f"return Math.abs({page} - {0.002 * end}) < 1e-9")
    number = find(browser, "input[type=number]")
    number.clear()
    number.send_keys("0.25")
    wait_until(browser, f"return {page} === '0.25'")
    number.clear()
    number.send_keys("1e300", Keys.TAB)
    wait_until(browser, f"return Number({page}) === {end!r}")
    # The field shows what was typed as what it was taken for.
    assert float(number.get_attribute("value")) == pytest.approx(end)


def test_more_lines_than_fit_are_sampled_and_the_page_says_so(show):
    lines = binary_lines(3000)
    browser = show(explorer_html(lines, max_lines=200))
    assert "of the 3,000 lines" in find(browser, ".warning").text
    move(browser, 400)
    at = shown(browser)
    path = rp.aum_path(lines)
    assert at["aum"] == pytest.approx(path.aum_at(at["step"]), rel=1e-3)
    assert find(browser, "[data-value=aum]").text.startswith("≈")
    best = step_view(lines).variants[3]
    press(browser, "Best AUC")
    assert shown(browser)["auc"] == best.auc


def test_two_thousand_lines_move_within_a_frame_or_few(show):
    browser = show(explorer_html(binary_lines(2000)))
    times = [move(browser, tick) for tick in range(0, 1000, 40)]
    # Some milliseconds on an idle machine; the limit is for a busy one.
    assert np.median(times) < 100


def test_text_is_shown_and_never_run(show):
    browser = show(explorer_html(binary_lines(30), title=HOSTILE))
    assert find(browser, "h1").text == HOSTILE
    assert browser.title == HOSTILE


def make_report(**changes):
    history = rp.AUCClassifier(random_state=0)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = X[:, 0] + rng.normal(size=80) > 0
    arguments = {
        "title": HOSTILE,
        "metrics": {
            HOSTILE: {"AUC": 0.9, "± standard error": 0.01},
            "other": {"AUC": 0.8, "seconds": 12345.0},
        },
        "roc": {
            HOSTILE: ([0.0, 0.2, 1.0], [0.0, 0.9, 1.0]),
            "other": (np.linspace(0, 1, 5000), np.linspace(0, 1, 5000) ** 0.5),
        },
        "coefficients": [("small", 0.1), (HOSTILE, -3.0)]
        + [(f"column {k} " + "x" * 300, 1.0 + k) for k in range(500)],
        "history": [(HOSTILE, history.fit(X, y).history_[0])],
        "lines": binary_lines(50),
    }
    return fit_report_html(**{**arguments, **changes})


def test_report_shows_text_tables_and_curves(show):
    browser = show(make_report())
    assert find(browser, "h1").text == HOSTILE
    scores = find(browser, "[aria-label='Scores of each method']").text.splitlines()
    assert scores[0] == "Method AUC ± standard error seconds"
    assert scores[1] == f"{HOSTILE} 0.9000 0.0100 –"  # noqa: RUF001
    assert find(browser, "td.best").text == "0.9000"
    names = browser.find_elements("css selector", ".roc-comparison .legendtext")
    assert [name.text for name in names] == [HOSTILE[:39] + "…", "other"]
    weights = browser.execute_script(
        "return [...document.querySelectorAll('[aria-label=Coefficients] tbody tr')]"
        ".map((row) => [row.cells[0].textContent, row.cells[1].textContent])"
    )
    assert len(weights) == 502
    assert weights[0][0].startswith("column 499 ")
    assert weights[-1] == ["small", "0.1000"]
    assert [HOSTILE, "-3.0000"] in weights
    table = find(browser, ".scroll[aria-label=Coefficients]")
    assert table.size["height"] <= 470
    assert find(browser, "[aria-label=History] h3").text == HOSTILE
    assert "taken" in find(browser, ".scroll[aria-label=Stages]").text
    width = "document.documentElement"
    assert browser.execute_script(f"return {width}.scrollWidth <= {width}.clientWidth")
    before = drawn(browser)
    move(browser, 500)
    assert drawn(browser)["curve"] != before["curve"]


def judged_report():
    rng = np.random.default_rng(0)
    is_positive = np.arange(400) % 8 == 0
    score = rng.normal(size=400) + is_positive - 1.0
    view = summarize_scores(is_positive, score, ThresholdTargets(max_fpr=0.1, top=20))
    page = make_report(
        view=view, classes=("no", HOSTILE), headline=HOSTILE, facts={HOSTILE: HOSTILE}
    )
    return page, is_positive, score, view


def cells(browser, unit):
    found = browser.find_elements("css selector", f"[data-unit={unit}] [data-cell]")
    return {
        one.get_attribute("data-cell"): float(one.text.replace(",", ""))
        for one in found
    }


def test_the_threshold_moves_and_counts_the_rows(show):
    from selenium.webdriver.common.keys import Keys

    page, is_positive, score, view = judged_report()
    browser = show(page)
    # The first rule is shown: at most 10% of 350 negatives.
    assert cells(browser, "count")["fp"] == 35
    typed = find(browser, "input.probability")
    for text, threshold in (("0.4", np.log(0.4 / 0.6)), ("7", np.inf), ("-1", -np.inf)):
        typed.clear()
        typed.send_keys(text, Keys.TAB)
        at = cells(browser, "count")
        # The slider stops at some of the thresholds only, above the one typed.
        places = view.grid.threshold
        kept = places[places >= min(threshold, places[0])]
        called = score >= (kept[-1] if threshold > -np.inf else -np.inf)
        assert at["tp"] == (called & is_positive).sum()
        assert at["fn"] == (~called & is_positive).sum()
        assert at["tn"] == (~called & ~is_positive).sum()
        thousand = cells(browser, "thousand")
        assert thousand["tp"] == pytest.approx(at["tp"] * 2.5, abs=0.051)
    assert typed.get_attribute("value") == "0"
    top = next(one for one in view.points if one.rule == "the 20 rows ranked highest")
    browser.find_element("xpath", f"//button[.='{top.rule}']").click()
    assert cells(browser, "count")["tp"] == top.tp
    assert find(browser, "[data-rate=tpr]").text == f"{100 * top.point.tpr:.1f}%"


def test_controls_stay_in_view_on_a_phone(show):
    browser = show(judged_report()[0])
    size = {"width": 420, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        for section in (".decide", ".explorer"):
            below = f"document.querySelector('{section} .chart:last-of-type')"
            browser.execute_script(f"{below}.scrollIntoView({{block: 'end'}})")
            top = browser.execute_script(
                f"return document.querySelector('{section} .controls')"
                ".getBoundingClientRect().top"
            )
            assert 0 <= top < 800
        page = "document.documentElement"
        width = f"return {page}.scrollWidth <= {page}.clientWidth"
        # Charts are drawn anew for the narrow page a moment later.
        wait_until(browser, width)
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_rare_class_is_drawn_on_top(show):
    bp = rp.ErrorBreakpoints.from_labels(np.arange(60) % 10 == 0)
    rng = np.random.default_rng(0)
    lines = rp.Lines.from_predictions(bp, rng.normal(size=60), rng.normal(size=60))
    browser = show(explorer_html(lines))
    colors = browser.execute_script(
        "return document.querySelector('.explorer .steps').data"
        ".filter((one) => one.line && one.line.width === 1)"
        ".map((one) => one.line.color)"
    )
    # Six positives, whose lines change FN, after 54 negatives.
    assert colors == ["#D55E00", "#D55E00", "#D55E00", "#0072B2"]


def test_report_needs_neither_curves_nor_history_nor_lines(show):
    browser = show(
        make_report(metrics={}, roc={}, coefficients=[], history=[], lines=None)
    )
    assert find(browser, "main").text == HOSTILE


def test_pages_ask_for_nothing_from_outside(show):
    browser = show(make_report())
    asked = browser.execute_script(
        "return performance.getEntriesByType('resource').map((one) => one.name)"
    )
    assert [name for name in asked if not name.startswith(("data:", "blob:"))] == []

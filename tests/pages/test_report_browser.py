"""The explorer and the report in a real browser, opened from disk."""

import numpy as np
import pytest
from scipy.stats import binom

import rocpath as rp
from rocpath.evaluation.threshold_targets import NO_TARGETS, ThresholdTargets
from rocpath.pages.explorer import explorer_html
from rocpath.pages.report import fit_report_html
from rocpath.search.step_view import step_view
from tests.pages.browsing import find, wait_until
from tests.pages.report_fits import HOSTILE, simulated_fit, simulated_scores

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
    bp = rp.ErrorBreakpoints.from_labels(X @ rng.normal(size=5) + rng.normal(size=n) > 1)
    prediction = X @ rng.normal(size=5)
    direction = -X @ (X.T @ rp.aum_gradient(bp, prediction))
    return rp.Lines.from_predictions(bp, prediction, direction)


def changepoint_lines():
    """Return the lines of two sequences with errors that are not monotone."""
    errors = [
        rp.changepoint.PenaltyErrors([0, 1, 2, 4], fp=[2, 0, 1, 0], fn=[0, 1, 0, 1]),
        rp.changepoint.PenaltyErrors([0, 2, 3, 5], fp=[1, 0, 1, 0], fn=[0, 0, 0, 2]),
    ]
    bp = rp.changepoint.error_breakpoints(errors)
    return rp.Lines.from_predictions(bp, [0.0, -1.0], [-1.0, 0.5])


@pytest.mark.parametrize("lines", [binary_lines(30), binary_lines(400), changepoint_lines()])
def test_panels_follow_the_slider_and_numbers_equal_those_of_python(show, lines):
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
    # At step 2, a positive and a negative are tied: their pair counts one half.
    move(browser, 500)
    assert shown(browser) == {"step": 2, "aum": 0, "auc": 0.875}


def test_keys_and_typed_numbers_change_the_step(show):
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
    # The field shows the step that is used instead of the typed one.
    assert float(number.get_attribute("value")) == pytest.approx(end)


def test_many_lines_are_sampled_and_the_page_notes_it(show):
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


def test_two_thousand_lines_are_redrawn_within_a_few_frames(show):
    browser = show(explorer_html(binary_lines(2000)))
    times = [move(browser, tick) for tick in range(0, 1000, 40)]
    # A few milliseconds suffice on an idle machine; the limit is for a busy one.
    assert np.median(times) < 100


def test_text_is_shown_and_never_executed(show):
    browser = show(explorer_html(binary_lines(30), title=HOSTILE))
    assert find(browser, "h1").text == HOSTILE
    assert browser.title == HOSTILE


def report(targets=NO_TARGETS, **changes):
    fit = simulated_fit(targets, **changes)
    return fit_report_html(fit, title=HOSTILE, headline=f"{HOSTILE} headline")


def test_report_shows_text_tables_and_curves(show):
    browser = show(report(has_history=True))
    assert find(browser, "h1").text == f"{HOSTILE} = {HOSTILE} in {HOSTILE}"
    assert find(browser, ".lede").text == f"{HOSTILE} headline"
    assert find(browser, ".warnings li").text == f"Column {HOSTILE}."
    scores = find(browser, "[aria-label='Comparison of models']").text.splitlines()
    assert scores[1] == "Model AUC 95% interval Difference from the saved model"
    assert scores[2].startswith(f"{HOSTILE} (saved) 0.8")
    assert scores[3].startswith("other 0.5")
    assert "significantly lower AUC" in find(browser, ".finding").text
    names = browser.find_elements("css selector", ".roc-comparison .legendtext")
    assert [name.text for name in names] == [HOSTILE[:39] + "…", "other"]
    weights = browser.execute_script(
        "return [...document.querySelectorAll('[aria-label=Coefficients] tbody tr')]"
        ".map((row) => [row.cells[0].textContent, row.cells[1].textContent])"
    )
    assert len(weights) == 52
    assert weights[0][0].startswith("column 49 ")
    assert weights[-1] == [HOSTILE, "-0.0500"]
    assert "selected" in find(browser, ".scroll[aria-label=Stages]").text
    width = "document.documentElement"
    assert browser.execute_script(f"return {width}.scrollWidth <= {width}.clientWidth")


def test_no_table_hides_rows_behind_a_scroll_bar(show):
    browser = show(report())
    hidden = browser.execute_script(
        "return [...document.querySelectorAll('.scroll')]"
        ".filter((one) => one.scrollHeight > one.clientHeight + 1).length"
    )
    assert hidden == 0
    assert find(browser, "[aria-label=Columns] summary").text == "5 more"


def cells(browser, unit):
    found = browser.find_elements("css selector", f"[data-unit={unit}] [data-cell]")
    return {one.get_attribute("data-cell"): float(one.text.replace(",", "")) for one in found}


def test_the_threshold_moves_and_counts_the_rows(show):
    from selenium.webdriver.common.keys import Keys

    targets = ThresholdTargets(max_fpr=0.1, top=20)
    is_positive, scores = simulated_scores()
    score, view = scores[HOSTILE], simulated_fit(targets).summary
    browser = show(report(targets))
    # The guaranteed threshold is shown first. With 350 negatives, a rate of at most 10% is
    # guaranteed with 95% confidence for up to 25 false positives: the largest k with
    # P(Binomial(350, 0.1) <= k) <= 0.05.
    largest = int(binom.ppf(0.05, 350, 0.1)) - 1
    assert cells(browser, "count")["fp"] == largest
    typed = find(browser, "input.probability")
    for text, threshold in (("0.4", np.log(0.4 / 0.6)), ("7", np.inf), ("-1", -np.inf)):
        typed.clear()
        typed.send_keys(text, Keys.TAB)
        at = cells(browser, "count")
        # The slider stops only at some thresholds, and not below the typed one.
        places = view.grid.threshold
        kept = places[places >= min(threshold, places[0])]
        is_predicted = score >= (kept[-1] if threshold > -np.inf else -np.inf)
        assert at["tp"] == (is_predicted & is_positive).sum()
        assert at["fn"] == (~is_predicted & is_positive).sum()
        assert at["tn"] == (~is_predicted & ~is_positive).sum()
        thousand = cells(browser, "thousand")
        assert thousand["tp"] == pytest.approx(at["tp"] * 2.5, abs=0.051)
    assert typed.get_attribute("value") == "0"
    top = next(one for one in view.points if one.rule == "the 20 rows ranked highest")
    browser.find_element("xpath", f"//button[.='{top.rule}']").click()
    assert cells(browser, "count")["tp"] == top.point.tp
    assert find(browser, "[data-rate=tpr]").text == f"{100 * top.point.tpr:.1f}%"


def test_a_report_without_targets_opens_at_the_top_tenth(show):
    browser = show(report())
    at = cells(browser, "count")
    assert at["tp"] + at["fp"] == 40


def test_tables_are_cards_on_a_phone(show):
    browser = show(report())
    size = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        tables = "[...document.querySelectorAll('.cards .scroll')]"
        # Models, thresholds, columns, and the columns that are collapsed.
        assert browser.execute_script(f"return {tables}.length") == 4
        wait_until(browser, f"return {tables}.every((one) => one.scrollWidth <= one.clientWidth)")
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("section", [".decide", ".explorer"])
def test_controls_stay_in_view_on_a_phone(show, section):
    is_report = section == ".decide"
    browser = show(report() if is_report else explorer_html(binary_lines(50)))
    size = {"width": 420, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        below = f"document.querySelector('{section} .chart:last-of-type')"
        browser.execute_script(f"{below}.scrollIntoView({{block: 'end'}})")
        top = browser.execute_script(
            f"return document.querySelector('{section} .controls').getBoundingClientRect().top"
        )
        assert 0 <= top < 800
        page = "document.documentElement"
        width = f"return {page}.scrollWidth <= {page}.clientWidth"
        # Charts are redrawn for the narrow page a moment later.
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
    # The lines of the 6 positives, which change FN, are drawn after those of 54 negatives.
    assert colors == ["#D55E00", "#D55E00", "#D55E00", "#0072B2"]


def test_a_report_without_held_out_rows_has_no_curves(show):
    nothing = dict.fromkeys(("comparison", "held_out", "summary"))
    browser = show(report(**nothing, coefficients=[], columns=[], warnings=[]))
    headings = browser.find_elements("css selector", "h2")
    assert [one.text for one in headings] == ["Columns", "Glossary"]


def test_pages_request_no_other_files(show):
    browser = show(report())
    requested = browser.execute_script(
        "return performance.getEntriesByType('resource').map((one) => one.name)"
    )
    assert [name for name in requested if not name.startswith(("data:", "blob:"))] == []

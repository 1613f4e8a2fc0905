"""The labeling page in a real browser, opened from disk."""

import json

import numpy as np
import pytest

from rocpath import changepoint as cp
from rocpath.cli import main
from tests.cli.command_tables import read, write
from tests.pages.browsing import find, wait_until
from tests.pages.labeling_steps import (
    STORED_LABELS,
    N,
    click,
    drag,
    hold,
    page,
    press,
    reload,
    save,
    sequences,
    settled,
    stored_labels,
    text,
)

HOSTILE = '<script>alert(1)</script><img src=x onerror=alert(2)>, "quoted"'
KINDS = (
    "no_change",
    "one_change",
    "at_least_one_change",
    "no_peaks",
    "peaks",
    "peak_start",
    "peak_end",
)


@pytest.fixture
def show(browser, tmp_path):
    """Open a page from disk with empty storage, and check the console at the end."""

    def opened(html, width=1300):
        file = tmp_path / "page.html"
        file.write_text(html, encoding="utf-8")
        screen = {"height": 900, "deviceScaleFactor": 1, "mobile": False}
        screen["width"] = width
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        folder = {"behavior": "allow", "downloadPath": str(tmp_path)}
        browser.execute_cdp_cmd("Browser.setDownloadBehavior", folder)
        # Storage is cleared on an empty page, since a page with labels would store them again.
        (tmp_path / "empty.html").write_text("<!doctype html>", encoding="utf-8")
        browser.get((tmp_path / "empty.html").as_uri())
        browser.execute_script("localStorage.clear()")
        browser.get(file.as_uri())
        reload(browser)
        return browser

    yield opened
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert browser.get_log("browser") == []


def test_a_drag_and_a_key_add_a_label_and_its_errors_are_shown(show):
    browser = show(page(penalties=[1e9] * 3))
    drag(browser, 20, 40, "o")
    assert stored_labels(browser) == [["a", "20", "40", "one_change"]]
    assert "1 label error: 1 false negative" in text(browser, "model")
    assert "1 as shown, 0 with the best" in text(browser, "totals")
    click(browser, "best")
    assert text(browser, "model").endswith("no label errors")
    assert text(browser, "model").startswith("2 changes")
    press(browser, "n")  # the button has the focus, not the view
    assert stored_labels(browser) == [["a", "20", "40", "one_change"]]


def test_the_kind_of_a_selected_label_changes_and_it_can_be_deleted(show):
    from selenium.webdriver.common.keys import Keys

    browser = show(page())
    drag(browser, 20, 40, "o")
    press(browser, "n")
    assert stored_labels(browser) == [["a", "20", "40", "no_change"]]
    press(browser, Keys.ESCAPE)
    press(browser, "a", Keys.DELETE)
    assert stored_labels(browser) == [["a", "20", "40", "no_change"]]
    drag(browser, 30, 30)
    press(browser, Keys.DELETE)
    assert stored_labels(browser) == []


def test_edges_move_up_to_the_next_label_and_edits_are_undone(show):
    from selenium.webdriver.common.keys import Keys

    browser = show(page())
    drag(browser, 20, 40, "o")
    drag(browser, 60, 80, "n")
    drag(browser, 30, 30)  # a click selects the label
    drag(browser, 40, 90)
    assert stored_labels(browser)[0] == ["a", "20", "60", "one_change"]
    drag(browser, 20, 55)
    assert stored_labels(browser)[0] == ["a", "55", "60", "one_change"]
    drag(browser, 55, 75)
    assert stored_labels(browser)[0] == ["a", "59", "60", "one_change"]
    for expected in (["55", "60"], ["20", "60"], ["20", "40"]):
        hold(browser, Keys.CONTROL, "z")
        assert stored_labels(browser)[0][1:3] == expected
    click(browser, "undo")
    click(browser, "undo")
    assert stored_labels(browser) == []
    assert not find(browser, "[data-do=undo]").is_enabled()
    for _ in range(5):
        click(browser, "redo")
    assert stored_labels(browser)[0] == ["a", "59", "60", "one_change"]


def test_a_drag_over_a_label_does_not_change_it(show):
    browser = show(page(labels=[("a", 20, 60, "no_change")]))
    drag(browser, 30, 50)
    assert text(browser, "hint").startswith("Regions must not overlap")
    press(browser, "o")
    # Beside an edge that is not selected, a drag marks a new region.
    drag(browser, 61, 80, "o")
    assert stored_labels(browser) == [
        ["a", "20", "60", "no_change"],
        ["a", "61", "80", "one_change"],
    ]


def test_a_region_ends_where_other_labels_begin(show):
    browser = show(page(labels=[("a", 50, 60, "no_change")]))
    drag(browser, 30, 80, "o")
    drag(browser, 90, 20, "a")
    assert stored_labels(browser) == [
        ["a", "30", "50", "one_change"],
        ["a", "50", "60", "no_change"],
        ["a", "60", "90", "at_least_one_change"],
    ]


def test_everything_can_be_done_by_keyboard(show, tmp_path):
    from selenium.webdriver.common.keys import Keys

    browser = show(page())
    for _ in range(40):
        press(browser, Keys.TAB)
        if browser.switch_to.active_element.get_attribute("class") == "large":
            break
    press(browser, Keys.HOME, *[Keys.ARROW_RIGHT] * 20)
    hold(browser, Keys.SHIFT, *[Keys.ARROW_RIGHT] * 21)
    assert "Region 20 to 41" in text(browser, "hint")
    press(browser, "o")
    hold(browser, Keys.SHIFT, Keys.ARROW_LEFT)
    press(browser, Keys.ENTER)
    hold(browser, Keys.SHIFT, *[Keys.ARROW_RIGHT] * 3)
    assert stored_labels(browser) == [["a", "23", "40", "one_change"]]
    press(browser, Keys.END, *[Keys.ARROW_LEFT] * 5)
    hold(browser, Keys.SHIFT, *[Keys.ARROW_LEFT] * 5)
    press(browser, "n")
    press(browser, ",", "a", ".", Keys.DELETE)
    assert stored_labels(browser) == [["a", "23", "40", "at_least_one_change"]]
    hold(browser, Keys.CONTROL, "z")
    before = find(browser, "input[type=range]").get_attribute("value")
    press(browser, Keys.ARROW_UP)
    assert find(browser, "input[type=range]").get_attribute("value") != before
    press(browser, "+", "]", "-", "f", Keys.PAGE_DOWN)
    assert text(browser, "name") == "b"
    press(browser, "g")
    assert text(browser, "name") == "c"
    hold(browser, Keys.CONTROL, "s")
    expected = "sequence,start,end,kind\na,23,40,at_least_one_change\n"
    assert read(save(browser, tmp_path)) == expected + "a,89,94,no_change\n"


def test_labels_are_saved_restored_imported_and_used_in_a_fit(show, tmp_path):
    names = [HOSTILE, *"bcdef"]
    browser = show(page(names))
    for k in range(6):
        browser.find_elements("css selector", ".thumb")[k].click()
        settled(browser)
        drag(browser, 3, 20, "n")
        drag(browser, 22, 40, "o")
    labels = stored_labels(browser)
    assert len(labels) == 12
    assert labels[0] == [HOSTILE, "3", "20", "no_change"]
    saved = save(browser, tmp_path)
    reload(browser)
    assert "Restored 12 labels" in text(browser, "hint")
    browser.execute_script("localStorage.clear()")
    reload(browser)
    assert "No labels yet" in text(browser, "totals")
    find(browser, "input[type=file]").send_keys(saved)
    wait_until(browser, STORED_LABELS + ".length === 12")
    assert stored_labels(browser) == labels
    rows = ["sequence,value"]
    for name, value in zip(names, sequences(6), strict=True):
        coded = '"' + name.replace('"', '""') + '"'
        rows += [f"{coded},{one}" for one in value]
    table = write(tmp_path / "sequences.csv", "\n".join(rows))
    out = tmp_path / "model"
    argv = ["changepoint", "fit", table, saved, "--max-changes", "5", "--quiet"]
    assert main([*argv, "--out", str(out)]) == 0
    found = json.loads(read(out / "metrics.json"))
    assert (found["n_sequences"], found["n_labels"]) == (6, 12)


def test_invalid_rows_are_named_and_the_others_imported(show, tmp_path):
    browser = show(page())
    rows = "kind,end,sequence,start,x\r\nnormal,20,a,10,\r\n1change,30,nobody,20,\r\n"
    rows += "change,30,a,20,\r\nnormal,15,a,12,\r\nnormal,5,b,5,\r\n"
    file = write(tmp_path / "old.csv", "\ufeff" + rows)
    find(browser, "input[type=file]").send_keys(file)
    wait_until(browser, STORED_LABELS + ".length === 1")
    settled(browser)
    assert stored_labels(browser) == [["a", "10", "20", "no_change"]]
    assert "row 2: no sequence nobody on this page" in text(browser, "hint")
    assert "skipped 4 rows" in text(browser, "hint")
    click(browser, "undo")
    assert stored_labels(browser) == []
    find(browser, "input[type=file]").send_keys(write(tmp_path / "no.csv", "a,b\n1,2"))
    wait_until(browser, "return document.querySelector('.problem') !== null")
    assert "columns sequence, start, end and kind" in text(browser, "hint")


def random_labels(rng, n):
    """Draw regions of all kinds, some of which touch."""
    edge = np.sort(rng.choice(n, size=10, replace=False))
    keep = rng.random(9) < 0.7
    keep[0] = True
    start, end = edge[:-1][keep], edge[1:][keep]
    return start, end, rng.choice(KINDS, size=start.size)


def test_errors_in_the_page_equal_those_of_python(show):
    browser = show(page())
    rng = np.random.default_rng(1)
    position = np.cumsum(rng.integers(1, 4, size=40)).astype(float)
    cases, expected = [], []
    for _ in range(400):
        start, end, kind = random_labels(rng, int(position[-1]) + 1)
        if start[0] >= position[-1] or end[0] <= position[0]:
            continue
        labels = cp.Labels(start, end, tuple(kind))
        is_inside = (labels.end > position[0]) & (labels.start < position[-1])
        labels = cp.Labels(labels.start[is_inside], labels.end[is_inside], tuple(kind[is_inside]))
        changes = np.sort(rng.choice(np.arange(1, 40), rng.integers(0, 12), False))
        found = cp.label_errors([changes], labels, position=position)
        expected.append([int(found.fp[0]), int(found.fn[0])])
        rows = zip(labels.start, labels.end, labels.kind, strict=True)
        cases.append([position[changes].tolist(), [[float(s), float(e), k] for s, e, k in rows]])
    script = """return arguments[0].map(([places, labels]) => {
      const { fp, fn } = rocpathLabeling.errors(places, labels.map(
        ([start, end, kind]) => ({ start, end, kind })));
      return [fp, fn]; })"""
    assert browser.execute_script(script, cases) == expected
    assert {kind for _, labels in cases for *_, kind in labels} == set(KINDS)
    assert np.min(np.max(expected, axis=0)) > 1


def test_times_keep_their_format(show):
    time = [f"2024-05-01 {10 + k // 60}:{k % 60:02d}" for k in range(N)]
    labels = [("a", "2024-05-01 10:10", "2024-05-01 10:20:30", "no_change")]
    browser = show(page("a", positions=[time], labels=labels))
    drag(browser, 25, 40, "o")
    assert stored_labels(browser) == [
        ["a", "2024-05-01 10:10", "2024-05-01 10:20:30", "no_change"],
        ["a", "2024-05-01 10:25", "2024-05-01 10:40", "one_change"],
    ]


def test_the_next_sequence_to_label_is_that_whose_models_differ_most(show):
    # Sequence a has a step that all but the largest penalties detect. Sequence b has steps
    # of many sizes, of which each penalty detects others. Sequence c has no step.
    noise = 0.01 * np.random.default_rng(0).normal(size=N)
    a = np.repeat([0.0, 100], 50) + noise
    b = np.repeat([0.0, 1, 4, 13, 40, 121, 364, 1093, 3280, 9841], 10) + noise
    values = [a, b, np.zeros(N)]
    browser = show(page(values=values, max_changes=9))
    assert text(browser, "next") == "b"
    click(browser, "next")
    assert text(browser, "name") == "b"
    assert text(browser, "next") == "a"
    drag(browser, 1, 98, "n")
    find(browser, ".thumb").click()
    settled(browser)
    # According to the label, there are no changes, so the candidates agree.
    assert text(browser, "next") == "none"
    assert not find(browser, "[data-do=next]").is_enabled()


def test_a_million_values_are_zoomed_panned_and_labeled(show):
    from selenium.webdriver import ActionChains

    n = 10**6
    rng = np.random.default_rng(0)
    value = np.repeat([0.0, 3.0], n // 2) + rng.normal(size=n)
    browser = show(page("a", values=[value], max_changes=1))
    drag(browser, 0.4 * n, 0.6 * n, "o", n)
    assert "no label errors" in text(browser, "model")
    canvas = find(browser, ".large canvas")
    wheel = "arguments[0].dispatchEvent(new WheelEvent('wheel', {deltaY: -400, "
    wheel += "offsetX: 500, clientX: 700, clientY: 400, cancelable: true}))"
    for _ in range(30):
        browser.execute_script(wheel, canvas)
        settled(browser)
    whole = find(browser, "canvas.overview")
    ActionChains(browser).drag_and_drop_by_offset(whole, 200, 0).perform()
    press(browser, "f")
    assert stored_labels(browser)[0][0] == "a"
    took = float(find(browser, ".labeling").get_attribute("data-milliseconds"))
    assert took < 200  # a few milliseconds on an idle machine


def test_downsampled_signals_show_every_extreme(show):
    n = 10**5
    value = np.zeros(n)
    value[31_415], value[70_000] = 5.0, -5.0
    browser = show(page("a", values=[value], max_changes=1, penalties=[np.inf]))
    # Some pixels of the signal near the top and near the bottom of the canvas.
    script = """
      const canvas = document.querySelector(".large canvas");
      const pen = canvas.getContext("2d"), signal = [122, 133, 144];
      const { width, height } = canvas;
      const { data } = pen.getImageData(0, 0, width, height);
      const has = (y) => {
        for (let k = 4 * (y * width + 62); k < 4 * (y * width + width - 20); k += 4)
          if (signal.every((one, i) => Math.abs(data[k + i] - one) < 60)) return true;
        return false;
      };
      return [has(60), has(height - 70)];"""
    assert browser.execute_script(script) == [True, True]


def test_text_is_shown_and_never_executed(show):
    names = [HOSTILE, "b", "c"]
    positions = [[f"<b>{k}" for k in range(N)], np.arange(N), np.arange(N)]
    browser = show(page(names, title=HOSTILE, positions=positions))
    assert find(browser, "h1").text == HOSTILE
    assert text(browser, "name") == HOSTILE
    drag(browser, 20, 40, "n")
    assert "<b>20 to <b>40" in text(browser, "hint")
    assert "<b>20" in find(browser, ".own-labels").text
    assert browser.find_elements("css selector", ".labeling img, .labeling b b") == []


def test_peaks_can_be_labeled_if_means_alternate(show):
    with pytest.warns(UserWarning, match="at most 2 changes, but the penalties of the following"):
        browser = show(page(constraint="up_down", max_changes=2, penalties=[0] * 3))
    drag(browser, 20, 40, "s")
    drag(browser, 60, 80, "e")
    drag(browser, 45, 55, "p")
    drag(browser, 85, 95, "b")
    kinds = ["peak_start", "peaks", "peak_end", "no_peaks"]
    assert [row[3] for row in stored_labels(browser)] == kinds
    assert "no label errors" in text(browser, "model")
    browser = show(page())
    drag(browser, 20, 40, "s")
    assert stored_labels(browser) == []


@pytest.mark.parametrize("width", [1300, 420])
def test_the_page_fits_its_window_and_every_control_has_a_name(show, width):
    browser = show(page([HOSTILE * 3, "b", "c"]), width=width)
    drag(browser, 20, 40, "n")
    assert len(stored_labels(browser)) == 1
    place = "document.documentElement"
    assert browser.execute_script(f"return {place}.scrollWidth <= {place}.clientWidth")
    unnamed = browser.execute_script(
        "return [...document.querySelectorAll('button, input, [role=application]')]"
        ".filter((one) => !(one.textContent.trim() || one.ariaLabel || "
        "one.labels && one.labels.length)).length"
    )
    assert unnamed == 0
    requested = browser.execute_script(
        "return performance.getEntriesByType('resource').map((one) => one.name)"
    )
    assert [name for name in requested if not name.startswith(("data:", "blob:"))] == []

"""Contrast, names of controls, tap targets and headings of all pages, in a browser."""

from pathlib import Path

import numpy as np
import pytest

import rocpath as rp
from rocpath import changepoint as cp
from tests.pages.browsing import wait_until

pytest.importorskip("jinja2")
pytest.importorskip("plotly")

AUDIT = (Path(__file__).parent / "audit.js").read_text("utf-8")
ROOT = Path(__file__).parents[2]
SITE = ROOT / "docs" / "_build"
SIZES = {"desktop": (1280, 900), "phone": (390, 800)}
LEAST_TARGET = 24  # pixels; WCAG 2.2, success criterion 2.5.8


def defects(browser, path, size):
    width, height = SIZES[size]
    screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    browser.get(Path(path).as_uri())
    wait_until(browser, "return document.readyState === 'complete'")
    browser.execute_async_script("setTimeout(arguments[0], 300)")
    found = browser.execute_script(AUDIT, LEAST_TARGET)
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    return found


def evaluation_page(folder):
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    scores = {"a": rng.random(200) + y, "b": rng.random(200)}
    path = folder / "e.html"
    rp.evaluation_report(
        y, scores, groups=np.arange(200) // 2, by=np.arange(200) // 4 % 3, path=path
    )
    return path


def labeling_page(folder):
    rng = np.random.default_rng(0)
    values = [np.repeat([0.0, 5.0], 40) + rng.normal(size=80) for _ in range(3)]
    path = folder / "l.html"
    labels = [("a", 10.0, 30.0, "no_change"), ("b", 35.0, 45.0, "no_change")]
    path.write_text(cp.labeling_page(values, names=list("abc"), labels=labels), "utf-8")
    return path


def explorer_page(folder):
    from rocpath.pages.explorer import explorer_html

    bp = rp.ErrorBreakpoints.from_labels([0, 0, 1, 1])
    path = folder / "x.html"
    lines = rp.Lines.from_predictions(bp, [-7, -2, 0, -4], [0, -0.5, 0, 0.5])
    path.write_text(explorer_html(lines), "utf-8")
    return path


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("make", [evaluation_page, labeling_page, explorer_page])
def test_pages_have_no_defects(browser, tmp_path, make, size):
    assert defects(browser, make(tmp_path), size) == []


@pytest.mark.parametrize("size", SIZES)
def test_the_table_report_has_no_defects(browser, fitted, size):
    assert defects(browser, Path(fitted[0]) / "report.html", size) == []


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("page", ["index", "start", "intervals", "changepoints", "gallery/index"])
def test_the_documentation_has_no_defects(browser, page, size):
    path = SITE / f"{page}.html"
    if not path.exists():
        pytest.skip("run `make docs` first")
    assert defects(browser, path, size) == []


def test_the_audit_finds_each_defect(browser, tmp_path):
    page = tmp_path / "bad.html"
    page.write_text(
        "<html><body><h3>a</h3><p style='color:#999;background:#fff'>pale</p>"
        "<img src='data:,'><button style='width:9px;height:9px;padding:0'></button>"
        "<div style='width:3000px'>wide</div></body></html>"
    )
    found = " ".join(defects(browser, page, "phone"))
    for word in ("language", "title", "one h1", "contrast 2.85", "no name", "target", "wider"):
        assert word in found

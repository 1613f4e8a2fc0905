"""Text and data of pages, without a browser."""

import json
import re
import sys

import numpy as np
import pytest

import rocpath as rp
from rocpath.pages import page
from rocpath.pages.explorer import explorer_html
from rocpath.pages.report import fit_report_html
from rocpath.search.step_view import drawn_curve
from tests.pages.report_fits import simulated_fit

BP = rp.ErrorBreakpoints.from_labels([0, 0, 1, 1])
LINES = rp.Lines.from_predictions(BP, [-7, -2, 0, -4], [0, -0.5, 0, 0.5])


@pytest.fixture
def _small_plotly(monkeypatch):
    """Omit plotly.js, so that pages are short."""
    monkeypatch.setattr(page, "plotly_script", lambda: "plotly = 1")


def embedded(html):
    (text,) = re.findall(r'<script type="application/json">(.*?)</script>', html)
    return json.loads(text)


def test_data_cannot_close_the_script_element():
    text = "</script><script>alert(1)</script><!--"
    parts = page.environment().get_template("parts.html").module
    html = parts.data({"name": text}).strip()
    assert html.count("<") == 2
    assert embedded(html) == {"name": text}


@pytest.mark.usefixtures("_small_plotly")
def test_the_explorer_contains_the_lines_and_the_steps():
    data = embedded(explorer_html(LINES, max_step=4.0))
    assert data["lines"]["intercept"] == [7, 2, 0, 4]
    assert data["lines"]["slope"] == [0, 0.5, 0, -0.5]
    assert data["lines"]["fn_diff"] == [0, 0, -0.5, -0.5]
    assert data["aum"] == {"step": [0, 2, 4], "value": [1, 0, 0]}
    assert data["auc"]["step"] == [0, 0, 0, 2, 2, 2, 4]
    assert data["auc"]["value"] == [0.75, 0.75, 0.75, 0.75, 0.875, 1, 1]
    assert not data["is_sample"]
    assert [one["name"] for one in data["variants"]] == [
        "first min",
        "linear",
        "best AUM",
        "best AUC",
    ]


@pytest.mark.usefixtures("_small_plotly")
def test_every_control_has_a_name():
    html = explorer_html(LINES, title='a "quoted" <title>')
    assert 'aria-label="a &#34;quoted&#34; &lt;title&gt;"' in html
    for tag in re.findall(r"<input[^>]*>", html):
        before = html[: html.index(tag)]
        assert before.rfind("<label") > before.rfind("</label>")
    for panel in re.findall(r'<div class="chart[^>]*>', html):
        assert 'role="img"' in panel
        assert "aria-label=" in panel


@pytest.mark.usefixtures("_small_plotly")
def test_the_policy_lists_every_script_and_no_other():
    html = fit_report_html(simulated_fit(), title="t", headline="")
    scripts = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    assert len(scripts) == 2
    (policy,) = re.findall(r'Policy" content="(.*?)"', html)
    allowed = re.findall(r"'sha256-[^']+'", policy)
    assert sorted(allowed) == sorted(page._hash(one) for one in scripts)
    assert "unsafe-inline" not in policy.split("script-src")[1].split(";")[0]


def test_max_lines_must_be_at_least_two():
    with pytest.raises(ValueError, match="max_lines must be an integer of at least 2"):
        explorer_html(LINES, max_lines=1)


def test_without_plotly_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    with pytest.raises(ImportError, match=r"pip install 'rocpath\[report\]'"):
        explorer_html(LINES)


def test_long_curves_are_downsampled_and_keep_their_ends():
    fpr = np.linspace(0, 1, 100_000) ** 2
    curve = drawn_curve("a", fpr, np.sqrt(fpr))
    assert len(curve["fpr"]) <= 1_501
    assert (curve["fpr"][0], curve["fpr"][-1]) == (0, 1)
    assert np.diff(curve["tpr"]).max() < 0.01


@pytest.mark.usefixtures("_small_plotly")
def test_intervals_are_drawn_on_a_fixed_scale():
    fit = simulated_fit()
    html = fit_report_html(fit, title="t", headline="")
    # The interval of the poor model extends below 0.5: the scale from 0 to 1 has 200 pixels.
    assert fit.comparison["other"].low < 0.5
    assert "drawn on a scale from 0 to 1" in html
    places = re.findall(r'<circle cx="(.*?)"', html)
    expected = [f"{5 + 200 * one.value:.1f}" for one in fit.comparison.scores]
    assert places == expected


@pytest.mark.usefixtures("_small_plotly")
def test_a_report_without_javascript_notes_what_is_missing():
    html = fit_report_html(simulated_fit(), title="t", headline="")
    (note,) = re.findall(r"<noscript>(.*?)</noscript>", html)
    assert "ROC curves, the calibration plot and the threshold slider" in note


@pytest.mark.parametrize("max_step", [0, -1.0, np.nan])
def test_max_step_must_be_positive(max_step):
    lines = rp.Lines([0.0, 1.0], [1.0, 0.0], [1, 0], [0, -1])
    with pytest.raises(ValueError, match="max_step must be above 0"):
        explorer_html(lines, max_step=max_step)


@pytest.mark.usefixtures("_small_plotly")
def test_bars_share_one_scale_that_includes_zero():
    fit = simulated_fit(coefficients=[("a", 2.0), ("b", -1.0)])
    html = fit_report_html(fit, title="t", headline="")
    # 220 pixels for -1 to 2: zero lies a third from the left.
    bars = re.findall(r'<rect x="(.*?)" width="(.*?)" height="12" fill="var\(--f[pn]', html)
    assert bars == [("73.3", "146.7"), ("0.0", "73.3")]

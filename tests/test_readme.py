"""The Python blocks of the README and of the tutorial run and print the output shown."""

import contextlib
import io
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def printed(page, names):
    """Run the Python blocks of a page in order, and return the output of each."""
    text = (ROOT / page).read_text("utf-8")
    shown = []
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(block, names)
        shown.append(output.getvalue())
    return shown


def test_blocks_of_the_readme_print_the_output_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    evaluated, fitted, searched, detected = printed("README.md", names)
    assert len(evaluated.splitlines()) == 3
    assert "logistic regression" in fitted
    assert (tmp_path / "report.html").exists()
    # The comments of the block state these numbers.
    first, second = searched.splitlines()
    at_0, best, at_1 = map(float, first.split())
    assert [round(auc, 4) for auc in (at_0, best, at_1)] == [0.9375, 0.9520, 0.9216]
    step, bound = map(float, second.split())
    assert round(step, 3) == 0.276
    assert bound == best
    # Ties between rounded crossings depend on how pandas rounds means.
    assert round(names["path"].step.size, -3) == 61_000
    # Each sequence was simulated with one change, at 20.
    assert detected == "[array([20]), array([20])]\n"


@pytest.mark.skipif(sys.platform != "linux", reason="the last digit may differ")
def test_blocks_of_the_tutorial_print_the_output_shown(tmp_path, monkeypatch):
    demo_table = pytest.importorskip("rocpath.cli.demo_table")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rocpath-demo").mkdir()
    demo_table.customer_table().write_csv("rocpath-demo/customers.csv")
    names = {}
    shown = printed("docs/start.md", names)
    text = (ROOT / "docs/start.md").read_text("utf-8")
    blocks = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    stripped = [re.sub(r" +\n", "\n", one) for one in shown]
    assert blocks == stripped[:2]
    best, again = map(float, shown[-1].split())
    assert best == again

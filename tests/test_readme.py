"""The Python blocks of the README and of the tutorial run and print the output shown."""

import ast
import contextlib
import importlib
import io
import pkgutil
import re
import sys
from pathlib import Path

import pytest

import rocpath as rp

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"```(python|text)\n(.*?)```", re.DOTALL)
# Words in names of functions that would contradict a dash in the comparison of packages.
MISSING_IN = {
    "sklearn.metrics": ("delong", "interval", "compare", "confidence"),
    "sklearn.model_selection": ("guarante", "riskcontrol", "confidence"),
    "ruptures": ("label", "learn", "interval", "delong"),
    "skchange.detectors": ("label", "supervis", "delong"),
}


def blocks(page):
    return BLOCK.findall((ROOT / page).read_text("utf-8"))


def printed(code, names):
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(code, names)
    return re.sub(r" +\n", "\n", output.getvalue())


@pytest.mark.skipif(sys.platform != "linux", reason="the last digit may differ")
def test_blocks_of_the_readme_print_the_output_shown():
    names, found = {}, blocks("README.md")
    assert [kind for kind, _ in found] == ["python", "text"] * 4
    for (_, code), (_, shown) in zip(found[::2], found[1::2], strict=True):
        assert len(ast.parse(code).body) <= 8
        assert printed(code, names) == shown
    # The sentence below the last block states that the bound is attained.
    assert names["best"].bound == names["best"].value


@pytest.mark.skipif(sys.platform != "linux", reason="the last digit may differ")
def test_blocks_of_the_page_about_decisions_print_the_output_shown():
    names, found = {}, blocks("docs/decisions.md")
    for (_, code), (_, shown) in zip(found[::2], found[1::2], strict=True):
        assert printed(code, names) == shown


def test_the_comparison_of_packages_names_public_functions():
    text = (ROOT / "README.md").read_text("utf-8")
    table = text.split("<!-- begin of the comparison -->")[1].split("<!-- end")[0]
    named = re.findall(r"`(\w+)`", table)
    assert len(named) >= 8
    assert [n for n in named if not (hasattr(rp, n) or hasattr(rp.changepoint, n))] == []


@pytest.mark.parametrize("package", MISSING_IN)
def test_other_packages_lack_what_the_comparison_says(package):
    pytest.importorskip(package.split(".")[0])
    module = importlib.import_module(package)
    # `test` is not among the words, because packages contain their own tests.
    names = set(dir(module)) | {one.name for one in pkgutil.iter_modules(module.__path__)}
    words = MISSING_IN[package]
    assert sorted(n for n in names if any(w in n.lower().replace("_", "") for w in words)) == []


@pytest.mark.skipif(sys.platform != "linux", reason="the last digit may differ")
def test_blocks_of_the_tutorial_print_the_output_shown(tmp_path, monkeypatch):
    demo_table = pytest.importorskip("rocpath.cli.demo_table")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rocpath-demo").mkdir()
    demo_table.customer_table().write_csv("rocpath-demo/customers.csv")
    names, found = {}, blocks("docs/start.md")
    output = [printed(code, names) for kind, code in found if kind == "python"]
    assert [text for kind, text in found if kind == "text"] == output[:2]
    best, again = map(float, output[-1].split())
    assert best == again

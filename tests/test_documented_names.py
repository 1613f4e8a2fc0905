"""The documentation lists every public name, and only files that exist."""

import re
from pathlib import Path

import pytest

import rocpath
from rocpath import changepoint

ROOT = Path(__file__).parents[1]
PAGES = ("docs/paper_to_code.md", "docs/architecture.md", "CONTRIBUTING.md")
FILE = re.compile(r"`([\w/]+\.(?:py|hpp|cpp))`")
# `name` (`file`) documents that the name is defined in the file.
DEFINED = re.compile(r"`([\w:.]+)`(?:, `([\w:.]+)`)? \(`(?:\w+/)*(\w+\.(?:py|hpp|cpp))`\)")


def find_files(name):
    folders = ("src/rocpath", "cpp", "tests", "benchmarks")
    found = [path for one in folders for path in (ROOT / one).rglob(Path(name).name)]
    return [path for path in found if str(path).endswith(name)]


@pytest.mark.parametrize("page", PAGES)
def test_documented_files_exist(page):
    names = set(FILE.findall((ROOT / page).read_text("utf-8")))
    assert names
    assert sorted(name for name in names if not find_files(name)) == []


@pytest.mark.parametrize("page", PAGES[:2])
def test_documented_names_are_in_their_files(page):
    missing = []
    for *names, file in DEFINED.findall((ROOT / page).read_text("utf-8")):
        text = "\n".join(path.read_text("utf-8") for path in find_files(file))
        short = [re.split(r"::|\.", name)[-1] for name in names if name]
        missing += [f"{name} in {file}" for name in short if name not in text]
    assert missing == []


@pytest.mark.parametrize("module", [rocpath, changepoint])
def test_reference_lists_every_public_name(module):
    text = (ROOT / "docs/api.rst").read_text("utf-8")
    listed = set(re.findall(r"^   ([\w.]+)$", text, re.MULTILINE))
    assert sorted(set(module.__all__) - listed - {"changepoint", "plots", "scorers"}) == []

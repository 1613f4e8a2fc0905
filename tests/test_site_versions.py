"""Versions of the documentation in its menu."""

import json
import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "docs" / "site_versions.py"
URL = "https://example.org/rocpath"


@pytest.fixture
def write_all():
    return runpy.run_path(str(SCRIPT))["write_all"]


def test_menu_is_sorted_by_version_and_the_front_page_shows_the_newest(tmp_path, write_all):
    for name in ("0.9.1", "0.10.0", "0.2.0", "dev", "stable", ".git"):
        (tmp_path / name).mkdir()
    write_all(tmp_path, URL)
    menu = json.loads((tmp_path / "versions.json").read_text())
    assert [entry["version"] for entry in menu] == ["0.10.0", "0.9.1", "0.2.0", "dev"]
    assert [entry.get("preferred", False) for entry in menu] == [True, *3 * [False]]
    assert menu[1]["url"] == URL + "/0.9.1/"
    assert "url=stable/" in (tmp_path / "index.html").read_text()


def test_front_page_shows_the_development_version_before_the_first_release(tmp_path, write_all):
    (tmp_path / "dev").mkdir()
    write_all(tmp_path, URL)
    menu = json.loads((tmp_path / "versions.json").read_text())
    assert menu == [{"version": "dev", "url": URL + "/dev/"}]
    assert "url=dev/" in (tmp_path / "index.html").read_text()

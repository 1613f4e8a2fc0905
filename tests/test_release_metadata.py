"""The version is the same wherever it is stated."""

import runpy
from pathlib import Path

import rocpath

SCRIPT = Path(__file__).parents[1] / ".ci" / "release_metadata.py"


def test_every_file_states_the_installed_version():
    names = runpy.run_path(str(SCRIPT))
    assert list(names["defects"](is_release=False)) == []
    assert set(names["versions"]().values()) == {rocpath.__version__}


def test_release_requires_equal_versions_and_a_repository(tmp_path):
    names = runpy.run_path(str(SCRIPT))
    for name in ("pyproject.toml", "CITATION.cff", "CHANGELOG.md", "paper.md"):
        (tmp_path / name).write_text((SCRIPT.parents[1] / name).read_text())
    (tmp_path / "recipe").mkdir()
    (tmp_path / "recipe/recipe.yaml").write_text('context:\n  version: "9.9.9"\n')
    defects = names["defects"]
    defects.__globals__["ROOT"] = tmp_path
    found = list(defects(is_release=True))
    assert f"recipe/recipe.yaml has version 9.9.9, pyproject.toml {rocpath.__version__}" in found
    assert "pyproject.toml has no Repository in [project.urls]" in found

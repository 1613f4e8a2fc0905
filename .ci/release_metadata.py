"""Check that the files that describe a release agree with ``pyproject.toml``.

``python .ci/release_metadata.py`` compares the versions; with ``--release`` it also
requires the authors and addresses that only the owner can fill in.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
PLACEHOLDER = "The rocpath developers"
URLS = ("Repository", "Documentation", "Issues", "Changelog")


def versions():
    """Return the version that each file states."""
    patterns = {
        "CITATION.cff": r"^version: (\S+)",
        "recipe/recipe.yaml": r'^  version: "(\S+)"',
        "CHANGELOG.md": r"^## (\d+\.\d+\.\d+)",
    }
    found = {}
    for name, pattern in patterns.items():
        match = re.search(pattern, (ROOT / name).read_text(), re.MULTILINE)
        found[name] = match and match[1]
    return found


def defects(*, is_release):
    """Yield what disagrees or is missing."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for name, version in versions().items():
        if version != project["version"]:
            yield f"{name} has version {version}, pyproject.toml {project['version']}"
    if not is_release:
        return
    if "not yet released" in (ROOT / "CHANGELOG.md").read_text():
        yield "CHANGELOG.md has no date for this version"
    for name in URLS:
        if name not in project.get("urls", {}):
            yield f"pyproject.toml has no {name} in [project.urls]"
    for name in ("pyproject.toml", "CITATION.cff", "paper.md"):
        if PLACEHOLDER in (ROOT / name).read_text():
            yield f"{name} names no authors"
    if "repository-code:" not in (ROOT / "CITATION.cff").read_text():
        yield "CITATION.cff has no repository-code"


if __name__ == "__main__":
    found = list(defects(is_release="--release" in sys.argv[1:]))
    print("\n".join(found) or "release metadata: no defects")
    sys.exit(bool(found))

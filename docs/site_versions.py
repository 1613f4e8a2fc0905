"""List the versions of the documentation: ``python site_versions.py FOLDER URL``.

FOLDER contains a folder for each version: the releases (``0.2.0``), ``stable``, a copy
of the newest release, and ``dev``. Writes ``versions.json``, from which every page
builds its menu, and a front page that redirects to the newest release.
"""

import json
import re
import sys
from pathlib import Path


def versions(folder: Path, site: str) -> list[dict[str, object]]:
    """List the versions of a site for the menu, the newest first."""
    names = {path.name for path in folder.iterdir() if path.is_dir()}
    releases = sorted(
        (name for name in names if re.fullmatch(r"v?\d+(\.\d+)+", name)),
        key=lambda name: [int(part) for part in name.removeprefix("v").split(".")],
        reverse=True,
    )
    menu: list[dict[str, object]] = [
        {"version": name, "url": f"{site}/{name}/"} for name in releases
    ]
    if releases:
        menu[0] |= {"name": f"{releases[0]} (stable)", "preferred": True}
    if "dev" in names:
        menu.append({"version": "dev", "url": f"{site}/dev/"})
    return menu


def write_all(folder: Path, site: str) -> None:
    """Write the files that all versions share."""
    menu = versions(folder, site)
    (folder / "versions.json").write_text(json.dumps(menu, indent=1) + "\n")
    front = "stable" if (folder / "stable").is_dir() else "dev"
    (folder / "index.html").write_text(
        f'<!doctype html>\n<meta http-equiv="refresh" content="0; url={front}/">\n'
        f'<a href="{front}/">The documentation of rocpath</a>\n'
    )
    # Otherwise GitHub skips folders whose names begin with an underscore.
    (folder / ".nojekyll").touch()


if __name__ == "__main__":
    write_all(Path(sys.argv[1]), sys.argv[2].rstrip("/"))

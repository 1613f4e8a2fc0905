"""Self-contained HTML pages: no other file, no network, and no text run as code."""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


def web_file(name: str) -> str:
    """Return the text of a script or style sheet of this package."""
    return files("rocpath.pages").joinpath("web", name).read_text(encoding="utf-8")


def plotly_script() -> str:
    """Return the text of plotly.js."""
    try:
        from plotly.offline import get_plotlyjs  # type: ignore[import-untyped]
    except ImportError as error:
        raise ImportError(
            "pages need plotly; install it with: pip install 'rocpath[report]'"
        ) from error
    # Browsers read line ends in this way, and the policy holds a hash of the text.
    return str(get_plotlyjs()).replace("\r\n", "\n").replace("\r", "\n")


def embedded_json(data: Any) -> str:
    """Return a script element that holds data, whatever text is in them."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    harmless = text.replace("<", "\\u003c")
    return f'<script type="application/json">{harmless}</script>'


def page_html(title: str, body: str, scripts: Sequence[str]) -> str:
    """Return a page with plotly.js, the style sheet and the scripts that it may run.

    The policy in its head allows the scripts by their hashes and nothing else.

    Parameters
    ----------
    title : str
        Plain text.
    body : str
        HTML; scripts in it run only if they are among ``scripts``.
    scripts : list of str
        The texts of scripts that stand in the body.

    Returns
    -------
    str
    """
    plotly = plotly_script()
    allowed = " ".join(_hash(script) for script in (plotly, *scripts))
    policy = (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>
{web_file("page.css")}</style>
<script>{plotly}</script>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def _hash(script: str) -> str:
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"

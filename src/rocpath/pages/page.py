"""Render self-contained HTML pages, which need no other file and no network."""

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any

import numpy as np

from rocpath.palette import css_variables


def page_html(
    template: str,
    *,
    title: str,
    scripts: Sequence[str],
    styles: Sequence[str] = ("page",),
    needs_plotly: bool = True,
    **values: Any,
) -> str:
    """Render a template that extends ``page.html``.

    Its content security policy allows plotly.js and the named scripts of this package
    by their hashes, and no other script. All text in the values is escaped.
    """
    # Plotly and the shared chart functions come first, since the other scripts use them.
    texts = {name: web_file(f"{name}.js") for name in scripts}
    if needs_plotly:
        texts = {"plotly": f"{plotly_script()}\n{web_file('charts.js')}", **texts}
    # The first script defines a function for the others.
    if texts:
        first = next(iter(texts))
        texts[first] = f"{web_file('palette.js')}\n{texts[first]}"
    style_sheets = [web_file(f"{name}.css") for name in styles]
    values["style"] = "".join([css_variables(), *style_sheets])
    values["hashes"] = [_hash(text) for text in texts.values()]
    return str(environment().get_template(template).render(title=title, scripts=texts, **values))


def web_file(name: str) -> str:
    """Return the text of a script or style sheet of this package."""
    return files("rocpath.pages").joinpath("web", name).read_text(encoding="utf-8")


def plotly_script() -> str:
    """Return the text of plotly.js."""
    text = str(_optional_module("plotly.offline").get_plotlyjs())
    # Browsers normalize line endings in this way before they compute the hash.
    return text.replace("\r\n", "\n").replace("\r", "\n")


@cache
def environment() -> Any:
    """Return the Jinja environment of all templates, with filters and JSON settings."""
    jinja2 = _optional_module("jinja2")
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("rocpath.pages"),
        autoescape=True,
        # An undefined name raises an error instead of leaving a gap in the page.
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(count="{:,}".format, number=_number)
    templates.globals.update(zip=zip)
    # NaN and infinity are not valid JSON: a browser would reject all of the data.
    templates.policies["json.dumps_kwargs"] = {
        "allow_nan": False,
        "default": np.ndarray.tolist,
        "separators": (",", ":"),
    }
    return templates


def _number(value: float) -> str:
    if not np.isfinite(value):
        return "\u2013"
    return f"{value:.4f}" if 1e-3 <= abs(value) < 1e4 or value == 0 else f"{value:.3g}"


def _optional_module(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"pages need {module.partition('.')[0]}; install it with: pip install 'rocpath[report]'"
        ) from error


def _hash(script: str) -> str:
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"

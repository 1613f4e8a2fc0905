"""Check the built documentation, at the end of ``make docs``.

    python docs/check_site.py docs/_build

Every example ran in at most 20 seconds and drew a picture, every picture has an
alternative text, live pages that are linked exist, and the search finds common terms.
"""

import json
import re
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parent.parent / "examples"
MAX_SECONDS = 20.0
# Stems as in the index of the search.
TERMS = ("delong", "pelt", "obuchowski", "calibr")
TIME = re.compile(r"running time of the script:</strong>\s*\((\d+) minutes ([\d.]+) seconds\)")
IMAGE = re.compile(r"<img\b[^>]*>")


def example_defects(site):
    """Yield examples that were not run, drew nothing, or took long."""
    for example in sorted(EXAMPLES.glob("plot_*.py")):
        page = site / "gallery" / f"{example.stem}.html"
        text = page.read_text("utf-8") if page.exists() else ""
        time = TIME.search(text)
        if time is None or "sphx-glr-script-out" not in text or "sphx_glr_plot" not in text:
            yield f"{example.name} was not run, or has no output or picture"
        elif 60 * int(time[1]) + float(time[2]) > MAX_SECONDS:
            yield f"{example.name} took more than {MAX_SECONDS:g} s: {time[0]}"


def page_defects(site):
    """Yield pictures without alternative text, and links to missing live pages."""
    for page in sorted(site.rglob("*.html")):
        if page.parent.name in ("live", "_static"):
            continue
        name, text = page.relative_to(site), page.read_text("utf-8")
        for image in IMAGE.findall(text):
            # Pictures in links with text may be empty; those of the theme are logos.
            if not re.search(r'\balt="', image):
                yield f"{name} has a picture without alternative text: {image[:80]}"
        for link in re.findall(r'href="((?:\.\./)*live/[^"]+)"', text):
            if not (page.parent / link).exists():
                yield f"{name} links to {link}, which does not exist"


def search_defects(site):
    """Yield terms that the search does not find."""
    text = (site / "searchindex.js").read_text("utf-8")
    index = json.loads(text.removeprefix("Search.setIndex(").rstrip().removesuffix(")"))
    words = set(index["terms"]) | set(index["titleterms"])
    for term in TERMS:
        if not any(word.startswith(term) for word in words):
            yield f"the search does not find {term!r}"


def main(site):
    """Print the defects of the site, and return whether there are any."""
    defects = [*example_defects(site), *page_defects(site), *search_defects(site)]
    print("\n".join(defects) or "site: no defects")
    return bool(defects)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

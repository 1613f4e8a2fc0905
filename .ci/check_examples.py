"""Check the types of the Python blocks in the README and the guides with mypy --strict.

The blocks of a page form one module. In the guides, names that a page does not define, such
as X and y, have any type.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
# Fragments use names of the reader, define a name again, pass optional values that are known
# not to be None, define functions without types, and use libraries without types.
GUIDES = (
    *("name-defined", "no-redef", "assignment", "used-before-def", "has-type"),
    *("union-attr", "arg-type", "no-untyped-def", "no-untyped-call", "misc", "import-untyped"),
)


def module_of(page):
    """Return the blocks of a page, on the lines where they are in the page."""
    text = page.read_text("utf-8")
    lines = [""] * (text.count("\n") + 1)
    for block in BLOCK.finditer(text):
        first = text.count("\n", 0, block.start(1))
        for number, line in enumerate(block[1].splitlines()):
            lines[first + number] = line
    return "\n".join(lines) + "\n"


def check(pages, disabled):
    """Run mypy on the blocks of pages, and return its exit code."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for page in pages:
            path = folder / f"{page.stem.replace('-', '_').lower()}_md.py"
            path.write_text(module_of(page), "utf-8")
        command = [sys.executable, "-m", "mypy", "--strict", str(folder)]
        command += ["--config-file", str(ROOT / "pyproject.toml")]
        command += [f"--disable-error-code={code}" for code in disabled]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    output = done.stdout.replace(f"{folder}/", "").replace("_md.py", ".md")
    sys.stdout.write(output + done.stderr)
    return done.returncode


if __name__ == "__main__":
    guides = sorted((ROOT / "docs").glob("*.md"))
    sys.exit(check([ROOT / "README.md"], ()) or check(guides, GUIDES))

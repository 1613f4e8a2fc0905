"""Check the limits on the layout of the code, which ``make lint`` enforces.

Files have fewer than 400 lines and functions at most 40 without their docstring; the
command line has at most 1,900 lines of code, and a command at most 25 in its body. No
module has a name that says nothing, no two public names of modules are the same
unless `TWINS` gives the reason, and tests are in the package of the code they test.
"""

import ast
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent
SRC = ROOT / "src" / "rocpath"
EMPTY_NAMES = {"utils", "util", "common", "helpers", "misc", "base"}
# Names that are defined twice, and why.
TWINS = {
    "main": "an entry point",
}
TWIN_PACKAGES = {"torch", "dask"}  # the same functions for other back ends


def code_lines(node, text):
    """Count the lines of a node that hold code: no docstrings, comments or blanks."""
    doc = set()
    for child in ast.walk(node):
        body = getattr(child, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            value = body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                doc |= set(range(value.lineno, value.end_lineno + 1))
    first = getattr(node, "lineno", 1)
    last = getattr(node, "end_lineno", len(text))
    kept = [k for k in range(first, last + 1) if k not in doc]
    return sum(bool(text[k - 1].split("#")[0].strip()) for k in kept)


def function_defects(path, tree, text):
    """Yield functions and commands that are too long."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef):
            continue
        n_lines = code_lines(node, text)
        where = f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        if n_lines > 40:
            yield f"{where} has {n_lines} lines, more than 40"
        if is_command(node):
            n_body = code_lines(ast.Module(node.body, []), text[: node.end_lineno])
            before = code_lines(ast.Module([], []), text[: node.body[0].lineno - 1])
            if n_body - before > 25:
                yield f"{where}: the command has {n_body - before} lines, more than 25"


def is_command(node):
    """Tell whether a function is a command of the command line."""
    decorators = [getattr(d, "func", d) for d in getattr(node, "decorator_list", ())]
    return any(getattr(d, "id", "") == "command" for d in decorators)


def public_names(tree):
    """Yield the classes and functions that a module defines for others."""
    for node in tree.body:
        is_named = isinstance(node, ast.FunctionDef | ast.ClassDef)
        if is_named and not (node.name.startswith("_") or is_command(node)):
            yield node.name


def package_defects():
    """Yield defects of the files below src."""
    defined, n_cli = defaultdict(set), 0
    for path in sorted(SRC.rglob("*.py")):
        text = path.read_text().splitlines()
        tree = ast.parse("\n".join(text))
        yield from function_defects(path, tree, text)
        if path.stem in EMPTY_NAMES:
            yield f"{path.relative_to(ROOT)}: the name of the module says nothing"
        package = path.relative_to(SRC).parts[0]
        if package == "cli":
            n_cli += code_lines(tree, text)
        names = {} if package in TWIN_PACKAGES else public_names(tree)
        for name in names:
            defined[name].add(str(path.relative_to(ROOT)))
    if n_cli > 1900:
        yield f"src/rocpath/cli has {n_cli} lines of code, more than 1,900"
    for name, paths in defined.items():
        if len(paths) > 1 and name not in TWINS:
            yield f"{name} is defined in {' and '.join(sorted(paths))}"


def file_defects():
    """Yield files that are too long, and tests that are in no package of src."""
    packages = {path.name for path in SRC.iterdir() if path.is_dir()}
    for folder, ending in (
        (SRC, "py"),
        (ROOT / "tests", "?pp"),
        (ROOT / "tests", "py"),
    ):
        for path in sorted(folder.rglob(f"*.{ending}")):
            n_lines = len(path.read_text().splitlines())
            if n_lines >= 400:
                yield f"{path.relative_to(ROOT)} has {n_lines} lines, 400 or more"
    for path in sorted((ROOT / "cpp").glob("*.?pp")):
        n_lines = len(path.read_text().splitlines())
        if n_lines >= 300:
            yield f"{path.relative_to(ROOT)} has {n_lines} lines, 300 or more"
    for path in sorted((ROOT / "tests").glob("*/test_*.py")):
        if path.parent.name not in packages:
            yield f"{path.relative_to(ROOT)}: src has no package {path.parent.name}"


if __name__ == "__main__":
    found = [*package_defects(), *file_defects()]
    print("\n".join(found) or "layout: no defects")
    sys.exit(bool(found))

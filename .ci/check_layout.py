"""Enforce the limits on the layout of the code, for ``make lint``.

Files have fewer than 400 lines (300 in ``cpp``), functions at most 40 without their
docstring, and commands at most 25 in their body; functions of JavaScript are counted
without the functions declared in them. Functions that construct are called ``from_*``,
and those that only raise ``check_*``. No module is called utils or the
like, no two modules define the same public name, and tests are in the package of the
code they test. The headers of each folder of ``cpp`` include only those of the same
folder and of the folders before it. ``layout_exceptions.txt`` lists what exceeds a limit
today; an entry that is no longer needed must be removed.
"""

import ast
import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent
SRC = ROOT / "src" / "rocpath"
EXCEPTIONS = Path(__file__).parent / "layout_exceptions.txt"
EMPTY_NAMES = {"utils", "util", "common", "helpers", "misc", "base"}
SETTINGS = "changepoint/settings.hpp"
CPP_FOLDERS = (  # in the order in which they may include each other
    "numerics",
    "verify",  # proofs use nothing of the searches
    "lines",
    "roc",
    "survival",
    "sweep",
    "aum",
    "auc",
    "changepoint",
    "python",
)
BACK_ENDS = {"torch", "dask"}  # define the functions of the library again


def n_code_lines(nodes, text):
    """Count the lines of nodes without docstrings, comments and blank lines."""
    lines, docs = set(), set()
    for node in nodes:
        lines |= set(range(node.lineno, node.end_lineno + 1))
        for child in ast.walk(node):
            is_text = isinstance(child, ast.Expr) and isinstance(
                getattr(child.value, "value", None), str
            )
            if is_text:
                docs |= set(range(child.lineno, child.end_lineno + 1))
    return sum(bool(text[k - 1].split("#")[0].strip()) for k in lines - docs)


def is_command(node):
    """Return whether a function is a command of the command line."""
    decorators = [getattr(d, "func", d) for d in getattr(node, "decorator_list", ())]
    return any(getattr(d, "id", "") == "command" for d in decorators)


def code_defects():
    """Yield (what exceeds a limit, how) for the modules of src."""
    defined = defaultdict(set)
    for path in sorted(SRC.rglob("*.py")):
        name, package = str(path.relative_to(ROOT)), path.relative_to(SRC).parts[0]
        text = path.read_text().splitlines()
        tree = ast.parse("\n".join(text))
        if path.stem in EMPTY_NAMES:
            yield name, "has a name that describes nothing"
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                if node.name == "of" or node.name.lstrip("_").startswith("refuse"):
                    yield f"{name} {node.name}", "is not called from_... or check_..."
                n_lines = n_code_lines([node], text)
                if n_lines > 40:
                    yield f"{name} {node.name}", f"has {n_lines} lines, more than 40"
                n_body = n_code_lines(node.body, text) if is_command(node) else 0
                if n_body > 25:
                    yield f"{name} {node.name}", f"has a body of {n_body} lines"
        for node in () if package in BACK_ENDS else tree.body:
            is_named = isinstance(node, ast.FunctionDef | ast.ClassDef)
            if is_named and not (node.name.startswith("_") or is_command(node)):
                defined[node.name].add(name)
    for name, paths in defined.items():
        if len(paths) > 1:
            yield name, f"is defined in {' and '.join(sorted(paths))}"


def script_functions(text):
    """Yield name and number of lines of the functions of a script, innermost first."""
    # Comments and text may contain braces.
    code = re.sub(
        r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`',
        lambda match: re.sub(r"[^\n]", " ", match[0]),
        text,
        flags=re.DOTALL,
    )
    heads = re.compile(r"function\s*(\w*)\s*\([^()]*\)$|(\w*)\s*=?\s*(?:\([^()]*\)|\w+)\s*=>$")
    starts, declared = [], [0]
    for match in re.finditer("[{}]", code):
        if match[0] == "{":
            starts.append(match.start())
            declared.append(0)
            continue
        start, n_declared = starts.pop(), declared.pop()
        block = code[start : match.end()].splitlines()
        n_lines = sum(bool(line.strip()) for line in block)
        head = heads.search(code[:start].rstrip()[-200:])
        # The outermost function is the module.
        if head and starts:
            yield head[1] or head[2] or "=>", n_lines - n_declared
        is_declared = bool(head and head[1])
        declared[-1] += n_lines if is_declared else n_declared


def script_defects():
    """Yield scripts and functions of scripts that are too long."""
    for path in sorted(SRC.rglob("*.js")):
        name, text = str(path.relative_to(ROOT)), path.read_text()
        for function, n_lines in script_functions(text):
            if n_lines > 40:
                yield f"{name} {function}", f"has {n_lines} lines, more than 40"


def include_defects():
    """Yield headers of ``cpp`` that include one of a later folder, or of no folder."""
    for path in sorted((ROOT / "cpp").rglob("*.?pp")):
        folder = path.relative_to(ROOT / "cpp").parts[0]
        for included in re.findall(r'^#include "(.+)"', path.read_text(), re.MULTILINE):
            source = included.split("/")[0]
            if source not in CPP_FOLDERS:
                yield str(path.relative_to(ROOT)), f"includes {included}, which is in no folder"
            elif CPP_FOLDERS.index(source) > CPP_FOLDERS.index(folder):
                yield str(path.relative_to(ROOT)), f"includes {included} of a later folder"
            is_cost = "costs" in path.parts and source == "changepoint"
            if is_cost and not included.startswith(("changepoint/costs/", SETTINGS)):
                yield str(path.relative_to(ROOT)), f"includes {included} of a later folder"


def file_defects():
    """Yield files that are too long, and tests that are in no package of src."""
    for folder, ending, limit in (
        ("src", "py", 400),
        ("src", "js", 400),
        ("tests", "py", 400),
        ("tests/fuzz", "?pp", 400),
        ("cpp", "?pp", 300),
    ):
        for path in sorted((ROOT / folder).rglob(f"*.{ending}")):
            n_lines = len(path.read_text().splitlines())
            if n_lines >= limit:
                yield str(path.relative_to(ROOT)), f"has {n_lines} lines"
    for path in sorted((ROOT / "tests").glob("*/test_*.py")):
        if not (SRC / path.parent.name).is_dir():
            yield str(path.relative_to(ROOT)), "tests no package of src"


if __name__ == "__main__":
    allowed = {line.strip() for line in EXCEPTIONS.read_text().splitlines()}
    found = [*code_defects(), *script_defects(), *include_defects(), *file_defects()]
    new = [f"{what} {how}" for what, how in found if what not in allowed]
    stale = allowed - {what for what, _ in found} - {""}
    new += [f"{what} is no longer an exception: remove it" for what in sorted(stale)]
    print("\n".join(new) or f"layout: no defects, {len(allowed)} exceptions")
    sys.exit(bool(new))

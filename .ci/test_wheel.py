"""Test an installed wheel: the core and what calls it, or the tests that are named.

Run ``python .ci/test_wheel.py [tests ...]`` with the Python that has the wheel.
"""

import importlib.util
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TESTS = [
    "test_core_builds",
    "test_roc",
    "test_reference",
    "test_best_steps",
    "test_best_auc",
    "changepoint/test_segmentation",
]

# Of the package only the installed one, never the sources beside these tests.
os.environ.setdefault("ROCPATH_TEST_PROFILE", "brief")
package = Path(importlib.util.find_spec("rocpath").origin)
assert "site-packages" in package.parts, f"rocpath is read from {package}"
assert importlib.util.find_spec("rocpath._core_base"), "this is no portable build"

tests = sys.argv[1:] or [f"tests/{name}.py" for name in TESTS]
paths = [str(ROOT / name) for name in tests]
sys.exit(pytest.main([*paths, "-q", "-p", "no:cacheprovider", f"--rootdir={ROOT}"]))

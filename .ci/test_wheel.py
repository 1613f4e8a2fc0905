"""Run the tests of the core, or the given tests, against an installed wheel.

``python .ci/test_wheel.py [TEST ...]``, with the Python that the wheel is installed in.
"""

import importlib.util
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TESTS = [
    "test_core_builds",
    "search/test_roc",
    "search/test_reference",
    "search/test_best_steps",
    "search/test_best_auc",
    "changepoint/test_segmentation",
]

# The installed package must be tested, not the sources beside these tests.
os.environ.setdefault("ROCPATH_TEST_PROFILE", "brief")
package = Path(importlib.util.find_spec("rocpath").origin)
assert "site-packages" in package.parts, f"rocpath is imported from {package}"
assert importlib.util.find_spec("rocpath._core_base"), "not a portable build"

# Under an emulator, tests that start another Python need the command that emulates it.
sys.executable = os.environ.get("ROCPATH_TEST_PYTHON", sys.executable)

tests = sys.argv[1:] or [f"tests/{name}.py" for name in TESTS]
paths = [str(ROOT / name) for name in tests]
sys.exit(pytest.main([*paths, "-q", "-p", "no:cacheprovider", f"--rootdir={ROOT}"]))

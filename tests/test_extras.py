"""Names that need an extra report which one is missing."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("name", "missing", "extra"),
    [
        ("TableClassifier", "polars", "tables"),
        ("read_table", "polars", "tables"),
        ("load_model", "skops", "tables"),
    ],
)
def test_a_missing_extra_names_the_remedy(name, missing, extra):
    program = (
        f"import sys; sys.modules[{missing!r}] = None\n"
        "import rocpath as rp\n"
        "try:\n"
        f"    rp.{name}\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    expected = f"rocpath.{name} requires {missing}; install it with: pip install 'rocpath[{extra}]'"
    assert done.stdout.strip() == expected, done.stderr

"""The Python blocks of pages of the user guide print the output shown."""

import sys

import pytest

from tests.test_readme import blocks, printed

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the last digit may differ")


@pytest.mark.parametrize(
    ("page", "package", "n_sketches"),
    [("censored_outcomes", "lifelines.datasets", 1), ("reader_studies", "pandas", 0)],
)
def test_blocks_print_the_output_shown(page, package, n_sketches):
    pytest.importorskip(package)
    found, names = blocks(f"docs/{page}.md")[n_sketches:], {}
    assert [kind for kind, _ in found] == ["python", "text"] * (len(found) // 2)
    for (_, code), (_, shown) in zip(found[::2], found[1::2], strict=True):
        assert printed(code, names) == shown

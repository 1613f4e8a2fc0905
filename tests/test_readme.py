"""The README's Python runs as it stands, top to bottom."""

import contextlib
import io
import re
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def test_the_blocks_of_python_run_one_after_the_other():
    blocks = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 3
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        exec("\n".join(blocks), {})
    first, *_, last = shown.getvalue().splitlines()
    assert float(first) > 0.98  # of a task where simple models reach 0.99
    assert last == "[20]"  # where the sequence was made to change

"""The Python blocks of the README run in order and print what it says."""

import contextlib
import io
import re
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def test_python_blocks_run_in_order():
    blocks = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 4
    shown = []
    names = {}
    for block in blocks:
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(block, names)
        shown.append(output.getvalue().splitlines())
    evaluated, fitted, searched, detected = shown
    assert len(evaluated) == 3
    assert float(fitted[0]) > 0.98  # logistic regression has 0.99 on this task
    # The numbers that the comments state.
    at_0, best, at_1 = map(float, searched[0].split())
    assert [round(auc, 4) for auc in (at_0, best, at_1)] == [0.9375, 0.9520, 0.9216]
    step, bound = map(float, searched[1].split())
    assert round(step, 3) == 0.276
    assert bound == best
    assert names["path"].step.size == 61_269
    # Each sequence was simulated with one change, at 20.
    assert detected == ["[array([20]), array([20])]"]

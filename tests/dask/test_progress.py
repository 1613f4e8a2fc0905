"""What a run on Dask shows: a bar in a terminal, a line a pass elsewhere."""

import io
import sys

import numpy as np
import pytest

da = pytest.importorskip("dask.array")
pytest.importorskip("distributed")

from rocpath.dask import AUCClassifier  # noqa: E402
from rocpath.dask.passes import Passes  # noqa: E402
from rocpath.dask.progress import progress_line  # noqa: E402


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_bar_grows_with_the_parts_and_is_cleared(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress_line(is_shown=True) as show:
        for n_done in (0, 2, 4):
            show("checking rows", n_done, 4)
        show("climbing")
    lines = [line.rstrip() for line in terminal.getvalue().split("\r")]
    half = "#" * 12 + "." * 12
    assert lines[1] == f"[{'.' * 24}] 0 of 4  checking rows"
    assert lines[2] == f"[{half}] 2 of 4  checking rows"
    # Cleared when a pass is done, and in the end.
    assert lines[3:] == ["", "", "climbing", "", ""]


def test_passes_are_lines_without_a_terminal(capsys, client):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    lazy = da.from_array(X, chunks=(20, 2)), da.from_array(y, chunks=20)
    AUCClassifier(random_state=0, verbose=True, client=client).fit(*lazy)
    said = capsys.readouterr().err
    assert said.startswith("checking rows, 3 parts\ndrawing rows, 3 parts\n")
    assert "\r" not in said
    AUCClassifier(random_state=0, client=client).fit(*lazy)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("n_parts", [1, 3, 40])
def test_every_part_of_a_pass_is_told(client, n_parts):
    told = []
    with Passes(client, lambda *one: told.append(one)) as passes:
        tasks = passes.each(lambda one, _: one, range(n_parts))
        assert passes.results("one", tasks) == list(range(n_parts))
        assert told[0] == ("one", 0, n_parts)
        assert told[-1] == ("one", n_parts, n_parts)
        del told[:]
        tasks = passes.each(lambda one, _: one, range(n_parts))
        assert passes.total("sum", tasks, sum) == sum(range(n_parts))
    done = [n_done for name, n_done, n_all in told if (name, n_all) == ("sum", n_parts)]
    assert done == sorted(done)
    # Of a sum in one task nothing is known before it is there.
    assert n_parts <= 16 or done[-1] == n_parts

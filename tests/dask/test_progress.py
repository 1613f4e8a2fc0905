"""Progress of passes: a bar in a terminal, otherwise one line per pass."""

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


def test_the_bar_grows_and_is_cleared(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress_line(is_shown=True) as show:
        for n_done in (0, 2, 4):
            show("checking rows", n_done, 4)
        show("refitting")
    lines = [line.rstrip() for line in terminal.getvalue().split("\r")]
    half = "#" * 12 + "." * 12
    assert lines[1] == f"[{'.' * 24}] 0 of 4  checking rows"
    assert lines[2] == f"[{half}] 2 of 4  checking rows"
    # The line is cleared after each pass and at the end.
    assert lines[3:] == ["", "", "refitting", "", ""]


def test_without_a_terminal_each_pass_prints_one_line(capsys, client):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    lazy = da.from_array(X, chunks=(20, 2)), da.from_array(y, chunks=20)
    AUCClassifier(random_state=0, verbose=True, client=client).fit(*lazy)
    shown = capsys.readouterr().err
    passes = ("reading a partition", "checking rows, 3 partitions", "sampling rows, 3 partitions")
    assert shown.splitlines()[:3] == list(passes)
    assert "\r" not in shown
    AUCClassifier(random_state=0, client=client).fit(*lazy)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("n_partitions", [1, 3, 40])
def test_every_partition_of_a_pass_is_reported(client, n_partitions):
    reported = []
    with Passes(client, lambda *one: reported.append(one)) as passes:
        tasks = passes.each(lambda one: one, range(n_partitions))
        assert passes.results("one", tasks) == list(range(n_partitions))
        assert reported[0] == ("one", 0, n_partitions)
        assert reported[-1] == ("one", n_partitions, n_partitions)
        del reported[:]
        tasks = passes.each(lambda one: one, range(n_partitions))
        assert passes.total("sum", tasks, sum) == sum(range(n_partitions))
    done = [n_done for _, n_done, _ in reported]
    assert done == sorted(done)
    assert reported[-1][1] == reported[-1][2]

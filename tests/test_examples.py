"""Every example of the gallery runs without a warning and draws a figure."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from threadpoolctl import threadpool_limits

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("plot_*.py"))


def test_examples_are_short():
    assert len(EXAMPLES) >= 5
    assert all(len(path.read_text().splitlines()) < 80 for path in EXAMPLES)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_draws(path, monkeypatch, capsys):
    mpl = pytest.importorskip("matplotlib", reason="examples require matplotlib")
    if "penalty" in path.stem:
        pytest.importorskip("ruptures", reason="this example requires ruptures")
    if "rare_images" in path.stem or "certified" in path.stem:
        pytest.importorskip("torch", reason="this example requires torch")
    mpl.use("Agg")
    plt = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.setattr(plt, "show", lambda: None)
    # The matrices are small, so threads would only slow down the examples.
    with threadpool_limits(1):
        runpy.run_path(str(path), run_name="__main__")
    assert plt.get_fignums()
    plt.close("all")
    assert capsys.readouterr().out


def test_experiments_without_data_name_the_remedy(tmp_path):
    pytest.importorskip("matplotlib", reason="the experiments require matplotlib")
    paper = EXAMPLES[0].parent.parent / "benchmarks" / "paper"
    done = subprocess.run(
        [sys.executable, str(paper), "--quick", "changepoints"],
        env=os.environ | {"ROCPATH_DATA": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "changepoints cannot be run: " in done.stderr
    assert "Set ROCPATH_DATA to the data folder" in done.stderr
    assert "Traceback" not in done.stderr

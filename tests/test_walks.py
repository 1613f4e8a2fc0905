"""The files that six common calls run, compared with the lists in docs/architecture.md."""

import re
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import rocpath as rp
from rocpath import changepoint as cp

PACKAGE = Path(rp.__file__).parent
PAGE = PACKAGE.parents[1] / "docs" / "architecture.md"
# An item of a list: the package, what it does in this walk, and its modules.
ITEM = re.compile(r"^- \*\*([\w/]+)\*\* \(([^()]+)\):\s+([\w,\s]+?)$(?=\n-|\n\n)", re.MULTILINE)


def documented_files(title):
    if not PAGE.exists():
        pytest.skip("the documentation is not installed with the package")
    section = PAGE.read_text("utf-8").split(f"### {title}\n")[1].split("\n#")[0]
    return {
        f"{name}.py" if package == "rocpath" else f"{package}/{name}.py"
        for package, _, names in ITEM.findall(f"{section}\n")
        for name in re.split(r",\s*", names)
    }


def traced_files(call):
    """Return the files of the package whose functions run during a call."""
    seen = set()

    def trace(frame, event, _):
        path = Path(frame.f_code.co_filename)
        if event == "call" and PACKAGE in path.parents and path.suffix == ".py":
            seen.add(path.relative_to(PACKAGE).as_posix())

    call()  # so that imports are not traced
    threading.setprofile(trace)
    sys.setprofile(trace)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return seen - {"__init__.py", "cli/__init__.py"}


def fit_classifier(folder):
    X, y = load_breast_cancer(return_X_y=True)
    rp.AUCClassifier(random_state=0, n_rounds=1).fit(X, y)


def run_table_command(folder):
    from rocpath.cli import main
    from tests.cli.command_tables import labeled_table

    labeled_table().write_csv(folder / "table.csv")
    argv = ["fit", str(folder / "table.csv"), "--label", "y", "--out", str(folder / "model")]
    assert main([*argv, "--quiet", "--force"]) == 0


def fit_detector(folder):
    rng = np.random.default_rng(0)
    sequences = [np.repeat([0, 8], 20) + rng.normal(size=40) for _ in range(12)]
    labels = cp.Labels([0, 15], [15, 25], ["no_change", "one_change"])
    cp.LearnedDetector(max_changes=5).fit(sequences, [labels] * 12).predict(sequences)


def minimize(folder):
    X, y = load_breast_cancer(return_X_y=True)
    rp.minimize_aum(X, rp.ErrorBreakpoints.from_labels(y), max_steps=3)


def compute_interval(folder):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    rp.auc_interval(y, rng.normal(size=60) + y, groups=np.arange(60) // 3)


def fit_on_cluster(folder):
    distributed = pytest.importorskip("distributed")
    da = pytest.importorskip("dask.array")
    from rocpath.dask import AUCClassifier

    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    X = rng.normal(size=(400, 3)) + 0.5 * y[:, None]
    # The tasks run in threads of this process, so that they are traced.
    with distributed.Client(processes=False, n_workers=1, dashboard_address=None):
        model = AUCClassifier(random_state=0)
        model.fit(da.from_array(X, chunks=(200, 3)), da.from_array(y, chunks=200))


@pytest.mark.parametrize(
    ("title", "call"),
    [
        ("AUCClassifier.fit", fit_classifier),
        ("rocpath fit", run_table_command),
        ("LearnedDetector.fit and predict", fit_detector),
        ("minimize_aum", minimize),
        ("auc_interval with groups", compute_interval),
        ("AUCClassifier.fit on Dask", fit_on_cluster),
    ],
)
def test_the_documentation_lists_the_files_that_a_call_runs(title, call, tmp_path):
    seen, documented = traced_files(lambda: call(tmp_path)), documented_files(title)
    difference = [f"add {name}" for name in sorted(seen - documented)]
    difference += [f"remove {name}" for name in sorted(documented - seen)]
    assert not difference, f"docs/architecture.md, {title}: {', '.join(difference)}"

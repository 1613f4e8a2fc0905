"""Files are written completely or not at all, from Python and from the command line."""

import os
import signal
import stat
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import rocpath as rp
from rocpath.cli import main
from rocpath.files.writer import write_file, write_files

resource = pytest.importorskip("resource")


def names(folder):
    return sorted(os.listdir(folder))


def test_a_file_is_replaced_and_keeps_its_permissions(tmp_path):
    path = tmp_path / "page.html"
    write_file(path, "old")
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~current_umask()
    path.chmod(0o600)
    write_file(str(path), b"new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert names(tmp_path) == ["page.html"]


def current_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_symbolic_link_is_kept(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link.html").symlink_to(tmp_path / "real" / "page.html")
    write_file(tmp_path / "link.html", "new")
    assert (tmp_path / "link.html").is_symlink()
    assert (tmp_path / "real" / "page.html").read_text() == "new"


def test_errors_name_the_file_and_keep_their_class(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none/page.html' cannot be written: No such file"):
        write_file(tmp_path / "none" / "page.html", "page")
    with pytest.raises(OSError, match=r"fit/page.html' cannot be written: No space left on device"):
        write_files(tmp_path / "fit", {"page.html": fail_halfway})
    with pytest.raises(FileNotFoundError, match=r"fit/page.html' cannot be written: No such file"):
        write_files(tmp_path / "fit", {"page.html": lambda path: write_file(path / "none", "")})
    assert names(tmp_path) == []


def fail_halfway(path):
    path.write_text("half")
    raise OSError(28, "No space left on device")


def test_a_folder_is_written_as_a_whole(tmp_path):
    write_files(tmp_path / "new", {"a": "1", "k=1/b": b"2", "c": partial(write_file, content="3")})
    assert (tmp_path / "new" / "k=1" / "b").read_text() == "2"
    with pytest.raises(ZeroDivisionError):
        write_files(tmp_path / "new", {"a": "replaced", "c": lambda path: 1 / 0})
    assert (tmp_path / "new" / "a").read_text() == "1"
    write_files(tmp_path / "new", {"a": "replaced", "d": "4"})
    assert names(tmp_path / "new") == ["a", "c", "d", "k=1"]
    assert (tmp_path / "new" / "a").read_text() == "replaced"


@pytest.fixture
def small_files_only():
    """Limit the size of files, as a full disk does."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_size_limit_leaves_results_of_python_as_they_were(tmp_path, fitted, request):
    pytest.importorskip("plotly")
    table = rp.read_table(fitted[1])
    model = rp.TableClassifier("linear", fast=True, random_state=0).fit(table, "y")
    y, score = np.arange(40) % 2, np.arange(40.0)
    writers = {
        "model.skops": model.save,
        "report.html": model.report,
        "evaluation.html": lambda path: rp.evaluation_report(y, {"score": score}, path=path),
    }
    for name in writers:
        (tmp_path / name).write_text(f"good {name}")
    request.getfixturevalue("small_files_only")
    for name, write in writers.items():
        with pytest.raises(OSError, match=rf"{name}' cannot be written: File too large"):
            write(tmp_path / name)
        assert (tmp_path / name).read_text() == f"good {name}"
    assert names(tmp_path) == sorted(writers)


def test_a_size_limit_leaves_results_of_commands_as_they_were(tmp_path, capsys, request):
    table = tmp_path / "table.csv"
    score = np.arange(40) % 7
    pl.DataFrame({"y": np.arange(40) % 2, "a": score, "b": -score}).write_csv(table)
    out = tmp_path / "page.html"
    out.write_text("good")
    request.getfixturevalue("small_files_only")
    assert main(["compare", str(table), "--label", "y", "--out", str(out), "--force"]) == 2
    assert f"{str(out)!r} cannot be written: File too large" in capsys.readouterr().err
    assert out.read_text() == "good"
    assert names(tmp_path) == ["page.html", "table.csv"]


PREDICT = """
import os, sys, time
from pathlib import Path
from rocpath.cli import many_files, main
write_table, n_written = many_files.write_table, 0

def write_slowly(*arguments, **options):
    global n_written
    write_table(*arguments, **options)
    n_written += 1
    if n_written == 2:
        Path(os.environ["SIGN"]).write_text("two files are written")
        time.sleep(60)

many_files.write_table = write_slowly
sys.exit(main())
"""


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGTERM")
def test_a_terminated_prediction_leaves_nothing_that_looks_finished(tmp_path, fitted, force):
    model, table = fitted
    rows = pl.read_csv(table)
    (tmp_path / "parts").mkdir()
    for number in range(3):
        rows.write_parquet(tmp_path / "parts" / f"{number}.parquet")
    out, sign = tmp_path / "scores", tmp_path / "sign"
    if force:
        out.mkdir()
    argv = ["predict", model, str(tmp_path / "parts"), "--out", str(out), "--force"]
    environment = {**os.environ, "SIGN": str(sign)}
    process = subprocess.Popen([sys.executable, "-c", PREDICT, *argv], env=environment)
    for _ in range(600):
        if sign.exists():
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 128 + signal.SIGTERM
    assert names(tmp_path) == ["parts", *(["scores"] if force else []), "sign"]
    assert not force or names(out) == []


def test_cells_that_spreadsheets_would_run_are_quoted(tmp_path):
    from rocpath.files.csv_text import inert_csv

    formulas = ["=1", "\n=1", " =1", "\uff1d1", "\u200b=1", "\uff0b1", "@a", "\t", "\na"]
    plain = ["-1", " -2.5", "+3", " a", "a=1", "1-2", "\u00e9"]
    table = pl.DataFrame({"=a": formulas})
    found = pl.read_csv(inert_csv(table).encode(), infer_schema=False)
    assert found.columns == ["'=a"]
    assert found["'=a"].to_list() == ["'" + text for text in formulas]
    categories = inert_csv(table.cast(pl.Categorical))
    assert categories == inert_csv(table)
    found = pl.read_csv(inert_csv(pl.DataFrame({"b": plain})).encode(), infer_schema=False)
    assert found["b"].to_list() == plain


def test_a_page_may_be_written_to_a_device():
    write_file(Path(os.devnull), "page")
    assert not Path(os.devnull).is_file()

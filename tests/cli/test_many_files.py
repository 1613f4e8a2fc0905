"""Tables in several files, in memory and on Dask."""

import json

import numpy as np
import pytest

pl = pytest.importorskip("polars")
pytest.importorskip("typer")
pytest.importorskip("distributed")

from rocpath.cli import main, many_files  # noqa: E402
from rocpath.cli.options import Source  # noqa: E402
from rocpath.files.models import read_saved  # noqa: E402
from rocpath.tables.model import TableModel  # noqa: E402


@pytest.fixture
def files(tmp_path):
    """Write three files with numbers, missing values and categories."""
    rng = np.random.default_rng(3)
    for number, n_rows in enumerate((150, 1, 149)):
        x, z = rng.normal(size=n_rows), rng.normal(size=n_rows).round(1)
        color = rng.choice(["red", "blue"], n_rows)
        is_positive = x + (color == "red") + rng.logistic(size=n_rows) > 1
        table = pl.DataFrame(
            {
                "name": [f"{number}-{row}" for row in range(n_rows)],
                "x": x,
                "z": [None if value > 1.5 else value for value in z.tolist()],
                "color": color,
                "y": np.where(is_positive, "yes", "no"),
            }
        )
        table.write_parquet(tmp_path / f"part{number}.parquet")
    return str(tmp_path / "part*.parquet")


@pytest.fixture
def on_client(monkeypatch, client):
    """Make commands use the running workers."""
    from contextlib import contextmanager

    @contextmanager
    def connect(scheduler):
        yield client

    monkeypatch.setattr(many_files, "connect", connect)


def run(*words):
    return main([str(word) for word in words])


def test_dask_fits_the_same_model_as_in_memory(files, tmp_path, capsys, on_client):
    how = ("--label", "y", "--drop", "name", "--quiet", "--model", "linear")
    assert run("fit", files, *how, "--fast", "--out", tmp_path / "a") == 0
    how = (*how, "--fast")
    assert run("fit", files, *how, "--engine", "dask", "--out", tmp_path / "b") == 0
    capsys.readouterr()
    areas = []
    for model, engine in (("a", "memory"), ("b", "memory"), ("b", "dask")):
        model = tmp_path / model
        assert run("evaluate", model, files, "--json", "--engine", engine) == 0
        areas.append(json.loads(capsys.readouterr().out))
    for area in areas[1:]:
        for name, value in areas[0].items():
            is_number = isinstance(value, (int, float))
            assert area[name] == (pytest.approx(value, rel=1e-9) if is_number else value)
    metrics = json.loads((tmp_path / "b" / "metrics.json").read_text())
    assert metrics["auc_of_training_rows"] == pytest.approx(areas[0]["auc"], rel=1e-12)
    assert metrics["n_files"] == 3

    for engine in ("memory", "dask"):
        how = ("--id", "name", "--engine", engine, "--out", tmp_path / engine)
        assert run("predict", tmp_path / "b", files, *how) == 0
    for number, n_rows in enumerate((150, 1, 149)):
        name = f"part{number}.parquet"
        here = pl.read_parquet(tmp_path / "memory" / name)
        assert here.height == n_rows
        assert here.equals(pl.read_parquet(tmp_path / "dask" / name))


def test_dask_writes_a_report_of_the_sampled_rows(files, tmp_path, capsys, on_client):
    pytest.importorskip("plotly")
    out = tmp_path / "fit"
    how = ("--label", "y", "--drop", "name", "--engine", "dask", "--out", out)
    assert run("fit", files, *how) == 0
    shown, notes = capsys.readouterr()
    assert "300 rows" not in shown  # all rows are sampled, so the title does not count them
    assert "sampling files, 3 partitions\n" in notes
    assert "checking rows, 3 partitions\n" in notes
    metrics = json.loads((out / "metrics.json").read_text())
    held_out = metrics["methods"]["AUCClassifier"]
    assert held_out["low"] < held_out["auc"] < held_out["high"]
    assert metrics["n_sampled_rows"] == 300
    assert metrics["n_positive"] + metrics["n_negative"] == 300
    page = (out / "report.html").read_text()
    assert f"{held_out['auc']:.3f}" in page


def test_thresholds_for_targets_are_the_same_on_dask(files, tmp_path, capsys, on_client):
    how = ("--label", "y", "--drop", "name", "--quiet", "--engine", "dask")
    for option in (("--max-fpr", "0.3"), ("--min-precision", "0.6"), ("--top", "40")):
        out = tmp_path / option[0].strip("-")
        assert run("fit", files, *how, *option, "--out", out) == 0
        model = read_saved(str(out), TableModel)
        assert model.threshold is not None
        capsys.readouterr()
        areas = []
        for engine in ("memory", "dask"):
            evaluate = ("evaluate", out, files, "--json", *option, "--engine", engine)
            assert run(*evaluate) == 0
            areas.append(json.loads(capsys.readouterr().out))
        assert areas[0].keys() == areas[1].keys()
        assert areas[1]["low"] == pytest.approx(areas[0]["low"], rel=1e-9)
        for one, other in zip(*(a["operating_points"] for a in areas), strict=True):
            assert one["rule"] == other["rule"]
            assert other["threshold"] == pytest.approx(one["threshold"], rel=1e-12)
    # All scores are different, so exactly 40 rows have the highest ones.
    rows = pl.concat([pl.read_parquet(files.replace("*", str(k))) for k in range(3)])
    assert (model.scores(rows) >= model.threshold).sum() == 40


def test_thresholds_with_groups_or_weights_are_the_same_on_dask(files, tmp_path, capsys, on_client):
    """Check groups whose rows are in several files, some without a label."""
    for number in range(3):
        name = files.replace("*", str(number))
        table = pl.read_parquet(name).with_row_index("row")
        row = pl.col("row")
        table = table.with_columns(
            group=pl.format("g{}", row % 25), weight=1.0 + row % 3, y=pl.when(row != 7).then("y")
        )
        table.drop("row").write_parquet(name)
    unlabeled = table.drop("row").with_columns(y=pl.lit(None, pl.String))
    unlabeled.write_parquet(files.replace("*", "3"))
    drop = ("--drop", "name", "--drop", "group", "--drop", "weight")
    how = ("--label", "y", *drop, "--quiet", "--fast", "--model", "linear")
    assert run("fit", files, *how, "--engine", "dask", "--out", tmp_path / "model") == 0
    capsys.readouterr()
    for columns in (("--group", "group"), ("--weight", "weight")):
        found = []
        for engine in ("memory", "dask"):
            targets = ("--max-fpr", "0.4", "--min-precision", "0.6", "--top", "40")
            how = ("--json", *columns, *targets, "--engine", engine)
            assert run("evaluate", tmp_path / "model", files, *how) == 0
            found.append(json.loads(capsys.readouterr().out))
        here, there = found
        assert here["n_positive"] + here["n_negative"] == 298
        assert any("151 of 449 rows have no label" in one for one in here["warnings"])
        assert [one["rule"] for one in here["operating_points"]] == [
            one["rule"] for one in there["operating_points"]
        ]
        for one, other in zip(here["operating_points"], there["operating_points"], strict=True):
            assert other["threshold"] == pytest.approx(one["threshold"], rel=1e-9)
            assert other["fpr"] == pytest.approx(one["fpr"], rel=1e-9)
        for name in ("auc", "low", "high", "n_positive"):
            assert there[name] == pytest.approx(here[name], rel=1e-9)
        assert here["warnings"] == there["warnings"]


def test_errors_are_the_same_on_dask(files, tmp_path, capsys, on_client):
    how = ("--label", "y", "--engine", "dask", "--fast", "--quiet")
    assert run("fit", files, *how, "--drop", "nmae", "--out", tmp_path / "a") == 2
    assert "'nmae'" in capsys.readouterr().err
    how = (*how, "--drop", "name", "--out", tmp_path / "b")
    assert run("fit", files, *how) == 0
    # A third label, and positives that are more frequent than negatives.
    for number, kinds in (("3", "yes maybe no"), ("4", "z z no")):
        first = pl.read_parquet(files.replace("*", "0"))
        label = pl.Series("y", (kinds.split() * first.height)[: first.height])
        other = str(tmp_path / f"other{number}.parquet")
        first.with_columns(label).write_parquet(other)
        if number == "3":
            assert run("evaluate", tmp_path / "b", other, "--engine", "dask") == 2
            assert "'maybe' in row 2" in capsys.readouterr().err
        else:
            fit = ("fit", other, *how[:-1], tmp_path / "c")
            assert run(*fit) == 2
            assert "'z', is the more frequent label" in capsys.readouterr().err


def test_files_that_need_over_half_of_the_memory_are_read_with_dask(files, monkeypatch, capsys):
    assert not many_files.runs_on_dask(files, Source())
    monkeypatch.setattr(many_files, "available_memory", lambda: 10_000)
    assert many_files.runs_on_dask(files, Source())
    assert "with Dask and local workers" in capsys.readouterr().err
    assert not many_files.runs_on_dask(files, Source(engine="memory"))


def test_unsupported_options_raise(files, tmp_path, capsys):
    dask = ("--label", "y", "--engine", "dask")
    bad = {
        "matches no file": ("fit", tmp_path / "none*.csv", "--label", "y"),
        "--model must be auto or linear": ("fit", files, *dask, "--model", "boosting"),
        "are not supported on Dask": ("fit", files, *dask, "--group", "name"),
        "standard input requires": ("fit", "-", *dask),
        "--scheduler requires --engine dask": (
            *("fit", files, "--label", "y", "--engine", "memory"),
            *("--scheduler", "tcp://127.0.0.1:1"),
        ),
    }
    for message, words in bad.items():
        assert run(*words) == 2
        assert message in capsys.readouterr().err
    pl.DataFrame({"x": [1.0], "y": ["no"]}).write_parquet(tmp_path / "part9.parquet")
    assert run("fit", files, "--label", "y") == 2
    assert "must have the columns of the first file" in capsys.readouterr().err

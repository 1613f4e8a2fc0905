"""Commands for tables in several files."""

import json

import numpy as np
import pytest

pl = pytest.importorskip("polars")
pytest.importorskip("typer")

from rocpath.cli import main  # noqa: E402


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
        folder = tmp_path / "parts" / f"k={number}"
        folder.mkdir(parents=True)
        table.write_parquet(folder / "part.parquet")
    return tmp_path / "parts"


def run(*words):
    return main([str(word) for word in words])


def test_several_files_are_one_table(files, tmp_path, capsys):
    whole = tmp_path / "whole.parquet"
    parts = [pl.read_parquet(files / f"k={k}/part.parquet") for k in range(3)]
    pl.concat(parts).write_parquet(whole)
    how = ("--label", "y", "--drop", "name", "--quiet", "--model", "linear", "--fast")
    for table, out in ((files, "parts"), (whole, "whole")):
        drop = ("--drop", "k") if table == files else ()
        assert run("fit", table, *how, *drop, "--out", tmp_path / f"model-{out}") == 0
    capsys.readouterr()
    shown = []
    for table, model in ((files, "parts"), (f"{files}/*/*.parquet", "parts"), (whole, "whole")):
        assert run("evaluate", tmp_path / f"model-{model}", table, "--json") == 0
        shown.append(json.loads(capsys.readouterr().out))
    assert shown[0] == shown[1] == shown[2]
    scores = tmp_path / "scores"
    assert run("predict", tmp_path / "model-parts", files, "--id", "name", "--out", scores) == 0
    model = rp_model(tmp_path / "model-parts")
    for number, part in enumerate(parts):
        here = pl.read_parquet(scores / f"k={number}/part.parquet")
        assert here["name"].to_list() == part["name"].to_list()
        np.testing.assert_array_equal(here["score"].to_numpy(), model.scores(part))


def rp_model(path):
    from rocpath.files.models import read_saved
    from rocpath.tables.model import TableModel

    return read_saved(str(path), TableModel)


def test_partition_columns_are_features(files, tmp_path, capsys):
    how = ("--drop", "name", "--quiet", "--fast", "--model", "linear", "--type", "k=category")
    assert run("fit", files, "--label", "y", *how, "--out", tmp_path / "m") == 0
    assert "k" in rp_model(tmp_path / "m").features.category
    assert run("predict", tmp_path / "m", files, "--out", tmp_path / "scores") == 0


def test_nothing_that_looks_finished_remains_if_a_file_is_invalid(files, tmp_path, capsys):
    drop = ("--drop", "name", "--drop", "k")
    how = ("--label", "y", *drop, "--quiet", "--fast", "--model", "linear")
    assert run("fit", files, *how, "--out", tmp_path / "m") == 0
    bad = pl.DataFrame({"x": ["many"], "z": [1.0], "color": ["red"]})
    bad.write_parquet(files / "k=2/part.parquet")
    out = tmp_path / "scores"
    assert run("predict", tmp_path / "m", files, "--out", out) == 2
    assert not out.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m", "parts"]


def test_an_unquoted_pattern_names_the_remedy(files, tmp_path, capsys):
    names = sorted(files.glob("*/*.parquet"))
    assert run("fit", *names, "--label", "y") == 2
    message = capsys.readouterr().err
    assert "quote a pattern that stands for several files, such as 'parts/*.parquet'" in message
    assert run("fit", "s3://bucket/t.parquet", "--label", "y") == 2
    assert "is a remote address" in capsys.readouterr().err
    assert run("fit", tmp_path / "none*.csv", "--label", "y") == 2
    assert "matches no file" in capsys.readouterr().err

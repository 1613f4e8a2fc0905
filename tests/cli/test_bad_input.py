"""Errors of the command line: invalid input, and failures while writing."""

import os

import numpy as np
import polars as pl
import pytest
import skops.io

from rocpath.cli import main
from rocpath.files import tables, writer
from tests.cli.command_tables import fails, labeled_table, long_tables, read, write


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("0x,0,15,no_change", "row 1, which is not among the sequences"),
        ("00,0,15,wrong", "'wrong' in row 1"),
        ("00,0,9,no_change\n00,8,15,no_change", "(0.0, 9.0] in row 1 and (8.0, 15.0] in row 2"),
        ("00,50,60,no_change", "from 0.0 to 39.0, got (50.0, 60.0] in row 1"),
        ("00,0,15,peaks", "constraint='up_down'"),
        ("00,15,0,no_change", "must be below end, got 15.0 and 0.0 in row 1"),
        ("00,,15,no_change", "column 'start' has a missing value in row 1"),
        ("00,0,15,no_change", "label regions with and without changes"),
        ("00,0,15,no_change\n00,15,25,one_change", "at least two sequences for cross-validation"),
    ],
)
def test_invalid_changepoint_labels_are_errors(tmp_path, capsys, label, message):
    sequences, _ = long_tables(tmp_path)
    labels = write(tmp_path / "bad.csv", f"sequence,start,end,kind\n{label}\n")
    out = str(tmp_path / "model")
    argv = ["changepoint", "fit", sequences, labels, "--max-changes", "5", "--quiet"]
    assert message in fails(capsys, [*argv, "--out", out])
    assert not os.path.exists(out)


def test_changepoint_fit_with_the_fewest_sequences(tmp_path, capsys):
    # Each fold is trained on one sequence with one label.
    sequences, _ = long_tables(tmp_path)
    labels = "sequence,start,end,kind\n00,0,15,no_change\n01,15,25,one_change\n"
    labels = write(tmp_path / "few.csv", labels)
    out = str(tmp_path / "model")
    argv = ["changepoint", "fit", sequences, labels, "--max-changes", "5"]
    assert main([*argv, "--out", out]) == 0
    shown, notes = capsys.readouterr()
    assert "2 cross-validation folds, 2 labels in 2 sequences" in shown
    assert "10 of 12 sequences have no labels" in notes


def test_errors_name_negative_counts(tmp_path, capsys):
    sequences, labels = long_tables(tmp_path)
    value = pl.read_csv(sequences)["value"]
    row = int((value < 0).arg_max()) + 1
    argv = ["changepoint", "fit", sequences, labels, "--cost", "poisson"]
    message = fails(capsys, [*argv, "--out", str(tmp_path / "model")])
    assert "'value' must not be negative for cost='poisson', got -" in message
    assert message.endswith(f" in row {row}.\n")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"a,b,y\n", "has a header but no rows"),
        (b"a,a,y\n1,2,0\n3,4,1\n", "more than one column 'a'"),
        (b"a;y\n1;0\n3;1;2\n", "has one column 'a;y', and no separator gives"),
        (b"a,y\n1,0\n2,1,5\n", "row 2 has 3 fields, but the header has 2"),
        (b"a,b\n1,0\n2,1\n", "label column 'y' not found; columns are: a, b"),
        (b"a,y\n1,a\n2,b\n3,c\n", "has 3 values (a, b, c): specify the positive one"),
        (b"a,y\n1,0\n2,0\n", "has only the value '0'"),
        (b",y\n1,0\n2,1\n", "'': it has no name"),
        (b"a,y\n,0\n,1\n", "'a': all values are missing"),
        (b"y\n0\n1\n", "no column is left"),
        (b"a,y\n1,0\ninf,1\n3,0\n4,1\n", "got inf in row 2"),
        (b"a,y\n1,0\n1e300,1\n3,0\n4,1\n", "in row 2"),
        (b"a,y\n1,0\n2,0\n3,1\n", "label '1' of column 'y' must occur in at least two rows"),
        (b"a,y\n1,0\n\xff\xfe,1\n", "is not UTF-8 text: byte 0xff in row 2"),
        (b"a,y\n1,0\n2\0,1\n", "has a NUL byte in row 2"),
        (b"\xff\xfea\0,\0y\0\n", "is not utf-16 text"),
        (b"[red],<b>\n1,0\n2,1\n", "columns are: [red], <b>"),
        (b"\x1b[31mx,b\n1,0\n2,1\n", "columns are: \\x1b[31mx, b"),
    ],
)
def test_invalid_tables_are_errors(tmp_path, capsys, content, message):
    table = tmp_path / "table.csv"
    table.write_bytes(content)
    out = tmp_path / "model"
    argv = ["fit", str(table), "--label", "y", "--out", str(out), "--quiet"]
    assert message in fails(capsys, argv)
    assert os.listdir(tmp_path) == ["table.csv"]


def test_unreadable_files_are_errors(tmp_path, capsys, fitted):
    model, table = fitted
    bad = tmp_path / "bad.parquet"
    bad.write_bytes(b"PAR1 this is not")
    folder = tmp_path / "folder.csv"
    folder.mkdir()
    write(tmp_path / "table.xls", "a,b")
    for name, message in (
        (str(bad), "is not readable Parquet"),
        (str(folder), "is a folder without Parquet files"),
        (str(tmp_path / "none.csv"), "does not exist"),
        (str(tmp_path / "table.xls"), "must end in .csv, .tsv, .txt, .parquet"),
    ):
        assert message in fails(capsys, ["predict", model, name])
    assert "is not a rocpath model" in fails(capsys, ["predict", table, table])
    assert "does not exist" in fails(capsys, ["predict", str(tmp_path), table])


def test_a_panic_on_damaged_parquet_is_reported_in_one_line(tmp_path, capfd):
    table = str(tmp_path / "table.parquet")
    labeled_table().write_parquet(table)

    def panic(*_):
        os.write(2, b"thread panicked\nstack backtrace:\n")
        raise pl.exceptions.PanicException("range end index out of range")

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(tables._BINARY, ".parquet", ("Parquet", panic))
        assert main(["fit", table, "--label", "y"]) == 2
    err = capfd.readouterr().err
    assert err == f"rocpath: {table!r} is not readable Parquet: it is damaged.\n"


def test_predict_names_a_missing_column(tmp_path, capsys, fitted):
    model, _ = fitted
    table = write(tmp_path / "t.csv", "size,flag\n1,true\n")
    message = fails(capsys, ["predict", model, table])
    assert "column 'color' not found, but required by the model" in message
    table = write(tmp_path / "t.csv", "size,flag,color\n1,true,red\nbig,true,red\n")
    message = fails(capsys, ["predict", model, table])
    assert "column 'size' must be numbers, got 'big' in row 2" in message
    assert "id column 'no' not found" in fails(capsys, ["predict", model, fitted[1], "--id", "no"])


def test_evaluate_rejects_unknown_labels(tmp_path, capsys, fitted):
    table = tmp_path / "t.csv"
    labeled_table().with_columns(y=pl.lit("maybe")).write_csv(table)
    message = fails(capsys, ["evaluate", fitted[0], str(table)])
    assert "'maybe' in row 1; the classes of the model are 'no' and 'yes'" in message


def test_nothing_is_overwritten_without_force(tmp_path, capsys, fitted):
    model, table = fitted
    out = write(tmp_path / "scores.csv", "mine")
    assert "--force" in fails(capsys, ["predict", model, table, "--out", out])
    assert read(out) == "mine"
    assert main(["predict", model, table, "--out", out, "--force"]) == 0
    assert read(out) != "mine"
    folder = tmp_path / "folder"
    folder.mkdir()
    write(folder / "notes.txt", "mine")
    argv = ["fit", table, "--label", "y", "--quiet", "--out"]
    assert "--force" in fails(capsys, [*argv, str(folder)])
    assert main([*argv, str(folder), "--force"]) == 0
    assert (folder / "notes.txt").read_text() == "mine"
    assert (folder / "model.skops").exists()
    assert "is a file" in fails(capsys, [*argv, out, "--force"])
    assert "no directory" in fails(capsys, [*argv, str(tmp_path / "no" / "model")])
    assert "not a regular file" in fails(
        capsys, ["path", table, "--model", model, "--out", os.devnull, "--force"]
    )


@pytest.mark.parametrize(("error", "code"), [(OSError("disk full"), 2), (KeyboardInterrupt(), 130)])
def test_nothing_remains_of_a_fit_that_fails_while_writing(
    tmp_path, monkeypatch, fitted, error, code
):
    written, write_file = [], writer.write_file

    def write_two(path, content):
        if len(written) == 2:
            raise error
        write_file(path, content)
        written.append(path)

    monkeypatch.setattr(writer, "write_file", write_two)
    out = str(tmp_path / "model")
    argv = ["fit", fitted[1], "--label", "y", "--out", out, "--quiet"]
    assert main(argv) == code
    assert len(written) == 2
    assert os.listdir(tmp_path) == []


def test_nothing_is_written_outside_an_existing_output_folder(tmp_path, monkeypatch, fitted):
    out = tmp_path / "model"
    out.mkdir()
    created = []
    mkdir = type(out).mkdir
    monkeypatch.setattr(type(out), "mkdir", lambda path: created.append(path) or mkdir(path))
    argv = ["fit", fitted[1], "--label", "y", "--out", str(out), "--quiet", "--force"]
    assert main(argv) == 0
    assert [path.parent for path in created] == [out]
    assert sorted(os.listdir(out)) == ["metrics.json", "model.skops", "report.html"]


def test_nothing_remains_of_scores_that_fail_while_writing(tmp_path, monkeypatch, fitted):
    def fail(*_):
        raise OSError("disk full")

    out = tmp_path / "scores.csv"
    out.write_text("mine")
    monkeypatch.setattr(os, "fsync", fail)
    argv = ["predict", *fitted, "--out", str(out), "--force"]
    assert main(argv) == 2
    assert os.listdir(tmp_path) == ["scores.csv"]
    assert out.read_text() == "mine"


def test_a_model_with_foreign_types_is_not_loaded(tmp_path, capsys, fitted):
    path = tmp_path / "model.skops"
    foreign = {"format": 1, "kind": "table", "pipeline": np.poly1d([1.0])}
    skops.io.dump(foreign, path)
    message = fails(capsys, ["predict", str(path), fitted[1]])
    assert "rocpath models do not use: numpy" in message
    skops.io.dump({"format": 99}, path)
    assert "not a model of this version" in fails(capsys, ["predict", str(path), fitted[1]])


def test_usage_errors_are_reported_in_one_line(capsys):
    assert "Missing option '--label'" in fails(capsys, ["fit", "t.csv"])
    assert "No such command 'fitt'" in fails(capsys, ["fitt"])
    assert "rocpath changepoint --help" in fails(capsys, ["changepoint"])

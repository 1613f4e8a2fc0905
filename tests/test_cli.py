"""The command line, through main(argv) as a user would call it."""

import io
import json
import os
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
import skops.io
from sklearn.metrics import roc_auc_score

from rocpath import tables
from rocpath.cli import main

CALL = "import sys; from rocpath.cli import main; sys.exit(main())"


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return str(path)


def read(name):
    with open(name, encoding="utf-8") as file:
        return file.read()


def labelled_table(n_rows=30, seed=0):
    """Make numbers, a category and a boolean that tell the label, with gaps."""
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n_rows)
    colour = rng.choice(["red", "green"], size=n_rows)
    score = 2 * size + (colour == "red") + rng.normal(size=n_rows)
    is_positive = score > np.quantile(score, 0.7)
    table = pl.DataFrame(
        {
            "row": np.arange(1, n_rows + 1),
            "size": size,
            "colour": colour,
            "flag": rng.random(n_rows) < 0.5,
            "same": "x",
            "nothing": pl.Series([None] * n_rows, dtype=pl.Float64),
            "y": np.where(is_positive, "yes", "no"),
        }
    )
    is_gap = pl.Series(np.arange(n_rows) % 9 == 4)
    return table.with_columns(
        size=pl.when(is_gap).then(None).otherwise(pl.col("size")),
        colour=pl.when(is_gap).then(None).otherwise(pl.col("colour")),
    )


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """Fit once; tests only read it."""
    folder = tmp_path_factory.mktemp("fitted")
    table = str(folder / "table.csv")
    labelled_table().write_csv(table)
    model = str(folder / "model")
    assert main(["fit", table, "--label", "y", "--out", model, "--quiet"]) == 0
    return model, table


def fails(capsys, argv):
    """Run a command that must fail; return its one line."""
    capsys.readouterr()
    assert main(argv) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("rocpath: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    return err


def test_fit_writes_model_metrics_and_report(fitted):
    model, _ = fitted
    assert sorted(os.listdir(model)) == ["metrics.json", "model.skops", "report.html"]
    metrics = json.loads(read(os.path.join(model, "metrics.json")))
    assert metrics["positive"] == "yes"
    assert metrics["n_positive"] + metrics["n_negative"] == 30
    assert metrics["columns"]["number"] == ["size", "flag"]
    assert metrics["columns"]["category"] == ["colour"]
    assert set(metrics["columns"]["left_out"]) == {"row", "same", "nothing"}
    for method in metrics["methods"].values():
        assert 0.5 < method["auc"] <= 1
        assert method["standard_error"] >= 0


def test_fit_shows_the_comparison_and_names_what_it_leaves_out(
    tmp_path, capsys, fitted
):
    out = str(tmp_path / "model")
    assert main(["fit", fitted[1], "--label", "y", "--out", out]) == 0
    shown, notes = capsys.readouterr()
    assert "balanced logistic regression" in shown
    assert "column 'same' is left out: all values are equal" in notes
    assert f"Open {out}/report.html" in notes


@pytest.mark.parametrize("extension", ["csv", "tsv", "parquet"])
def test_saved_model_gives_the_scores_of_the_fitted_one(tmp_path, fitted, extension):
    model, table = fitted
    out = str(tmp_path / f"scores.{extension}")
    assert main(["predict", model, table, "--id", "row", "--out", out]) == 0
    scores = {
        "csv": pl.read_csv,
        "tsv": lambda name: pl.read_csv(name, separator="\t"),
        "parquet": pl.read_parquet,
    }[extension](out)
    assert scores.columns == ["row", "score", "probability", "prediction"]
    path = os.path.join(model, "model.skops")
    state = skops.io.load(path, trusted=skops.io.get_untrusted_types(file=path))
    frame = tables.read_table(table).select(*state["number"], *state["category"])
    frame = frame.cast(dict.fromkeys(state["number"], pl.Float64))
    np.testing.assert_array_equal(
        scores["score"], state["pipeline"].decision_function(frame)
    )
    np.testing.assert_allclose(
        scores["probability"], state["pipeline"].predict_proba(frame)[:, 1]
    )
    assert ((scores["score"] > 0) == (scores["prediction"] == "yes")).all()


def test_fit_of_parquet_and_csv_agree(tmp_path, fitted):
    model, csv_table = fitted
    table = str(tmp_path / "table.parquet")
    labelled_table().write_parquet(table)
    other = str(tmp_path / "other")
    assert main(["fit", table, "--label", "y", "--out", other, "--quiet"]) == 0
    outs = [str(tmp_path / f"{k}.csv") for k in range(2)]
    assert main(["predict", model, table, "--out", outs[0]]) == 0
    assert main(["predict", other, csv_table, "--out", outs[1]]) == 0
    assert pl.read_csv(outs[0]).equals(pl.read_csv(outs[1]))


def test_evaluate_gives_the_auc_and_delong_error(capsys, tmp_path, fitted):
    model, table = fitted
    out = str(tmp_path / "scores.csv")
    assert main(["predict", model, table, "--out", out]) == 0
    assert main(["evaluate", model, table, "--label", "y", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    score = pl.read_csv(out)["score"].to_numpy()
    y = (labelled_table()["y"] == "yes").to_numpy()
    assert found["auc"] == pytest.approx(roc_auc_score(y, score))
    # DeLong: variances of the shares of pairs won, by class.
    wins = (score[y][:, None] > score[~y]) + 0.5 * (score[y][:, None] == score[~y])
    variance = wins.mean(axis=1).var() / y.sum() + wins.mean(axis=0).var() / (~y).sum()
    assert found["standard_error"] == pytest.approx(np.sqrt(variance))
    assert (found["n_positive"], found["n_negative"]) == (y.sum(), (~y).sum())
    assert main(["evaluate", model, table]) == 0
    assert f"{found['auc']:.4f}" in capsys.readouterr().out


def test_path_of_two_columns_finds_the_steps_worked_out_by_hand(tmp_path, capsys):
    # The four-point example: AUM falls from 1 to 0 at step 2, where AUC becomes 1.
    table = write(tmp_path / "line.csv", "y,at,d\n0,-7,0\n0,-2,-0.5\n1,0,0\n1,-4,0.5\n")
    out = str(tmp_path / "path.html")
    argv = ["path", table, "--label", "y", "--predictions", "at", "--direction", "d"]
    assert main([*argv, "--out", out]) == 0
    rows = {}
    for line in capsys.readouterr().out.splitlines():
        cells = [cell.strip() for cell in line.split("│")[1:-1]]
        if cells:
            rows[cells[0]] = [float(cell) for cell in cells[1:]]
    assert rows["start"] == [0, 1, 0.75]
    assert rows["best AUM"][1] == 0
    assert rows["best AUC"][2] == 1
    assert rows["best AUC"][0] > 2
    assert read(out).lower().startswith("<!doctype html")
    fails(capsys, [*argv, "--out", out])
    assert main([*argv, "--out", out, "--force"]) == 0


def test_path_of_a_model_starts_at_its_auc(tmp_path, capsys, fitted):
    model, table = fitted
    assert main(["evaluate", model, table, "--json"]) == 0
    start = json.loads(capsys.readouterr().out)["auc"]
    assert main(["path", table, "--model", model]) == 0
    assert f"{start:.6f}" in capsys.readouterr().out
    assert "either" in fails(capsys, ["path", table, "--label", "y"])


def long_tables(folder):
    rng = np.random.default_rng(0)
    sequences, labels = ["sequence,value"], ["sequence,start,end,kind"]
    for name in range(12):
        spread = rng.choice([0.2, 2.0])
        value = np.repeat([0, 8 * spread], 20) + spread * rng.normal(size=40)
        sequences += [f"0{name},{one}" for one in value]
        for label in ("0,15,no_change", "15,25,one_change", "25,39,no_change"):
            labels.append(f"0{name},{label}")
    return (
        write(folder / "sequences.csv", "\n".join(sequences)),
        write(folder / "labels.csv", "\n".join(labels)),
    )


def test_changepoint_model_finds_the_changes(tmp_path, capsys):
    sequences, labels = long_tables(tmp_path)
    model, out = str(tmp_path / "model"), str(tmp_path / "changes.csv")
    argv = ["changepoint", "fit", sequences, labels, "--max-changes", "10"]
    assert main([*argv, "--out", model]) == 0
    assert "12 sequences" in capsys.readouterr().out
    metrics = json.loads(read(os.path.join(model, "metrics.json")))["methods"][
        "PenaltyRegressor"
    ]
    assert metrics["auc"] > 0.9
    assert metrics["label_errors"] <= 4
    assert main(["changepoint", "predict", model, sequences, "--out", out]) == 0
    changes = pl.read_csv(out, schema_overrides={"sequence": pl.String})
    assert changes["sequence"].to_list() == [f"0{name}" for name in range(12)]
    assert (changes["position"] - 20).abs().max() <= 1
    assert "rocpath fit" in fails(capsys, ["predict", model, sequences])


def test_changepoint_weights_are_runs_and_positions_their_units(tmp_path):
    sequences, labels = long_tables(tmp_path)
    long = pl.read_csv(sequences, schema_overrides={"sequence": pl.String})
    coded = long.with_columns(
        weight=pl.lit(2),
        position=(pl.int_range(pl.len()).over("sequence") * 2),
    )
    pl.read_csv(labels, schema_overrides={"sequence": pl.String}).with_columns(
        pl.col("start") * 2, pl.col("end") * 2
    ).write_csv(labels)
    # The order of the rows does not matter where there are positions.
    coded.reverse().write_csv(sequences)
    model, out = str(tmp_path / "model"), str(tmp_path / "changes.csv")
    argv = ["changepoint", "fit", sequences, labels, "--max-changes", "8"]
    assert main([*argv, "--out", model, "--quiet"]) == 0
    assert main(["changepoint", "predict", model, sequences, "--out", out]) == 0
    assert ((pl.read_csv(out)["position"] - 40).abs() <= 2).all()


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("0x,0,15,no_change", "row 1, which is not among the sequences"),
        ("00,0,15,wrong", "'wrong' in row 1"),
        (
            "00,0,9,no_change\n00,8,15,no_change",
            "(8, 15] in row 2 and the one in row 1",
        ),
        ("00,50,60,no_change", "from 0 to 39, got (50, 60] in row 1"),
        ("00,0,15,peaks", "--constraint up_down"),
        ("00,15,0,no_change", "start below their end, got (15, 0] in row 1"),
        ("00,,15,no_change", "column 'start' has missing values in row 1"),
        ("00,0,15,no_change", "both where changes are and where none are"),
    ],
)
def test_changepoint_labels_that_cannot_be_used(tmp_path, capsys, label, message):
    sequences, _ = long_tables(tmp_path)
    labels = write(tmp_path / "bad.csv", f"sequence,start,end,kind\n{label}\n")
    out = str(tmp_path / "model")
    argv = ["changepoint", "fit", sequences, labels, "--max-changes", "5", "--quiet"]
    assert message in fails(capsys, [*argv, "--out", out])
    assert not os.path.exists(out)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"a,b,y\n", "has a header but no rows"),
        (b"a,a,y\n1,2,0\n3,4,1\n", "more than one column 'a'"),
        (b"a,y\n1,0\n2,1,5\n", "row 2 has 3 fields, the header 2"),
        (b"a,b\n1,0\n2,1\n", "label column 'y' not found; columns are: a, b"),
        (b"a,y\n1,0\n2,1\n3,\n", "label column 'y' has missing values in row 3"),
        (b"a,y\n1,a\n2,b\n3,c\n", "has 3 values (a, b, c): name one with --positive"),
        (b"a,y\n1,0\n2,0\n", "has only the value '0'"),
        (b"a,y\n,0\n,1\n", "'a': all values are missing"),
        (b"y\n0\n1\n", "no column is left"),
        (b"a,y\n1,0\ninf,1\n3,0\n4,1\n", "got inf in row 2"),
        (b"a,y\n1,0\n1e300,1\n3,0\n4,1\n", "in row 2"),
        (b"a,y\n1,0\n2,0\n3,1\n", "has only 1 row of '1'"),
        (b"a,y\n1,0\n\xff\xfe,1\n", "is not UTF-8 text: byte 0xff in row 2"),
        (b"[red],<b>\n1,0\n2,1\n", "columns are: [red], <b>"),
        (b"\x1b[31mx,b\n1,0\n2,1\n", "columns are: \\x1b[31mx, b"),
    ],
)
def test_tables_that_cannot_be_fitted(tmp_path, capsys, content, message):
    table = tmp_path / "table.csv"
    table.write_bytes(content)
    out = tmp_path / "model"
    argv = ["fit", str(table), "--label", "y", "--out", str(out)]
    assert message in fails(capsys, argv)
    assert os.listdir(tmp_path) == ["table.csv"]


def test_files_that_cannot_be_read(tmp_path, capsys, fitted):
    model, table = fitted
    bad = tmp_path / "bad.parquet"
    bad.write_bytes(b"PAR1 this is not")
    folder = tmp_path / "folder.csv"
    folder.mkdir()
    for name, message in (
        (str(bad), "is not readable Parquet"),
        (str(folder), "is a directory"),
        (str(tmp_path / "none.csv"), "does not exist"),
        (str(tmp_path / "table.xls"), "must end in .csv, .tsv or .parquet"),
    ):
        assert message in fails(capsys, ["predict", model, name])
    assert "is not a model" in fails(capsys, ["predict", table, table])
    assert "does not exist" in fails(capsys, ["predict", str(tmp_path), table])


def test_predict_names_the_column_that_the_model_misses(tmp_path, capsys, fitted):
    model, _ = fitted
    table = write(tmp_path / "t.csv", "size,flag\n1,true\n")
    message = fails(capsys, ["predict", model, table])
    assert "column 'colour' not found, which the model needs" in message
    table = write(tmp_path / "t.csv", "size,flag,colour\n1,true,red\nbig,true,red\n")
    message = fails(capsys, ["predict", model, table])
    assert "column 'size' must be numbers, got 'big' in row 2" in message
    assert "id column 'no' not found" in fails(
        capsys, ["predict", model, fitted[1], "--id", "no"]
    )


def test_predict_takes_unknown_categories_and_gaps(tmp_path, capsys, fitted):
    model, _ = fitted
    table = write(tmp_path / "t.csv", "size,flag,colour\n1,,007\n,true,\n")
    assert main(["predict", model, table]) == 0
    scores = pl.read_csv(io.StringIO(capsys.readouterr().out))
    assert scores["score"].is_finite().all()
    assert scores.height == 2


def test_evaluate_refuses_labels_that_the_model_does_not_know(tmp_path, capsys, fitted):
    table = tmp_path / "t.csv"
    labelled_table().with_columns(y=pl.lit("maybe")).write_csv(table)
    message = fails(capsys, ["evaluate", fitted[0], str(table)])
    assert "'maybe' in row 1; the model knows 'no' and 'yes'" in message


def test_one_of_many_labels_is_ranked_against_the_rest(tmp_path, capsys):
    table = tmp_path / "t.csv"
    rows = labelled_table()
    kinds = np.where(rows["y"] == "yes", 2.0, np.arange(30) % 2)
    rows.with_columns(y=kinds).write_csv(table)
    out = str(tmp_path / "model")
    argv = ["fit", str(table), "--label", "y", "--out", out, "--quiet"]
    assert "no value '3': name one of 0, 1, 2" in fails(
        capsys, [*argv, "--positive", "3"]
    )
    assert main([*argv, "--positive", "2"]) == 0
    assert main(["evaluate", out, str(table), "--json"]) == 0
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (found["positive"], found["negative"]) == ("2", "not 2")


def test_hostile_names_are_shown_and_do_nothing(tmp_path, capsys):
    table = tmp_path / "t.csv"
    names = {"size": "<script>alert(1)</script>", "colour": "[red]x[/red]"}
    names |= {"flag": "\x1b[31m", "same": "[/]", "y": "[bold]y"}
    rows = labelled_table().rename(names)
    rows = rows.with_columns(pl.col("[bold]y").replace("yes", "[blink]<b>yes"))
    rows.write_csv(table)
    out = str(tmp_path / "model")
    assert main(["fit", str(table), "--label", "[bold]y", "--out", out]) == 0
    shown, notes = capsys.readouterr()
    assert "'[blink]<b>yes'" in shown
    assert "'[/]'" in notes
    assert "\x1b" not in shown + notes
    assert "<script>alert" not in read(os.path.join(out, "report.html"))
    assert main(["predict", out, str(table)]) == 0
    assert "[blink]<b>yes" in capsys.readouterr().out


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


@pytest.mark.parametrize(
    ("error", "code"), [(OSError("disk full"), 2), (KeyboardInterrupt(), 130)]
)
def test_nothing_remains_of_a_fit_that_fails_while_writing(
    tmp_path, monkeypatch, fitted, error, code
):
    written = []

    def write_two(path, content):
        if len(written) == 2:
            raise error
        path.write_bytes(content)
        written.append(path)

    monkeypatch.setattr(tables, "_write", write_two)
    out = str(tmp_path / "model")
    argv = ["fit", fitted[1], "--label", "y", "--out", out, "--quiet"]
    assert main(argv) == code
    assert len(written) == 2
    assert os.listdir(tmp_path) == []


def test_nothing_remains_of_scores_that_fail_while_writing(
    tmp_path, monkeypatch, fitted
):
    def write_half(table, path, **_):
        path.write_text("half")
        raise OSError("disk full")

    monkeypatch.setattr(pl.DataFrame, "write_csv", write_half)
    out = tmp_path / "scores.csv"
    out.write_text("mine")
    argv = ["predict", *fitted, "--out", str(out), "--force"]
    assert main(argv) == 2
    assert os.listdir(tmp_path) == ["scores.csv"]
    assert out.read_text() == "mine"


def test_a_model_with_foreign_types_is_not_loaded(tmp_path, capsys, fitted):
    path = tmp_path / "model.skops"
    strange = {"format": 1, "kind": "table", "pipeline": np.poly1d([1.0])}
    skops.io.dump(strange, path)
    message = fails(capsys, ["predict", str(path), fitted[1]])
    assert "was not loaded: numpy" in message
    skops.io.dump({"format": 99}, path)
    assert "not a model of this version" in fails(
        capsys, ["predict", str(path), fitted[1]]
    )


@pytest.mark.parametrize(
    "command",
    [
        [],
        ["fit"],
        ["predict"],
        ["evaluate"],
        ["path"],
        ["demo"],
        ["changepoint"],
        ["changepoint", "fit"],
        ["changepoint", "predict"],
    ],
)
def test_every_command_has_help_with_examples(command, capsys):
    assert main([*command, "--help"]) == 0
    assert f"  {' '.join(['rocpath', *command])} " in capsys.readouterr().out


def test_wrong_usage_is_told_in_one_line(capsys):
    assert "Missing option '--label'" in fails(capsys, ["fit", "t.csv"])
    assert "No such command 'fitt'" in fails(capsys, ["fitt"])
    assert "rocpath changepoint --help" in fails(capsys, ["changepoint"])


def run(argv, **options):
    return subprocess.run(
        [sys.executable, "-c", CALL, *argv], capture_output=True, check=False, **options
    )


def test_tables_come_from_stdin_and_scores_go_to_stdout(tmp_path, fitted):
    model, table = fitted
    with open(table, "rb") as file:
        content = file.read()
    done = run(["predict", model, "-"], input=content)
    assert (done.returncode, done.stderr) == (0, b"")
    assert pl.read_csv(done.stdout).height == 30
    out = str(tmp_path / "model")
    done = run(["fit", "-", "--label", "y", "--out", out], input=content)
    assert done.returncode == 0
    assert b"\x1b" not in done.stdout + done.stderr
    done = run(["fit", "-", "--label", "y", "--out", f"{out}2"], input=b"")
    assert done.returncode == 2
    assert done.stderr == (
        b"rocpath: standard input is empty: it must have a header and rows.\n"
    )


def test_a_reader_that_leaves_early_is_no_error(tmp_path, fitted):
    model, _ = fitted
    table = str(tmp_path / "long.csv")
    labelled_table(20_000).write_csv(table)
    with subprocess.Popen(
        [sys.executable, "-c", CALL, "predict", model, table],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout.readline() == b"score,probability,prediction\n"
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode in (0, 1)


def test_without_the_extra_the_package_imports_and_the_command_says_so():
    block = "import sys\nfor m in ('typer', 'rich', 'polars', 'skops'):"
    block += " sys.modules[m] = None\n"
    done = subprocess.run(
        [sys.executable, "-c", f"{block}import rocpath\n{CALL}"],
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 2
    assert "pip install 'rocpath[cli]'" in done.stderr
    assert done.stderr.count("\n") == 1


def test_demo_ends_by_naming_the_report(tmp_path, capsys):
    out = str(tmp_path / "demo")
    assert main(["demo", "--out", out]) == 0
    shown, notes = capsys.readouterr()
    assert "212 rows of 'malignant' (positive), 357 of 'benign'" in shown
    assert notes.splitlines()[-1] == f"Open {out}/report.html"
    auc = json.loads(read(os.path.join(out, "metrics.json")))["methods"][
        "AUCClassifier"
    ]["auc"]
    assert auc > 0.99

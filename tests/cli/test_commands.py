"""The command line, through main(argv) as a user would call it."""

import io
import json
import os
import re
import signal
import subprocess
import sys
import warnings

import numpy as np
import polars as pl
import pytest
import skops.io
from sklearn.metrics import roc_auc_score

from rocpath.cli import main
from rocpath.files.tables import read_table
from tests.cli.command_tables import fails, labeled_table, long_tables, read, write

CALL = "import sys; from rocpath.cli import main; sys.exit(main())"


def test_fit_writes_model_metrics_and_report(fitted):
    model, _ = fitted
    assert sorted(os.listdir(model)) == ["metrics.json", "model.skops", "report.html"]
    metrics = json.loads(read(os.path.join(model, "metrics.json")))
    assert metrics["positive"] == "yes"
    assert metrics["n_positive"] + metrics["n_negative"] == 30
    assert metrics["columns"]["number"] == ["size", "flag"]
    assert metrics["columns"]["category"] == ["color"]
    assert set(metrics["columns"]["dropped"]) == {"row", "same", "nothing"}
    for method in metrics["methods"].values():
        assert 0.5 < method["auc"] <= 1
        assert method["standard_error"] >= 0


def test_fit_shows_the_comparison_and_names_dropped_columns(tmp_path, capsys, fitted):
    out = str(tmp_path / "model")
    assert main(["fit", fitted[1], "--label", "y", "--out", out]) == 0
    shown, notes = capsys.readouterr()
    assert "balanced logistic regression" in shown
    assert "column 'same' is dropped: all values are equal" in notes
    assert f"Open {out}/report.html" in notes


@pytest.mark.parametrize("name", ['q"uote', "a, b", "two\nlines", "grün→码", '""'])
def test_column_names_are_those_of_the_file(tmp_path, name):
    table = str(tmp_path / "table.csv")
    rows = pl.DataFrame({name: ["001", "2"], "y": [1.5, 2.0]})
    rows.write_csv(table)
    assert read_table(table, text=[name]).equals(rows)
    assert read_table(table).columns == [name, "y"]


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
    features = state["features"]
    frame = read_table(table).select(*features.number, *features.category)
    frame = frame.cast(dict.fromkeys(features.number, pl.Float64))
    np.testing.assert_array_equal(scores["score"], state["pipeline"].decision_function(frame))
    np.testing.assert_allclose(scores["probability"], state["pipeline"].predict_proba(frame)[:, 1])
    assert ((scores["score"] > 0) == (scores["prediction"] == "yes")).all()


def test_fit_of_parquet_and_csv_agree(tmp_path, fitted):
    model, csv_table = fitted
    table = str(tmp_path / "table.parquet")
    labeled_table().write_parquet(table)
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
    y = (labeled_table()["y"] == "yes").to_numpy()
    assert found["auc"] == pytest.approx(roc_auc_score(y, score))
    # DeLong: variances of the shares of pairs ranked correctly, by class.
    wins = (score[y][:, None] > score[~y]) + 0.5 * (score[y][:, None] == score[~y])
    variance = wins.mean(axis=1).var(ddof=1) / y.sum()
    variance += wins.mean(axis=0).var(ddof=1) / (~y).sum()
    assert found["standard_error"] == pytest.approx(np.sqrt(variance))
    assert found["low"] < found["auc"] < found["high"] <= 1
    assert (found["n_positive"], found["n_negative"]) == (y.sum(), (~y).sum())
    assert main(["evaluate", model, table]) == 0
    assert f"{found['auc']:.4f}" in capsys.readouterr().out


def test_path_of_two_columns_finds_the_steps_derived_by_hand(tmp_path, capsys):
    # The four-point example: AUM falls from 1 to 0 at step 2, where AUC becomes 1.
    table = write(tmp_path / "line.csv", "y,at,d\n0,-7,0\n0,-2,-0.5\n1,0,0\n1,-4,0.5\n")
    out = str(tmp_path / "path.html")
    argv = ["path", table, "--label", "y", "--predictions", "at", "--direction", "d"]
    assert main([*argv, "--out", out]) == 0
    rows = {}
    for line in capsys.readouterr().out.splitlines()[2:]:
        name, *cells = re.split(r"  +", line.strip())
        rows[name] = [float(cell) for cell in cells]
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
    argv = ["path", table, "--model", model, "--positive", "no"]
    assert "--positive must not be given with --model" in fails(capsys, argv)


def test_changepoint_model_finds_the_changes(tmp_path, capsys):
    sequences, labels = long_tables(tmp_path)
    model, out = str(tmp_path / "model"), str(tmp_path / "changes.csv")
    argv = ["changepoint", "fit", sequences, labels, "--max-changes", "10"]
    assert main([*argv, "--out", model]) == 0
    assert "12 sequences" in capsys.readouterr().out
    metrics = json.loads(read(os.path.join(model, "metrics.json")))["methods"]["PenaltyRegressor"]
    assert metrics["auc"] > 0.9
    assert metrics["value"] <= 4
    assert main(["changepoint", "predict", model, sequences, "--out", out]) == 0
    changes = pl.read_csv(out, schema_overrides={"sequence": pl.String})
    assert changes["sequence"].to_list() == [f"0{name}" for name in range(12)]
    assert (changes["position"] - 20).abs().max() <= 1
    assert "rocpath fit" in fails(capsys, ["predict", model, sequences])


def test_changepoint_fit_accepts_weights_and_unsorted_positions(tmp_path):
    sequences, labels = long_tables(tmp_path)
    long = pl.read_csv(sequences, schema_overrides={"sequence": pl.String})
    coded = long.with_columns(
        weight=pl.lit(2), position=(pl.int_range(pl.len()).over("sequence") * 2)
    )
    pl.read_csv(labels, schema_overrides={"sequence": pl.String}).with_columns(
        pl.col("start") * 2, pl.col("end") * 2
    ).write_csv(labels)
    # With positions, the order of the rows does not matter.
    coded.reverse().write_csv(sequences)
    model, out = str(tmp_path / "model"), str(tmp_path / "changes.csv")
    argv = ["changepoint", "fit", sequences, labels, "--max-changes", "8"]
    assert main([*argv, "--out", model, "--quiet"]) == 0
    assert main(["changepoint", "predict", model, sequences, "--out", out]) == 0
    assert ((pl.read_csv(out)["position"] - 40).abs() <= 2).all()


def test_predict_accepts_unknown_categories_and_missing_values(tmp_path, capsys, fitted):
    model, _ = fitted
    table = write(tmp_path / "t.csv", "size,flag,color\n1,,007\n,true,\n")
    assert main(["predict", model, table]) == 0
    scores = pl.read_csv(io.StringIO(capsys.readouterr().out))
    assert scores["score"].is_finite().all()
    assert scores.height == 2


def test_one_of_many_labels_is_ranked_against_the_rest(tmp_path, capsys):
    table = tmp_path / "t.csv"
    rows = labeled_table()
    kinds = np.where(rows["y"] == "yes", 2.0, np.arange(30) % 2)
    rows.with_columns(y=kinds).write_csv(table)
    out = str(tmp_path / "model")
    argv = ["fit", str(table), "--label", "y", "--out", out, "--quiet"]
    assert "no value '3': the positive label must be one of 0, 1, 2" in fails(
        capsys, [*argv, "--positive", "3"]
    )
    assert main([*argv, "--positive", "2"]) == 0
    assert main(["evaluate", out, str(table), "--json"]) == 0
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (found["positive"], found["negative"]) == ("2", "not 2")


@pytest.mark.parametrize("name", ["shuffled", "patient_id"])
def test_columns_that_only_identify_rows_are_dropped(tmp_path, name):
    number = np.random.default_rng(0).permutation(30)
    if name == "patient_id":
        number = number**2
    table = str(tmp_path / "t.csv")
    labeled_table().with_columns(pl.Series(name, number)).write_csv(table)
    out = str(tmp_path / "model")
    assert main(["fit", table, "--label", "y", "--out", out, "--quiet"]) == 0
    metrics = json.loads(read(os.path.join(out, "metrics.json")))
    assert name in metrics["columns"]["dropped"]


def test_hostile_names_are_escaped(tmp_path, capsys):
    table = tmp_path / "t.csv"
    names = {"size": "<script>alert(1)</script>", "color": "[red]x[/red]"}
    names |= {"flag": "\x1b[31m", "same": "[/]", "y": "[bold]y"}
    rows = labeled_table().rename(names)
    rows = rows.with_columns(pl.col("[bold]y").replace("yes", "[blink]<b>yes"))
    rows.write_csv(table)
    out = str(tmp_path / "model")
    argv = ["fit", str(table), "--label", "[bold]y", "--out", out]
    assert main([*argv, "--positive", "[blink]<b>yes"]) == 0
    shown, notes = capsys.readouterr()
    assert "'[blink]<b>yes'" in shown
    assert "'[/]'" in notes
    assert "\x1b" not in shown + notes
    assert "<script>alert" not in read(os.path.join(out, "report.html"))
    assert main(["predict", out, str(table)]) == 0
    assert "[blink]<b>yes" in capsys.readouterr().out


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
        ["changepoint", "segment"],
        ["changepoint", "fit"],
        ["changepoint", "predict"],
        ["changepoint", "label"],
    ],
)
def test_every_command_has_help_with_examples(command, capsys):
    assert main([*command, "--help"]) == 0
    assert f"  {' '.join(['rocpath', *command])} " in capsys.readouterr().out


def test_help_is_fast_and_no_summary_is_truncated():
    # Each of these modules takes up to half a second to import.
    check = "import sys; from rocpath.cli import main; main(['--help']); "
    check += "sys.exit(bool({'numpy', 'polars', 'sklearn', 'rich'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", check],
        capture_output=True,
        check=False,
        env={**os.environ, "COLUMNS": "80"},
    )
    assert done.returncode == 0
    assert b"Fit a ranking model" in done.stdout
    assert b"..." not in done.stdout.replace(b"COMMAND [ARGS]...", b"")


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
    assert done.stdout.startswith(b"standard input: ")
    done = run(["fit", "-", "--label", "y", "--out", f"{out}2"], input=b"")
    assert done.returncode == 2
    assert done.stderr == (b"rocpath: standard input is empty: it must have a header and rows.\n")


def test_a_closed_pipe_is_not_an_error(tmp_path, fitted):
    model, _ = fitted
    table = str(tmp_path / "long.csv")
    labeled_table(20_000).write_csv(table)
    with subprocess.Popen(
        [sys.executable, "-c", CALL, "predict", model, table],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout.readline() == b"score,probability,prediction\n"
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


@pytest.mark.parametrize("stream", [0, 1, 2])
def test_a_closed_stream_is_not_an_error(fitted, stream):
    call = f"import os; os.close({stream}); os.execv(os.sys.executable, os.sys.argv[1:])"
    command = [sys.executable, "-c", CALL, "predict", *fitted]
    done = subprocess.run([sys.executable, "-c", call, *command], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("module", ["numpy", "polars"])
def test_an_interrupt_during_an_import_is_reported_in_one_line(module):
    # The finder is called for every module, and interrupts the import of the given one.
    interrupt = f"""
import os, signal, sys
class Finder:
    def find_spec(name, *_):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder)
"""
    done = subprocess.run(
        [sys.executable, "-c", interrupt + CALL, "evaluate", ".", "-"],
        capture_output=True,
        check=False,
    )
    assert done.returncode == -signal.SIGINT
    assert (done.stdout, done.stderr) == (b"", b"rocpath: interrupted.\n")


def test_a_warning_is_shown_in_one_line_without_code(tmp_path, capsys):
    table = write(tmp_path / "t.csv", "y,at,d\n0,-7,0\n1,0,1\n")

    def warn(*_):
        warnings.warn("raise\nmax_iter", UserWarning, stacklevel=1)
        raise ValueError("enough")

    argv = ["path", table, "--label", "y", "--predictions", "at", "--direction", "d"]
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("always")
        patch.setattr("rocpath.search.step_view.step_view", warn)
        assert main(argv) == 2
    assert capsys.readouterr().err == ("rocpath: note: raise max_iter\nrocpath: enough\n")


def test_without_the_extra_the_package_imports_and_the_command_names_it():
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

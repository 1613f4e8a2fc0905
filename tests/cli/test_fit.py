"""What a fit says before and while it runs, and what it may leave out."""

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl

from rocpath.cli import main, terminal
from tests.cli.command_tables import fails, labeled_table, read


def test_a_fast_fit_compares_nothing(tmp_path, capsys, fitted):
    out = str(tmp_path / "model")
    argv = ["fit", fitted[1], "--label", "y", "--out", out, "--fast"]
    assert main(argv) == 0
    shown, notes = capsys.readouterr()
    assert shown == ""
    assert (
        "Saved: AUCClassifier, fitted to all rows (--model auto, judged by no" in notes
    )
    assert json.loads(read(os.path.join(out, "metrics.json")))["methods"] == {}
    assert main(["predict", out, fitted[1]]) == 0


def test_a_fit_with_a_promise_is_judged_by_it_and_keeps_it(tmp_path, capsys, fitted):
    out = str(tmp_path / "model")
    argv = ["fit", fitted[1], "--label", "y", "--out", out, "--max-fpr", "0.2"]
    assert main(argv) == 0
    shown, notes = capsys.readouterr()
    assert "mean TPR" in shown
    assert "with a mean TPR up to an FPR of 0.2 of 0." in notes
    found = json.loads(read(os.path.join(out, "metrics.json")))
    for method in found["methods"].values():
        assert 0 <= method["low"] <= method["partial_auc"] <= method["high"] <= 1
    best = max(one["partial_auc"] for one in found["methods"].values())
    assert found["methods"][found["saved"]]["partial_auc"] == best
    point = found["operating_points"][0]
    assert point["rule"] == "false positive rate at most 20%"
    # A fifth of 21 negatives is 4.
    assert point["fp"] <= 4
    assert main(["predict", out, fitted[1]]) == 0
    scores = pl.read_csv(io.StringIO(capsys.readouterr().out))
    is_called = scores["score"] >= point["threshold"]
    assert ((scores["prediction"] == "yes") == is_called).all()
    assert "--max-fpr must be above 0" in fails(capsys, [*argv[:-1], "0", "--force"])


def test_a_promise_out_of_reach_is_noted_and_the_fit_goes_on(tmp_path, capsys):
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"x": rng.normal(size=60), "y": np.arange(60) % 3 // 2})
    name, out = str(tmp_path / "t.csv"), str(tmp_path / "model")
    table.write_csv(name)
    argv = ["fit", name, "--label", "y", "--out", out, "--min-precision", "0.99"]
    assert main(argv) == 0
    notes = capsys.readouterr().err
    if "out of reach" in notes:
        assert "predict calls" not in notes
    assert "headline" in json.loads(read(os.path.join(out, "metrics.json")))


def test_the_report_says_what_was_fitted_to_what(fitted):
    report = read(os.path.join(fitted[0], "report.html"))
    saved = json.loads(read(os.path.join(fitted[0], "metrics.json")))
    assert "All 30 rows that the model was fitted to" in report
    assert "<b>same</b> (all values are equal)" in report
    for word in ("AUC", "Lift", "Precision", "AUM", "Calibration"):
        assert f"<dt>{word}</dt>" in report
    assert saved["headline"].split(" tells ")[1].split(" on rows")[0] in (
        report.replace("&#39;", "'")
    )


def test_the_positive_label_is_named_and_a_frequent_one_must_be_accepted(
    tmp_path, capsys, fitted
):
    out = str(tmp_path / "model")
    argv = ["fit", fitted[1], "--label", "y", "--out", out, "--fast"]
    assert main(argv) == 0
    # Labels above the quantile of 0.7 of 30 rows are "yes".
    assert capsys.readouterr().err.startswith("positive: 'yes' of column 'y', 9 of 30")
    table = str(tmp_path / "t.csv")
    rows = labeled_table()
    rows.with_columns(y=pl.col("y").replace({"no": "z"})).write_csv(table)
    argv[1] = table
    message = fails(capsys, [*argv, "--force"])
    assert "'z', is the more frequent label (21 of 30 rows)" in message
    assert "--positive 'yes', or take it with --yes" in message
    assert main([*argv, "--force", "--yes"]) == 0
    assert main([*argv, "--force", "--positive", "z"]) == 0


def test_a_person_at_a_terminal_is_asked(monkeypatch):
    assert not terminal.agreed("Rank it high?")
    for stream in (sys.stdin, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("typer.confirm", lambda question, err: question == "Sure?")
    assert terminal.agreed("Sure?")
    assert not terminal.agreed("Really?")


def test_time_left_is_told_after_each_round(capsys, monkeypatch):
    # Ten seconds a step: after 2 of 6 there are 40 left, after 4 there are 20.
    clock = iter([0.0, 20.0, 40.0, 60.0])
    monkeypatch.setattr(terminal.time, "monotonic", lambda: next(clock))
    with terminal.progress_bar(6, quiet=False, n_round=2) as progress:
        for step in range(6):
            progress(f"step {step}")
    assert capsys.readouterr().err == (
        "2 of 6 steps done, about 40 s left\n4 of 6 steps done, about 20 s left\n"
    )
    assert terminal.time_left(600.0, 1, 3) == "about 20 min left"


def test_nothing_remains_of_a_fit_that_is_terminated_while_writing(tmp_path, fitted):
    # The signal comes after the first of the files.
    call = """
import os, signal, sys
from pathlib import Path
from rocpath.cli import main
write = Path.write_bytes
def write_one(path, content):
    write(path, content)
    os.kill(os.getpid(), signal.SIGTERM)
Path.write_bytes = write_one
sys.exit(main())
"""
    out = str(tmp_path / "model")
    argv = ["fit", fitted[1], "--label", "y", "--out", out, "--fast"]
    done = subprocess.run([sys.executable, "-c", call, *argv], check=False)
    assert done.returncode == 128 + signal.SIGTERM
    assert os.listdir(tmp_path) == []


def test_evaluate_ends_well_when_the_reader_has_left(fitted):
    call = "import sys; from rocpath.cli import main; sys.exit(main())"
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-c", call, "evaluate", *fitted],
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def test_parquet_on_a_full_disk_is_told_in_one_line(
    tmp_path, capsys, monkeypatch, fitted
):
    def write_half(path, content):
        path.touch()
        raise OSError("No space left on device")

    monkeypatch.setattr(Path, "write_bytes", write_half)
    out = str(tmp_path / "scores.parquet")
    message = fails(capsys, ["predict", *fitted, "--out", out])
    assert "No space left on device" in message
    assert out in message
    assert os.listdir(tmp_path) == []

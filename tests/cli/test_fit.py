"""The fit command: notes, progress, targets and interruptions."""

import contextlib
import errno
import io
import json
import os
import signal
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from rocpath.cli import main, table_output, terminal
from tests.cli.command_tables import fails, labeled_table, read


def test_a_fast_fit_has_one_model(tmp_path, capsys, fitted):
    out = str(tmp_path / "model")
    argv = ["fit", fitted[1], "--label", "y", "--out", out, "--fast"]
    assert main(argv) == 0
    notes = capsys.readouterr().err
    assert "Saved: AUCClassifier, fitted to all rows (--model auto, --fast)" in notes
    found = json.loads(read(os.path.join(out, "metrics.json")))
    assert list(found["methods"]) == ["AUCClassifier"]
    assert found["n_folds"] == 3
    assert main(["predict", out, fitted[1]]) == 0


def test_with_max_fpr_models_are_compared_by_partial_auc_and_meet_the_target(
    tmp_path, capsys, fitted
):
    out = str(tmp_path / "model")
    argv = ["fit", fitted[1], "--label", "y", "--out", out, "--max-fpr", "0.2"]
    assert main(argv) == 0
    shown, notes = capsys.readouterr()
    assert "mean TPR" in shown
    assert "with a mean TPR up to an FPR of 0.2 of 0." in notes
    assert "estimated for new rows; calibration_size gives a guarantee" in notes
    found = json.loads(read(os.path.join(out, "metrics.json")))
    for method in found["methods"].values():
        assert 0 <= method["low"] <= method["partial_auc"] <= method["high"] <= 1
    assert "difference" not in found["methods"][found["saved"]]
    assert found["max_fpr"] == 0.2
    observed, point = found["operating_points"][:2]
    assert observed["rule"] == "false positive rate at most 20%"
    # A fifth of 21 negatives is 4.
    assert observed["fp"] <= 4
    # With one false positive of 21, the upper bound of the rate is above 20%.
    assert point["rule"].endswith("estimated for new rows")
    assert point["fp"] == 0
    assert found["threshold"] == point["threshold"]
    assert main(["predict", out, fitted[1]]) == 0
    scores = pl.read_csv(io.StringIO(capsys.readouterr().out))
    is_positive = scores["score"] >= point["threshold"]
    assert ((scores["prediction"] == "yes") == is_positive).all()
    assert "--max-fpr must be above 0" in fails(capsys, [*argv[:-1], "0", "--force"])


def test_an_unreachable_target_is_noted_and_the_model_is_saved(tmp_path, capsys):
    # The score is a function of x, and a third of the rows is positive for every x: the
    # precision of any threshold is one third.
    x = np.repeat(np.arange(20), 3)
    table = pl.DataFrame({"x": x, "z": x % 7, "y": np.arange(60) % 3 // 2})
    name, out = str(tmp_path / "t.csv"), str(tmp_path / "model")
    table.write_csv(name)
    argv = ["fit", name, "--label", "y", "--out", out, "--min-precision", "0.99"]
    assert main(argv) == 0
    notes = capsys.readouterr().err
    assert "No threshold is saved: min_precision = 0.99 cannot be attained" in notes
    assert json.loads(read(os.path.join(out, "metrics.json")))["threshold"] is None


def test_the_report_names_label_and_table_and_repeats_the_headline(fitted):
    report = read(os.path.join(fitted[0], "report.html")).replace("&#39;", "'")
    saved = json.loads(read(os.path.join(fitted[0], "metrics.json")))
    assert f"<h1>y = yes in {fitted[1]}</h1>" in report
    assert '<td class="why" data-name="Reason">all values are equal</td>' in report
    for word in ("AUC", "Precision", "Calibration"):
        assert f"<dt>{word}</dt>" in report
    assert saved["headline"] in report
    for warning in saved["warnings"]:
        assert warning[1:] in report
    assert "one class has only 9 rows, too few to estimate an AUC" in saved["warnings"]


def test_the_positive_label_is_named_and_a_frequent_one_must_be_accepted(tmp_path, capsys, fitted):
    out = str(tmp_path / "model")
    argv = ["fit", fitted[1], "--label", "y", "--out", out, "--fast"]
    assert main(argv) == 0
    # The labels of 30 rows above their 0.7 quantile are "yes".
    assert capsys.readouterr().err.startswith("positive: 'yes' of column 'y', 9 of 30")
    table = str(tmp_path / "t.csv")
    rows = labeled_table()
    rows.with_columns(y=pl.col("y").replace({"no": "z"})).write_csv(table)
    argv[1] = table
    message = fails(capsys, [*argv, "--force"])
    assert "'z', is the more frequent label (21 of 30 rows)" in message
    assert "--positive 'yes', or accept the default with --yes" in message
    assert main([*argv, "--force", "--yes"]) == 0
    assert main([*argv, "--force", "--positive", "z"]) == 0
    # With labels 0 and 1, no confirmation is needed.
    rows.with_columns(y=(pl.col("y") == "no").cast(int)).write_csv(table)
    capsys.readouterr()
    assert main([*argv, "--force"]) == 0
    assert capsys.readouterr().err.startswith("positive: '1' of column 'y', 21 of 30")


def test_a_user_at_a_terminal_is_asked(monkeypatch, capsys):
    assert terminal.ask("Is it?") is None
    for stream in (sys.stdin, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    answers = iter(["perhaps\n", "Y\n", "no\n", ""])
    monkeypatch.setattr(sys.stdin, "readline", lambda: next(answers), raising=False)
    assert terminal.ask("Is it?") is True
    # The question is repeated after an invalid answer.
    assert capsys.readouterr().err == "Is it? [y/n] Is it? [y/n] "
    assert terminal.ask("Is it?") is False
    assert terminal.ask("Is it?") is None


def test_control_c_at_the_prompt_ends_the_command(tmp_path):
    pty = pytest.importorskip("pty")
    table = str(tmp_path / "t.csv")
    labeled_table().with_columns(y=pl.col("y").replace({"no": "z"})).write_csv(table)
    child, terminal_file = pty.fork()
    if child == 0:
        call = "import sys; from rocpath.cli import main; sys.exit(main())"
        argv = ["fit", table, "--label", "y", "--out", str(tmp_path / "model")]
        os.execv(sys.executable, [sys.executable, "-c", call, *argv])
    shown = b""
    # At the end of the child, Linux reports an error instead of an empty read.
    with contextlib.suppress(OSError):
        while part := os.read(terminal_file, 1000):
            shown += part
            if shown.endswith(b"[y/n] "):
                os.write(terminal_file, b"\x03")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 128 + signal.SIGINT
    assert shown.endswith(b"rocpath: interrupted.\r\n")


def test_the_answer_no_swaps_the_labels(monkeypatch):
    monkeypatch.setattr(table_output, "ask", lambda question: False)
    rows = pl.DataFrame({"y": ["a", "b", "b", None]})
    label = table_output.chosen_positive(rows, "y", None, is_accepted=False)
    assert (label.positive, label.negative) == ("a", "b")
    assert (label.n_positive, label.n_negative) == (1, 2)


def test_remaining_time_is_shown_every_ten_seconds_without_a_terminal(capsys, monkeypatch):
    # Steps take 7 s each, so every second one is shown: 3 * 7 s are left after 2 of 5
    # steps, and 7 s after 4 of 5 steps.
    clock = iter([0.0, 0.0, 0.0, 7.0, 14.0, 21.0, 28.0])
    monkeypatch.setattr(terminal.time, "monotonic", lambda: next(clock))
    with terminal.progress_bar(quiet=False) as progress:
        for step in range(5):
            progress(step, 5, f"step {step}")
    assert capsys.readouterr().err == (
        "2 of 5 steps done, about 21 s left\n4 of 5 steps done, about 7 s left\n"
    )


def test_nothing_remains_of_a_fit_that_is_terminated_while_writing(tmp_path, fitted):
    # The signal is sent after the first file is written.
    call = """
import os, signal, sys
from rocpath.cli import main
from rocpath.files import writer
write = writer.write_file
def write_one(path, content):
    write(path, content)
    os.kill(os.getpid(), signal.SIGTERM)
writer.write_file = write_one
sys.exit(main())
"""
    out = str(tmp_path / "model")
    argv = ["fit", fitted[1], "--label", "y", "--out", out, "--fast"]
    done = subprocess.run([sys.executable, "-c", call, *argv], capture_output=True, check=False)
    assert done.returncode == 128 + signal.SIGTERM
    assert done.stderr.endswith(b"\nrocpath: terminated.\n")
    assert os.listdir(tmp_path) == []


def test_evaluate_succeeds_if_the_pipe_is_closed(fitted):
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


def test_parquet_on_a_full_disk_is_reported_in_one_line(tmp_path, capsys, monkeypatch, fitted):
    def fail(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fail)
    out = str(tmp_path / "scores.parquet")
    message = fails(capsys, ["predict", *fitted, "--out", out])
    assert "No space left on device" in message
    assert out in message
    assert os.listdir(tmp_path) == []


def test_the_headline_describes_the_rows_of_a_test_file(tmp_path, capsys, fitted):
    out = str(tmp_path / "model")
    argv = ["fit", fitted[1], "--label", "y", "--test", fitted[1], "--out", out, "--fast"]
    assert main(argv) == 0
    headline = json.loads(read(os.path.join(out, "metrics.json")))["headline"]
    assert "on test rows" in headline
    assert headline in capsys.readouterr().err


def test_a_fit_is_saved_if_the_test_file_is_invalid(tmp_path, fitted, capsys):
    test, out = tmp_path / "test.csv", tmp_path / "out"
    pl.read_csv(fitted[1]).drop("size").write_csv(test)
    argv = ["fit", fitted[1], "--label", "y", "--test", str(test), "--fast"]
    assert main([*argv, "--out", str(out)]) == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith("rocpath: column 'size' not found")
    assert main(["predict", str(out), fitted[1]]) == 0

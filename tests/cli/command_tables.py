"""Small tables for the tests of commands, and functions that run commands."""

from pathlib import Path

import numpy as np
import polars as pl

from rocpath.cli import main


def write(path, text):
    """Write a file and return its name."""
    Path(path).write_text(text, encoding="utf-8")
    return str(path)


def read(name):
    with open(name, encoding="utf-8") as file:
        return file.read()


def labeled_table(n_rows=30, seed=0):
    """Return a table of numbers, a category and a boolean, with missing values."""
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n_rows)
    color = rng.choice(["red", "green"], size=n_rows)
    score = 2 * size + (color == "red") + rng.normal(size=n_rows)
    is_positive = score > np.quantile(score, 0.7)
    table = pl.DataFrame(
        {
            "row": np.arange(1, n_rows + 1),
            "size": size,
            "color": color,
            "flag": rng.random(n_rows) < 0.5,
            "same": "x",
            "nothing": pl.Series([None] * n_rows, dtype=pl.Float64),
            "y": np.where(is_positive, "yes", "no"),
        }
    )
    is_gap = pl.Series(np.arange(n_rows) % 9 == 4)
    return table.with_columns(
        size=pl.when(is_gap).then(None).otherwise(pl.col("size")),
        color=pl.when(is_gap).then(None).otherwise(pl.col("color")),
    )


def long_tables(folder):
    """Write twelve sequences with one change each, and their labels."""
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


def fails(capsys, argv):
    """Run a command that must fail; return its one-line message."""
    capsys.readouterr()
    assert main(argv) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("rocpath: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    return err


def fit_argv(sequences, labels, out, *more):
    """Return the arguments of a changepoint fit."""
    argv = ["changepoint", "fit", sequences, labels, "--max-changes", "6"]
    return [*argv, "--out", str(out), "--quiet", *more]


def segment_changes(folder, table, *more):
    """Return the changes that the segment command detects."""
    out = folder / "out"
    argv = ["changepoint", "segment", table, "--out", str(out), "--force", *more]
    assert main(argv) == 0
    return pl.read_csv(out / "changes.csv", infer_schema=False)

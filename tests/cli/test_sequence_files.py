"""Sequences in tables: positions, times, missing values and invalid sequences."""

import json
from datetime import datetime, timedelta

import numpy as np
import polars as pl
import pytest

from rocpath.cli import main
from tests.cli.command_tables import fails, fit_argv, long_tables, read, segment_changes, write

BAD = {"text": ["1", "two", "3"], "infinite": ["1", "2", "-inf"], "too large": ["1e101", "2", "3"]}
# Unusual sequences that can be read.
ODD = {
    "constant": ["5"] * 9,
    "negative": ["-3.5", "-2", "-9", "-8.5", "-7"],
    "one value": ["7"],
    "huge": ["1e99", "-2e99", "3e99"],
    "with a missing value": ["1", "", "3"],
    "tiny": ["1e-99", "2e-99", "-1e-99"],
}


def with_more(sequences, more):
    """Add sequences to a file, and return the first row of each."""
    text = read(sequences).rstrip("\n")
    row, first = text.count("\n"), {}
    for name, values in more.items():
        first[name] = row + 1
        text += "".join(f"\n{name},{value}" for value in values)
        row += len(values)
    write(sequences, text)
    return first


@pytest.mark.parametrize(("name", "values"), BAD.items())
def test_a_sequence_that_cannot_be_read_does_not_stop_the_others(
    tmp_path, capsys, changepoint_model, name, values
):
    sequences, labels = long_tables(tmp_path)
    row = with_more(sequences, {name: values})[name]
    bad = next(at for at, one in enumerate(values) if one not in ("1", "2", "3"))
    write(labels, read(labels) + f"\n{name},0,2,no_change")
    argv = fit_argv(sequences, labels, tmp_path / "model")
    assert main(argv) == 0
    _, notes = capsys.readouterr()
    assert f"skipped sequence {name!r}: column 'value' must be " in notes
    assert f" in row {row + bad}." in notes
    metrics = json.loads(read(tmp_path / "model" / "metrics.json"))
    assert metrics["n_sequences"] == 12
    (skipped,) = metrics["skipped"]
    assert (skipped["sequence"], skipped["row"]) == (name, row + bad)

    out = str(tmp_path / "changes.csv")
    assert main(["changepoint", "predict", changepoint_model, sequences, "--out", out]) == 0
    assert f"skipped sequence {name!r}" in capsys.readouterr().err
    found = pl.read_csv(out)
    assert found.filter(pl.col("note").is_null()).height == 12
    (note,) = found.filter(pl.col("sequence") == name)["note"]
    assert note.endswith(f" in row {row + bad}")


def test_unusual_sequences_are_fitted_and_predicted(tmp_path, capsys):
    sequences, labels = long_tables(tmp_path)
    with_more(sequences, ODD)
    more = "".join(f"\n{name},-1,0.5,no_change" for name in ODD)
    write(labels, read(labels) + more)
    assert main(fit_argv(sequences, labels, tmp_path / "model")) == 0
    argv = ["changepoint", "predict", str(tmp_path / "model"), sequences]
    out = str(tmp_path / "changes.csv")
    assert main([*argv, "--out", out]) == 0
    assert "skipped" not in capsys.readouterr().err
    found = pl.read_csv(out)
    assert found["note"].null_count() == found.height
    metrics = json.loads(read(tmp_path / "model" / "metrics.json"))
    assert metrics["n_sequences"] == 12 + len(ODD)


def test_positions_may_be_in_any_order_but_must_not_repeat(tmp_path, capsys, changepoint_model):
    order = np.random.default_rng(0).permutation(30)
    rows = [f"a,{at},{10 * (at >= 15) + 0.5 * (at % 2)}" for at in order]
    rows += ["b,1,0", "b,2,0", "b,1,0"]
    table = write(tmp_path / "t.csv", "\n".join(["sequence,position,value", *rows]))
    assert main(["changepoint", "predict", changepoint_model, table]) == 0
    shown, notes = capsys.readouterr()
    assert shown.splitlines()[1].startswith("a,15,0.2")
    assert (
        "'b': column 'position' must not repeat unless repeated is mean or keep, got '1' in row 33"
        in notes
    )


def test_a_table_without_valid_sequences_is_an_error(tmp_path, capsys, changepoint_model):
    table = write(tmp_path / "t.csv", "sequence,value\na,1\na,x\nb,inf\n")
    message = fails(capsys, ["changepoint", "predict", changepoint_model, table])
    assert "no sequence can be used; the first one, 'a': column 'value'" in message
    assert message.endswith("got 'x' in row 2.\n")


def test_a_single_sequence_needs_no_name(tmp_path, capsys, changepoint_model):
    value = "\n".join(["value", *["0"] * 9, *["50"] * 9])
    table = write(tmp_path / "t.csv", value)
    assert main(["changepoint", "predict", changepoint_model, table]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("sequence,9,0.0,50.0,")


def test_many_skipped_sequences_with_hostile_names_are_summarized(
    tmp_path, capsys, changepoint_model
):
    rows = [f"<b>{k}</b>\x1b[31m,x" for k in range(30)] + ["fine,1"]
    table = write(tmp_path / "t.csv", "\n".join(["sequence,value", *rows]))
    assert main(["changepoint", "predict", changepoint_model, table]) == 0
    out, err = capsys.readouterr()
    assert err.count("\n") == 11
    assert "skipped 20 more sequences" in err
    assert "\x1b" not in err
    assert out.count("\n") == 31


def hourly(k, zone=""):
    return (datetime(2024, 3, 30) + timedelta(hours=k)).strftime("%Y-%m-%dT%H:%M") + zone


def test_repeated_times_are_rejected_averaged_or_kept(tmp_path, capsys):
    rng = np.random.default_rng(0)
    x = np.repeat([0.0, 9.0], 40) + rng.normal(size=80)
    # One hour occurs twice, as at the end of daylight saving time.
    rows = [f"{hourly(k - (k > 60))},{one}" for k, one in enumerate(x)]
    table = write(tmp_path / "t.csv", "\n".join(["timestamp,value", *rows]))
    out = str(tmp_path / "out")
    message = fails(capsys, ["changepoint", "segment", table, "--out", out])
    assert (
        f"must not repeat unless repeated is mean or keep, got '{hourly(60)}' in row 62" in message
    )
    for repeated in ("mean", "keep"):
        found = segment_changes(tmp_path, table, "--repeated", repeated)
        assert found["position"].to_list() == [hourly(40)]
    summary = pl.read_csv(tmp_path / "out" / "sequences.csv")
    assert summary["n_observations"].item() == 80
    segment_changes(tmp_path, table, "--repeated", "mean")
    summary = pl.read_csv(tmp_path / "out" / "sequences.csv")
    assert summary["n_observations"].item() == 79


@pytest.mark.parametrize("zone", ["Z", "+01:00", "-0530", "+02"])
def test_time_zones_may_have_any_format(tmp_path, zone):
    rng = np.random.default_rng(1)
    x = np.repeat([0.0, 9.0], 20) + rng.normal(size=40)
    rows = [f"{hourly(k, zone)},{one}" for k, one in enumerate(x)]
    rng.shuffle(rows)  # the times must be parsed to sort the rows
    table = write(tmp_path / "t.csv", "\n".join(["time,value", *rows]))
    found = segment_changes(tmp_path, table)
    assert found["position"].to_list() == [hourly(20, zone)]


def test_times_in_different_zones_are_sorted(tmp_path):
    # 01:00+01:00 is midnight UTC, before 00:30Z.
    rows = ["2024-03-31T00:30Z,2", "2024-03-31T01:00+01:00,1", "2024-03-31T01:00Z,3"]
    table = write(tmp_path / "t.csv", "\n".join(["time,value", *rows]))
    page = tmp_path / "page.html"
    assert main(["changepoint", "label", table, "--out", str(page), "--quiet"]) == 0
    text = read(page)
    assert text.index("T01:00+01:00") < text.index("T00:30Z") < text.index("T01:00Z")


def test_missing_values_keep_their_positions_and_are_counted(tmp_path, capsys):
    rng = np.random.default_rng(2)
    x = [f"{v:.3f}" for v in np.repeat([0.0, 9.0], 30) + rng.normal(size=60)]
    x[10] = x[30] = ""
    x[45] = "NaN"
    table = write(tmp_path / "t.csv", "\n".join(["value", *(v or '""' for v in x)]))
    found = segment_changes(tmp_path, table)
    assert found["position"].to_list() == ["31"]
    assert "missing values, which have weight 0: 3." in capsys.readouterr().err


def test_columns_of_a_wide_table_are_separate_sequences_or_one_sequence(tmp_path):
    rng = np.random.default_rng(3)
    first = np.repeat([0.0, 9.0, 9.0], 30) + rng.normal(size=90)
    second = 1e6 * (np.repeat([1.0, 1.0, 5.0], 30) + 0.3 * rng.normal(size=90))
    rows = [
        f"{hourly(k)},{a},{b},x"
        for k, (a, b) in enumerate(zip(first, second))  # noqa: B905
    ]
    header = "timestamp,cpu,bytes,comment"
    table = write(tmp_path / "t.csv", "\n".join([header, *rows]))
    found = segment_changes(tmp_path, table, "--wide")
    assert found["sequence"].to_list() == ["cpu", "bytes"]
    assert found["position"].to_list() == [hourly(30), hourly(60)]
    together = segment_changes(tmp_path, table, "--common")
    assert together["position"].to_list() == [hourly(30), hourly(60)]
    assert float(together["bytes_after"][1]) == pytest.approx(5e6, rel=0.1)


@pytest.mark.parametrize("cost", ["exponential", "binomial", "variance"])
def test_every_cost_can_be_chosen(tmp_path, cost):
    rng = np.random.default_rng(6)
    level = np.repeat([0.5, 0.02, 0.9], 100)
    draw = {"exponential": rng.exponential, "variance": lambda scale: rng.normal(0, scale)}
    value = draw.get(cost, lambda p: rng.binomial(1, p))(level)
    table = write(tmp_path / "t.csv", "\n".join(["sequence,value", *(f"a,{v}" for v in value)]))
    found = segment_changes(tmp_path, table, "--cost", cost)
    position = [int(at) for at in found["position"].to_list()]
    assert position == pytest.approx([100, 200], abs=5)


def test_start_and_end_columns_are_the_limits_of_runs(tmp_path, capsys):
    rng = np.random.default_rng(4)
    rows, at = [], 0
    for level in (4, 40, 4):
        for _ in range(15):
            length = int(rng.integers(5, 30))
            rows.append(f"chr1,{at},{at + length},{rng.poisson(level)}")
            at += length
    header = "chrom,chromStart,chromEnd,value"
    table = write(tmp_path / "t.csv", "\n".join([header, *rows]))
    found = segment_changes(tmp_path, table, "--cost", "poisson")
    starts = [row.split(",")[1] for row in rows]
    assert found["position"].to_list() == [starts[15], starts[30]]
    assert "'chromStart' and 'chromEnd' are the limits of runs" in capsys.readouterr().err

"""Commands for sequences: fit, predict and segment, with labels and groups."""

import gzip
import json
import os
from datetime import datetime, timedelta

import numpy as np
import polars as pl
import pytest

from rocpath.cli import main
from tests.cli.command_tables import fails, fit_argv, long_tables, read, segment_changes, write

START = datetime(2024, 5, 1, 10, 20)
COLUMNS = ["--sequence", "host", "--position", "time", "--value", "latency_ms"]
LABEL_COLUMNS = ["--start", "from", "--end", "to", "--kind", "what"]


def timed_tables(folder, format_position, n=8):
    """Write a table of hosts whose latency jumps at position 20, and labels."""
    rng = np.random.default_rng(0)
    sequences = ["host,time,latency_ms,rack"]
    labels = ["host,from,to,what"]
    for name in range(n):
        spread = rng.choice([0.2, 2.0])
        value = 100 + np.repeat([0, 8 * spread], 20) + spread * rng.normal(size=40)
        sequences += [
            f"h{name},{format_position(at)},{one},r{name // 2}" for at, one in enumerate(value)
        ]
        for start, end, kind in (
            (0, 15, "no_change"),
            (15, 25, "one_change"),
            (25, 39, "no_change"),
        ):
            labels.append(f"h{name},{format_position(start)},{format_position(end)},{kind}")
    return (
        write(folder / "latency.csv", "\n".join(sequences)),
        write(folder / "labels.csv", "\n".join(labels)),
    )


@pytest.mark.parametrize(
    "format_position",
    [
        lambda at: (START + timedelta(minutes=5 * at)).strftime("%Y-%m-%dT%H:%M"),
        lambda at: (START + timedelta(days=at)).strftime("%Y-%m-%d"),
        lambda at: (START + timedelta(seconds=at)).isoformat(" ") + "+02:00",
        lambda at: (START + timedelta(seconds=0.25 * at)).isoformat() + "Z",
        lambda at: str(1_700_000_000 + at),
        lambda at: f"{at / 4:.3f}",
    ],
)
def test_positions_keep_their_format(tmp_path, format_position):
    sequences, labels = timed_tables(tmp_path, format_position)
    out = str(tmp_path / "changes.csv")
    argv = fit_argv(sequences, labels, tmp_path / "model", *COLUMNS, *LABEL_COLUMNS)
    assert main([*argv, "--group", "rack"]) == 0
    # The model contains the names of the columns.
    argv = ["changepoint", "predict", str(tmp_path / "model"), sequences]
    assert main([*argv, "--out", out]) == 0
    found = pl.read_csv(out, infer_schema=False)
    worth = ["gain", "min_penalty", "max_penalty"]
    means = ["mean_before", "mean_after"]
    assert found.columns == [
        "host",
        "time",
        *means,
        *worth,
        "position_low",
        "position_high",
        "note",
    ]
    assert found["host"].to_list() == [f"h{name}" for name in range(8)]
    assert set(found["time"]) == {format_position(20)}
    metrics = json.loads(read(tmp_path / "model" / "metrics.json"))
    assert metrics["n_groups"] == 4


def test_labels_that_do_not_match_the_positions_are_rejected(tmp_path, capsys):
    sequences, _ = timed_tables(tmp_path, lambda at: f"2024-05-{at % 28 + 1:02}")
    _, labels = timed_tables(tmp_path, str)
    argv = fit_argv(sequences, labels, tmp_path / "m", *COLUMNS, *LABEL_COLUMNS)
    timed_tables(tmp_path, lambda at: (START + timedelta(days=at)).strftime("%Y-%m-%d"))
    write(labels, "host,from,to,what\nh0,0,15,no_change\n")
    assert "which are times, got the number '0' in row 1" in fails(capsys, argv)
    write(labels, "host,from,to,what\nh0,2025-01-01,2025-01-02,no_change\n")
    message = fails(capsys, argv)
    assert "from 2024-05-01 to 2024-06-09, got (2025-01-01, 2025-01-02]" in message


def test_the_report_agrees_with_the_metrics(tmp_path):
    sequences, labels = long_tables(tmp_path)
    argv = fit_argv(sequences, labels, tmp_path / "model")
    assert main(argv) == 0
    metrics = json.loads(read(tmp_path / "model" / "metrics.json"))
    page = read(tmp_path / "model" / "report.html")
    assert metrics["headline"] in page
    rules = list(metrics["methods"])
    assert {"PenaltyRegressor", "constant penalty"} < set(rules)
    # These sequences differ only in their noise, which therefore ranks their penalties.
    assert metrics["methods"]["default penalty, no labels"]["auc"] > 0.95
    text = page.split('<script type="application/json">')[1].split("</script>")[0]
    shown = json.loads(text)["sequences"]
    ours = metrics["methods"]["PenaltyRegressor"]["value"]
    assert sum(one["n_errors"] for one in shown) == ours
    assert [one["name"] for one in shown] == [f"0{name}" for name in range(12)]


def test_labels_of_unknown_sequences_are_named(tmp_path, capsys):
    sequences, labels = long_tables(tmp_path)
    write(labels, read(labels) + "\nelsewhere,0,9,no_change")
    assert main(fit_argv(sequences, labels, tmp_path / "model")) == 0
    notes = capsys.readouterr().err
    assert "'elsewhere': it is not among the sequences, but it has a label" in notes
    assert "has a label in row 37." in notes


def test_groups_come_from_either_table_and_are_held_out_together(tmp_path, capsys):
    sequences, labels = long_tables(tmp_path)
    known = pl.read_csv(labels, infer_schema=False)
    person = pl.col("sequence").cast(pl.Int64) // 4
    known.with_columns(person=person).write_csv(labels)
    argv = fit_argv(sequences, labels, tmp_path / "model", "--group", "person")
    assert main(argv) == 0
    metrics = json.loads(read(tmp_path / "model" / "metrics.json"))
    assert (metrics["n_groups"], metrics["n_folds"]) == (3, 3)
    argv = fit_argv(sequences, labels, tmp_path / "other", "--group")
    assert "group column 'no' not found in the sequences or" in fails(capsys, [*argv, "no"])
    message = fails(capsys, [*argv, "kind"])
    assert "one value per sequence, got 'no_change' and, in row 2, 'one_cha" in message
    known.with_columns(person=pl.lit("me")).write_csv(labels)
    assert "at least two groups for cross-val" in fails(capsys, [*argv, "person"])


def test_missing_columns_are_named_with_their_option(tmp_path, capsys):
    sequences, labels = timed_tables(tmp_path, str)
    argv = fit_argv(sequences, labels, tmp_path / "model")
    assert "value column 'value' not found: set value to one of host, time" in fails(capsys, argv)
    argv += COLUMNS
    assert "start column 'start' not found: set start to one of host, from" in fails(capsys, argv)
    argv += [*LABEL_COLUMNS, "--weight", "time"]
    assert "column 'time' must have one role" in fails(capsys, argv)


@pytest.mark.parametrize("is_packed", [False, True])
def test_bedgraph_and_bed_files_are_sequences_and_labels(tmp_path, capsys, is_packed):
    rng = np.random.default_rng(0)
    runs, regions = ["track type=bedGraph"], []
    for name in range(1, 7):
        at = 100
        for part in range(3):
            for _ in range(12):
                length = int(rng.integers(5, 30))
                value = rng.poisson(40 if part == 1 else 4)
                runs.append(f"chr{name}\t{at}\t{at + length}\t{value}")
                at += length
            if part == 0:
                regions.append(f"chr{name}\t100\t{at - 50}\tnoPeaks")
                regions.append(f"chr{name}\t{at - 50}\t{at + 50}\tpeakStart")
    runs.append("chr7\t0\t10\t3\nchr7\t20\t30\t3")
    coverage, labels = "\n".join(runs).encode(), "\n".join(regions).encode()
    suffix, pack = (".gz", gzip.compress) if is_packed else ("", bytes)
    sequences, bed = tmp_path / f"a.bedGraph{suffix}", tmp_path / f"b.bed{suffix}"
    sequences.write_bytes(pack(coverage))
    bed.write_bytes(pack(labels))
    argv = fit_argv(str(sequences), str(bed), tmp_path / "model", "--cost", "poisson")
    assert main([*argv, "--constraint", "up_down"]) == 0
    error = capsys.readouterr().err
    assert "'chr7': column 'end' must be the next 'start', unless fill is given" in error
    argv = ["changepoint", "predict", str(tmp_path / "model"), str(sequences)]
    assert main([*argv, "--fill", "0"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    starts = {line.split(",")[0]: line.split(",")[1] for line in out.splitlines()[1:]}
    assert set(starts) >= {f"chr{name}" for name in range(1, 7)}
    assert all(place.isdigit() for place in starts.values())


def test_segment_needs_no_labels_and_writes_a_labeling_page(tmp_path, capsys):
    def format_position(at):
        return (START + timedelta(minutes=5 * at)).strftime("%Y-%m-%dT%H:%M")

    sequences, _ = timed_tables(tmp_path, format_position)
    write(sequences, f"{read(sequences)}\nbad,{format_position(0)},x,r0")
    out = tmp_path / "first"
    argv = ["changepoint", "segment", sequences, *COLUMNS, "--out", str(out)]
    assert main(argv) == 0
    notes = capsys.readouterr().err
    assert "penalty: default of each sequence" in notes
    assert "skipped sequence 'bad'" in notes
    assert sorted(os.listdir(out)) == ["changes.csv", "labels.html", "sequences.csv"]
    changes = pl.read_csv(out / "changes.csv", infer_schema=False)
    found = changes.filter(pl.col("note").is_null())
    assert set(found["host"]) == {f"h{name}" for name in range(8)}
    assert set(found["time"]) >= {format_position(20)}
    summary = pl.read_csv(out / "sequences.csv")
    assert summary.filter(pl.col("host") == "h0")["n_observations"].item() == 40
    assert summary["n_changes"].sum() == found.height
    assert summary["note"].drop_nulls().len() == 1
    page = read(out / "labels.html")
    assert format_position(39) in page
    assert "--force" in fails(capsys, argv)
    # A given penalty is the same for all sequences.
    assert main([*argv, "--force", "--penalty", "1e9"]) == 0
    assert pl.read_csv(out / "sequences.csv")["n_changes"].sum() == 0


def test_segment_rejects_a_page_whose_models_do_not_fit_into_memory(tmp_path, capsys):
    rows = "\n".join(f"a,{k % 7}" for k in range(50_000))
    table = write(tmp_path / "t.csv", f"sequence,value\n{rows}")
    argv = ["changepoint", "segment", table, "--out", str(tmp_path / "out")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rocpath.changepoint.segmentation.available_memory", lambda: 10**9)
        message = fails(capsys, [*argv, "--penalty", "1", "--max-changes", "40000", "--quiet"])
    # 40,001 models with up to 40,000 changes: 8e8 changes of 80 bytes.
    assert "may take 64.0 GB, more than the available memory" in message


def test_segments_have_the_minimum_length_of_the_option(tmp_path):
    table = write(tmp_path / "t.csv", "\n".join(["value", *["0", "9"] * 30]))
    found = segment_changes(tmp_path, table, "--penalty", "1", "--min-length", "7")
    places = [0, *map(int, found["position"]), 60]
    assert (np.diff(places) >= 7).all()


def test_robust_costs_ignore_spikes(tmp_path):
    rng = np.random.default_rng(5)
    x = np.repeat([0.0, 6.0], 60) + rng.normal(size=120)
    x[[20, 90]] += 60
    table = write(tmp_path / "t.csv", "\n".join(["value", *map(str, x)]))
    found = segment_changes(tmp_path, table, "--cost", "biweight")
    assert found["position"].to_list() == ["60"]


def test_short_sequences_are_segmented_without_changes(tmp_path, capsys):
    rows = [f"long,{level}" for level in [0, 0, 0, 0, 9, 9, 9, 9]]
    table = write(tmp_path / "t.csv", "\n".join(["sequence,value", *rows, "short,1", "short,2"]))
    argv = ["changepoint", "segment", table, "--min-length", "3", "--penalty", "1", "--out"]
    assert main([*argv, str(tmp_path / "two")]) == 0
    assert "1 change in 2 sequences; penalty: 1." in capsys.readouterr().err


@pytest.mark.filterwarnings("default:sequence sequence")  # the command prints warnings as notes
def test_a_season_is_removed_and_intervals_are_written(tmp_path, capsys):
    rng = np.random.default_rng(8)
    n = 24 * 14
    x = np.repeat([0.0, 6.0], n // 2) + 3 * np.sin(2 * np.pi * np.arange(n) / 24)
    time = np.datetime64("2024-03-01T00:00") + np.arange(n) * np.timedelta64(60, "m")
    rows = zip(time.astype(str), x + rng.normal(size=n), strict=True)
    text = "\n".join(f"{at},{value}" for at, value in rows)
    table = write(tmp_path / "t.csv", f"time,value\n{text}")
    found = segment_changes(tmp_path, table, "--period", "1d", "--cost", "auto")
    assert found["position"].to_list() == [str(time[n // 2])]
    low, high = found["position_low"][0], found["position_high"][0]
    assert low <= str(time[n // 2]) <= high
    # Without the period, the changes follow the season, and a warning says so.
    argv = ["changepoint", "segment", table, "--out", str(tmp_path / "other"), "--quiet"]
    assert main(argv) == 0
    assert "pass period=24" in capsys.readouterr().err
    sequences = pl.read_csv(tmp_path / "other" / "sequences.csv")
    assert "pass period=24" in sequences["note"][0]


def test_a_duration_requires_times(tmp_path, capsys):
    table = write(tmp_path / "t.csv", "\n".join(["value", *["0", "9"] * 30]))
    argv = ["changepoint", "segment", table, "--out", str(tmp_path / "out"), "--period", "1d"]
    assert "period must be a number of observations or, if positions are" in fails(capsys, argv)

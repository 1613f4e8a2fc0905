"""The commands on sequences: columns, forms of positions, groups, and bad sequences."""

import gzip
import json
import os
from datetime import datetime, timedelta

import numpy as np
import polars as pl
import pytest

from rocpath.cli import main
from tests.cli.command_tables import fails, long_tables, read, write

START = datetime(2024, 5, 1, 10, 20)
BAD = {"text": ["1", "two", "3"], "infinite": ["1", "2", "-inf"], "too large": ["1e101", "2", "3"]}
# Sequences that can be read, however odd they are.
ODD = {
    "constant": ["5"] * 9,
    "negative": ["-3.5", "-2", "-9", "-8.5", "-7"],
    "one value": ["7"],
    "huge": ["1e99", "-2e99", "3e99"],
    "with a missing value": ["1", "", "3"],
    "tiny": ["1e-99", "2e-99", "-1e-99"],
}
COLUMNS = ["--sequence", "host", "--position", "time", "--value", "latency_ms"]
LABEL_COLUMNS = ["--start", "from", "--end", "to", "--kind", "what"]


def with_more(sequences, more):
    """Add sequences to a file; return in which row each begins."""
    text = read(sequences).rstrip("\n")
    row, first = text.count("\n"), {}
    for name, values in more.items():
        first[name] = row + 1
        text += "".join(f"\n{name},{value}" for value in values)
        row += len(values)
    write_over(sequences, text)
    return first


def write_over(name, text):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)


def timed_tables(folder, form, n=8):
    """Make hosts whose latency jumps at the twentieth time, written in some form."""
    rng = np.random.default_rng(0)
    sequences = ["host,time,latency_ms,rack"]
    labels = ["host,from,to,what"]
    for name in range(n):
        spread = rng.choice([0.2, 2.0])
        value = 100 + np.repeat([0, 8 * spread], 20) + spread * rng.normal(size=40)
        sequences += [f"h{name},{form(at)},{one},r{name // 2}" for at, one in enumerate(value)]
        for start, end, kind in (
            (0, 15, "no_change"),
            (15, 25, "one_change"),
            (25, 39, "no_change"),
        ):
            labels.append(f"h{name},{form(start)},{form(end)},{kind}")
    return (
        write(folder / "latency.csv", "\n".join(sequences)),
        write(folder / "labels.csv", "\n".join(labels)),
    )


def fit_argv(sequences, labels, out, *more):
    argv = ["changepoint", "fit", sequences, labels, "--max-changes", "6"]
    return [*argv, "--out", str(out), "--quiet", *more]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("changepoint")
    sequences, labels = long_tables(folder)
    assert main(fit_argv(sequences, labels, folder / "model")) == 0
    return str(folder / "model"), sequences


@pytest.mark.parametrize(
    "form",
    [
        lambda at: (START + timedelta(minutes=5 * at)).strftime("%Y-%m-%dT%H:%M"),
        lambda at: (START + timedelta(days=at)).strftime("%Y-%m-%d"),
        lambda at: (START + timedelta(seconds=at)).isoformat(" ") + "+02:00",
        lambda at: (START + timedelta(seconds=0.25 * at)).isoformat() + "Z",
        lambda at: str(1_700_000_000 + at),
        lambda at: f"{at / 4:.3f}",
    ],
)
def test_positions_come_back_in_the_form_they_came_in(tmp_path, form):
    sequences, labels = timed_tables(tmp_path, form)
    out = str(tmp_path / "changes.csv")
    argv = fit_argv(sequences, labels, tmp_path / "model", *COLUMNS, *LABEL_COLUMNS)
    assert main([*argv, "--group", "rack"]) == 0
    # The model remembers the columns.
    argv = ["changepoint", "predict", str(tmp_path / "model"), sequences]
    assert main([*argv, "--out", out]) == 0
    found = pl.read_csv(out, infer_schema=False)
    worth = ["gain", "min_penalty", "max_penalty"]
    means = ["mean_before", "mean_after"]
    assert found.columns == ["host", "time", *means, *worth, "note"]
    assert found["host"].to_list() == [f"h{name}" for name in range(8)]
    assert set(found["time"]) == {form(20)}
    metrics = json.loads(read(tmp_path / "model" / "metrics.json"))
    assert metrics["n_groups"] == 4


def test_labels_in_another_form_than_the_positions_are_refused(tmp_path, capsys):
    sequences, _ = timed_tables(tmp_path, lambda at: f"2024-05-{at % 28 + 1:02}")
    _, labels = timed_tables(tmp_path, str)
    argv = fit_argv(sequences, labels, tmp_path / "m", *COLUMNS, *LABEL_COLUMNS)
    timed_tables(tmp_path, lambda at: (START + timedelta(days=at)).strftime("%Y-%m-%d"))
    write_over(labels, "host,from,to,what\nh0,0,15,no_change\n")
    assert "which are times, got a number, '0', in row 1" in fails(capsys, argv)
    write_over(labels, "host,from,to,what\nh0,2025-01-01,2025-01-02,no_change\n")
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
    # Noise is all that differs between these sequences, so it ranks their penalties.
    assert metrics["methods"]["default penalty, no labels"]["auc"] > 0.95
    text = page.split('<script type="application/json">')[1].split("</script>")[0]
    shown = json.loads(text)["sequences"]
    ours = metrics["methods"]["PenaltyRegressor"]["value"]
    assert sum(one["n_errors"] for one in shown) == ours
    assert [one["name"] for one in shown] == [f"0{name}" for name in range(12)]


@pytest.mark.parametrize(("name", "values"), BAD.items())
def test_a_sequence_that_cannot_be_read_does_not_stop_the_others(
    tmp_path, capsys, model, name, values
):
    sequences, labels = long_tables(tmp_path)
    row = with_more(sequences, {name: values})[name]
    bad = next(at for at, one in enumerate(values) if one not in ("1", "2", "3"))
    write_over(labels, read(labels) + f"\n{name},0,2,no_change")
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
    assert main(["changepoint", "predict", model[0], sequences, "--out", out]) == 0
    assert f"skipped sequence {name!r}" in capsys.readouterr().err
    found = pl.read_csv(out)
    assert found.filter(pl.col("note").is_null()).height == 12
    (note,) = found.filter(pl.col("sequence") == name)["note"]
    assert note.endswith(f" in row {row + bad}")


def test_odd_sequences_are_fitted_and_predicted_as_any_other(tmp_path, capsys):
    sequences, labels = long_tables(tmp_path)
    with_more(sequences, ODD)
    more = "".join(f"\n{name},-1,0.5,no_change" for name in ODD)
    write_over(labels, read(labels) + more)
    assert main(fit_argv(sequences, labels, tmp_path / "model")) == 0
    argv = ["changepoint", "predict", str(tmp_path / "model"), sequences]
    out = str(tmp_path / "changes.csv")
    assert main([*argv, "--out", out]) == 0
    assert "skipped" not in capsys.readouterr().err
    found = pl.read_csv(out)
    assert found["note"].null_count() == found.height
    metrics = json.loads(read(tmp_path / "model" / "metrics.json"))
    assert metrics["n_sequences"] == 12 + len(ODD)


def test_positions_may_be_in_any_order_but_not_twice(tmp_path, capsys, model):
    order = np.random.default_rng(0).permutation(30)
    rows = [f"a,{at},{10 * (at >= 15) + 0.5 * (at % 2)}" for at in order]
    rows += ["b,1,0", "b,2,0", "b,1,0"]
    table = write(tmp_path / "t.csv", "\n".join(["sequence,position,value", *rows]))
    assert main(["changepoint", "predict", model[0], table]) == 0
    shown, notes = capsys.readouterr()
    assert shown.splitlines()[1].startswith("a,15,0.2")
    assert "'b': positions must not repeat, got '1' again (see --repeated mean) in row 33." in notes


def test_nothing_but_bad_sequences_is_an_error(tmp_path, capsys, model):
    table = write(tmp_path / "t.csv", "sequence,value\na,1\na,x\nb,inf\n")
    message = fails(capsys, ["changepoint", "predict", model[0], table])
    assert "no sequence can be used; the first one, 'a': column 'value'" in message
    assert message.endswith("got 'x' in row 2.\n")


def test_labels_of_sequences_that_are_not_there_are_named(tmp_path, capsys):
    sequences, labels = long_tables(tmp_path)
    write_over(labels, read(labels) + "\nelsewhere,0,9,no_change")
    assert main(fit_argv(sequences, labels, tmp_path / "model")) == 0
    notes = capsys.readouterr().err
    assert "'elsewhere': the labels name it, but there is no such" in notes
    assert "sequence in row 37." in notes


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
    assert "one value in a sequence, got 'no_change' and, in row 2, 'one_cha" in message
    known.with_columns(person=pl.lit("me")).write_csv(labels)
    assert "at least two groups for cross-val" in fails(capsys, [*argv, "person"])


def test_columns_that_are_not_there_are_named_with_their_option(tmp_path, capsys):
    sequences, labels = timed_tables(tmp_path, str)
    argv = fit_argv(sequences, labels, tmp_path / "model")
    assert "'value' not found: name it with --value" in fails(capsys, argv)
    argv += COLUMNS
    assert "'start' not found: name it with --start" in fails(capsys, argv)
    argv += [*LABEL_COLUMNS, "--weight", "time"]
    assert "column 'time' must have one role" in fails(capsys, argv)


def test_a_table_of_one_sequence_needs_no_name_for_it(tmp_path, capsys, model):
    value = "\n".join(["value", *["0"] * 9, *["50"] * 9])
    table = write(tmp_path / "t.csv", value)
    assert main(["changepoint", "predict", model[0], table]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("sequence,9,0.0,50.0,")


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
    assert "'chr7': a.bedGraph" in capsys.readouterr().err
    argv = ["changepoint", "predict", str(tmp_path / "model"), str(sequences)]
    assert main([*argv, "--fill", "0"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    starts = {line.split(",")[0]: line.split(",")[1] for line in out.splitlines()[1:]}
    assert set(starts) >= {f"chr{name}" for name in range(1, 7)}
    assert all(place.isdigit() for place in starts.values())


def test_sequences_left_out_are_many_or_hostile(tmp_path, capsys, model):
    rows = [f"<b>{k}</b>\x1b[31m,x" for k in range(30)] + ["fine,1"]
    table = write(tmp_path / "t.csv", "\n".join(["sequence,value", *rows]))
    assert main(["changepoint", "predict", model[0], table]) == 0
    out, err = capsys.readouterr()
    assert err.count("\n") == 11
    assert "skipped 20 more sequences" in err
    assert "\x1b" not in err
    assert out.count("\n") == 31


def test_segment_begins_without_labels_and_its_page_leads_to_a_fit(tmp_path, capsys):
    def form(at):
        return (START + timedelta(minutes=5 * at)).strftime("%Y-%m-%dT%H:%M")

    sequences, _ = timed_tables(tmp_path, form)
    write_over(sequences, f"{read(sequences)}\nbad,{form(0)},x,r0")
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
    assert set(found["time"]) >= {form(20)}
    summary = pl.read_csv(out / "sequences.csv")
    assert summary.filter(pl.col("host") == "h0")["n_observations"].item() == 40
    assert summary["n_changes"].sum() == found.height
    assert summary["note"].drop_nulls().len() == 1
    page = read(out / "labels.html")
    assert form(39) in page
    assert "--force" in fails(capsys, argv)
    # A penalty that is told is the same for all.
    assert main([*argv, "--force", "--penalty", "1e9"]) == 0
    assert pl.read_csv(out / "sequences.csv")["n_changes"].sum() == 0


def test_segment_refuses_a_page_whose_models_do_not_fit_into_memory(tmp_path, capsys):
    rows = "\n".join(f"a,{k % 7}" for k in range(50_000))
    table = write(tmp_path / "t.csv", f"sequence,value\n{rows}")
    argv = ["changepoint", "segment", table, "--out", str(tmp_path / "out")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rocpath.changepoint.segmentation.available_memory", lambda: 10**9)
        message = fails(capsys, [*argv, "--max-changes", "40000", "--quiet"])
    # 40,001 models with up to 40,000 changes: 8e8 changes of 80 bytes.
    assert "may take 64.0 GB, more than the memory at hand" in message


def segment_changes(tmp_path, table, *more):
    out = tmp_path / "out"
    argv = ["changepoint", "segment", table, "--out", str(out), "--force", *more]
    assert main(argv) == 0
    return pl.read_csv(out / "changes.csv", infer_schema=False)


def hourly(k, zone=""):
    return (datetime(2024, 3, 30) + timedelta(hours=k)).strftime("%Y-%m-%dT%H:%M") + zone


def test_repeated_times_are_an_error_averaged_or_kept(tmp_path, capsys):
    rng = np.random.default_rng(0)
    x = np.repeat([0.0, 9.0], 40) + rng.normal(size=80)
    # An hour comes twice, as when daylight saving time ends.
    rows = [f"{hourly(k - (k > 60))},{one}" for k, one in enumerate(x)]
    table = write(tmp_path / "t.csv", "\n".join(["timestamp,value", *rows]))
    out = str(tmp_path / "out")
    message = fails(capsys, ["changepoint", "segment", table, "--out", out])
    assert f"got '{hourly(60)}' again (see --repeated mean) in row 62" in message
    for way in ("mean", "keep"):
        found = segment_changes(tmp_path, table, "--repeated", way)
        assert found["position"].to_list() == [hourly(40)]
    summary = pl.read_csv(tmp_path / "out" / "sequences.csv")
    assert summary["n_observations"].item() == 80
    segment_changes(tmp_path, table, "--repeated", "mean")
    summary = pl.read_csv(tmp_path / "out" / "sequences.csv")
    assert summary["n_observations"].item() == 79


@pytest.mark.parametrize("zone", ["Z", "+01:00", "-0530", "+02"])
def test_times_have_zones_of_any_form(tmp_path, zone):
    rng = np.random.default_rng(1)
    x = np.repeat([0.0, 9.0], 20) + rng.normal(size=40)
    rows = [f"{hourly(k, zone)},{one}" for k, one in enumerate(x)]
    rng.shuffle(rows)  # times are sorted, and so must be read
    table = write(tmp_path / "t.csv", "\n".join(["time,value", *rows]))
    found = segment_changes(tmp_path, table)
    assert found["position"].to_list() == [hourly(20, zone)]


def test_different_zones_are_compared_in_time(tmp_path):
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


def test_columns_of_a_wide_table_are_sequences_or_one(tmp_path):
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


def test_start_and_end_columns_are_runs(tmp_path, capsys):
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

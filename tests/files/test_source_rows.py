"""Sequences and labels read from bedGraph and BED files."""

import gzip

import numpy as np
import pytest

import rocpath as rp
from rocpath import changepoint as cp

RUNS = [(5, 15, 2), (15, 20, 9), (20, 21, 8), (21, 40, 1)]


def write_runs(path, runs, separator="\t", chrom="chr1"):
    text = "track type=bedGraph\n# counts\n" + "".join(
        separator.join(map(str, (chrom, *run))) + "\n" for run in runs
    )
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wt") as file:
        file.write(text)
    return path


@pytest.mark.parametrize("separator", ["\t", " ", "  "])
@pytest.mark.parametrize("name", ["runs.bedGraph", "runs.bedGraph.gz"])
def test_a_bedgraph_file_is_read_as_runs(tmp_path, separator, name):
    path = write_runs(tmp_path / name, RUNS, separator)
    (one,) = rp.read_sequences(path).sequences
    start, end, x = np.array(RUNS, dtype=float).T
    assert one.name == "chr1"
    assert one.value.tolist() == x.tolist()
    assert one.weight.tolist() == (end - start).tolist()
    assert one.position.tolist() == start.tolist()
    settings = {"cost": "poisson", "constraint": "up_down", "weights": one.weight}
    settings["position"] = one.position
    found = cp.segment_penalty(one.value, 1.0, **settings)
    assert found.changes.tolist() == [1, 3]
    assert found.position.tolist() == [15, 21]
    # Labels refer to positions in the file; this one excludes the peak start at 15.
    label = cp.Labels([10], [18], ["no_change"])
    moved = cp.segment_penalty(one.value, 1.0, labels=label, **settings)
    assert 15 not in moved.position


def test_gaps_are_filled_or_raise(tmp_path):
    path = write_runs(tmp_path / "a.bedGraph", [(0, 10, 3), (15, 20, 3), (30, 31, 1)])
    (one,) = rp.read_sequences(path, fill=0).sequences
    assert one.value.tolist() == [3, 0, 3, 0, 1]
    assert one.weight.tolist() == [10, 5, 5, 10, 1]
    assert one.position.tolist() == [0, 10, 15, 20, 30]
    rule = "'end' must be the next 'start', unless fill is given, got 10 in row 1"
    with pytest.raises(ValueError, match=rule):
        rp.read_sequences(path)
    path = write_runs(tmp_path / "b.bedGraph", [(0, 10, 3), (8, 20, 3)])
    with pytest.raises(ValueError, match=r"must not exceed the next 'start'.*got 10 in row 1"):
        rp.read_sequences(path, fill=0)


def test_an_error_affects_only_its_chromosome(tmp_path):
    path = tmp_path / "three.bedGraph"
    path.write_text(
        "chr1\t0\t5\t1\nchr2\t0\t3\t7\nchr2\t3\t9\t2\nchr3\t0\t1\t-1\nchr4\t0\tsix\t1\n"
        "chr5\t0\t5\tmany\n"
    )
    table = rp.read_sequences(path, cost="poisson")
    assert table.names == ["chr1", "chr2"]
    assert [one.tolist() for one in table.values] == [[1], [7, 2]]
    reasons = {one.sequence: one.reason for one in table.skipped}
    assert reasons["chr3"].startswith("column 'value' must not be negative for cost='poisson'")
    assert reasons["chr4"].endswith("got 'six'")
    assert reasons["chr5"] == "column 'value' must be a number, got 'many'"


def test_a_row_with_fewer_columns_raises(tmp_path):
    path = tmp_path / "bad.bedGraph"
    path.write_text("chr1\t0\t5\t1\nchr1\t5\t6\n")
    with pytest.raises(ValueError, match=r"bad\.bedGraph must have four columns.*chr1\\t5\\t6"):
        rp.read_sequences(path)


@pytest.mark.parametrize("text", ["", "track type=bedGraph\n"])
def test_a_file_without_runs_raises(tmp_path, text):
    path = tmp_path / "empty.bedGraph"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"empty\.bedGraph must have at least one row, got none"):
        rp.read_sequences(path)


def test_windows_line_endings_are_read(tmp_path):
    path = tmp_path / "windows.bedGraph"
    for separator in (b"\t", b" "):
        path.write_bytes(separator.join([b"chr1", b"0", b"5", b"7"]) + b"\r\n")
        (one,) = rp.read_sequences(path).sequences
        assert (one.value.tolist(), one.weight.tolist()) == ([7.0], [5.0])


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_labels_are_read_from_a_bed_file(tmp_path, suffix):
    table = rp.read_sequences(write_runs(tmp_path / "a.bedGraph", RUNS))
    path = tmp_path / f"labels.bed{suffix}"
    text = b"chr2 5 9 peakEnd\nchr1\t5\t12\tnoPeaks\nchr1 14 18 peakStart 0 +\n"
    path.write_bytes(gzip.compress(text) if suffix else text)
    known = rp.read_labels(path, table)
    (labels,) = known.labels
    assert labels.kind == ("no_peaks", "peak_start")
    assert labels.end.tolist() == [12, 18]
    assert [one.sequence for one in known.unknown] == ["chr2"]

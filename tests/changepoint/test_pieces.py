"""Sequences read in pieces, such as memory maps and bedGraph files."""

import gzip
import signal
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rocpath as rp
from rocpath import changepoint as cp
from rocpath.changepoint import pieces as reader

BOTH = [("normal", None), ("poisson", "up_down")]


def near(expected):
    return pytest.approx(np.array(expected, dtype=float), 1e-12, 1e-12)


@pytest.mark.parametrize(("cost", "constraint"), BOTH)
@given(x=st.lists(st.integers(0, 6), min_size=1, max_size=30), size=st.integers(1, 7))
def test_pieces_of_any_size_give_the_same_costs(cost, constraint, x, size):
    settings = {"cost": cost, "constraint": constraint}
    # Sequences of integers often have several best segmentations, so costs are compared.
    whole = cp.segment_penalty(x, 2.0, **settings)
    parts = cp.segment_penalty(cp.array_pieces(x, size=size), 2.0, **settings)
    assert parts.cost + 2 * parts.n_changes == near(whole.cost + 2 * whole.n_changes)
    max_changes = min(4, len(x) - 1)
    models = cp.segment(x, max_changes, **settings)
    in_parts = cp.segment(cp.array_pieces(x, size=size), max_changes, **settings)
    assert in_parts.cost == near(models.cost)


@pytest.mark.parametrize(("cost", "constraint"), BOTH)
@given(x=st.lists(st.integers(0, 6), min_size=1, max_size=30), size=st.integers(1, 7))
def test_pieces_of_sequences_without_ties_give_the_same_changes(cost, constraint, x, size):
    settings = {"cost": cost, "constraint": constraint}
    apart = np.array(x) + 0.01 * np.sqrt(np.arange(1.0, len(x) + 1.0))
    whole = cp.segment_penalty(apart, 2.0, **settings)
    parts = cp.segment_penalty(cp.array_pieces(apart, size=size), 2.0, **settings)
    if constraint is None:  # otherwise, changes between equal means are not unique
        assert parts.changes.tolist() == whole.changes.tolist()
        assert parts.mean == near(whole.mean)
    assert parts.cost + 2 * parts.n_changes == near(whole.cost + 2 * whole.n_changes)


@given(x=st.lists(st.integers(0, 6), min_size=8, max_size=20), size=st.integers(1, 7))
def test_labels_and_minimum_length_apply_across_pieces(x, size):
    settings = {
        "labels": cp.Labels([1, 5], [4, 8], ["one_change", "no_change"]),
        "min_length": 2,
        "position": np.arange(len(x)),
    }
    whole = cp.segment_penalty(x, 2.0, **settings)
    pieces = cp.array_pieces(x, size=size, position=settings.pop("position"))
    assert cp.segment_penalty(pieces, 2.0, **settings).changes.tolist() == (whole.changes.tolist())


def test_a_memory_map_of_small_integers_is_segmented(tmp_path):
    x = np.random.default_rng(0).poisson(np.repeat([3, 8, 2], 1000)).astype(np.uint8)
    np.save(tmp_path / "x.npy", x)
    on_disk = np.load(tmp_path / "x.npy", mmap_mode="r")
    settings = {"cost": "poisson", "constraint": "up_down"}
    expected = cp.segment_penalty(x.astype(float), 50.0, **settings)
    found = cp.segment_penalty(on_disk, 50.0, **settings)
    assert found.changes.tolist() == expected.changes.tolist()
    assert found.position is None


RUNS = [(5, 15, 2), (15, 20, 9), (20, 21, 8), (21, 40, 1)]


def write_runs(path, runs, separator="\t", chrom="chr1"):
    text = "track type=bedGraph\n# counts\n" + "".join(
        separator.join(map(str, (chrom, *run))) + "\n" for run in runs
    )
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wt") as file:
        file.write(text)
    return path


@pytest.mark.parametrize("separator", ["\t", " "])
@pytest.mark.parametrize("name", ["runs.bedGraph", "runs.bedGraph.gz"])
@pytest.mark.parametrize("text_size", [1, 2**23])
def test_a_bedgraph_file_is_read_as_runs(tmp_path, monkeypatch, separator, name, text_size):
    monkeypatch.setattr(reader, "_TEXT_SIZE", text_size)
    path = write_runs(tmp_path / name, RUNS, separator)
    start, end, x = np.array(RUNS, dtype=float).T
    settings = {"cost": "poisson", "constraint": "up_down"}
    expected = cp.segment_penalty(x, 1.0, weights=end - start, **settings)
    found = cp.segment_penalty(cp.bedgraph_pieces(path), 1.0, **settings)
    assert found.changes.tolist() == expected.changes.tolist() == [1, 3]
    assert found.position.tolist() == [15, 21]
    assert found.cost == near(expected.cost)
    # Labels refer to positions in the file; this one excludes the peak start at 15.
    label = cp.Labels([10], [18], ["no_change"])
    moved = cp.segment_penalty(cp.bedgraph_pieces(path), 1.0, labels=label, **settings)
    assert 15 not in moved.position


def test_gaps_are_filled_or_raise(tmp_path):
    path = write_runs(tmp_path / "a.bedGraph", [(0, 10, 3), (15, 20, 3), (30, 31, 1)])
    pieces = list(cp.bedgraph_pieces(path, fill=0).read())
    x, weights, position = (np.concatenate(column) for column in zip(*pieces, strict=True))
    assert x.tolist() == [3, 0, 3, 0, 1]
    assert weights.tolist() == [10, 5, 5, 10, 1]
    assert position.tolist() == [0, 10, 15, 20, 30]
    with pytest.raises(ValueError, match=r"or gaps \(set fill=0.*got 15 to 20 after 10"):
        list(cp.bedgraph_pieces(path).read())
    path = write_runs(tmp_path / "b.bedGraph", [(0, 10, 3), (8, 20, 3)])
    with pytest.raises(ValueError, match="without overlaps, got 8 to 20 after 10"):
        list(cp.bedgraph_pieces(path, fill=0).read())


def test_one_of_several_chromosomes_is_read(tmp_path):
    path = tmp_path / "two.bedGraph"
    path.write_text("chr1\t0\t5\t1\nchr2\t0\t3\t7\nchr2\t3\t9\t2\nchr3\t0\t1\t1\n")
    (piece,) = cp.bedgraph_pieces(path, chrom="chr2").read()
    assert piece.x.tolist() == [7, 2]
    for chrom in (None, "chr9"):
        with pytest.raises(ValueError, match=r"chrom must be in two\.bedGraph"):
            list(cp.bedgraph_pieces(path, chrom=chrom).read())


def test_invalid_lines_raise(tmp_path):
    path = tmp_path / "bad.bedGraph"
    path.write_text("chr1\t0\t5\t1\nchr1\t5\tsix\t7\n")
    with pytest.raises(ValueError, match=r"three numbers in each line: .*'six'"):
        list(cp.bedgraph_pieces(path).read())


def test_a_file_without_runs_raises(tmp_path):
    path = tmp_path / "empty.bedGraph"
    path.write_text("track type=bedGraph\n")
    for read in (cp.bedgraph_pieces, rp.read_sequences):
        with pytest.raises(
            ValueError, match=r"empty\.bedGraph must have at least one run, got none"
        ):
            read(path)


def test_windows_line_endings_are_read(tmp_path):
    path = tmp_path / "windows.bedGraph"
    for separator in (b"\t", b" "):
        path.write_bytes(separator.join([b"chr1", b"0", b"5", b"7"]) + b"\r\n")
        (piece,) = cp.bedgraph_pieces(path).read()
        assert (piece.x.tolist(), piece.weights.tolist()) == ([7.0], [5.0])


def test_labels_are_read_from_a_bed_file(tmp_path):
    path = tmp_path / "labels.bed"
    path.write_text("chr2 5 9 peakEnd\nchr1\t0\t60\tnoPeaks\nchr1 90 110 peakStart\n")
    labels = cp.bed_labels(path, chrom="chr1")
    assert labels.kind == ("no_peaks", "peak_start")
    assert labels.end.tolist() == [60, 110]
    with pytest.raises(ValueError, match="which has chr1, chr2, got None"):
        cp.bed_labels(path)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ([1.0, 2.0, np.nan], r"x must be finite.*got nan at index 2"),
        ([1.0, 2.0, 3.0, 1e120], r"at most 1e\+100 in size, got 1e\+120 at index 3"),
    ],
)
def test_error_messages_show_the_index_in_the_whole_sequence(x, message):
    with pytest.raises(ValueError, match=message):
        cp.segment_penalty(cp.array_pieces(x, size=2), 1.0)


def test_progress_is_reported():
    calls = []
    x = np.arange(10.0)
    cp.segment_penalty(cp.array_pieces(x, size=4), 1.0, progress=lambda *done: calls.append(done))
    assert calls == [(4, 10), (8, 10), (10, 10)]


def test_an_interrupt_stops_the_search():
    x = np.random.default_rng(0).poisson(3, 2_000_000)
    main = threading.main_thread().ident
    # Processes that run in the background may ignore interrupts.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, signal.pthread_kill, (main, signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            cp.segment_penalty(x, 10.0, cost="poisson", constraint="up_down")
    finally:
        timer.join()
        signal.signal(signal.SIGINT, handler)

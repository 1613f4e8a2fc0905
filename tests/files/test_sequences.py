"""Sequences and labels read from data frames."""

import numpy as np
import polars as pl
import pytest

import rocpath as rp
from rocpath import changepoint as cp

pd = pytest.importorskip("pandas")


def frame():
    """Return two unsorted sequences; sequence b has a change at 3."""
    rows = {"host": list("babbabbb"), "time": [0, 1, 2, 1, 0, 3, 5, 4]}
    return pl.DataFrame(rows | {"load": [0.0, 7.0, 0.0, 0.0, 7.0, 9.0, 9.0, 9.0]})


COLUMNS = {"sequence": "host", "position": "time", "value": "load"}


@pytest.mark.parametrize("convert", [lambda rows: rows, lambda rows: pd.DataFrame(rows.to_dict())])
def test_data_frames_are_split_and_sorted(convert):
    table = rp.read_sequences(convert(frame()), **COLUMNS)
    assert table.names == ["b", "a"]
    assert [one.tolist() for one in table.values] == [[0, 0, 0, 9, 9, 9], [7, 7]]
    assert [one.tolist() for one in table.positions] == [[0, 1, 2, 3, 4, 5], [0, 1]]
    assert table.weights is None
    assert not table.is_time


def test_changes_have_the_positions_and_column_names_of_the_table():
    table = rp.read_sequences(frame(), **COLUMNS)
    found = cp.detect_changes(table.values, 1.0)
    changes = cp.changes_table(table, found, cp.changes_worth(table.values, found))
    assert changes.columns[:4] == ["host", "time", "mean_before", "mean_after"]
    assert changes.row(0)[:4] == ("b", 3, 0.0, 9.0)
    assert changes.height == 1


def test_labels_are_aligned_with_the_sequences():
    table = rp.read_sequences(frame(), **COLUMNS)
    rows = {"sequence": ["b", "b", "c"], "start": [0, 2, 0], "end": [2, 5, 1]}
    kinds = ["no_change", "one_change", "no_change"]
    known = rp.read_labels(pl.DataFrame(rows | {"kind": kinds, "rack": [1, 1, 2]}), table)
    first, second = known.labels
    assert first.kind == ("no_change", "one_change")
    assert second is None
    assert [one.sequence for one in known.unknown] == ["c"]
    assert known.groups is None
    grouped = rp.read_labels(pl.DataFrame(rows | {"kind": kinds, "rack": [1, 1, 2]}), table,
                             group="rack")  # fmt: skip
    assert grouped.groups == ["1", ""]


def test_repeated_positions_are_averaged_or_spread():
    rows = pl.DataFrame({"position": [0, 1, 1, 2], "value": [1.0, 2.0, 5.0, 3.0]})
    with pytest.raises(ValueError, match="must not repeat unless repeated is mean or keep"):
        rp.read_sequences(rows)
    (mean,) = rp.read_sequences(rows, repeated="mean").sequences
    assert mean.value.tolist() == [1.0, 3.5, 3.0]
    assert mean.weight.tolist() == [1.0, 2.0, 1.0]
    (kept,) = rp.read_sequences(rows, repeated="keep").sequences
    # The two observations are spread evenly from 1 to 2.
    assert kept.position.tolist() == [0.0, 1.0, 1.5, 2.0]
    with pytest.raises(ValueError, match="repeated must be"):
        rp.read_sequences(rows, repeated="drop")


def test_small_weights_of_repeated_positions_are_added():
    rows = pl.DataFrame(
        {"position": [1, 1, 2], "value": [3.0, 6.0, 5.0], "weight": [0.1, 0.2, 0.3]}
    )
    (mean,) = rp.read_sequences(rows, repeated="mean").sequences
    # (3 · .1 + 6 · .2) / .3 = 5
    np.testing.assert_allclose(mean.value, [5.0, 5.0])
    np.testing.assert_allclose(mean.weight, [0.3, 0.3])


def test_columns_of_wide_tables_are_separate_sequences_or_one_sequence():
    rows = pl.DataFrame({"time": [2, 1], "x": [1.0, 2.0], "y": [3.0, 4.0], "note": ["a", "b"]})
    wide = rp.read_sequences(rows, layout="wide")
    assert wide.names == ["x", "y"]
    (common,) = rp.read_sequences(rows, layout="common").sequences
    np.testing.assert_array_equal(common.value, [[2.0, 4.0], [1.0, 3.0]])
    assert common.columns == ("x", "y")


def test_an_invalid_value_skips_only_its_sequence():
    rows = pl.DataFrame({"sequence": ["a", "b", "b"], "value": ["1", "2", "x"]})
    table = rp.read_sequences(rows)
    assert table.names == ["a"]
    (skipped,) = table.skipped
    assert str(skipped) == (
        "skipped sequence 'b': column 'value' must be a number, got 'x' in row 3."
    )


def test_text_that_denotes_missing_values_is_read_as_nan():
    rows = pl.DataFrame({"value": ["1", "n/a", "None", "#N/A", "-", "2"]})
    table = rp.read_sequences(rows)
    assert np.isnan(table.values[0]).tolist() == [False, True, True, True, True, False]
    assert table.notes == ("number of missing values, which have weight 0: 4.",)


@pytest.mark.parametrize("layout", ["wide", "common"])
def test_skipped_columns_are_reported(layout):
    rows = pl.DataFrame({"time": [1, 2], "x": [1.0, 2.0], "y": ["3", "oops"]})
    notes = rp.read_sequences(rows, layout=layout).notes
    assert notes == ("skipped columns that are not numeric: y.",)


def test_runs_may_be_unsorted_but_must_not_overlap():
    rows = {"start": [20, 0, 10], "end": [30, 10, 21], "value": [1.0, 2.0, 3.0]}
    with pytest.raises(
        ValueError, match=r"'end' must not exceed the next 'start'.*got 21 in row 3"
    ):
        rp.read_sequences(pl.DataFrame(rows))
    windows = rp.read_sequences(pl.DataFrame(rows), position="start")
    assert windows.values[0].tolist() == [2.0, 3.0, 1.0]
    gaps = rp.read_sequences(pl.DataFrame(rows | {"end": [30, 5, 20]}))
    assert gaps.weights[0].tolist() == [5.0, 10.0, 10.0]


def test_runs_of_times_have_lengths_in_seconds():
    start = ["2024-01-01T00:00Z", "2024-01-01T00:01Z"]
    rows = {"start": start, "end": [start[1], "2024-01-01T00:03Z"], "value": [1.0, 2.0]}
    assert rp.read_sequences(pl.DataFrame(rows)).weights[0].tolist() == [60.0, 120.0]


def test_errors_suggest_another_layout_or_fewer_columns():
    rows = pl.DataFrame({"time": [1, 2], "x": [1.0, 2.0], "comment": ["a", "b"]})
    with pytest.raises(ValueError, match="of time, x, comment, or read the table as wide if each"):
        rp.read_sequences(rows)
    with pytest.raises(ValueError, match="to one of comment, or drop the other columns if"):
        rp.read_sequences(rows, value="x")


def test_an_invalid_column_of_a_wide_table_is_reported_with_its_row():
    rows = pl.DataFrame({"x": [1.0, 2.0, 3.0], "y": [1.0, 1e200, 3.0], "z": [4.0, 5.0, 6.0]})
    for layout in ("wide", "common"):
        table = rp.read_sequences(rows, layout=layout)
        (skipped,) = table.skipped
        assert skipped.row == 2
        assert str(skipped).startswith("skipped sequence 'y': column 'y' must be finite")
    # The other columns are still used.
    (common,) = table.sequences
    assert common.columns == ("x", "z")


@pytest.mark.parametrize("name", [None, "when"])
def test_times_in_the_index_of_a_data_frame_are_used_as_positions(name):
    time = pd.date_range("2024-01-01", periods=3, freq="h", tz="Europe/Berlin", name=name)
    rows = pd.DataFrame({"value": [1.0, 2.0, 3.0]}, index=time)
    for position in {None, name}:
        table = rp.read_sequences(rows, position=position)
        assert table.is_time
        assert np.diff(table.positions[0]).tolist() == [3600e6, 3600e6]


def test_months_are_read_as_times():
    rows = pl.DataFrame({"date": ["2024-01", "2024-02", "2024-03"], "value": [1.0, 2.0, 3.0]})
    table = rp.read_sequences(rows)
    assert table.is_time
    # January has 31 days, and February 2024 has 29.
    assert (np.diff(table.positions[0]) / 86_400e6).tolist() == [31, 29]
    assert table.written_positions[0].tolist() == ["2024-01", "2024-02", "2024-03"]


@pytest.mark.parametrize(
    ("positions", "expected"),
    [
        (["25.03.2024", "26.03.2024", "27.03.2024"], ["2024-03-25", "2024-03-26", "2024-03-27"]),
        (["25.03.2024 10:00", "26.03.2024 00:30", "01.04.2024 00:00"],
         ["2024-03-25T10:00", "2024-03-26T00:30", "2024-04-01"]),
        (["1990Q1", "1990Q2", "1991Q4"], ["1990-01-01", "1990-04-01", "1991-10-01"]),
        (["1990 q1", "1990-Q3", "1990Q4"], ["1990-01-01", "1990-07-01", "1990-10-01"]),
    ],
)  # fmt: skip
def test_dates_are_read_in_common_formats(positions, expected):
    table = rp.read_sequences(pl.DataFrame({"date": positions, "value": [1.0, 2.0, 3.0]}))
    assert table.is_time
    assert (
        table.positions[0].tolist() == np.array(expected, "datetime64[us]").astype(float).tolist()
    )


def test_years_and_decimal_commas_are_read():
    frame = pl.DataFrame({"year": [1990, 1991], "value": ["1,5", "-2,25"]})
    table = rp.read_sequences(frame)
    assert table.positions[0].tolist() == [1990.0, 1991.0]
    assert table.values[0].tolist() == [1.5, -2.25]
    # A thousands separator is not a decimal comma.
    with pytest.raises(ValueError, match=r"must be a number, got '1,234\.5'"):
        rp.read_sequences(pl.DataFrame({"value": ["1,234.5", "2.0"]}))

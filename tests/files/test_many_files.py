"""Tables in several files: patterns, folders, Hive partitions and remote addresses."""

import polars as pl
import pytest

import rocpath as rp
from rocpath.files import tables
from rocpath.files.table_names import file_names, names_below


def write_parts(folder, parts):
    """Write Parquet files below a folder, from the values of their column x."""
    for name, values in parts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        pl.DataFrame({"x": values}).write_parquet(path)


def test_a_pattern_stands_for_the_rows_of_all_files(tmp_path):
    write_parts(tmp_path, {"b.parquet": [3, 4], "a.parquet": [1, 2], "other.pq": [9]})
    assert rp.read_table(f"{tmp_path}/*.parquet")["x"].to_list() == [1, 2, 3, 4]
    with pytest.raises(ValueError, match=r"none\*.csv' matches no file"):
        rp.read_table(f"{tmp_path}/none*.csv")


def test_columns_may_be_in_another_order_but_not_differ(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "b.csv").write_text("y,x\n3,4\n")
    assert rp.read_table(f"{tmp_path}/*.csv").rows() == [(1, 2), (4, 3)]
    (tmp_path / "c.csv").write_text("x,z\n1,2\n")
    message = r"c.csv' must have the columns of the first file, .*: it lacks \['y'\] and adds"
    with pytest.raises(ValueError, match=message):
        rp.read_table(f"{tmp_path}/*.csv")


def test_a_folder_is_read_as_spark_writes_it(tmp_path):
    write_parts(tmp_path, {"t/part-0.snappy.parquet": [1], "t/part-1.snappy.parquet": [2]})
    for name in ("_SUCCESS", ".part-0.snappy.parquet.crc", "_metadata.parquet"):
        (tmp_path / "t" / name).write_bytes(b"\0")
    write_parts(tmp_path, {"t/_temporary/part-9.parquet": [9]})
    assert rp.read_table(tmp_path / "t")["x"].to_list() == [1, 2]
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(ValueError, match=r"is a folder without Parquet files: .*\*\.csv'"):
        rp.read_table(empty)


def test_hive_partitions_become_columns(tmp_path):
    write_parts(
        tmp_path,
        {
            "t/year=2023/place=a%20b/0.parquet": [1],
            "t/year=2024/place=c/0.parquet": [2],
            "t/year=2024/place=__HIVE_DEFAULT_PARTITION__/0.parquet": [3],
        },
    )
    expected = {(1, 2023, "a b"), (2, 2024, "c"), (3, 2024, None)}
    for name in (tmp_path / "t", f"{tmp_path}/t/*", f"{tmp_path}/t/**/*.parquet"):
        table = rp.read_table(name)
        assert table.columns == ["x", "year", "place"]
        assert set(table.rows()) == expected
    # A column of text stays text, also if one file is read on its own.
    part = tables.read_part(file_names(str(tmp_path / "t"))[0], text={"year"})
    assert part.rows() == [(1, "2023", "a b")]


def test_names_of_results_keep_the_folders_of_partitions():
    names = ["data/t/k=1/0.parquet", "data/t/k=2/0.parquet"]
    assert names_below(names) == ["k=1/0.parquet", "k=2/0.parquet"]
    assert names_below(["a.csv", "b.csv"]) == ["a.csv", "b.csv"]


@pytest.mark.parametrize(
    "name", ["s3://bucket/t.parquet", "gs://b/*.parquet", "https://x.org/t.csv"]
)
def test_remote_addresses_name_the_remedy(name):
    with pytest.raises(ValueError, match=r"is a remote address: copy .*rocpath\.dask"):
        rp.read_table(name)


def test_files_that_may_not_fit_into_memory_name_the_remedy(tmp_path, monkeypatch):
    write_parts(tmp_path, {"a.parquet": [1], "b.parquet": [2]})
    monkeypatch.setattr(tables, "memory_limit", lambda: 1000)
    with pytest.raises(MemoryError, match=r"has 2 files, which may need .* use rocpath\.dask"):
        rp.read_table(tmp_path)

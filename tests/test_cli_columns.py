"""What columns of a table are taken for, and that predict reads them as fit did."""

import gzip
import json
import os

import numpy as np
import polars as pl
import pytest

from command_tables import fails, labelled_table, read, write
from rocpath.cli import files, main
from rocpath.tables.audit import parsed_types, reading_of
from rocpath.tables.columns import feature_columns

DAY = 18_365  # the 13th of April 2020, counted from 1970


def as_read(values, kind=None):
    return reading_of(pl.Series("c", values, dtype=pl.String), kind)


@pytest.mark.parametrize(
    ("values", "style", "number"),
    [
        (["$1,200.50", "€ 3", "-4%"], "decimal point", [1200.5, 3.0, -0.04]),
        (["1.234,5", "2,5", None], "decimal comma", [1234.5, 2.5, None]),
        (["1 234 567", "1'000"], "decimal point", [1234567.0, 1000.0]),
        (["1e5", ".5", "5."], "decimal point", [1e5, 0.5, 5.0]),
        (["USD 5", "6 EUR"], "decimal point", [5.0, 6.0]),
        (["13.04.2020", "14.04.2020"], "%d.%m.%Y", [DAY, DAY + 1]),
        (["13/04/2020", "03/04/2020"], "%d/%m/%Y", [DAY, DAY - 10]),
        (["04/13/2020", "04/03/2020"], "%m/%d/%Y", [DAY, DAY - 10]),
    ],
)
def test_text_is_read_as_it_was_written(values, style, number):
    reading = as_read(values)
    assert reading.format == style
    assert reading.number.to_list() == number
    assert reading.unreadable == ()


@pytest.mark.parametrize("values", [["US", "DE"], ["12 34", "1"], ["1,2,3", "4"]])
def test_text_that_is_no_number_stays_text(values):
    assert as_read(values) is None


def test_a_day_and_month_that_could_be_either_are_refused_with_the_remedy():
    values = ["03/04/2020", "05/06/2020"]
    with pytest.raises(ValueError, match=r"--type 'c=date:%d/%m/%Y'"):
        as_read(values)
    # The 4th of March, 40 days before the 13th of April.
    assert as_read(values, "date:%m/%d/%Y").number[0] == DAY - 40
    # One that is the same day both ways needs no remedy.
    assert as_read(["03/03/2020", "04/04/2020"]).number[1] == DAY - 9


def test_few_bad_values_are_missing_and_many_make_a_category():
    assert as_read([*map(str, range(2999)), "n/a"]).unreadable == ("n/a",)
    assert as_read(["1", "2", "x", "y"]) is None
    assert as_read(["1", "2", "x", "y"], "number").unreadable == ("x", "y")
    with pytest.raises(ValueError, match="no value that can be read as a number"):
        as_read(["x", "y"], "number")


def test_dates_of_a_file_are_only_taken_as_such_where_the_year_is_first(tmp_path):
    text = "iso,slash,y\n2020-04-13,03/04/2020,1\n2020-04-14,04/04/2020,2\n"
    rows = files.read_table(write(tmp_path / "t.csv", text))
    assert rows.dtypes == [pl.Date, pl.String, pl.Int64]
    assert rows["slash"][0] == "03/04/2020"


@pytest.mark.parametrize(
    ("name", "coded"),
    [
        ("t.csv", lambda text: text.replace("\n", "\r").encode()),
        ("t.csv", lambda text: text.encode("utf-16")),
        ("t.csv", lambda text: text.encode("utf-8-sig")),
        ("t.csv.gz", lambda text: gzip.compress(text.encode())),
        ("t.tsv.gz", lambda text: gzip.compress(text.replace(",", "\t").encode())),
    ],
)
def test_text_of_other_programs_is_read(tmp_path, name, coded):
    (tmp_path / name).write_bytes(coded("größe,y\n1.5,a\n2.5,b\n"))
    rows = files.read_table(str(tmp_path / name))
    assert rows.equals(pl.DataFrame({"größe": [1.5, 2.5], "y": ["a", "b"]}))


def test_packed_files_that_are_none_are_named(tmp_path):
    name = str(tmp_path / "t.csv.gz")
    for content in (b"a,y\n1,2\n", gzip.compress(b"a,y\n1,2\n")[:-9]):
        (tmp_path / "t.csv.gz").write_bytes(content)
        with pytest.raises(ValueError, match="is not readable gzip"):
            files.read_table(name)


@pytest.mark.parametrize("bad", ["size", "size=float", "=number", "size=date:"])
def test_types_that_cannot_be_meant(bad):
    with pytest.raises(ValueError, match="--type must be COLUMN=KIND"):
        parsed_types([bad])


def test_a_kind_that_is_told_is_taken():
    rows = labelled_table().with_columns(code=pl.Series(np.arange(30) % 3))
    types = {"code": "category", "flag": "drop", "row": "number"}
    features, audit = feature_columns(rows, {"y"}, types)
    assert features.category == ("colour", "code")
    assert features.number == ("row", "size")
    kind = {one.column: one.kind for one in audit}
    assert kind["flag"] == "drop"
    missing = {one.column: one.n_missing for one in audit}
    assert missing["size"] == 3  # rows 4, 13 and 22 are gaps
    with pytest.raises(ValueError, match="--type column 'none' not found"):
        feature_columns(rows, {"y"}, {"none": "drop"})


@pytest.fixture(scope="module")
def priced(tmp_path_factory):
    """Fit a table with prices, one of them bad, dates and a code of digits."""
    folder = tmp_path_factory.mktemp("priced")
    rows = labelled_table(60)
    price = [f"${1000 + 10 * k:,}.00" for k in range(60)]
    price[7] = "call us"
    rows = rows.with_columns(
        price=pl.Series(price),
        day=pl.Series([f"{1 + k % 28}/04/2020" for k in range(60)]),
        code=pl.Series([f"0{k % 3}" for k in range(60)]),
    )
    table, model = str(folder / "t.csv"), str(folder / "model")
    rows.write_csv(table)
    argv = ["fit", table, "--label", "y", "--out", model, "--model", "logistic"]
    assert main([*argv, "--type", "code=category"]) == 0
    return model, rows


def test_fit_notes_what_it_could_not_read_and_writes_the_audit(priced):
    model, _ = priced
    columns = json.loads(read(os.path.join(model, "metrics.json")))["columns"]
    audit = {one["column"]: one for one in columns["audit"]}
    assert audit["price"]["kind"] == "number"
    assert audit["price"]["n_unreadable"] == 1
    assert audit["day"]["why"] == "60 of 60 values are dates as %d/%m/%Y"
    assert audit["code"]["kind"] == "category"
    assert audit["same"]["kind"] == "drop"
    report = read(os.path.join(model, "report.html"))
    assert "60 of 60 values are dates as %d/%m/%Y" in report


def test_predict_reads_columns_as_fit_did(tmp_path, capsys, priced):
    model, rows = priced
    table = str(tmp_path / "t.csv")
    rows.write_csv(table)
    assert main(["predict", model, table]) == 0
    assert capsys.readouterr().err == ""
    # Here the 3rd of April could be the 4th of March; the model knows which.
    rows = rows.with_columns(day=pl.lit("03/04/2020"))
    rows[:1].write_csv(table)
    assert main(["predict", model, table]) == 0
    for name, value, rule in (
        ("price", "dear", "must be numbers"),
        ("day", "04/13/2020", "must be dates as %d/%m/%Y"),
    ):
        rows.with_columns(**{name: pl.lit(value)}).write_csv(table)
        message = fails(capsys, ["predict", model, table])
        assert f"column {name!r} {rule}, got {value!r} in row 1" in message


def test_predict_notes_values_far_outside_those_of_the_fit(tmp_path, capsys, priced):
    model, rows = priced
    table = str(tmp_path / "t.csv")
    price = pl.Series(["$1,000"] * 59 + ["$9,999"])
    rows.with_columns(price=price).write_csv(table)
    assert main(["predict", model, table]) == 0
    assert capsys.readouterr().err == (
        "note: column 'price' has 1 values far outside those of the fit (1000 to "
        "1590), as 9999 in row 60.\n"
    )

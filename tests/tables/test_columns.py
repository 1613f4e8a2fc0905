"""Column types, and consistent reading of columns in fit and predict."""

import gzip
import json
import os

import numpy as np
import polars as pl
import pytest

from rocpath.cli import main
from rocpath.cli.early_checks import parsed_types
from rocpath.files.tables import read_table
from rocpath.tables.columns import feature_columns
from rocpath.tables.labels import two_classes
from rocpath.tables.text_formats import read_format
from tests.cli.command_tables import fails, labeled_table, read, write

DAY = 18_365  # April 13, 2020, in days since 1970


def as_read(values, kind=None):
    return read_format(pl.Series("c", values, dtype=pl.String), kind)


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
def test_formats_of_numbers_and_dates_are_inferred(values, style, number):
    reading = as_read(values)
    assert reading.format == style
    assert reading.number.to_list() == number
    assert reading.unreadable == ()


@pytest.mark.parametrize("values", [["US", "DE"], ["12 34", "1"], ["1,2,3", "4"]])
def test_text_that_is_not_numeric_stays_text(values):
    assert as_read(values) is None


def test_ambiguous_dates_raise_with_a_remedy():
    values = ["03/04/2020", "05/06/2020"]
    with pytest.raises(
        ValueError, match=r"specify its type as 'date:%d/%m/%Y', 'date:%m/%d/%Y' or 'drop'"
    ):
        as_read(values)
    # March 4 is 40 days before April 13.
    assert as_read(values, "date:%m/%d/%Y").number[0] == DAY - 40
    # Dates that are the same in both formats are not ambiguous.
    assert as_read(["03/03/2020", "04/04/2020"]).number[1] == DAY - 9


def test_few_unreadable_values_are_missing_and_many_make_a_category():
    assert as_read([*map(str, range(2999)), "n/a"]).unreadable == ("n/a",)
    assert as_read(["1", "2", "x", "y"]) is None
    assert as_read(["1", "2", "x", "y"], "number").unreadable == ("x", "y")
    with pytest.raises(ValueError, match="no value that can be read as a number"):
        as_read(["x", "y"], "number")


def test_dates_in_files_are_parsed_only_if_the_year_is_first(tmp_path):
    text = "iso,slash,y\n2020-04-13,03/04/2020,1\n2020-04-14,04/04/2020,2\n"
    rows = read_table(write(tmp_path / "t.csv", text))
    assert rows.dtypes == [pl.Date, pl.String, pl.Int64]
    assert rows["slash"][0] == "03/04/2020"


def test_dates_in_mixed_formats_stay_text_without_affecting_other_columns(tmp_path):
    # In the column of codes, NA is a value.
    text = "day,at,land\n13.04.2020,2020-04-13 10:20,NA\n"
    text += "2020-04-14,2020-04-13 10:21:30,DE\n,,FR\n14.04.2020,,US\n"
    rows = read_table(write(tmp_path / "t.csv", text))
    assert rows.dtypes == [pl.String, pl.Datetime("us"), pl.String]
    assert rows["day"].to_list() == ["13.04.2020", "2020-04-14", None, "14.04.2020"]
    assert rows["land"][0] == "NA"


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
def test_encodings_of_other_programs_are_read(tmp_path, name, coded):
    (tmp_path / name).write_bytes(coded("größe,y\n1.5,a\n2.5,b\n"))
    rows = read_table(str(tmp_path / name))
    assert rows.equals(pl.DataFrame({"größe": [1.5, 2.5], "y": ["a", "b"]}))


def test_errors_name_invalid_gzip_files(tmp_path):
    name = str(tmp_path / "t.csv.gz")
    for content in (b"a,y\n1,2\n", gzip.compress(b"a,y\n1,2\n")[:-9]):
        (tmp_path / "t.csv.gz").write_bytes(content)
        with pytest.raises(ValueError, match="is not readable gzip"):
            read_table(name)


@pytest.mark.parametrize("bad", ["size", "size=float", "=number", "size=date:"])
def test_invalid_types_raise(bad):
    with pytest.raises(ValueError, match="--type must be COLUMN=KIND"):
        parsed_types([bad])


def test_given_types_are_used():
    rows = labeled_table().with_columns(code=pl.Series(np.arange(30) % 3))
    types = {"code": "category", "flag": "drop", "row": "number"}
    features, audit = feature_columns(rows, {"y"}, types)
    assert features.category == ("color", "code")
    assert features.number == ("row", "size")
    kind = {one.column: one.kind for one in audit}
    assert kind["flag"] == "drop"
    missing = {one.column: one.n_missing for one in audit}
    assert missing["size"] == 3  # rows 4, 13 and 22
    with pytest.raises(ValueError, match="types column 'none' not found"):
        feature_columns(rows, {"y"}, {"none": "drop"})


@pytest.fixture(scope="module")
def priced(tmp_path_factory):
    """Fit a table with prices, one of them unreadable, dates and a code of digits."""
    folder = tmp_path_factory.mktemp("priced")
    rows = labeled_table(60)
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


def test_fit_notes_unreadable_values_and_writes_the_audit(priced):
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
    # 03/04 could be April 3 or March 4; the model contains the format.
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


def test_predict_notes_values_far_outside_the_training_range(tmp_path, capsys, priced):
    model, rows = priced
    table = str(tmp_path / "t.csv")
    price = pl.Series(["$1,000"] * 59 + ["$9,999"])
    rows.with_columns(price=price).write_csv(table)
    assert main(["predict", model, table]) == 0
    assert capsys.readouterr().err == (
        "note: column 'price' has 1 value far outside the range of the training rows "
        "(1000 to 1590), such as 9999 in row 60.\n"
    )


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("extension", ["csv", "txt"])
def test_other_separators_are_detected(tmp_path, separator, extension):
    text = 'a;b;c\n1;"x;y";2,5\n2;z;3,5\n'.replace(";", separator)
    if separator == ",":
        text = text.replace("2,5", "2.5").replace("3,5", "3.5")
    table = read_table(write(tmp_path / f"t.{extension}", text))
    assert table.columns == ["a", "b", "c"]
    assert table["b"].to_list() == [f"x{separator}y", "z"]
    if separator != ",":
        assert as_read(table["c"].to_list()).number.to_list() == [2.5, 3.5]


def test_a_column_name_may_contain_a_semicolon(tmp_path):
    table = read_table(write(tmp_path / "t.csv", "a;b,c\n1,2\n"))
    assert table.columns == ["a;b", "c"]


def test_na_is_a_value_among_two_letter_codes(tmp_path, capsys):
    rng = np.random.default_rng(0)
    codes = rng.choice(["NA", "DE", "FR", "US", ""], size=200)
    y = np.where(codes == "NA", 1, rng.random(200) < 0.2).astype(int)
    rows = [f"{code},{one},{NA}" for code, one, NA in zip(codes, y, "1234" * 50, strict=True)]
    name = write(tmp_path / "t.csv", "\n".join(["country,y,x", *rows]))
    table = read_table(name)
    assert table["country"].null_count() == (codes == "").sum()
    assert "NA" in table["country"].unique()
    out = str(tmp_path / "model")
    assert main(["fit", name, "--label", "y", "--out", out, "--fast", "--quiet"]) == 0
    # A single row does not show that NA is a code, but the model contains the codes.
    capsys.readouterr()
    scores = {}
    for code in ("NA", "DE", ""):
        one = write(tmp_path / "one.csv", f"country,x\n{code},1\n")
        assert main(["predict", out, one]) == 0
        scores[code] = float(capsys.readouterr().out.splitlines()[1].split(",")[0])
    assert scores["NA"] > max(scores["DE"], scores[""]) + 1


@pytest.mark.parametrize("words", [["yes", "no", "NA"], ["A", "B", "NA"], ["1", "NA"]])
def test_na_is_missing_in_other_columns(tmp_path, words):
    name = write(tmp_path / "t.csv", "\n".join(["a,b", *(f"{w},1" for w in words)]))
    assert read_table(name)["a"].null_count() == 1


def test_a_column_that_ranks_almost_perfectly_is_suspected(tmp_path, capsys):
    table = labeled_table(200)
    y = (table["y"] == "yes").to_numpy()
    rng = np.random.default_rng(0)
    table = table.with_columns(
        paid=pl.Series(y + 0.01 * rng.normal(size=200)),
        closed=pl.Series(np.where(y, None, "2020"), dtype=pl.String),
        status=pl.Series(np.where(y, "won", rng.choice(["lost", "open"], size=200))),
    )
    name, out = str(tmp_path / "t.csv"), str(tmp_path / "model")
    table.write_csv(name)
    argv = ["fit", name, "--label", "y", "--out", out, "--fast"]
    assert main(argv) == 0
    notes = capsys.readouterr().err
    suspected = [line for line in notes.splitlines() if "possible leak" in line]
    assert [line.split("'")[1] for line in suspected] == ["paid", "closed", "status"]
    assert "(--drop 'paid')" in notes
    assert "possible leak: its AUC alone is 1.000" in read(os.path.join(out, "report.html"))


def test_surrounding_spaces_are_ignored(tmp_path, capsys):
    words = ["red", " red", "red ", "blue", "  "] * 20
    labels = ["yes", "yes ", "no"] * 33 + ["no"]
    rows = [f"{word},{label}" for word, label in zip(words, labels, strict=True)]
    name = write(tmp_path / "t.csv", "\n".join(["color,y", *rows]))
    assert two_classes(read_table(name)["y"], "yes")[0].n_negative == 34
    features, _ = feature_columns(read_table(name), ["y"], {})
    color = features.select(read_table(name))["color"]
    assert color.drop_nulls().unique().sort().to_list() == ["blue", "red"]
    assert color.null_count() == 20


@pytest.mark.parametrize("name", ["person id", "ssn", "PatientID", "customerId", "account_no"])
def test_numbers_that_identify_people_are_dropped(name):
    rng = np.random.default_rng(0)
    # One in ten persons has two rows.
    person = rng.choice(10**9, 100, replace=False)[np.r_[np.arange(100), np.arange(10)]]
    table = pl.DataFrame({name: person, "size": rng.normal(size=110)})
    features, audits = feature_columns(table, [], {})
    assert features.number == ("size",)
    assert audits[0].why == "it looks like an identifier"
    assert feature_columns(table, [], {name: "number"})[0].number == (name, "size")

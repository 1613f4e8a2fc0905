"""Numbers with decimal points or commas, and with groups of thousands."""

import re

import numpy as np
import polars as pl
import pytest

import rocpath as rp
from rocpath.files.csv_text import parse_table
from rocpath.tables.columns import feature_columns


def read_numbers(content, types=None):
    """Return the numbers of a CSV table by column, as TableClassifier reads them."""
    table = parse_table("t.csv", content.encode(), None)
    features, _ = feature_columns(table, ["y"] if "y" in table.columns else [], types or {})
    return {one.name: one.to_list() for one in features.select(table)}


def lines(*columns, separator=";"):
    return "\n".join(separator.join(cells) for cells in zip(*columns, strict=True)) + "\n"


def test_grouped_and_small_numbers_have_a_decimal_comma():
    amounts = ["amount", "950", "1.250", "12.000", "3.400", "7.125", "88", "2.001", "1.234.567"]
    found = read_numbers(lines(amounts))
    assert found["amount"] == [950, 1250, 12000, 3400, 7125, 88, 2001, 1234567]


@pytest.mark.parametrize("separator", [";", "\t"])
def test_another_column_decides_how_ambiguous_numbers_are_read(separator):
    amounts = ["amount", "1.250", "2.500"]
    comma = read_numbers(lines(amounts, ["rate", "0,734", "12,5"], separator=separator))
    assert comma == {"amount": [1250, 2500], "rate": [0.734, 12.5]}
    point = read_numbers(lines(amounts, ["rate", "0.734", "12.5"], separator=separator))
    assert point == {"amount": [1.25, 2.5], "rate": [0.734, 12.5]}


def test_a_leading_zero_is_not_a_group_of_thousands():
    found = read_numbers(lines(["rate", "0,734", "0,250", "1,125"], ["x", "1", "2", "4"]))
    assert found["rate"] == [0.734, 0.25, 1.125]


def test_points_in_files_with_commas_as_separators_are_decimal():
    found = read_numbers(
        lines(["amount", "1.250", "2.500", "950"], ["x", "1", "2", "4"], separator=",")
    )
    assert found["amount"] == [1.25, 2.5, 950]


def test_ambiguous_numbers_are_refused_with_both_readings_and_the_types():
    content = lines(["amount", "1.250", "2.500", "9.125"], ["x", "1", "2", "4"])
    message = re.escape(
        "column 'amount' is ambiguous: numbers such as '1.250' can be 1.25 or 1250; specify its "
        "type as 'number:.' or 'number:,', after the decimal separator."
    )
    with pytest.raises(ValueError, match=message):
        read_numbers(content)
    assert read_numbers(content, {"amount": "number:."})["amount"] == [1.25, 2.5, 9.125]
    assert read_numbers(content, {"amount": "number:,"})["amount"] == [1250, 2500, 9125]


def test_a_model_reads_numbers_as_in_the_fit(tmp_path):
    rng = np.random.default_rng(0)
    amount = rng.integers(100, 9000, 200)
    y = amount + 2000 * rng.normal(size=200) > 4000
    shown = [f"{one:,}".replace(",", ".") for one in amount]
    table = lines(["amount", *shown], ["y", *y.astype(int).astype(str)])
    path = tmp_path / "t.csv"
    path.write_text(table)
    model = rp.TableClassifier("logistic", fast=True, random_state=0)
    model.fit(rp.read_table(path), "y")
    numbers = pl.DataFrame({"amount": amount.astype(float)})
    expected = model.decision_function(numbers)
    np.testing.assert_allclose(model.decision_function(rp.read_table(path)), expected)
    assert rp.auc(y, expected) > 0.85
    # A single number in a new file has the format of the fit.
    new = parse_table("n.csv", b"amount\n1.250\n", ";", text=model.model_.text)
    assert model.decision_function(new) == model.decision_function(
        pl.DataFrame({"amount": [1250.0]})
    )

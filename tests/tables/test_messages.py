"""Messages about text columns, unusual values, saved models and open quotes."""

import re

import numpy as np
import polars as pl
import pytest

import rocpath as rp
from rocpath.files.csv_text import parse_table
from rocpath.tables.columns import feature_columns


def reason(values):
    table = pl.DataFrame({"text": values, "x": np.arange(len(values)) % 7})
    _, audits = feature_columns(table, [], {})
    return audits[0].why


def test_reasons_to_drop_text_name_what_it_contains():
    days = [f"2024-01-{k:02}" if k % 2 else f"{k:02}.02.2024" for k in range(1, 29)]
    assert reason(days) == ("its dates have several formats, such as '2024-01-01' and '02.02.2024'")
    notes = [f"patient {k} came with a cough and was sent home" for k in range(28)]
    assert reason(notes) == "free text, which is not used"
    assert reason([f"K{k}x" for k in range(28)]) == "all values are rare, as in an identifier"


@pytest.fixture
def fitted():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"x": rng.normal(size=200), "color": rng.choice(["red", "blue"], 200)})
    y = frame["x"].to_numpy() + rng.normal(size=200) > 0
    return rp.TableClassifier("logistic", fast=True, random_state=0).fit(frame, y), frame, y


def test_unseen_categories_and_numbers_out_of_range_are_reported(fitted):
    model, frame, y = fitted
    other = frame.with_columns(
        color=pl.when(pl.arange(pl.len()) < 3).then(pl.lit("green")).otherwise("color"),
        x=pl.when(pl.arange(pl.len()) == 5).then(1e3).otherwise("x"),
    )
    with pytest.warns(UserWarning, match="training rows") as found:
        model.predict(other)
    messages = sorted(str(one.message) for one in found)
    assert messages[0] == (
        "column 'color' has categories that are not in the training rows, in 3 rows, such as "
        "'green'."
    )
    assert messages[1].startswith("column 'x' has 1 value far outside the range of the training")
    notes = [one.message for one in model.evaluate(other, y).warnings if one.kind == "unseen"]
    assert sorted(f"{note}." for note in notes) == messages
    # No warning, which would be an error, for usual values.
    model.predict(frame)


def test_a_loaded_model_names_what_its_report_lacks(fitted, tmp_path):
    model, _, _ = fitted
    model.save(tmp_path / "m.skops")
    loaded = rp.load_model(tmp_path / "m.skops")
    with pytest.raises(ValueError, match="report requires the held-out scores and the audit"):
        loaded.report(tmp_path / "page.html")
    with pytest.raises(ValueError, match="to_files requires the held-out scores"):
        loaded.to_files()


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ('a,b\n1,"x\n2,y\n3,z\n', "row 1"),
        ('a,b\n1,x\n2,"y\n3,z', "row 2"),
        ('a,b\n1,"say ""x"""\n2,"y\n3,"z"\n', "row 2"),
        ('a,"b\n1,2\n', "the header"),
    ],
)
def test_an_open_quote_names_its_row(content, place):
    message = re.escape(f"t.csv cannot be read: {place} has a quote that is not closed.")
    with pytest.raises(ValueError, match=message):
        parse_table("t.csv", content.encode())


def test_importance_is_that_of_held_out_rows():
    # Boosting fits the noise of its training rows, where each column looks important.
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(rng.normal(size=(150, 4)), schema=list("abcd"))
    y = rng.random(150) < 0.5
    model = rp.TableClassifier("boosting", fast=True, random_state=0).fit(frame, y)
    assert len(model.fit_.importance) == 4
    assert max(value for _, value in model.fit_.importance) < 0.15

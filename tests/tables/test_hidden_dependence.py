"""Near-copies and hidden groups are found by values, whatever the names of columns."""

import numpy as np
import polars as pl
import pytest

import rocpath as rp
from rocpath.tables.hidden_groups import (
    dependent_residuals,
    entity_columns,
    repeated_codes,
    without_aliases,
)
from rocpath.tables.near_copies import find_near_copies


def independent(n_rows, seed=0):
    """Return a table without dependence: numbers, ratings, categories and their functions."""
    rng = np.random.default_rng(seed)
    city = rng.integers(0, 30, n_rows)
    hour = rng.integers(0, 24, n_rows)
    celsius = rng.normal(15, 8, n_rows).round(1)
    age = rng.integers(18, 90, n_rows)
    columns = {f"x{k}": rng.normal(size=n_rows) for k in range(3)}
    columns |= {f"rating{k}": rng.integers(1, 6, n_rows) for k in range(4)}
    columns |= {f"flag{k}": rng.integers(0, 2, n_rows) for k in range(6)}
    columns |= {"city": [f"city {k}" for k in city], "state": [f"state {k % 7}" for k in city]}
    columns |= {"celsius": celsius, "fahrenheit": (1.8 * celsius + 32).round(2)}
    columns |= {"hour": hour, "sine": np.sin(hour / 3.8), "cosine": np.cos(hour / 3.8)}
    columns |= {"age": age, "birth": 2020 - age}
    return pl.DataFrame(columns), rng.random(n_rows) < 0.4


@pytest.mark.parametrize("n_rows", [150, 1000])
@pytest.mark.parametrize("seed", range(5))
def test_independent_rows_have_no_near_copies_and_no_groups(n_rows, seed):
    frame, y = independent(n_rows, seed)
    assert find_near_copies(frame) is None
    codes = repeated_codes(frame)
    assert entity_columns(frame, frame, codes) == []
    assert dependent_residuals(codes, y - 0.4) == []


def test_one_hot_columns_and_ratings_are_not_near_copies():
    rng = np.random.default_rng(0)
    level = rng.integers(0, 12, 500)
    frame = pl.DataFrame({f"is {k}": (level == k).astype(float) for k in range(12)})
    frame = frame.with_columns(pl.Series(f"r{k}", rng.integers(1, 11, 500)) for k in range(5))
    assert find_near_copies(frame) is None


@pytest.mark.parametrize("n_changed", [1, 2])
def test_rows_that_differ_in_one_or_two_columns_are_near_copies(n_changed):
    frame, _ = independent(200)
    rng = np.random.default_rng(1)
    order = rng.permutation(600)
    repeated = pl.concat([frame] * 3)[order]
    names = ["upload", "checksum"][:n_changed]
    repeated = repeated.with_columns(pl.Series(name, rng.normal(size=600)) for name in names)
    found = find_near_copies(repeated)
    assert set(names) <= set(found.columns)
    assert found.n_copies == 400
    for k in range(3):
        rows = np.flatnonzero(order % 200 == k)
        assert np.unique(found.code[rows]).size == 1


def test_near_copies_are_kept_in_one_fold():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    y = rng.random(120) < 0.5  # pure noise: only copies can be predicted
    frame = pl.DataFrame(np.tile(X, (3, 1)), schema=list("abcd"))
    frame = frame.with_columns(upload_ts=pl.Series(rng.normal(size=360)))
    model = rp.TableClassifier("boosting", random_state=0).fit(frame, np.tile(y, 3))
    (found,) = [one for one in model.warnings_ if one.kind == "near copies"]
    assert found.message.startswith("240 of 360 rows equal others in all columns but 'upload_ts'")
    score = model.comparison_["gradient boosting"]
    assert score.low < 0.5 < score.high
    assert model.comparison_.sample_size.endswith("120 distinct rows")


def customers(name, n_customers=150, n_rows=900, seed=0):
    """Return rows of customers whose labels depend only on the customer."""
    rng = np.random.default_rng(seed)
    who = rng.integers(0, n_customers, n_rows)
    code = rng.permutation(10_000)[:n_customers][who]
    values = [f"u{k}@example.org" for k in code] if name == "email" else code
    y = rng.random(n_rows) < rng.beta(0.5, 0.5, n_customers)[who]
    frame = pl.DataFrame(
        {
            "age": rng.integers(18, 90, n_customers)[who],
            "income": rng.normal(size=n_customers)[who],
            "amount": rng.normal(size=n_rows),
            "weight": rng.normal(size=n_rows),
            "minutes": rng.normal(size=n_rows),
            name: values,
        }
    )
    return frame, y


@pytest.mark.parametrize("name", ["Kunden Nr", "cust_no", "MRN", "USUBJID", "email", "k"])
def test_columns_that_repeat_entities_are_found_by_their_values(name):
    frame, _ = customers(name)
    codes = repeated_codes(frame)
    assert entity_columns(frame, frame, codes) == [name]


def test_a_hidden_group_is_named_with_the_auc_by_group():
    frame, y = customers("Kunden Nr")
    model = rp.TableClassifier("boosting", random_state=0).fit(frame, y)
    (found,) = [one for one in model.warnings_ if one.kind == "groups"]
    assert found.columns == ("Kunden Nr",)
    assert "other columns are constant within its values" in found.message
    # The labels of new customers cannot be predicted.
    by_row, by_group = (float(one) for one in found.message.split("AUC is ")[1].split()[::4][:2])
    assert by_row > 0.6 > by_group


def test_of_nested_groups_the_larger_ones_are_named():
    frame, _ = customers("patient")
    # Two visits of each patient; a postal code is unique to a patient.
    rng = np.random.default_rng(1)
    patient = frame["patient"].to_numpy()
    frame = frame.with_columns(
        visit=pl.Series(2 * patient + rng.integers(0, 2, 900)),
        plz=pl.Series(patient + 20_000),
        pressure=pl.Series(rng.normal(size=900)),
    )
    codes = repeated_codes(frame)
    names = entity_columns(frame, frame, codes)
    assert without_aliases(names, codes) == ["patient"]


def test_correlated_residuals_reveal_groups_without_constant_columns():
    rng = np.random.default_rng(0)
    who = rng.integers(0, 100, 1500)
    frame = pl.DataFrame(rng.normal(size=(1500, 3)), schema=list("abc"))
    y = frame["a"].to_numpy() + 2.0 * rng.normal(size=100)[who] + rng.normal(size=1500) > 0
    codes = repeated_codes(pl.DataFrame({"z": who}))
    assert dependent_residuals(codes, y - 0.5) == ["z"]
    model = rp.TableClassifier("linear", fast=True, random_state=0)
    model.fit(frame.with_columns(z=pl.Series([f"v{k}" for k in rng.permutation(100)[who]])), y)
    (found,) = [one for one in model.warnings_ if one.kind == "groups"]
    assert found.columns == ("z",)
    assert "held-out rows with the same value have similar residuals" in found.message

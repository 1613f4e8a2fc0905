"""Signs of dependent rows: copies, identifiers and drift; codes for missing values."""

from hashlib import blake2b

import numpy as np
import polars as pl
import pytest

from rocpath.sample import Sample
from rocpath.tables import dependence
from rocpath.tables.columns import feature_columns
from rocpath.tables.dependence import (
    count_known_rows,
    distinctive_hashes,
    drifting_dates,
    find_copies,
    row_hashes,
    suspected_groups,
)
from rocpath.tables.sentinels import sentinel_codes


def numbers(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return pl.DataFrame(X, schema=["a", "b", "c"]), rng.random(n_rows) < 0.4


def test_copies_of_some_rows_are_found_and_counted():
    frame, y = numbers(100)
    rows = np.r_[np.arange(100), [3, 3, 50]]
    found = find_copies(frame[rows], y[rows])
    same = [np.flatnonzero(found == found[k]).tolist() for k in (3, 50)]
    assert same == [[3, 100, 101], [50, 102]]
    assert np.unique(found).size == found.max() + 1 == 100


def test_rows_with_another_label_are_not_copies():
    frame, y = numbers(100)
    rows = np.r_[np.arange(100), [3]]
    assert find_copies(frame[rows], np.r_[y, ~y[3]]) is None


def test_row_hashes_do_not_depend_on_the_system():
    frame = pl.DataFrame({"a": [0.0, -0.0, None, float("nan")], "b": ["x", "x", None, None]})
    found = row_hashes(frame, np.array([True, True, False, False]))
    assert found[0] == found[1] != found[2] == found[3]
    # SplitMix64 on arbitrary-precision integers: the bits of 0.0 and the digest of "x".
    code, mask = 1, 2**64 - 1
    for bits in (0, int.from_bytes(blake2b(b"x", digest_size=8).digest(), "little")):
        code = (code ^ bits) + 0x9E3779B97F4A7C15 & mask
        code = (code ^ (code >> 30)) * 0xBF58476D1CE4E5B9 & mask
        code = (code ^ (code >> 27)) * 0x94D049BB133111EB & mask
        code ^= code >> 31
    assert found[0] == code


def test_the_number_of_known_rows_is_estimated_from_a_sample_of_hashes(monkeypatch):
    frame, y = numbers(8000)
    monkeypatch.setattr(dependence, "_MAX_HASHES", 1000)
    known = distinctive_hashes(frame[:4000], y[:4000])
    assert known.size == 1000
    # A quarter of the hashes is kept, so about 375 of the 1,500 known test rows and 375 of
    # the 1,500 new ones are compared: three standard errors of the estimate are 165.
    found = count_known_rows(frame[2500:5500], y[2500:5500], known)
    assert abs(found - 1500) < 165


def test_equal_rows_of_a_few_categories_are_not_copies():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({name: rng.choice(["x", "y", "z"], 400) for name in "abc"})
    assert find_copies(frame, rng.random(400) < 0.4) is None


def test_rows_of_a_repeated_table_are_copies():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({name: rng.choice(["x", "y", "z"], 400) for name in "abcd"})
    y = rng.random(400) < 0.4
    found = find_copies(pl.concat([frame] * 3), np.tile(y, 3))
    n_distinct = frame.with_columns(y=pl.Series(y)).n_unique()
    assert found.max() + 1 == n_distinct


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("customer_id", np.arange(100) // 4, True),
        ("patient", [f"P{k // 3}" for k in range(100)], True),
        ("User ID", np.arange(100) // 2, True),
        ("customer_id", np.arange(100), False),  # one row per customer
        ("patient", np.arange(100) % 5, False),  # too few patients
        ("patient_age", np.arange(100) // 4, False),
        ("paid", np.arange(100) // 4, False),
        ("customer_id", np.arange(100) / 4, False),  # not integers
    ],
)
def test_columns_named_like_identifiers_that_repeat_are_suspected(name, values, expected):
    table = pl.DataFrame({name: values})
    assert suspected_groups(table) == ([name] if expected else [])


def test_drifting_dates_are_listed():
    rng = np.random.default_rng(0)
    day = np.arange(1000.0)
    frame = pl.DataFrame({"day": day, "other": rng.permutation(day)})
    y = rng.random(1000) < 0.2 + 0.3 * day / 1000
    assert drifting_dates(frame, ["day", "other"], Sample(y)) == ["day"]


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        ([-999.0] * 4, (-999.0,)),
        ([9999.0] * 4, (9999.0,)),
        ([-9999.0, -9999.0, -999.0, -999.0], (-9999.0, -999.0)),
        ([float(np.finfo(np.float32).max)], (float(np.finfo(np.float32).max),)),
        ([-999.0], ()),  # a single one may be a value
        ([99.0] * 4, ()),  # an age
        ([450.0] * 4, ()),  # far away, but not a usual code
    ],
)
def test_codes_for_missing_values_are_far_outside_a_compact_range(codes, expected):
    ages = np.random.default_rng(0).integers(0, 98, 200).astype(float)
    assert sentinel_codes(pl.Series([*ages, *codes])) == expected


def test_codes_are_missing_in_fit_and_predict():
    rng = np.random.default_rng(0)
    age = rng.integers(18, 90, 200)
    age[::10] = -999
    table = pl.DataFrame({"age": age, "y": 1})
    features, (audit,) = feature_columns(table, ["y"], {})
    assert audit.note == "20 values of -999 are treated as missing"
    assert features.select(table)["age"].null_count() == 20
    assert features.select(pl.DataFrame({"age": [-999, 30]}))["age"].to_list() == [None, 30]
    kept, _ = feature_columns(table, ["y"], {"age": "category"})
    assert kept.sentinel == {}


def test_digits_with_leading_zeros_are_categories():
    zips = [f"{k % 7:05d}" for k in range(140)]
    features, (audit,) = feature_columns(pl.DataFrame({"zip": zips}), [], {})
    assert features.category == ("zip",)
    assert audit.why == "digits with leading zeros, such as zip codes"
    features, _ = feature_columns(pl.DataFrame({"zip": zips}), [], {"zip": "number"})
    assert features.number == ("zip",)

"""The pairs of censored rows, counted by merging, against a sum over all pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocpath import _core
from tests import oracle_survival as oracle

small = st.integers(0, 3)


@st.composite
def censored_rows(draw):
    """Draw rows with ties in time and score, and weights of rows, events and strata."""
    n = draw(st.integers(1, 14))
    columns = [
        draw(st.lists(element, min_size=n, max_size=n))
        for element in (small, st.booleans(), small, small, small, st.integers(0, 2))
    ]
    return [np.array(column, dtype) for column, dtype in zip(columns, "f?fffi", strict=True)]


def core_pairs(time, has_event, score, weight=(), event_weight=(), stratum=()):
    """Call the core with columns of any numeric type."""
    columns = (np.asarray(column, float) for column in (time, weight, event_weight, score))
    time, weight, event_weight, score = columns
    codes = np.asarray(stratum, np.int64)
    return _core.concordance(time, has_event, weight, event_weight, codes, score)


@given(censored_rows())
def test_pairs_of_each_row_equal_the_sum_over_pairs(columns):
    time, has_event, score, weight, event_weight, stratum = columns
    rows = list(zip(*(c.tolist() for c in (time, has_event, score, weight)), strict=True))
    expected = oracle.pair_sums(rows, event_weight.tolist(), stratum.tolist())
    # All sums are multiples of one half and therefore exact.
    pairs = core_pairs(time, has_event, score, weight, event_weight, stratum)
    assert pairs.keys() == expected.keys()
    for name, sums in expected.items():
        np.testing.assert_array_equal(pairs[name], [float(x) for x in sums])


@given(censored_rows())
def test_without_weights_every_row_and_event_counts_once(columns):
    time, has_event, score = columns[:3]
    rows = list(
        zip(time.tolist(), has_event.tolist(), score.tolist(), [1] * time.size, strict=True)
    )
    pairs = core_pairs(time, has_event, score)
    for name, sums in oracle.pair_sums(rows).items():
        np.testing.assert_array_equal(pairs[name], [float(x) for x in sums])


@pytest.mark.parametrize("event_share", [0.02, 0.5, 1.0])
def test_many_rows_agree_with_a_sum_over_a_matrix_of_pairs(event_share):
    # More than 400 rows are sorted by another algorithm of the core.
    rng = np.random.default_rng(0)
    time, score = rng.integers(0, 500, 1500) + 0.0, rng.integers(0, 300, 1500) + 0.0
    has_event = rng.random(1500) < event_share
    later = (time[:, None] < time) | ((time[:, None] == time) & ~has_event)
    pair = has_event[:, None] & later
    won = pair * (0.5 * (score[:, None] > score) + 0.5 * (score[:, None] >= score))
    pairs = core_pairs(time, has_event, score)
    for name, matrix in (("concordant", won), ("comparable", pair)):
        np.testing.assert_array_equal(pairs[f"early_{name}"], matrix.sum(axis=1))
        np.testing.assert_array_equal(pairs[name], matrix.sum(axis=0) + matrix.sum(axis=1))

"""Covering and F1 score, compared with their definitions."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocpath import changepoint as cp

N = 12
CHANGES = st.lists(st.integers(1, N - 1), unique=True, max_size=4).map(sorted)


def slow_covering(changes, annotations, n):
    total = 0.0
    for annotated in annotations:
        ends, own = [0, *annotated, n], [0, *changes, n]
        for a, b in pairwise(ends):
            segment = set(range(a, b))
            best = max(
                len(segment & set(range(c, d))) / len(segment | set(range(c, d)))
                for c, d in pairwise(own)
            )
            total += (b - a) / n * best
    return total / len(annotations)


def slow_matches(annotated, found, margin):
    """Return the size of the largest matching, by trying every assignment."""
    if not annotated:
        return 0
    first, *rest = annotated
    best = slow_matches(rest, found, margin)
    for k, one in enumerate(found):
        if abs(one - first) <= margin:
            left = found[:k] + found[k + 1 :]
            best = max(best, 1 + slow_matches(rest, left, margin))
    return best


@given(CHANGES, st.lists(CHANGES, min_size=1, max_size=3))
def test_covering_equals_its_definition(changes, annotations):
    expected = slow_covering(changes, annotations, N)
    assert cp.covering(changes, annotations, n=N) == pytest.approx(expected)


@given(CHANGES, st.lists(CHANGES, min_size=1, max_size=3), st.integers(0, 3))
def test_f1_score_equals_its_definition(changes, annotations, margin):
    found = [0, *changes]
    everyone = sorted({0, *(one for each in annotations for one in each)})
    precision = slow_matches(everyone, found, margin) / len(found)
    recall = np.mean(
        [slow_matches([0, *one], found, margin) / (1 + len(one)) for one in annotations]
    )
    expected = 2 * precision * recall / (precision + recall)
    score = cp.f1_score(changes, annotations, n=N, margin=margin)
    assert score == pytest.approx(expected)


def test_changes_of_one_annotator_need_not_be_a_list_of_lists():
    assert cp.covering([5], [5], n=10) == 1
    assert cp.f1_score([5], np.array([5]), n=10) == 1
    assert cp.covering([], [], n=10) == 1


def test_invalid_changes_raise():
    with pytest.raises(ValueError, match="changes must be from 1 to n - 1 = 9, got 10"):
        cp.covering([10], [5], n=10)
    with pytest.raises(ValueError, match=r"annotations\[1\] must be from 1"):
        cp.f1_score([5], [[5], [0]], n=10)


def test_annotators_may_be_rows_of_an_array():
    rows = [[50, 60], [40, 70]]
    assert cp.covering([50], np.array(rows), n=100) == cp.covering([50], rows, n=100)

"""Cross-validated choice among candidates, and averaged label errors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocpath import changepoint as cp
from rocpath.changepoint.penalty_candidates import (
    HALF_WIDTH,
    ErrorSteps,
    choose_candidate,
    group_splits,
)


def choice(table, n_errors):
    rows = iter(np.asarray(table, dtype=float))
    return choose_candidate([(None, None)] * len(table), lambda *_: next(rows), n_errors=n_errors)


def test_the_simplest_candidate_within_the_standard_error_is_chosen():
    # The differences from the last candidate are 3, 1, 5 (mean 3, standard error
    # 2 / sqrt(3)) and 1, -1, 3 (mean 1, same standard error).
    table = [[4, 2, 1], [3, 1, 2], [6, 4, 1]]
    assert choice(table, 0.0).chosen == 2
    found = choice(table, 1.0)
    assert found.chosen == 1
    assert found.mean.tolist() == pytest.approx([13 / 3, 7 / 3, 4 / 3])
    assert found.standard_error.tolist() == pytest.approx([2 / 3**0.5] * 2 + [0])
    assert choice(table, 0.8).chosen == 2
    assert choice(table, 2.5).chosen == 1
    assert choice(table, 2.7).chosen == 0


def test_the_simplest_of_equal_candidates_is_chosen():
    assert choice([[1, 1], [2, 2]], 0.0).chosen == 0
    assert choice([[1, 1]], 1.0).chosen == 0
    assert choice([], 1.0) is None


def test_groups_stay_together_in_folds_of_about_equal_size():
    groups = np.repeat(list("abcdef"), [9, 1, 4, 5, 3, 5])
    splits = group_splits(27, groups, 3, random_state=0)
    assert len(splits) == 3
    for train, test in splits:
        assert not set(groups[train]) & set(groups[test])
        assert len(train) + len(test) == 27
        assert test.size == 9
    assert len(group_splits(27, groups, 10)) == 6
    assert group_splits(27, np.zeros(27), 5) == []


def test_folds_without_groups_consist_of_consecutive_rows():
    tests = [test.tolist() for _, test in group_splits(6, None, 3)]
    assert tests == [[0, 1], [2, 3], [4, 5]]
    assert len(group_splits(3, None, 10)) == 3
    assert group_splits(1, None, 10) == []


def test_groups_must_have_one_entry_per_row():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        group_splits(5, [1, 2], 3)


functions = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4), min_size=1, max_size=5)


def error_functions(errors, seed):
    rng = np.random.default_rng(seed)
    return [
        cp.PenaltyErrors(
            np.append(0, np.exp(np.sort(rng.normal(0, 2, len(one) - 1)))),
            one,
            np.zeros(len(one), dtype=int),
        )
        for one in errors
    ]


@given(functions, st.integers(0, 1000))
def test_averaged_errors_are_means_over_nearby_penalties(errors, seed):
    sequences = error_functions(errors, seed)
    at = np.random.default_rng(seed).normal(0, 2, (len(errors), 2))
    near = np.linspace(-HALF_WIDTH, HALF_WIDTH, 20001)
    expected = sum(
        np.array([one.at(log + near).mean() for log in row])
        for one, row in zip(sequences, at, strict=True)
    )
    found = ErrorSteps(sequences).averaged(at)
    assert found.tolist() == pytest.approx(expected.tolist(), abs=5e-3)


@given(functions, st.integers(0, 1000))
def test_no_other_constant_has_fewer_averaged_errors(errors, seed):
    steps = ErrorSteps(error_functions(errors, seed))
    at = np.random.default_rng(seed).normal(0, 2, len(errors))
    best = steps.best_shift(at)
    others = np.append(best, np.linspace(-20, 20, 401))
    found = steps.averaged(at[:, None] + others)
    assert found[0] <= found.min() + 1e-6

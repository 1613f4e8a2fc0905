"""Folds keep groups and copies together, and never train on the future."""

import numpy as np
import pytest

from rocpath.model_selection.folds import block_folds


def test_groups_stay_together_in_folds_of_about_equal_size():
    groups = np.repeat(list("abcdef"), [9, 1, 4, 5, 3, 5])
    splits = block_folds(27, groups, 3, random_state=0)
    assert len(splits) == 3
    for train, test in splits:
        assert not set(groups[train]) & set(groups[test])
        assert len(train) + len(test) == 27
        assert test.size == 9
    assert len(block_folds(27, groups, 10)) == 6
    assert block_folds(27, np.zeros(27), 5) == []


def test_folds_without_groups_consist_of_consecutive_rows():
    tests = [test.tolist() for _, test in block_folds(6, None, 3)]
    assert tests == [[0, 1], [2, 3], [4, 5]]
    assert len(block_folds(3, None, 10)) == 3
    assert block_folds(1, None, 10) == []


def test_groups_must_have_one_entry_per_row():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        block_folds(5, [1, 2], 3)

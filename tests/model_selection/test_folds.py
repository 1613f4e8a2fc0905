"""Folds keep groups and copies together, and never train on the future."""

import itertools

import numpy as np
import pytest

from rocpath.model_selection.folds import block_folds, forward_splits, stratified_splits
from rocpath.sample import Sample


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


def labels(n_rows, seed=0):
    return np.random.default_rng(seed).random(n_rows) < 0.3


def test_independent_rows_are_stratified():
    y = labels(61)
    found = stratified_splits(Sample(y), 5, 3)
    for label in (True, False):
        sizes = [int((y[fold.test] == label).sum()) for fold in found]
        assert max(sizes) - min(sizes) <= 2
    other = stratified_splits(Sample(y), 5, 4)
    assert not np.array_equal(other[0].test, found[0].test)


def test_folds_of_groups_have_about_equal_numbers_of_both_classes():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(200), rng.integers(1, 30, 200))
    y = rng.random(group.size) < rng.random(200)[group] ** 2
    found = stratified_splits(Sample(y, group=group), 5, 0)
    for label in (True, False):
        sizes = np.array([(y[fold.test] == label).sum() for fold in found])
        assert np.ptp(sizes) < 0.25 * sizes.mean()


def test_groups_are_in_one_fold_and_all_folds_have_both_classes():
    y = labels(300)
    group = np.random.default_rng(1).integers(0, 40, 300)
    found = stratified_splits(Sample(y, group=group), 5, 0)
    assert len(found) == 5
    for train, test in found:
        assert not set(group[train]) & set(group[test])
        assert set(y[train]) == set(y[test]) == {True, False}
    tested = np.sort(np.concatenate([fold.test for fold in found]))
    np.testing.assert_array_equal(tested, np.arange(300))


def test_copies_have_the_folds_of_the_distinct_rows():
    y = labels(50)
    alone = stratified_splits(Sample(y), 5, 0)
    copy = np.tile(np.random.default_rng(0).permutation(50), 3)
    found = stratified_splits(Sample(np.tile(y, 3), copy=copy), 5, 0)
    for fold, one in zip(found, alone, strict=True):
        np.testing.assert_array_equal(np.unique(fold.test % 50), one.test)
        assert fold.test.size == 3 * one.test.size


def test_groups_that_share_a_copy_are_one_unit():
    # Rows 0 and 2 are copies in groups 0 and 1; groups 2 and 3 are on their own.
    group = np.array([0, 0, 1, 1, 2, 3])
    copy = np.array([0, 1, 0, 2, 3, 4])
    unit = Sample(np.arange(6) > 2, group=group, copy=copy).unit
    assert unit.tolist() == [0, 0, 0, 0, 1, 2]


def test_time_windows_are_evaluated_by_models_of_the_past():
    rng = np.random.default_rng(0)
    y, time = labels(600), rng.integers(0, 50, 600).astype(float)
    sample = Sample(y, time=time)
    found = list(forward_splits(sample, 5))
    assert len(found) == 5
    for train, test in found:
        assert time[train].max() < time[test].min()
        assert not set(sample.unit[train]) & set(sample.unit[test])
    ends = [(time[fold.test].min(), time[fold.test].max()) for fold in found]
    assert all(one[1] < two[0] for one, two in itertools.pairwise(ends))
    assert ends[-1][1] == time.max()


def test_windows_without_both_classes_are_extended():
    # Positives occur only in the first and the last quarter of the period.
    time = np.arange(80.0)
    y = (time < 20) | (time >= 60)
    y[::3] = False
    found = list(forward_splits(Sample(y, time=time), 5))
    assert found
    for train, test in found:
        assert set(y[train]) == set(y[test]) == {True, False}


def test_the_first_training_window_is_extended_until_it_has_both_classes():
    time = np.arange(60.0)
    y = (time > 25) & (time % 2 == 0)  # no positives in the first two windows of ten rows
    found = list(forward_splits(Sample(y, time=time), 5))
    assert [fold.test.min() for fold in found] == [30, 40, 50]
    assert found[0].train.max() == 29


def test_copies_of_held_out_rows_are_not_in_the_training_rows():
    time = np.arange(60.0)
    copy = np.concatenate((np.arange(30), np.arange(30)))
    sample = Sample(labels(60), time=time, copy=copy)
    for train, test in forward_splits(sample, 5):
        assert not set(copy[train]) & set(copy[test])


def test_a_class_in_one_group_cannot_be_split():
    y = np.array([True, True, False, False, False])
    sample = Sample(y, group=np.array([0, 0, 1, 2, 3]))
    assert stratified_splits(sample, 5, 0) == []
    assert stratified_splits(Sample(np.arange(6) == 2), 5, 0) == []


def test_units_of_selected_rows_are_those_of_the_whole_sample():
    sample = Sample(labels(600), time=np.arange(600.0))
    rows = np.arange(300, 600)
    assert sample.take(rows).unit.tolist() == sample.unit[rows].tolist()
    assert sample.reweighted(np.ones(600)).take(rows).unit.tolist() == sample.unit[rows].tolist()

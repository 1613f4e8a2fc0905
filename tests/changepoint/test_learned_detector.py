"""LearnedDetector: sequences and labels in, changes of new sequences out."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, cross_val_score

from rocpath import changepoint as cp


def noisy_steps(n, seed):
    """Sequences with a change at 20 that is large for their own noise."""
    rng = np.random.default_rng(seed)
    noise = rng.choice([0.1, 1.0, 10.0], size=n)
    x = [np.repeat([0.0, 8 * s], 20) + s * rng.normal(size=40) for s in noise]
    labels = cp.Labels(
        [0, 15, 25], [15, 25, 40], ["no_change", "one_change", "no_change"]
    )
    return x, [labels] * n


def test_new_sequences_have_their_changes_whatever_their_noise():
    x, labels = noisy_steps(60, 0)
    detector = cp.LearnedDetector(max_changes=8).fit(x[:40], labels[:40])
    right = [changes.tolist() == [20] for changes in detector.predict(x[40:])]
    assert np.mean(right) > 0.8
    assert detector.score(x[40:], labels[40:]) > 0.9


def test_score_is_the_part_of_labels_that_are_right():
    x, labels = noisy_steps(30, 1)
    detector = cp.LearnedDetector(max_changes=8).fit(x, labels)
    flat = np.zeros(40)
    # A flat sequence has no change, so that one of the three labels is wrong.
    assert detector.predict([flat])[0].size == 0
    assert detector.score([flat], labels[:1]) == pytest.approx(2 / 3)


def test_sequences_without_labels_are_passed_over():
    x, labels = noisy_steps(30, 2)
    some = [one if k % 3 else None for k, one in enumerate(labels)]
    detector = cp.LearnedDetector(max_changes=8).fit(x, some)
    assert detector.n_labeled_ == 20
    kept = [k for k in range(30) if k % 3]
    alone = cp.LearnedDetector(max_changes=8).fit(
        [x[k] for k in kept], [labels[k] for k in kept]
    )
    np.testing.assert_array_equal(detector.predict_penalty(x), alone.predict_penalty(x))


def test_segments_are_not_shorter_than_asked_for():
    x, labels = noisy_steps(20, 3)
    detector = cp.LearnedDetector(max_changes=8, min_length=7).fit(x, labels)
    for found in detector.predict([np.tile([0.0, 9.0], 20), *x]):
        assert (np.diff([0, *found, 40]) >= 7).all()


def test_a_regressor_segments_as_the_detector_that_holds_it():
    x, labels = noisy_steps(20, 5)
    detector = cp.LearnedDetector(max_changes=8, min_length=7).fit(x, labels)
    found = detector.regressor_.predict_changes(x, min_length=7)
    for one, other in zip(found, detector.segment(x), strict=True):
        np.testing.assert_array_equal(one.changes, other.changes)
        assert one.penalty == other.penalty


def test_it_is_cloned_and_cross_validated_by_group():
    x, labels = noisy_steps(30, 4)
    detector = clone(cp.LearnedDetector(max_changes=6, cost="normal"))
    assert detector.get_params()["max_changes"] == 6
    groups = np.repeat(np.arange(6), 5)
    scores = cross_val_score(detector, x, labels, groups=groups, cv=GroupKFold(3))
    assert scores.shape == (3,)
    assert (scores > 0.8).all()


@pytest.mark.parametrize(
    ("x", "labels", "message"),
    [
        ([[1.0, 2.0]], [], "labels must have an entry for each of the 1 sequences"),
        ([[1.0, 2.0]], [None], "labels must have a sequence with labeled regions"),
        ([[1.0, 2.0]], ["one"], "labels must be a list of Labels or None, got 'one'"),
    ],
)
def test_bad_input_is_named(x, labels, message):
    with pytest.raises((ValueError, TypeError), match=message):
        cp.LearnedDetector().fit(x, labels)

"""LearnedDetector: penalties learned from labels, and changes detected in new sequences."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, cross_val_score

import rocpath as rp
from rocpath import changepoint as cp
from rocpath.changepoint import error_functions
from rocpath.changepoint.saved_detector import SavedDetector
from rocpath.files.models import model_bytes


def noisy_steps(n, seed):
    """Simulate sequences with a change at 20 that is large relative to their noise."""
    rng = np.random.default_rng(seed)
    noise = rng.choice([0.1, 1.0, 10.0], size=n)
    x = [np.repeat([0.0, 8 * s], 20) + s * rng.normal(size=40) for s in noise]
    labels = cp.Labels([0, 15, 25], [15, 25, 40], ["no_change", "one_change", "no_change"])
    return x, [labels] * n


def test_changes_of_new_sequences_are_found_at_all_noise_levels():
    x, labels = noisy_steps(60, 0)
    detector = cp.LearnedDetector(max_changes=8).fit(x[:40], labels[:40])
    right = [changes.tolist() == [20] for changes in detector.predict(x[40:])]
    assert np.mean(right) > 0.8
    assert detector.score(x[40:], labels[40:]) > 0.9


def test_score_is_the_fraction_of_correct_labels():
    x, labels = noisy_steps(30, 1)
    detector = cp.LearnedDetector(max_changes=8).fit(x, labels)
    flat = np.zeros(40)
    # A constant sequence has no changes, so one of the three labels is wrong.
    assert detector.predict([flat])[0].size == 0
    assert detector.score([flat], labels[:1]) == pytest.approx(2 / 3)


def test_unlabeled_sequences_are_ignored():
    x, labels = noisy_steps(30, 2)
    some = [one if k % 3 else None for k, one in enumerate(labels)]
    detector = cp.LearnedDetector(max_changes=8).fit(x, some)
    assert detector.n_labeled_ == 20
    kept = [k for k in range(30) if k % 3]
    alone = cp.LearnedDetector(max_changes=8).fit([x[k] for k in kept], [labels[k] for k in kept])
    np.testing.assert_array_equal(detector.predict_penalty(x), alone.predict_penalty(x))


def test_segments_have_the_minimum_length():
    x, labels = noisy_steps(20, 3)
    detector = cp.LearnedDetector(max_changes=8, min_length=7).fit(x, labels)
    for found in detector.predict([np.tile([0.0, 9.0], 20), *x]):
        assert (np.diff([0, *found, 40]) >= 7).all()


def test_detector_segments_with_the_penalties_of_its_regressor():
    x, labels = noisy_steps(20, 5)
    detector = cp.LearnedDetector(max_changes=8, min_length=7, unit=None)
    detector.fit(x, labels)
    penalty = np.exp(detector.regressor_.predict(cp.sequence_features(x).value))
    found = cp.detect_changes(x, penalty, min_length=7)
    for one, other in zip(found, detector.segment(x), strict=True):
        np.testing.assert_array_equal(one.changes, other.changes)
        assert one.penalty == other.penalty


def test_detector_can_be_cloned_and_cross_validated_by_group():
    x, labels = noisy_steps(30, 4)
    detector = clone(cp.LearnedDetector(max_changes=6, cost="normal"))
    assert detector.get_params()["max_changes"] == 6
    groups = np.repeat(np.arange(6), 5)
    scores = cross_val_score(detector, x, labels, groups=groups, cv=GroupKFold(3))
    assert scores.shape == (3,)
    assert (scores > 0.8).all()


@pytest.mark.parametrize("cost", ["exponential", "variance"])
def test_predictions_with_costs_of_ratios_do_not_depend_on_the_scale(cost):
    x, labels = noisy_steps(30, 8)
    rng = np.random.default_rng(9)
    # The standard deviation or the mean is between 1 and e^3.
    draw = rng.exponential if cost == "exponential" else (lambda scale: rng.normal(0, scale))
    x = [draw(np.exp(3 * (one - one.min()) / np.ptp(one))) for one in x]
    detector = cp.LearnedDetector(max_changes=6, cost=cost).fit(x[:20], labels[:20])
    assert detector.score(x[20:], labels[20:]) > 0.8
    for scale in (1e6, 1e-6):
        other = detector.predict([scale * one for one in x[20:]])
        for one, scaled in zip(detector.predict(x[20:]), other, strict=True):
            np.testing.assert_array_equal(one, scaled)


@pytest.mark.parametrize("cost", ["biweight", "huber", "mean_variance", "columns"])
def test_predictions_with_other_costs_do_not_depend_on_the_unit(cost):
    x, labels = noisy_steps(30, 8)
    settings = {"cost": cost, "min_length": 3}
    if cost == "columns":
        x, settings = [np.column_stack((one, -one)) for one in x], {"min_length": 3}
    detector = cp.LearnedDetector(max_changes=6, **settings).fit(x[:20], labels[:20])
    assert detector.score(x[20:], labels[20:]) > 0.8
    other = detector.predict([1e6 * one + 12_345 for one in x[20:]])
    for one, scaled in zip(detector.predict(x[20:]), other, strict=True):
        np.testing.assert_array_equal(one, scaled)


def test_changes_do_not_depend_on_the_unit_of_the_data():
    x, labels = noisy_steps(40, 6)
    rng = np.random.default_rng(7)
    new = [
        np.repeat([0.0, 3.0, 1.0], [60, 50, 40]) + scale * rng.normal(size=150)
        for scale in (0.1, 0.3, 1.0)
    ]
    detector = cp.LearnedDetector(max_changes=8).fit(x[:30], labels[:30])
    for one, other in zip(
        detector.predict([*x, *new]),
        detector.predict([1e6 * one + 12_345 for one in [*x, *new]]),
        strict=True,
    ):
        assert one.tolist() == other.tolist()
    # With unit=None, predictions depend on the unit.
    raw = cp.LearnedDetector(max_changes=8, unit=None).fit(x[:30], labels[:30])
    with (
        pytest.warns(UserWarning, match="more than 10% of observations"),
        pytest.warns(UserWarning, match="outside the training range"),
    ):
        assert raw.predict([1e6 * new[2]])[0].size > 15


def test_a_free_coefficient_of_the_noise_is_learned():
    x, labels = noisy_steps(60, 8)
    detector = cp.LearnedDetector(max_changes=8, unit="free").fit(x[:40], labels[:40])
    assert detector.regressor_.n_features_in_ == 216
    assert detector.score(x[40:], labels[40:]) > 0.9


def test_warnings_name_sequences_unlike_the_training_data():
    rng = np.random.default_rng(9)
    # Lengths differ, and the coefficient of the length is made nonzero below.
    x = [np.repeat([0.0, 4.0], n) + rng.normal(size=2 * n) for n in range(10, 50)]
    labels = [
        cp.Labels(
            [0, n - 5, n + 5], [n - 5, n + 5, 2 * n], ["no_change", "one_change", "no_change"]
        )
        for n in range(10, 50)
    ]
    detector = cp.LearnedDetector(max_changes=6).fit(x, labels)
    detector.regressor_.coef_[0] = 1e-9
    with pytest.warns(UserWarning, match="Features are outside the training range in .*: long"):
        detector.segment([rng.normal(size=1000)], names=["long"])


def test_comparison_counts_errors_of_held_out_sequences():
    x, labels = noisy_steps(30, 10)
    detector = cp.LearnedDetector(max_changes=6, random_state=0).fit(x, labels)
    comparison = detector.comparison_
    assert comparison.metric == "label errors"
    names = {one.name for one in comparison.scores}
    assert {"PenaltyRegressor", "constant penalty", "interval regression"} < names
    # The same five folds, which consist of consecutive sequences.
    total = 0
    for fold in np.split(np.arange(30), 5):
        train = [k for k in range(30) if k not in fold]
        known = cp.LearnedDetector(max_changes=6, random_state=0)
        known.fit([x[k] for k in train], [labels[k] for k in train])
        share = known.score([x[k] for k in fold], [labels[k] for k in fold])
        total += round((1 - share) * 3 * len(fold))
    assert comparison["PenaltyRegressor"].value == total
    assert detector.evaluate().headline().startswith("Cross-validated label errors: ")


def test_a_saved_detector_predicts_the_same(tmp_path):
    x, labels = noisy_steps(30, 11)
    detector = cp.LearnedDetector(max_changes=6, min_length=2).fit(x, labels)
    detector.save(tmp_path / "model.skops", metadata={"value": "ms"})
    loaded = rp.load_model(tmp_path / "model.skops")
    assert loaded.metadata_ == {"value": "ms"}
    assert loaded.get_params() == detector.get_params()
    for one, other in zip(loaded.predict(x), detector.predict(x), strict=True):
        assert one.tolist() == other.tolist()
    with pytest.raises(AttributeError, match="requires the training data"):
        _ = loaded.comparison_
    assert loaded.fit(x, labels).comparison_.n_folds == 5


def test_a_report_is_written(tmp_path):
    x, labels = noisy_steps(12, 12)
    detector = cp.LearnedDetector(max_changes=6).fit(x, labels)
    path = tmp_path / "report.html"
    detector.report(path, title="Steps", names=[f"s{k}" for k in range(12)])
    page = path.read_text(encoding="utf-8")
    assert "<title>Steps</title>" in page
    assert detector.evaluate().headline() in page


@pytest.mark.parametrize(
    ("x", "labels", "message"),
    [
        ([[1.0, 2.0]], [], "labels must have an entry for each of the 1 sequences"),
        ([[1.0, 2.0]], [None], "labels must contain at least one sequence with labeled regions"),
        ([[1.0, 2.0]], ["one"], "labels must be a list of Labels or None, got 'one'"),
    ],
)
def test_invalid_labels_raise(x, labels, message):
    with pytest.raises((ValueError, TypeError), match=message):
        cp.LearnedDetector().fit(x, labels)


def test_sequences_must_have_as_many_columns_as_in_training():
    x, labels = noisy_steps(12, 0)
    detector = cp.LearnedDetector(max_changes=4).fit(x, labels)
    with pytest.raises(ValueError, match="as in training, 1, got 2 for sequence 1"):
        detector.predict([x[0], np.column_stack((x[1], x[1]))])
    # An array with one column is equivalent to a vector.
    (found,) = detector.predict([x[0][:, None]])
    assert found.tolist() == detector.predict(x[:1])[0].tolist()


@pytest.mark.parametrize(
    ("sequences", "error", "message"),
    [
        ([], ValueError, "sequences must have at least one sequence, got none"),
        ([1.0, 2.0], TypeError, "sequences must be a list of arrays, got 1.0 for sequence 0"),
        ([[1.0], ["a"]], TypeError, r"sequences\[1\] must be real numbers"),
        ([[1.0], [np.inf]], ValueError, r"sequences\[1\] must be finite"),
        ([[1.0], []], ValueError, r"sequences\[1\] must have an observation that is not NaN"),
        ([[1.0], [np.nan]], ValueError, r"sequences\[1\] must have an observation"),
    ],
)
def test_error_messages_name_the_invalid_sequence(sequences, error, message):
    x, labels = noisy_steps(12, 0)
    detector = cp.LearnedDetector(max_changes=4).fit(x, labels)
    for function in (detector.predict, cp.detect_changes, cp.labeling_page):
        with pytest.raises(error, match=message):
            function(sequences)


def test_loading_a_model_without_all_fitted_attributes_raises(tmp_path):
    x, labels = noisy_steps(12, 0)
    detector = cp.LearnedDetector(max_changes=4).fit(x, labels)
    saved = SavedDetector.from_detector(detector, {})
    del saved.learned["n_columns_"]
    (tmp_path / "old.skops").write_bytes(model_bytes(saved))
    with pytest.raises(ValueError, match="damaged: learned must have the entries has_runs_"):
        rp.load_model(tmp_path / "old.skops")


def dense_sequence(rng, n_changes=40):
    """Return a sequence with many changes, and labels at some of them."""
    length = rng.integers(8, 16, size=n_changes + 1)
    x = rng.normal(np.repeat(np.tile([0.0, 6.0], n_changes)[: n_changes + 1], length))
    change = np.cumsum(length)[:-1][::5]
    start = np.ravel(np.column_stack((change - 3, change + 3)))
    kind = ["one_change", "no_change"] * change.size
    end = np.ravel(np.column_stack((change + 3, change + 5)))
    return x, cp.Labels(start, end, kind)


def test_the_maximum_number_of_changes_does_not_affect_learning():
    # With at most 20 changes, the correct models of these sequences would not exist.
    rng = np.random.default_rng(3)
    x, labels = zip(*[dense_sequence(rng) for _ in range(12)], strict=True)
    scores = {}
    for max_changes in (5, 120):
        detector = cp.LearnedDetector(max_changes=max_changes).fit(x[:8], labels[:8])
        scores[max_changes] = detector.score(x[8:], labels[8:])
        fewest = detector.evaluate().fewest_errors
        assert fewest == 0
    assert scores[5] == scores[120] == 1.0


def test_error_functions_are_complete_for_any_initial_maximum():
    x, labels = dense_sequence(np.random.default_rng(4))
    every = cp.errors_by_penalty(x, labels, max_changes=x.size - 1)
    for max_changes in (0, 3, 20):
        grown = cp.errors_by_penalty(x, labels, max_changes=max_changes)
        # The errors differ only for penalties far below those with the fewest errors.
        low, high = cp.target_interval(every)
        assert cp.target_interval(grown) == pytest.approx((low, high))
        at = np.linspace(low - 2.5, high + 2, 50)
        assert grown.at(at).tolist() == every.at(at).tolist()


def test_a_limit_of_the_models_is_reported(monkeypatch):
    x, labels = dense_sequence(np.random.default_rng(5))
    labels = cp.Labels(labels.start, labels.end, labels.kind, sequence="pump")
    monkeypatch.setattr(error_functions, "_MAX_WORK", 10 * x.size)
    with pytest.warns(UserWarning, match="errors of sequence 'pump' are unknown for small"):
        cp.errors_by_penalty(x, labels, max_changes=6)

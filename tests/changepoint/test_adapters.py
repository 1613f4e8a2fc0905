"""Adapters for ruptures, skchange and sktime, compared with these packages."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from rocpath import changepoint as cp
from rocpath.changepoint.adapters import (
    detector_errors,
    detector_segmentation,
    skchange_detector,
    sktime_detector,
)

LABELS = cp.Labels([0, 15, 25], [15, 25, 39], ["no_change", "one_change", "no_change"])


def steps(seed, n_sequences=1):
    """Simulate sequences of 40 values with a change at 20 and very different noise levels."""
    rng = np.random.default_rng(seed)
    noise = rng.choice([0.2, 2.0], size=n_sequences)
    return [np.repeat([0, 8 * s], 20) + s * rng.normal(size=40) for s in noise]


def pelt(**settings):
    ruptures = pytest.importorskip("ruptures")
    return ruptures.Pelt(model="l2", **{"min_size": 1, "jump": 1, **settings})


def skchange_pelt(**settings):
    detectors = pytest.importorskip("skchange.detectors")
    return detectors.PELT(min_segment_length=1, **settings)


def detectors():
    ruptures = pytest.importorskip("ruptures")
    exact = {"min_size": 1, "jump": 1}
    yield ruptures.Pelt(model="l2", **exact)
    yield ruptures.KernelCPD(kernel="linear", **exact)


def assert_same_errors(found, expected, *, least):
    """Compare errors on both sides of each breakpoint above the smallest penalty."""
    edges = np.concatenate((found.min_penalty, expected.min_penalty))
    edges = edges[edges > least]
    at = np.log(np.concatenate((edges * 0.99, edges * 1.01, [least])))
    assert found.at(at).tolist() == expected.at(at).tolist()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("index", range(2))
def test_exact_ruptures_searches_have_the_same_label_errors(seed, index):
    detector = list(detectors())[index]
    (x,) = steps(seed)
    expected = cp.errors_by_penalty(x, LABELS, max_changes=8)
    found = detector_errors(detector, x, LABELS, max_changes=8)
    # Smaller penalties are not compared, because max_changes limits the models there.
    least = 1.02 * cp.model_selection(cp.segment(x, 8).cost).min_penalty[1]
    assert_same_errors(found, expected, least=least)


@pytest.mark.parametrize("seed", range(3))
def test_skchange_searches_have_the_same_label_errors(seed):
    (x,) = steps(seed)
    expected = cp.errors_by_penalty(x, LABELS, max_changes=6)
    least = 1.02 * cp.model_selection(cp.segment(x, 6).cost).min_penalty[1]
    by_cost = detector_errors(skchange_pelt(), x, LABELS, max_changes=6)
    assert_same_errors(by_cost, expected, least=least)
    # Errors are a function of the unscaled penalty.
    scaled = skchange_pelt(penalty_scale=5.0)
    again = detector_errors(scaled, x, LABELS, max_changes=6)
    assert again.min_penalty.tolist() == by_cost.min_penalty.tolist()


def test_penalties_of_other_costs_select_the_models_of_the_detector():
    ruptures = pytest.importorskip("ruptures")
    x = steps(0)[0]
    search = ruptures.Pelt(model="l1", min_size=1, jump=1)
    errors = detector_errors(search, x, LABELS, max_changes=5)
    low, high = cp.target_interval(errors)
    for log_penalty in (low + 0.01, high - 0.01):
        changes = search.fit(x).predict(pen=np.exp(log_penalty))[:-1]
        found = cp.label_errors([changes], LABELS, n=40)
        assert found.fp + found.fn == errors.at(log_penalty)


def test_searches_without_a_penalized_cost_raise():
    ruptures = pytest.importorskip("ruptures")
    fpop = pytest.importorskip("skchange.detectors").FPOP()
    # Dynp has no penalty, Binseg is not exact, and FPOP does not expose its cost.
    for detector in (ruptures.Dynp(model="l2"), ruptures.Binseg(model="l2"), fpop):
        with pytest.raises(TypeError, match="must be Pelt or KernelCPD from ruptures, or a"):
            detector_segmentation(detector, [1.0, 2.0, 3.0], 1.0)


def test_penalties_scale_with_the_square_of_the_data():
    (x,) = steps(0)
    expected = detector_errors(pelt(), x, LABELS, max_changes=6)
    for scale in (2.0**-40, 2.0**40):
        found = detector_errors(pelt(), scale * x, LABELS, max_changes=6)
        np.testing.assert_allclose(found.min_penalty, scale**2 * expected.min_penalty, rtol=1e-9)


@pytest.mark.parametrize("make", [pelt, skchange_pelt])
def test_segmentations_have_the_same_cost_and_means(make):
    x = steps(1)[0]
    for penalty in (0.5, 30.0, 1e6):
        expected = cp.segment_penalty(x, penalty)
        found = detector_segmentation(make(), x, penalty)
        assert found.changes.tolist() == expected.changes.tolist()
        np.testing.assert_allclose(found.mean, expected.mean)
        np.testing.assert_allclose(found.cost, expected.cost, atol=1e-9)


@pytest.mark.parametrize("make", [pelt, skchange_pelt])
def test_penalties_are_learned_for_the_search_and_used_by_it(make):
    x = steps(2, n_sequences=30)
    labels = [LABELS] * 30
    search = make()
    learned = cp.LearnedDetector(max_changes=4, search=search)
    learned = clone(learned).fit(x[:20], labels[:20])
    ours = cp.LearnedDetector(max_changes=4).fit(x[:20], labels[:20])
    assert learned.score(x[20:], labels[20:]) == ours.score(x[20:], labels[20:]) == 1
    penalty = learned.predict_penalty(x[20:21])[0]
    (found,) = learned.predict(x[20:21])
    assert found.tolist() == detector_segmentation(search, x[20], penalty).changes.tolist()


def test_objects_that_are_not_detectors_raise():
    with pytest.raises(TypeError, match="must be Pelt or KernelCPD from ruptures, or a"):
        detector_errors(object(), [1, 2, 3], cp.Labels([0], [2], ["no_change"]))
    with pytest.raises(ValueError, match="max_changes must be an integer of at least 1"):
        detector_errors(pelt(), [1, 2, 3], LABELS, max_changes=0)


@pytest.fixture(scope="module")
def learned():
    x = steps(3, n_sequences=20)
    return cp.LearnedDetector(max_changes=4).fit(x, [LABELS] * 20)


def test_a_learned_detector_can_be_used_with_skchange(learned):
    detectors = pytest.importorskip("skchange.detectors")
    x = steps(4)[0]
    detector = skchange_detector(learned)
    assert isinstance(detector, detectors.BaseChangeDetector)
    assert detectors.is_change_detector(detector)
    expected = learned.predict([x])[0].tolist()
    assert expected == [20]
    for one in (detector, clone(detector), pickle.loads(pickle.dumps(detector))):
        assert one.fit_predict(x[:, None]).tolist() == expected
        assert one.penalty_ == learned.predict_penalty([x])[0]
    # Each sequence gets its own penalty: the penalty of the sequence with little noise
    # would detect spurious changes in the noisy one.
    quiet, loud = sorted(steps(3, n_sequences=20), key=np.ptp)[::19]
    detector.fit(quiet[:, None])
    assert detector.predict(loud[:, None]).tolist() == expected
    assert cp.segment_penalty(loud, detector.penalty_).n_changes > 1
    with pytest.raises(ValueError, match="features"):
        detector.predict(np.zeros((40, 2)))


def test_a_learned_detector_can_be_used_with_sktime(learned):
    base = pytest.importorskip("sktime.detection.base")
    pandas = pytest.importorskip("pandas")
    x = steps(4)[0]
    detector = sktime_detector(learned)
    assert isinstance(detector, base.BaseDetector)
    for one in (detector, detector.clone(), pickle.loads(pickle.dumps(detector))):
        for series in (x, pandas.Series(x), pandas.DataFrame({"value": x})):
            found = one.fit(series).predict(series)
            assert found["ilocs"].tolist() == [20]
    dense = detector.transform(pandas.Series(x))
    assert np.flatnonzero(dense["labels"]).tolist() == [20]
    assert len(detector.predict_segments(pandas.Series(x))) == 2

"""Calibration curves: bins compared with counts, and coverage of intervals."""

import numpy as np
import pytest

import rocpath as rp


def test_bins_partition_the_rows_by_probability():
    rng = np.random.default_rng(0)
    probability = rng.random(500)
    y = np.where(rng.random(500) < probability, "yes", "no")
    found = rp.calibration_curve(y, probability, confidence=0.9)
    assert sum(one.n_rows for one in found.bins) == 500
    start = 0
    order = np.argsort(probability)
    for one in found.bins:
        rows = order[start : start + one.n_rows]
        assert one.probability == pytest.approx(probability[rows].mean())
        assert one.share == pytest.approx((y[rows] == "yes").mean())
        assert one.low <= one.share <= one.high
        start += one.n_rows
    assert repr(found).splitlines()[0].split() == ["predicted", "observed", "90%", "CI", "rows"]
    assert found._repr_html_().count("<tr>") == len(found.bins) + 1


def test_tied_probabilities_are_in_one_bin():
    y = np.repeat([1, 0], 50)
    (only,) = rp.calibration_curve(y, np.full(100, 0.5)).bins
    assert (only.probability, only.share, only.n_rows) == (0.5, 0.5, 100)
    rng = np.random.default_rng(3)
    probability = rng.integers(1, 20, 400) / 20
    drawn = rng.random(400) < probability
    order = rng.permutation(400)
    bins = rp.calibration_curve(drawn, probability).bins
    assert len(bins) > 5
    shuffled = rp.calibration_curve(drawn[order], probability[order]).bins
    np.testing.assert_allclose(shuffled, bins, rtol=1e-12)


@pytest.mark.parametrize("has_groups", [False, True])
def test_calibration_intervals_have_nominal_coverage(has_groups):
    rng = np.random.default_rng(1)
    is_covered = []
    for _ in range(100):
        group = np.repeat(np.arange(100), 6)
        probability = rng.uniform(0.1, 0.6, 100)[group]
        # All rows of a group have the same label: 100 independent rows, not 600.
        drawn = rng.random(100)[group] if has_groups else rng.random(600)
        y = drawn < probability
        found = rp.calibration_curve(y, probability, groups=group if has_groups else None)
        is_covered += [one.low <= one.probability <= one.high for one in found.bins]
    # About 1,000 independent intervals; their bounds are conservative.
    assert np.mean(is_covered) > 0.93


def test_probabilities_outside_zero_and_one_raise():
    with pytest.raises(ValueError, match=r"probabilities must be in \[0, 1\], got 1.5 at index 2"):
        rp.calibration_curve([0, 1, 1], [0.1, 0.2, 1.5])

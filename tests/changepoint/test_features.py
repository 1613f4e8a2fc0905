"""Features of sequences, compared with their definitions."""

import numpy as np
import pytest

from rocpath import changepoint as cp


def as_dict(x):
    features = cp.sequence_features(x)
    return dict(zip(features.name, features.value.tolist(), strict=True))


def test_features_of_a_small_example():
    # The differences are 3 and -2.
    feature = as_dict([1, 4, 2])
    assert feature["length"] == 3
    assert feature["data.quantile_0"] == 1
    assert feature["data.quantile_75"] == 3
    assert feature["data.mean"] == pytest.approx(7 / 3)
    assert feature["data.variance"] == pytest.approx((16 + 25 + 1) / 27)
    assert feature["diff.mean"] == 0.5
    assert feature["abs_diff.mean"] == 2.5
    assert feature["squared_diff.quantile_100"] == 9
    assert feature["squared_data.quantile_50"] == 4
    assert feature["log.squared_diff.quantile_0"] == pytest.approx(np.log(4))
    assert feature["log1p.abs_diff.mean"] == pytest.approx(np.log(3.5))
    assert feature["loglog.length"] == pytest.approx(np.log(np.log(3)))
    assert feature["sqrt.abs_data.quantile_100"] == 2
    # Transformations are also defined for negative values.
    assert feature["log.diff.quantile_0"] == pytest.approx(np.log(2))
    assert feature["log1p.diff.quantile_0"] == pytest.approx(-np.log(3))
    assert feature["sqrt.diff.quantile_0"] == pytest.approx(-np.sqrt(2))
    assert feature["loglog.diff.quantile_0"] == pytest.approx(np.log(2) - 1)


def test_names_are_unique_and_the_same_for_all_sequences():
    features = cp.sequence_features([1.0, 2.0])
    assert len(set(features.name)) == len(features) == 215
    assert cp.sequence_features([[0, 0, 0], [5, 6]]).name == features.name


def test_each_sequence_has_a_row_of_features():
    both = cp.sequence_features([[0.0, 0.0, 1.0], np.array([5.0, 6.0])])
    assert both.value.shape == (2, 215)
    alone = cp.sequence_features([5.0, 6.0])
    assert both.value[1].tolist() == pytest.approx(alone.value.tolist(), nan_ok=True)


@pytest.mark.parametrize(
    "x",
    [
        [3.0],
        [0.0],
        np.zeros(5),
        np.full(7, -2.0),
        [-1.0, -3.0, -2.0],
        [1e99, -1e99, 1e99],
        [1e-99, 3e-99, 2e-99],
        [1e100, 1e-300],
        [5e-324, 0.0],
        np.repeat([0.0, 1.0, 0.0], 50),
    ],
)
def test_every_sequence_has_finite_features(x):
    features = cp.sequence_features([x, [1.0, 2.0, 4.0]])
    assert np.isfinite(features.value).all()
    assert not features.value.flags.writeable
    assert np.isfinite(features.value.sum(axis=0)).all()


def test_the_logarithm_of_zero_is_that_of_the_floor():
    # The floor is 1e-9 times the largest value, 8; it is squared for squared differences.
    feature = as_dict([8.0, 8.0])
    assert feature["log.abs_diff.mean"] == pytest.approx(np.log(8e-9))
    assert feature["log.squared_diff.mean"] == pytest.approx(np.log(64e-18))
    assert as_dict([0.0])["log.data.mean"] == pytest.approx(np.log(1e-9))


@pytest.mark.parametrize("unit", [1e-90, 1e-3, 1e5, 1e90])
def test_a_change_of_the_unit_adds_a_constant_to_logarithms(unit):
    x = np.array([3.0, -1.0, 4.0, 1.0, -5.0, 9.0])
    one, other = as_dict(x), as_dict(unit * x)
    for name, power in (("log.data.mean", 1), ("log.squared_diff.variance", 4)):
        expected = one[name] + power * np.log(unit)
        assert other[name] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ([], "x must have at least one observation"),
        ([[1.0, 2.0], []], r"x\[1\] must have at least one observation"),
        ([[1.0], [1.0, np.inf]], r"x\[1\] must be finite.*inf at index 1"),
        ([[1.0], [np.nan]], r"x\[1\] must have at least one observation"),
    ],
)
def test_invalid_sequences_raise(x, message):
    with pytest.raises(ValueError, match=message):
        cp.sequence_features(x)

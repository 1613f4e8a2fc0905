"""Features of sequences, against their definitions."""

import numpy as np
import pytest

from rocpath import changepoint as cp


def as_dict(x):
    features = cp.sequence_features(x)
    return dict(zip(features.name, features.value.tolist(), strict=True))


def test_values_by_hand():
    # Data 1, 4, 2: differences 3, -2.
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
    assert np.isnan(feature["log.diff.quantile_0"])


def test_names_are_unique_and_the_same_for_all():
    features = cp.sequence_features([1.0, 2.0])
    assert len(set(features.name)) == len(features) == 215
    assert cp.sequence_features([[0, 0, 0], [5, 6]]).name == features.name


def test_many_sequences_make_rows():
    both = cp.sequence_features([[0.0, 0.0, 1.0], np.array([5.0, 6.0])])
    assert both.value.shape == (2, 215)
    alone = cp.sequence_features([5.0, 6.0])
    assert both.value[1].tolist() == pytest.approx(alone.value.tolist(), nan_ok=True)


def test_values_that_do_not_exist_are_reported():
    features = cp.sequence_features([[3.0], [1.0, 2.0, 4.0]])
    is_finite = dict(zip(features.name, features.is_finite.tolist(), strict=True))
    assert is_finite["length"]
    assert is_finite["data.mean"]
    assert not is_finite["diff.mean"]  # one observation has no differences
    assert not is_finite["log.data.variance"]
    assert not features.value.flags.writeable


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ([], "x must have at least one observation"),
        ([[1.0, 2.0], []], r"x\[1\] must have at least one observation"),
        ([[1.0], [1.0, np.nan]], r"x\[1\] must be finite.*nan at index 1"),
    ],
)
def test_bad_sequences_are_named(x, message):
    with pytest.raises(ValueError, match=message):
        cp.sequence_features(x)

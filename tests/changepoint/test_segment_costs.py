"""The declared properties of segment costs, and what each cost needs in other files."""

from typing import get_args

import numpy as np
import pytest

from rocpath.changepoint import segment_costs
from rocpath.changepoint.cost_properties import COSTS
from rocpath.changepoint.segment_costs import SegmentCost
from tests import oracle_changepoint as oracle

NAMES = get_args(SegmentCost)
LIKELIHOODS = [name for name in NAMES if COSTS[name].is_likelihood]


def test_the_core_has_the_same_costs():
    # The core has a separate name for the normal cost of several columns.
    assert {*NAMES, "multivariate_normal"} == COSTS.keys()


@pytest.mark.parametrize("name", NAMES)
def test_each_cost_is_documented_and_has_a_definition_in_the_tests(name):
    assert f'- ``"{name}"``: ' in segment_costs.__doc__
    properties = COSTS[name]
    if properties.allows_constraint:
        assert {name} <= oracle.COSTS.keys() & oracle.LOSSES.keys()
    else:
        assert name in oracle.ARRAY_COSTS
    assert properties.n_parameters >= 1
    assert properties.deviance_unit > 0
    assert properties.min_length >= 1


@pytest.mark.parametrize("name", LIKELIHOODS)
@pytest.mark.parametrize("mean", [0.2, 0.5, 0.75])
def test_variance_functions_belong_to_the_costs(name, mean):
    # The deviance D of an exponential family has the derivative 2 (mean - x) / V(mean).
    properties = COSTS[name]
    x, step = 0.4, 1e-6
    value = oracle.averaged([x], name)[0]  # the observation whose mean is the parameter
    loss = oracle.LOSSES[name]
    slope = (loss(x, mean + step) - loss(x, mean - step)) / (2 * step)
    deviance_slope = slope / properties.deviance_unit
    assert deviance_slope == pytest.approx(
        2 * (mean - value) / properties.variance_of_mean(mean), rel=1e-6
    )


@pytest.mark.parametrize("name", [name for name in NAMES if COSTS[name].allows_constraint])
def test_homogeneous_costs_change_by_a_power_of_the_unit(name):
    # The difference between two means cancels the constant.
    properties, unit = COSTS[name], 0.5
    loss, power = oracle.LOSSES[name], 2 if name == "variance" else 1

    def difference(scale):
        return loss(0.4 * scale, 0.6 * scale**power) - loss(0.4 * scale, 0.2 * scale**power)

    is_homogeneous = np.isclose(difference(unit), unit**properties.power * difference(1.0))
    assert is_homogeneous == properties.is_homogeneous

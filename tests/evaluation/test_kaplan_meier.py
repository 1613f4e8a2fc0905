"""Survival functions and their influences against definitions in exact arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocpath.evaluation.metrics.kaplan_meier import KaplanMeier
from tests import oracle_survival as oracle


@st.composite
def survival_rows(draw):
    n = draw(st.integers(1, 9))
    time = draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))
    has_event = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    weight = draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))
    return [(t, e, 0, w) for t, e, w in zip(time, has_event, weight, strict=True)]


def columns(rows):
    time, has_event, _, weight = zip(*rows, strict=True)
    return np.array(time, float), np.array(has_event, bool), np.array(weight, float)


@pytest.mark.parametrize("of_censoring", [False, True])
@given(rows=survival_rows())
def test_estimate_equals_its_definition(rows, of_censoring):
    curve = KaplanMeier.from_rows(*columns(rows), of_censoring=of_censoring)
    for time in range(6):
        expected = float(oracle.survival(rows, time, of_censoring))
        assert curve.at(time) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("of_censoring", [False, True])
@given(rows=survival_rows())
def test_influence_is_the_derivative_with_respect_to_weights(rows, of_censoring):
    """For sum(k * log S(t_k)): the relative change of each S(t_k), times k."""
    curve = KaplanMeier.from_rows(*columns(rows), of_censoring=of_censoring)
    survives = [oracle.survival(rows, t, of_censoring) > 0 for t in curve.time]
    coefficient = np.arange(1.0, curve.time.size + 1) * survives
    influence = curve.influence(coefficient)
    step = Fraction(1, 10**7)
    for k, row in enumerate(rows):
        change = 0.0
        for time, factor in zip(curve.time[survives], coefficient[survives], strict=True):
            high, low = (
                oracle.survival([*rows[:k], (*row[:3], weight), *rows[k + 1 :]], time, of_censoring)
                for weight in (row[3] + step, row[3] - step)
            )
            change += factor * float(
                (high - low) / (2 * step * oracle.survival(rows, time, of_censoring))
            )
        assert influence[k] == pytest.approx(change, rel=1e-6, abs=1e-9)

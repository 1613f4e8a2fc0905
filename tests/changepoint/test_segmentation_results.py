"""Model selection for every penalty, including ties."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocpath import changepoint as cp
from tests import oracle_changepoint as oracle

costs = st.lists(st.integers(0, 12).map(float), min_size=1, max_size=8)


@given(costs, st.data())
def test_every_penalty_selects_the_best_model_with_the_fewest_changes(cost, data):
    n_changes = data.draw(
        st.lists(st.integers(0, 20), min_size=len(cost), max_size=len(cost), unique=True)
    )
    selection = cp.model_selection(cost, n_changes)
    pairs = [(a, b) for a in range(len(cost)) for b in range(len(cost))]
    corners = {
        Fraction(cost[a] - cost[b]) / (n_changes[b] - n_changes[a])
        for a, b in pairs
        if n_changes[a] < n_changes[b]
    }
    places = sorted({Fraction(0), *(p for p in corners if p >= 0)})
    between = [(a + b) / 2 for a, b in zip(places, [*places[1:], 99], strict=True)]
    # Ties can be tested only at penalties that are exact in float64, unlike 1/3.
    exact = [p for p in places if Fraction(float(p)) == p]
    for penalty in [*between, *exact]:
        expected = oracle.selected(cost, n_changes, penalty)
        assert selection.select(float(penalty)) == expected


@given(costs)
def test_penalty_intervals_are_contiguous_from_zero_to_infinity(cost):
    selection = cp.model_selection(cost)
    assert selection.min_penalty[0] == 0
    assert selection.max_penalty[-1] == np.inf
    assert selection.max_penalty[:-1].tolist() == selection.min_penalty[1:].tolist()
    assert (selection.min_penalty < selection.max_penalty).all()
    assert (np.diff(selection.n_changes) < 0).all()
    assert selection.cost.tolist() == [cost[k] for k in selection.n_changes]
    assert selection.model.tolist() == selection.n_changes.tolist()


def test_equal_costs_and_points_on_an_edge_are_not_selected():
    # (1, 6) is on the edge from (0, 9) to (2, 3); more changes do not reduce the cost.
    selection = cp.model_selection([9.0, 6.0, 3.0, 3.0, 5.0])
    assert selection.n_changes.tolist() == [2, 0]
    assert selection.min_penalty.tolist() == [0, 3]
    assert selection.select(3.0) == 0
    assert selection.select(np.nextafter(3.0, 0)) == 2


def test_penalties_that_round_to_the_same_number_leave_no_empty_interval():
    a = 1.0
    costs_ = [3 * a + 1, 2 * a + 1, a + 1, np.nextafter(1, 2)]
    selection = cp.model_selection(costs_)
    assert (selection.min_penalty < selection.max_penalty).all()
    tiny = cp.model_selection([5e-324, 0.0], [0, 2])
    assert tiny.n_changes.tolist() == [0]


def test_a_single_model_is_always_selected():
    selection = cp.model_selection([4.0], [7])
    assert selection.select([0.0, np.inf]).tolist() == [7, 7]


def test_selection_from_many_models_is_fast():
    cost = np.linspace(1, 0, 20_000) ** 2
    selection = cp.model_selection(cost)
    assert len(selection) > 19_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([],), "cost must have at least one entry"),
        (([1.0, np.inf],), "cost must be finite"),
        (([1.0, 2.0], [0, 0]), "n_changes must not repeat, got 0 twice"),
        (([1.0, 2.0], [0, -1]), "n_changes must not be negative, got -1 at index 1"),
        (([1.0, 2.0], [0, 1, 2]), "same length"),
    ],
)
def test_invalid_input_raises(arguments, message):
    with pytest.raises(ValueError, match=message):
        cp.model_selection(*arguments)


def test_a_negative_penalty_raises():
    with pytest.raises(ValueError, match="penalty must be non-negative, got -1"):
        cp.model_selection([1.0]).select([0.0, -1.0])

"""Averaged label errors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocpath import changepoint as cp
from rocpath.changepoint.penalty_candidates import HALF_WIDTH, ErrorSteps

functions = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4), min_size=1, max_size=5)


def error_functions(errors, seed):
    rng = np.random.default_rng(seed)
    return [
        cp.PenaltyErrors(
            np.append(0, np.exp(np.sort(rng.normal(0, 2, len(one) - 1)))),
            one,
            np.zeros(len(one), dtype=int),
        )
        for one in errors
    ]


@given(functions, st.integers(0, 1000))
def test_averaged_errors_are_means_over_nearby_penalties(errors, seed):
    sequences = error_functions(errors, seed)
    at = np.random.default_rng(seed).normal(0, 2, (len(errors), 2))
    near = np.linspace(-HALF_WIDTH, HALF_WIDTH, 20001)
    expected = sum(
        np.array([one.at(log + near).mean() for log in row])
        for one, row in zip(sequences, at, strict=True)
    )
    found = ErrorSteps(sequences).averaged(at)
    assert found.tolist() == pytest.approx(expected.tolist(), abs=5e-3)


@given(functions, st.integers(0, 1000))
def test_no_other_constant_has_fewer_averaged_errors(errors, seed):
    steps = ErrorSteps(error_functions(errors, seed))
    at = np.random.default_rng(seed).normal(0, 2, len(errors))
    best = steps.best_shift(at)
    others = np.append(best, np.linspace(-20, 20, 401))
    found = steps.averaged(at[:, None] + others)
    assert found[0] <= found.min() + 1e-6

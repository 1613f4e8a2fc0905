"""Bootstrap intervals, compared with DeLong's."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import rocpath as rp


def test_the_bootstrap_agrees_with_delong_and_resamples_groups():
    rng = np.random.default_rng(3)
    y = np.arange(200) % 2
    score = rng.normal(size=200) + y
    found = rp.bootstrap_interval(roc_auc_score, y, score, n_resamples=500, random_state=0)
    exact = rp.auc_interval(y, score)
    assert found.value == pytest.approx(exact.value)
    width = exact.high - exact.low
    assert found.high - found.low == pytest.approx(width, rel=0.15)
    # Each row is copied five times: resampling single rows would halve the width.
    copies = [np.repeat(values, 5) for values in (y, score, np.arange(200))]
    grouped = rp.bootstrap_interval(
        roc_auc_score, *copies[:2], groups=copies[2], n_resamples=500, random_state=0
    )
    assert grouped.high - grouped.low == pytest.approx(width, rel=0.2)
    assert grouped.n_groups == 200

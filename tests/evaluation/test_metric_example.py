"""The metric in CONTRIBUTING.md works as it is printed there."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score

import rocpath as rp

CONTRIBUTING = Path(__file__).parents[2] / "CONTRIBUTING.md"


def test_the_example_of_a_metric_works_with_every_design():
    (code,) = (
        block
        for block in re.findall(r"```python\n(.*?)```", CONTRIBUTING.read_text(), re.DOTALL)
        if "class BalancedAccuracy" in block
    )
    names = {"__name__": "example"}
    exec(compile(code, str(CONTRIBUTING), "exec"), names)
    metric = names["BalancedAccuracy"](0.5)
    rng = np.random.default_rng(0)
    y = rng.random(200) < 0.4
    score = rng.normal(size=200) + y
    scores = {"a": score, "b": score + rng.normal(size=200), "c": rng.normal(size=200)}
    weight = rng.uniform(0.5, 2.0, 200)
    found = rp.interval(y, score, metric, sample_weight=weight)
    expected = balanced_accuracy_score(y, score >= 0.5, sample_weight=weight)
    assert found.value == pytest.approx(expected)
    code = rng.integers(0, 30, 200)
    for design in ({}, {"groups": code}, {"strata": code % 3}, {"by": code % 2}):
        both = rp.compare(y, scores, metric, **design)
        assert both.differences["a", "c"].low > 0
        assert both.p_value < 0.05

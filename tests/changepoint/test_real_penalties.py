"""Penalties learned from real peaks, compared with a constant in new regions."""

import os
import runpy
import time
from pathlib import Path

import numpy as np
import pytest

import rocpath as rp
from rocpath import changepoint as cp
from rocpath.search.intercepts import fewest_errors_constant

READER = Path(__file__).parents[2] / "benchmarks" / "accuracy" / "penalty_sets.py"


def loaded(name):
    """Return features, error functions, folds and regions of a data set of peaks."""
    if "ROCPATH_DATA" not in os.environ or not READER.exists():
        pytest.skip("set ROCPATH_DATA to the folder with the data sets")
    data = runpy.run_path(str(READER))["load"](name)
    return data["X"], data["y"], data["fold"], data["group"]


@pytest.mark.parametrize(
    "name", ["H3K36me3_TDH_immune", "H3K36me3_TDH_other", "H3K4me3_TDH_immune"]
)
def test_new_regions_have_no_more_errors_than_with_a_constant(name):
    X, y, fold, region = loaded(name)
    assert not np.isfinite(X).all()
    learned, constant = [], []
    for one in np.unique(fold):
        rows, new = np.flatnonzero(fold != one), np.flatnonzero(fold == one)
        known = [y[row] for row in rows]
        begin = time.process_time()
        model = rp.PenaltyRegressor(random_state=0)
        model.fit(X[rows], known, groups=region[rows])
        assert time.process_time() - begin < 5
        best = -fewest_errors_constant(cp.error_breakpoints(known), np.zeros(rows.size))
        predicted = model.predict(X[new])
        learned.append(sum(y[k].at(p) for k, p in zip(new, predicted, strict=True)))
        constant.append(sum(y[k].at(best) for k in new))
    more = np.subtract(learned, constant)
    error = more.std(ddof=1) * np.sqrt(more.size)
    assert more.sum() <= 2 * error
    if name.startswith("H3K4me3"):  # features are informative in this data set
        assert more.sum() < -2 * error

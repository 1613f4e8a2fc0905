"""AUC statistics, compared with values computed by the R package pROC."""

import csv
import runpy
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks" / "accuracy"


def test_all_common_quantities_equal_those_of_proc():
    script = runpy.run_path(str(BENCHMARKS / "proc_reference.py"))
    with (BENCHMARKS / "results" / "proc_reference.csv").open() as file:
        reference = {
            (int(one["sample"]), one["quantity"]): one["value"] for one in csv.DictReader(file)
        }
    n_compared = 0
    for k, sample in enumerate(script["samples"]()):
        for name, value in script["our_values"](*sample).items():
            # pROC bootstraps this standard error, with 2,000 resamples of 40 to 400 rows.
            tolerance = 0.25 if "bootstrapped" in name else 1e-9
            assert value == pytest.approx(float(reference[k, name]), rel=tolerance), (k, name)
            n_compared += 1
    assert n_compared == len(reference)

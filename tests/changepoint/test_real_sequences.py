"""Penalties learned from raw sequences: simulated data, and real counts if available."""

import csv
import gzip
import os
from pathlib import Path

import numpy as np
import pytest

import rocpath as rp
from rocpath import changepoint as cp

CHIPSEQ = Path(os.environ.get("ROCPATH_DATA", "missing")) / "changepoint" / "raw_chipseq"


def simulated(seed):
    """Simulate a sequence with two changes of three standard deviations, and its labels."""
    rng = np.random.default_rng(seed)
    noise = np.exp(rng.uniform(-1, 1))
    n = int(rng.integers(60, 200))
    first, second = sorted(rng.choice(np.arange(10, n - 10, 25), 2, replace=False))
    mean = np.zeros(n)
    mean[first:second] = 3 * noise
    labels = cp.Labels(
        [0, first - 5, second - 5],
        [first - 5, first + 5, second + 5],
        ["no_change", "one_change", "one_change"],
        sequence=f"simulated {seed}",
    )
    return rng.normal(mean, noise), labels


def test_learned_penalties_find_known_changes():
    pairs = [simulated(seed) for seed in range(60)]
    functions = [cp.errors_by_penalty(*pair, max_changes=8) for pair in pairs]
    features = cp.sequence_features([x for x, _ in pairs])
    model = rp.IntervalRegression().fit(features.value[:40], functions[:40])
    log_penalty = model.predict(features.value[40:])
    learned = sum(f.at(p) for f, p in zip(functions[40:], log_penalty, strict=True))
    constant = min(sum(f.at(p) for f in functions[40:]) for p in np.linspace(-4, 8, 100))
    assert learned < constant
    bp = cp.error_breakpoints(functions[40:])
    assert rp.auc(bp, -log_penalty) > rp.auc(bp, np.zeros(20))
    # The segmentation for each predicted penalty has the errors that were counted.
    for (x, labels), p, f in zip(pairs[40:], log_penalty, functions[40:], strict=True):
        changes = cp.segment_penalty(x, np.exp(p)).changes
        errors = cp.label_errors([changes], labels, n=x.size)
        assert errors.fp[0] + errors.fn[0] == f.at(p)


def coverage():
    """Yield counts, run starts, run lengths and labels of each sample."""
    if not CHIPSEQ.exists():
        pytest.skip("set ROCPATH_DATA to the folder with the data sets")
    with gzip.open(CHIPSEQ / "chr11ChIPseq_coverage.csv.gz", "rt") as file:
        runs = list(csv.DictReader(file))
    with open(CHIPSEQ / "chr11ChIPseq_regions.csv") as file:
        regions = list(csv.DictReader(file))
    for sample in sorted({run["sample.id"] for run in runs}):
        start, end, count = (
            np.array([int(r[name]) for r in runs if r["sample.id"] == sample])
            for name in ("chromStart", "chromEnd", "count")
        )
        own = [r for r in regions if r["sample.id"] == sample]
        labels = cp.Labels(
            [int(r["chromStart"]) for r in own],
            [int(r["chromEnd"]) for r in own],
            [r["annotation"] for r in own],
            sequence=sample,
        )
        yield count, start, end - start, labels


def test_peaks_in_coverage_agree_with_the_labels():
    for count, start, length, labels in coverage():
        settings = {"cost": "poisson", "weights": length, "constraint": "up_down"}
        models = cp.segment(count, 20, **settings)
        even = np.arange(0, 21, 2)
        errors = cp.label_errors([models.changes[k] for k in even], labels, position=start)
        selection = cp.model_selection(models.cost[even], even)
        function = cp.penalty_errors(selection, errors)
        # Some penalty has no label errors, and a search with it finds the same model.
        lower, upper = cp.target_interval(function)
        penalty = np.exp(lower / 2 + upper / 2)
        assert function.at(np.log(penalty)) == 0
        best = cp.segment_penalty(count, penalty, **settings)
        assert best.n_changes == selection.select(penalty)
        assert best.cost == pytest.approx(models.cost[best.n_changes])

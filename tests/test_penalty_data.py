"""Penalties learned on real peaks: no worse than a constant on new regions."""

import csv
import gzip
import os
import time
from pathlib import Path

import numpy as np
import pytest

import rocpath as rp
from rocpath import changepoint as cp
from rocpath.descent import fewest_errors_constant

DATA = Path(os.environ.get("ROCPATH_DATA", "missing")) / "changepoint"


def read(path):
    if not path.exists():
        path = path.with_name(f"{path.name}.gz")
    text = path.read_bytes()
    if path.suffix == ".gz":
        text = gzip.decompress(text)
    return list(csv.DictReader(text.decode().splitlines()))


def loaded(name):
    """Features, error functions, folds and regions of a set of peaks."""
    if not DATA.exists():
        pytest.skip("set ROCPATH_DATA to the folder with the data sets")
    inputs = read(DATA / name / "inputs.csv")
    names = [row.pop("sequenceID") for row in inputs]
    X = np.array(
        [
            [float(c) if c not in ("", "NA") else np.nan for c in r.values()]
            for r in inputs
        ]
    )
    pieces = {one: [] for one in names}
    for row in read(DATA / name / "evaluation.csv"):
        log = float(row["min.log.lambda"])
        pieces[row["sequenceID"]].append((log, float(row["fp"]), float(row["fn"])))
    y = []
    for one in names:
        log, fp, fn = np.array(sorted(pieces[one])).T
        y.append(cp.PenaltyErrors(np.exp(log), fp.astype(int), fn.astype(int)))
    fold = {row["sequenceID"]: row["fold"] for row in read(DATA / name / "folds.csv")}
    region = np.array([one.split("/problems/")[-1] for one in names])
    return X, y, np.array([fold[one] for one in names]), region


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
    if name.startswith("H3K4me3"):  # features help there
        assert more.sum() < -2 * error

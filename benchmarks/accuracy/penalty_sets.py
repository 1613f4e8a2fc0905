"""Read features, label errors, folds and groups of the five changepoint data sets.

Requires ROCPATH_DATA.
"""

import csv
import gzip
import os
from pathlib import Path

import numpy as np

from rocpath import changepoint as cp

DATA = Path(os.environ["ROCPATH_DATA"]) / "changepoint"
# Name of the column with log(n), and of the file with the folds.
SETS = {
    "ATAC_JV_adipose": ("log.data", "folds.csv"),
    "H3K36me3_TDH_immune": ("log.data", "folds.csv"),
    "H3K36me3_TDH_other": ("log.data", "folds.csv"),
    "H3K4me3_TDH_immune": ("log.data", "folds.csv"),
    "neuroblastoma_systematic": ("log.n", "folds_sequenceID.csv"),
}


def load(name):
    log_n, folds = SETS[name]
    inputs = _rows(DATA / name / "inputs.csv")
    names = [row.pop("sequenceID") for row in inputs]
    X = np.array([[_number(cell) for cell in row.values()] for row in inputs])
    pieces = {one: [] for one in names}
    for row in _rows(DATA / name / "evaluation.csv"):
        # Some sequences have label errors but no features.
        pieces.get(row["sequenceID"], []).append(row)
    fold = {row["sequenceID"]: int(row["fold"]) for row in _rows(DATA / name / folds)}
    return {
        "X": X,
        "log_n": X[:, [list(inputs[0]).index(log_n)]],
        "y": [_error_function(pieces[one]) for one in names],
        "fold": np.array([fold[one] for one in names]),
        "group": np.array([_group(one) for one in names]),
    }


def _rows(path):
    """Read a CSV file, compressed or not."""
    if path.exists():
        return list(csv.DictReader(path.read_text().splitlines()))
    text = gzip.decompress(path.with_name(f"{path.name}.gz").read_bytes())
    return list(csv.DictReader(text.decode().splitlines()))


def _number(cell):
    return float(cell) if cell not in ("", "NA") else np.nan


def _error_function(rows):
    rows = sorted(rows, key=lambda row: float(row["min.log.lambda"]))
    return cp.PenaltyErrors(
        np.exp([float(row["min.log.lambda"]) for row in rows]),
        [int(float(row["fp"])) for row in rows],
        [int(float(row["fn"])) for row in rows],
    )


def _group(name):
    """Return the genomic region or the person that a sequence belongs to."""
    return name.split("/problems/")[-1] if "/" in name else name.split("_")[0]

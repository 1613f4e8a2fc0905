"""Estimate the size of tests and the coverage of intervals of reader studies.

Draws ratings from the model of Roe and Metz (1997), in which all modalities are equal:
each rating is a sum of normal effects of case, reader, and their interactions with each
other and with the modality. Counts how often ``rp.compare_readers`` finds a difference
(5% tests), and how often the interval of the mean AUC contains the true mean. Saves
``reader_coverage.csv`` in ``results``.

Structures are named after the correlation of ratings of the same case (high or low)
and the variance of readers (low or high), as by Roe and Metz.
"""

import argparse
import csv
from itertools import product
from pathlib import Path

import numpy as np
from scipy.special import ndtr

import rocpath as rp

RESULTS = Path(__file__).parent / "results"
# Variances of case, modality x case, reader x case, and error, which sum to one.
CASES = {"H": (0.3, 0.3, 0.2, 0.2), "L": (0.1, 0.1, 0.2, 0.6)}
# Distance of the classes, and the variance of reader, and of modality x reader, by size.
AREAS = {0.75: {"L": 0.0055, "H": 0.011}, 1.5: {"L": 0.0055, "H": 0.03}}
N_READERS = (3, 5, 10)
N_CASES = ((10, 90), (25, 25), (50, 50))
N_MODALITIES = (2, 3)
HEADER = ["structure", "true_auc", "modalities", "readers", "positives", "negatives", "tries"]
HEADER += ["size", "coverage_of_difference", "coverage_of_mean"]


def draw(case_variances, reader_variance, distance, n_modalities, n_readers, y, rng):
    """Draw ratings of shape (modalities, readers, cases)."""
    t, r, n = n_modalities, n_readers, y.size
    of_case, by_modality, by_reader, error = np.sqrt(case_variances)
    # Effects of readers differ by class; otherwise they would not change the AUC.
    classes = np.where(y, 1, 0)
    reader = np.sqrt(reader_variance) * rng.normal(size=(1, r, 2))[:, :, classes]
    both = np.sqrt(reader_variance) * rng.normal(size=(t, r, 2))[:, :, classes]
    return (
        distance * y
        + of_case * rng.normal(size=(1, 1, n))
        + by_modality * rng.normal(size=(t, 1, n))
        + by_reader * rng.normal(size=(1, r, n))
        + error * rng.normal(size=(t, r, n))
        + reader
        + both
    )


def cell(structure, distance, n_modalities, n_readers, sizes, n_tries, rng):
    """Simulate one setting, and return its row."""
    case_variances, reader_variance = CASES[structure[0]], AREAS[distance][structure[1]]
    y = np.repeat([True, False], sizes)
    # Scores of both classes have independent effects of all kinds.
    true = ndtr(distance / np.sqrt(2 * (1 + 2 * reader_variance)))
    found = held = held_mean = 0
    for _ in range(n_tries):
        arguments = case_variances, reader_variance, distance, n_modalities, n_readers
        result = rp.compare_readers(y, draw(*arguments, y, rng))
        found += result.p_value < 0.05
        difference = result.differences["modality 1", "modality 2"]
        held += difference.low <= 0 <= difference.high
        mean = result.intervals["modality 1"]
        held_mean += mean.low <= true <= mean.high
    shares = (f"{count / n_tries:.4f}" for count in (found, held, held_mean))
    return [structure, f"{true:.3f}", n_modalities, n_readers, *sizes, n_tries, *shares]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tries", type=int, default=2000)
    parser.add_argument("--out", type=Path, default=RESULTS / "reader_coverage.csv")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    settings = product(("HL", "HH", "LL", "LH"), AREAS, N_MODALITIES, N_READERS, N_CASES)
    rows = []
    for setting in settings:
        rows.append(cell(*setting, options.tries, rng))
        if float(rows[-1][-3]) > 0.065 or float(rows[-1][-1]) < 0.93:
            print(*rows[-1], flush=True)
    with options.out.open("w", newline="") as file:
        csv.writer(file).writerows([HEADER, *rows])
    size, difference, mean = np.array([row[-3:] for row in rows], float).T
    print(f"{len(rows)} settings: size {size.min():.3f} to {size.max():.3f}")
    print(f"coverage of differences {difference.min():.3f} to {difference.max():.3f}")
    print(f"coverage of means {mean.min():.3f} to {mean.max():.3f}")


if __name__ == "__main__":
    main()

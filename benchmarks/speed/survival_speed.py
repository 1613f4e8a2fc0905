"""Measure how the time of concordance indices grows with the number of rows.

Compares intervals, paired tests and values of rocpath with the values of lifelines and
scikit-survival in one run. Half of the rows are censored. Prints median CPU times of
three runs (one, if it takes more than five seconds) in units of a stable ``np.argsort``
of 10^6 numbers in the same process, and growth exponents: the slope of the logarithm of
the time, from 10^4 rows. Saves ``survival_speed.csv`` in ``results``. A function that
would take more than half a minute for a size is skipped from there on.
"""

import csv
import statistics
import time
from pathlib import Path

import numpy as np
from lifelines.utils import concordance_index
from sksurv.metrics import concordance_index_censored, concordance_index_ipcw
from sksurv.util import Surv

import rocpath as rp

RESULTS = Path(__file__).parent / "results"
SIZES = (10**3, 10**4, 10**5, 3 * 10**5, 10**6)
LONGEST = 30.0  # seconds
N_RUNS = 3


def seconds(function, n_runs=N_RUNS):
    times = []
    for _ in range(n_runs):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
        if times[-1] > 5.0:
            break  # one run is long enough
    return statistics.median(times)


def functions(n_rows, rng):
    """Return what is measured, by name."""
    score = rng.normal(size=n_rows)
    other = score + rng.normal(size=n_rows)
    end = rng.exponential(size=n_rows)
    event_time = rng.exponential(size=n_rows) * np.exp(-0.5 * score)
    observed, event = np.minimum(event_time, end), event_time <= end
    y, structured = rp.Survival(observed, event), Surv.from_arrays(event, observed)
    tau = float(np.quantile(observed, 0.9))
    uno, auc = rp.metrics.UnoConcordance(tau), rp.metrics.TimeDependentAUC(tau / 2)
    return {
        "rocpath: Harrell's C with interval": lambda: rp.interval(y, score, "concordance"),
        "rocpath: paired test of Harrell's C": lambda: rp.compare(
            y, {"score": score, "other": other}, "concordance"
        ),
        "rocpath: Uno's C with interval": lambda: rp.interval(y, score, uno),
        "rocpath: AUC(t) with interval": lambda: rp.interval(y, score, auc),
        "lifelines: Harrell's C": lambda: concordance_index(observed, -score, event),
        "scikit-survival: Harrell's C": lambda: concordance_index_censored(event, observed, score),
        "scikit-survival: Uno's C": lambda: concordance_index_ipcw(
            structured, structured, score, tau=tau
        ),
    }


def main():
    rng = np.random.default_rng(0)
    keys = rng.normal(size=10**6)
    unit = seconds(lambda: np.argsort(keys, kind="stable"), 5)
    measured = {}
    for n_rows in SIZES:
        for name, function in functions(n_rows, rng).items():
            times = measured.setdefault(name, {})
            if times and (max(times) not in SIZES[: SIZES.index(n_rows)][-1:]):
                continue  # a smaller size was skipped
            if times and times[max(times)] * growth_bound(name, n_rows / max(times)) > LONGEST:
                continue
            times[n_rows] = seconds(function)
            print(f"{n_rows:>9,}  {name:38s} {times[n_rows]:9.4f} s", flush=True)
    header = ["function", *(f"{n:,} rows" for n in SIZES), "growth"]
    rows = [
        [name, *(f"{times[n] / unit:.4g}" if n in times else "" for n in SIZES), growth(times)]
        for name, times in measured.items()
    ]
    print("| " + " | ".join(header) + " |\n|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    with (RESULTS / "survival_speed.csv").open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def growth_bound(name, ratio):
    """Return by how much the time grows at most."""
    return ratio**2 if name.startswith("scikit") else 2.0 * ratio


def growth(times):
    """Return the slope of log time by log rows, over the largest sizes."""
    sizes = [n for n in times if n >= 10**4]
    slope = np.polyfit(np.log(sizes), np.log([times[n] for n in sizes]), 1)[0]
    return f"{slope:.2f}"


if __name__ == "__main__":
    main()

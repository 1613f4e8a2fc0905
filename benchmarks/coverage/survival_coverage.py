"""Estimate the coverage of intervals, and the size of tests, for censored outcomes.

Draws risks, times and censoring times, and counts how often ``rp.interval`` contains the
true value of Harrell's C, Uno's C and the AUC at a time, and how often ``rp.compare``
finds a difference between two, or among four, scores of the same quality. Prints the
settings below .93 or above .065, and saves all of them in ``survival_coverage.csv``.

``hazards`` are proportional, ``log-logistic`` times are accelerated, ``ties`` has four
risks and ten times, and ``groups`` has groups of five rows with a common risk and a
common frailty, and at least ten groups. ``weights`` has proportional hazards, and one row
in five has ten times the weight of the others, at random. Censoring is light (about 25%
of the rows) or heavy (about 90%), and independent of risks and times. ``events`` is the
expected number of events that the metric counts: all, those before tau, or those until
the time of the AUC.

True values are sums over a grid of risks and times, and use no function of rocpath.
"""

import argparse
import csv
from itertools import product
from pathlib import Path

import numpy as np
from scipy.special import expit, ndtri

import rocpath as rp

RESULTS = Path(__file__).parent / "results"
KINDS = ("hazards", "log-logistic", "ties", "groups", "weights")
EVENTS = (10, 25)
SLOPES = (0.0, 1.5)
# Rate of random censoring, and the end of the study.
CENSORING = {"light": (0.25, 4.0), "heavy": (0.5, 0.11)}
TIME = {"light": 0.2, "heavy": 0.5}  # of the AUC, as a share of the study
METRICS = ("harrell", "uno", "auc")
HEADER = ["kind", "censoring", "events", "slope", "n_rows", "metric", "true", "tries"]
HEADER += ["coverage", "size_of_two", "size_of_four", "width"]
N_RISKS, N_TIMES, N_FRAILTIES = 1000, 600, 15
FRAILTY, GROUP = 0.7, 5
LEVELS = np.array([-1.0, 0.0, 1.0])  # of tied risks
N_TIED = 10


def probability(kind, slope, time, risk):
    """Return the probability that the event occurs by a time, for each risk."""
    if kind == "log-logistic":
        return expit((np.log(np.maximum(time, 1e-300)) + slope * risk) / 0.7)
    if kind != "groups":
        return -np.expm1(-np.exp(slope * risk) * time)
    node, weight = np.polynomial.hermite_e.hermegauss(N_FRAILTIES)
    parts = np.exp(slope * risk[..., None] + FRAILTY * node) * time[..., None]
    return -np.expm1(-parts) @ (weight / weight.sum())


def truth(kind, slope, rate, end, tau, time):
    """Return the limits of the three metrics, and the share of events."""
    risk = ndtri((np.arange(N_RISKS) + 0.5) / N_RISKS)
    if kind == "ties":
        risk = np.searchsorted(LEVELS, risk) - 1.5
    edge = np.linspace(0.0, end, (N_TIED if kind == "ties" else N_TIMES) + 1)
    by_edge = probability(kind, slope, edge, risk[:, None])
    density = np.diff(by_edge, axis=1)
    uncensored = np.exp(-rate * edge)  # until each edge
    if kind == "ties":
        # Times are rounded up; an event is observed if its rounded time is not larger.
        survival, before, after = 1.0 - by_edge[:, 1:], uncensored[:-1], uncensored[1:].copy()
        after[-1] = before[-1]  # censoring at the end comes later
        last = edge[1:]
    else:
        survival = 1.0 - 0.5 * (by_edge[:, 1:] + by_edge[:, :-1])
        before = after = 0.5 * (uncensored[1:] + uncensored[:-1])
        last = 0.5 * (edge[1:] + edge[:-1])
    ratio = before / after  # the weights use the probability after ties
    is_in, is_case = last < tau, last <= time + 1e-9
    observed_longer = probability_at(by_edge, edge, time)
    pairs = (
        (density * before**2) @ survival.T,
        (density * ratio**2 * is_in) @ survival.T,
        np.outer((density * ratio * is_case).sum(axis=1), 1.0 - observed_longer),
    )
    higher = 0.5 * ((risk[:, None] > risk) + 1.0 * (risk[:, None] >= risk))
    events = (density * before).sum(axis=0) / N_RISKS
    return {
        name: ((pair * higher).sum() / pair.sum(), events[is_counted].sum())
        for name, pair, is_counted in zip(METRICS, pairs, (last > 0, is_in, is_case), strict=True)
    }


def probability_at(by_edge, edge, time):
    return np.array([np.interp(time, edge, row) for row in by_edge])


def draw(kind, slope, rate, end, n_rows, rng):
    """Draw censored times, the risks, four noisy copies of them, and groups."""
    n_groups = -(-n_rows // GROUP) if kind == "groups" else n_rows
    group = np.arange(n_rows) // (GROUP if kind == "groups" else 1)
    risk = rng.normal(size=n_rows)
    frailty = 0.0
    if kind == "groups":
        risk = np.sqrt(0.5) * (risk + rng.normal(size=n_groups)[group])
        frailty = FRAILTY * rng.normal(size=n_groups)[group]
    noisy = risk + 0.7 * rng.normal(size=(4, n_rows))
    if kind == "ties":
        risk, noisy = np.searchsorted(LEVELS, risk) - 1.5, np.round(noisy)
    uniform = rng.random(n_rows)
    if kind == "log-logistic":
        time = np.exp(0.7 * np.log(uniform / (1 - uniform)) - slope * risk)
    else:
        time = -np.log(uniform) * np.exp(-slope * risk - frailty)
    censored = rng.exponential(1 / rate, n_rows)
    if kind == "ties":
        time, censored = (np.ceil(t / end * N_TIED) for t in (time, censored))
    censored = np.minimum(censored, N_TIED if kind == "ties" else end)
    y = rp.Survival(np.minimum(time, censored), time <= censored)
    return y, risk, noisy, group if kind == "groups" else None


def metric_of(name, tau, time):
    if name == "harrell":
        return "concordance"
    return rp.metrics.UnoConcordance(tau) if name == "uno" else rp.metrics.TimeDependentAUC(time)


def cell(kind, censoring, events, slope, name, n_tries, rng):
    """Simulate one setting of one metric, and return its row."""
    rate, end = CENSORING[censoring]
    times = 0.8 * end + 1e-9, TIME[censoring] * end
    true, share = truth(kind, slope, rate, end, *times)[name]
    # The times of ties are counted in units of a tenth of the study.
    metric = metric_of(name, *(t * N_TIED / end if kind == "ties" else t for t in times))
    n_rows = max(round(events / share), 10 * GROUP if kind == "groups" else 0)
    held = two = four = width = n_defined = 0
    for _ in range(n_tries):
        y, risk, noisy, groups = draw(kind, slope, rate, end, n_rows, rng)
        settings = {"groups": groups}
        if kind == "weights":
            settings = {"sample_weight": rng.choice([1.0, 10.0], n_rows, p=[0.8, 0.2])}
        try:
            result = rp.interval(y, risk, metric, **settings)
            comparison = rp.compare(y, noisy.T, metric, **settings)
        except ValueError:
            continue  # no events, or nobody is observed longer
        n_defined += 1
        # The test of two columns does not depend on the others.
        two += comparison.differences["0", "1"].p_value < 0.05
        four += comparison.p_value < 0.05
        held += result.low <= true <= result.high
        width += result.high - result.low
    values = (value / max(n_defined, 1) for value in (held, two, four, width))
    setting = kind, censoring, events, slope, n_rows, name, f"{true:.4f}", n_defined
    return [*setting, *(f"{value:.4f}" for value in values)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tries", type=int, default=2000)
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS)
    parser.add_argument("--events", nargs="+", type=int, default=EVENTS)
    parser.add_argument("--slopes", nargs="+", type=float, default=SLOPES)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=RESULTS / "survival_coverage.csv")
    options = parser.parse_args()
    with options.out.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        for kind in options.kinds:
            rng = np.random.default_rng([options.seed, KINDS.index(kind)])
            for setting in product(CENSORING, options.events, options.slopes, METRICS):
                row = cell(kind, *setting, options.tries, rng)
                writer.writerow(row)
                file.flush()
                report(row)


def report(row):
    """Print a setting that misses its bar by more than two standard errors."""
    tries, coverage, two, four = int(row[7]), *map(float, row[8:11])
    error = 2.0 / np.sqrt(max(tries, 1))
    if coverage < 0.93 - 0.25 * error or max(two, four) > 0.065 + 0.25 * error:
        print(*row, flush=True)


if __name__ == "__main__":
    main()

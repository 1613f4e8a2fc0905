"""Measure how time and memory grow with the number of rows, on two Dask workers.

Each case runs in a separate process with two single-threaded workers of 3 GB, and reads
Parquet files of 10^6 rows with 20 columns. The cases are the exact AUC of a column, its
confidence interval, a threshold, ``AUCClassifier``, one step of ``minimize_aum`` and, if
installed, one round of XGBoost and the logistic regression of dask-ml. CPU seconds are
reported because other programs may share the cores. The scheduler runs in the process
of the client.

``dask_scale.csv`` has one row per case and number of rows, with the peak memory of the
client and of the larger worker. ``dask_scale_growth.csv`` contains the growth exponents
between the two largest sizes, and CPU seconds extrapolated to 10^9 and 10^10 rows, with
exponents of at least one.

With ``--table``, the results are printed as the table of docs/scaling.md.

With ``--kills 50``, a model is instead fitted to 10^6 rows repeatedly, while workers
are killed at random times until 50 have died. All fits are compared with an undisturbed
fit.
"""

import argparse
import csv
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).parent / "results"
N_COLUMNS = 20
ROWS_OF_A_FILE = 10**6
COEF = np.linspace(1.0, -1.0, N_COLUMNS)
THRESHOLD = 1.8375 * np.sqrt(COEF @ COEF + np.pi**2 / 3)  # for 5% positives
TIME_LIMIT = 1500  # seconds, for each case
FIELDS = [
    *("rows", "case", "outcome", "seconds", "worker_cpu_seconds", "client_cpu_seconds"),
    *("passes", "worker_peak_gb", "client_peak_gb"),
]


def rows_of_partition(number, n_rows):
    """Generate rows with rounded and continuous features, and 5% positives."""
    rng = np.random.default_rng(number)
    X = rng.normal(size=(n_rows, N_COLUMNS))
    X[:, ::2] = np.round(X[:, ::2], 1)
    y = X @ COEF + rng.logistic(size=n_rows) > THRESHOLD
    return X, y.astype(np.int8)


def partition_sizes(n_rows):
    n_partitions = max(-(-n_rows // ROWS_OF_A_FILE), 4)
    return np.diff(np.linspace(0, n_rows, n_partitions + 1).astype(int)).tolist()


def write_files(folder, n_rows):
    import pandas as pd

    for number, size in enumerate(partition_sizes(n_rows)):
        X, y = rows_of_partition(number, size)
        frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(N_COLUMNS)])
        frame["y"] = y
        frame.to_parquet(Path(folder) / f"part{number:04}.parquet")


def read_files(folder):
    import dask.dataframe as dd

    frame = dd.read_parquet(f"{folder}/*.parquet")
    return frame.drop(columns="y"), frame["y"]


def generated_rows(n_rows):
    import dask
    import dask.array as da

    make = dask.delayed(rows_of_partition, nout=2, pure=True)
    X, y = [], []
    for number, size in enumerate(partition_sizes(n_rows)):
        part = make(number, size)
        X.append(da.from_delayed(part[0], (size, N_COLUMNS), dtype=float))
        y.append(da.from_delayed(part[1], (size,), dtype=np.int8))
    return da.concatenate(X), da.concatenate(y)


def score_of(X):
    return X[:, 0] if hasattr(X, "chunks") else X["x0"]


def auc_case(X, y, client):
    from rocpath.dask import auc

    auc(y, score_of(X), client=client)
    return 1


def threshold_case(X, y, client):
    from rocpath.dask import choose_threshold

    choose_threshold(y, score_of(X), max_fpr=0.01, confidence=0.95, client=client)
    return 1


def interval_case(X, y, client):
    from rocpath.dask import auc_interval

    auc_interval(y, score_of(X), client=client)
    return 1


def classifier_case(X, y, client):
    from rocpath.dask import AUCClassifier

    return AUCClassifier(random_state=0, client=client).fit(X, y).n_passes_


def step_case(X, y, client):
    from rocpath.dask import minimize_aum

    minimize_aum(X, y, coef=COEF[::-1], max_steps=1, client=client)
    return 5


def one_array(X, y):
    """Return X and y as arrays with the same partitions."""
    if hasattr(X, "chunks"):
        return X, y
    # X and y are read together, because Dask combines files if it reads a single column.
    rows = X.assign(y=y).to_dask_array(lengths=True)
    return rows[:, :-1], rows[:, -1]


def xgboost_case(X, y, client):
    from xgboost import dask as boosted

    X, y = one_array(X, y)
    model = boosted.DaskXGBClassifier(n_estimators=1, tree_method="hist")
    model.client = client
    model.fit(X, y)
    return ""


def dask_ml_case(X, y, client):
    from dask_ml.linear_model import LogisticRegression

    # Data are persisted, because dask-ml reads X in every step and does not keep it.
    X, y = client.persist(one_array(X, y))
    LogisticRegression(solver="newton", max_iter=10).fit(X, y)
    return ""


CASES = {
    "auc": auc_case,
    "choose_threshold": threshold_case,
    "auc_interval": interval_case,
    "AUCClassifier": classifier_case,
    "minimize_aum, one step": step_case,
    "XGBoost, one round": xgboost_case,
    "dask-ml, logistic regression": dask_ml_case,
}


def cluster():
    import dask
    from distributed import LocalCluster

    # By default a cluster removes a worker that is killed twice within 15 seconds.
    dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"})
    return LocalCluster(
        n_workers=2, threads_per_worker=1, memory_limit="3GB", dashboard_address=":0"
    )


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6  # GB


def measure(case, folder):
    """Run one case in this process, and print its times, passes and peak memory."""
    from distributed import Client

    def now():
        workers = sum(client.run(time.process_time).values())
        return np.array([time.perf_counter(), workers, time.process_time()])

    with cluster() as workers, Client(workers) as client:
        CASES[case](*generated_rows(2000), client)  # warm up imports
        start = now()
        passes = CASES[case](*read_files(folder), client)
        times = (now() - start).tolist()
        print(json.dumps([*times, passes, max(client.run(peak).values()), peak()]))


def measured(case, folder):
    """Run a case in another process, and return its outcome and measurements."""
    command = [sys.executable, __file__, "--case", case, "--folder", folder]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT)
    except subprocess.TimeoutExpired:
        return f"stopped after {TIME_LIMIT} s", []
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no message"]
        errors = [one for one in lines if "Error" in one.split(":")[0]]
        return f"failed: {(errors or lines)[-1][:80]}", []
    return "finished", json.loads(done.stdout.splitlines()[-1])


def save(path, fields, rows):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(fields)
        writer.writerows(rows)


def load(path):
    if not path.exists():
        return []
    with open(path) as file:
        return list(csv.reader(file))[1:]


def record(out, n_rows, case, outcome, numbers):
    """Print and save a result, replacing an earlier result of the same case."""
    shown = [str(n_rows), case, outcome, *(f"{one:.3f}" if one != "" else "" for one in numbers)]
    shown += [""] * (len(FIELDS) - len(shown))
    print(", ".join(shown), flush=True)
    rows = [row for row in load(out) if row[:2] != shown[:2]]
    save(out, FIELDS, sorted([*rows, shown], key=lambda row: (int(row[0]), row[1])))


def report_growth(out):
    """Print and save growth exponents, and extrapolate times to 10^9 and 10^10 rows."""
    times_of = {}
    for n_rows, case, outcome, *numbers in load(out):
        if outcome == "finished":
            times_of.setdefault(case, {})[int(n_rows)] = float(numbers[1]), float(numbers[2])
    rows = []
    for case, times in times_of.items():
        if len(times) < 2:
            continue
        small, large = sorted(times)[-2:]
        grown = np.log(large / small)
        slope = [np.log(b / a) / grown for a, b in zip(times[small], times[large], strict=True)]
        later = [
            # An exponent below one is due to fixed costs, which are negligible for so many rows.
            time * (n_rows / large) ** max(one, 1.0)
            for n_rows in (10**9, 10**10)
            for time, one in zip(times[large], slope, strict=True)
        ]
        numbers = [*slope, *later]
        rows.append([case, small, large, *(f"{one:.3g}" for one in numbers)])
        print(
            f"{case}: exponents {slope[0]:.2f} (workers) and {slope[1]:.2f} (client) from "
            f"{small:,} to {large:,} rows; 10^9 rows: {later[0]:,.0f} and {later[1]:,.0f} CPU "
            f"seconds, 10^10 rows: {later[2]:,.0f} and {later[3]:,.0f}"
        )
    fields = ["case", "from_rows", "to_rows", "worker_exponent", "client_exponent"]
    fields += [f"{who}_cpu_seconds_{n}" for n in ("1e9", "1e10") for who in ("worker", "client")]
    save(out.with_name(f"{out.stem}_growth.csv"), fields, rows)


def print_table(out):
    """Print the finished cases as a Markdown table."""
    print("| rows x 20 | case | seconds | CPU seconds | passes | larger worker | client |")
    print("|---|---|---|---|---|---|---|")
    for n_rows, case, outcome, *numbers in load(out):
        if outcome != "finished":
            print(f"| {int(n_rows):,} | {case} | {outcome} | | | | |")
            continue
        seconds, worker, client = map(float, numbers[:3])
        n_passes = f"{float(numbers[3]):.0f}" if numbers[3] else ""
        peaks = " | ".join(f"{float(one):.2f} GB" for one in numbers[4:6])
        cpu = f"{worker + client:,.0f}"
        print(f"| {int(n_rows):,} | {case} | {seconds:,.0f} | {cpu} | {n_passes} | {peaks} |")


def measure_kills(out, n_rows, n_kills):
    """Kill workers at random times during fits, and compare the results."""
    from distributed import Client

    rng = np.random.default_rng(0)
    lazy, killed = generated_rows(n_rows), []
    with cluster() as workers, Client(workers) as client:
        # By default, Dask stops retrying a task after it has lost four workers.
        client.run_on_scheduler(allow_failures)
        fitted_coef(lazy, client)  # warm up imports
        start = time.perf_counter()
        coefs, seconds = [fitted_coef(lazy, client)], time.perf_counter() - start
        is_done = threading.Event()

        def kill():
            # On average, one worker is killed in the time of an undisturbed fit; it takes
            # some seconds to restart.
            while len(killed) < n_kills and not is_done.wait(rng.exponential(seconds)):
                pids = [one.pid for one in workers.workers.values() if one.pid is not None]
                if pids:
                    os.kill(int(rng.choice(pids)), signal.SIGKILL)
                    killed.append(time.perf_counter() - start)

        killer = threading.Thread(target=kill, daemon=True)
        killer.start()
        while len(killed) < n_kills:
            coefs.append(fitted_coef(lazy, client))
            print(f"{len(coefs) - 1} fits, {len(killed)} workers killed", flush=True)
        is_done.set()
        killer.join()
        total = time.perf_counter() - start
    n_different = sum(not np.array_equal(one, coefs[0]) for one in coefs)
    outcome = f"{len(coefs) - 1} fits; {n_different} differ from an undisturbed one"
    record(out, n_rows, f"AUCClassifier, {len(killed)} workers killed", outcome, [total])


def fitted_coef(lazy, client):
    from rocpath.dask import AUCClassifier

    # Few folds and rounds, because the search on the client does not use workers.
    model = AUCClassifier(n_folds=2, widths=(0.3,), n_rounds=1, random_state=0, client=client)
    return model.fit(*lazy).coef_


def allow_failures(dask_scheduler):
    dask_scheduler.allowed_failures = 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[10**6, 10**7, 10**8])
    parser.add_argument("--cases", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--kills", type=int, help="number of workers to kill")
    parser.add_argument("--quick", action="store_true", help="use at most 10^5 rows")
    parser.add_argument("--table", action="store_true", help="print the saved results")
    parser.add_argument("--out", type=Path, default=RESULTS / "dask_scale.csv")
    # Arguments of the processes that measure a single case.
    parser.add_argument("--case", help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    out = options.out.with_name("dask_scale_quick.csv") if options.quick else options.out
    if options.table:
        print_table(out)
    elif options.case:
        measure(options.case, options.folder)
    elif options.kills:
        measure_kills(out, 20_000 if options.quick else 10**6, options.kills)
    else:
        for n_rows in (30_000, 100_000) if options.quick else options.rows:
            with tempfile.TemporaryDirectory() as folder:
                write_files(folder, n_rows)
                for case in options.cases:
                    record(out, n_rows, case, *measured(case, folder))
        report_growth(out)


if __name__ == "__main__":
    main()

"""Measure how time and memory grow with rows in parts, on two workers of one thread.

Prints and saves seconds of the clock, CPU seconds of workers and client, passes over X
and peak memory of the client for `auc`, one step of `minimize_aum` and `AUCClassifier`:
with rows made in the workers, read from Parquet files, and read from these by workers
too small to keep them. Beside them: making the rows alone, the classifier in memory on
one thread where rows fit, and, where they are installed, one round of trees of
XGBoost's Dask interface and the logistic regression of dask_ml. Then growth exponents,
the classifier's cost over that in memory, both by CPU seconds, as other programs may
share the cores; and an extrapolation to 10^9 rows on 100 workers.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

N_COLUMNS = 20
ROWS_OF_A_PART = 250_000
COEF = np.linspace(1.0, -1.0, N_COLUMNS)


def part_of_rows(number, n_rows):
    """Make some rows: tenths and floats, 5% positives."""
    rng = np.random.default_rng(number)
    X = rng.normal(size=(n_rows, N_COLUMNS))
    X[:, ::2] = np.round(X[:, ::2], 1)
    noise = rng.logistic(size=n_rows)
    return X, (X @ COEF + noise > 6.0).astype(np.int8)


def part_sizes(n_rows):
    n_parts = max(-(-n_rows // ROWS_OF_A_PART), 2)
    ends = np.linspace(0, n_rows, n_parts + 1).astype(int)
    return np.diff(ends).tolist()


def made_rows(n_rows):
    import dask
    import dask.array as da

    make = dask.delayed(part_of_rows, nout=2, pure=True)
    sizes = part_sizes(n_rows)
    parts = [make(number, size) for number, size in enumerate(sizes)]
    X = [
        da.from_delayed(part[0], (size, N_COLUMNS), dtype=float)
        for part, size in zip(parts, sizes, strict=True)
    ]
    y = [
        da.from_delayed(part[1], (size,), dtype=np.int8)
        for part, size in zip(parts, sizes, strict=True)
    ]
    return da.concatenate(X), da.concatenate(y)


def write_part(folder, number, size):
    import pandas as pd

    X, y = part_of_rows(number, size)
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(N_COLUMNS)])
    frame["y"] = y
    frame.to_parquet(Path(folder) / f"part{number:04}.parquet")


def written_rows(client, folder, n_rows):
    import dask
    import dask.dataframe as dd

    tasks = [
        dask.delayed(write_part)(folder, number, size)
        for number, size in enumerate(part_sizes(n_rows))
    ]
    client.gather(client.compute(tasks))
    frame = dd.read_parquet(f"{folder}/*.parquet")
    return frame.drop(columns="y"), frame["y"]


class Clock:
    """Seconds of the clock, and CPU seconds of workers and of this process."""

    def __init__(self, client):
        self.client = client
        self.start = self._now()

    def _now(self):
        workers = sum(self.client.run(time.process_time).values())
        return np.array([time.perf_counter(), workers, time.process_time()])

    def read(self):
        return (self._now() - self.start).tolist()


def client_peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6  # GB


def auc_case(X, y, client, tol=None):
    from rocpath.dask import auc

    score = X[:, 0] if hasattr(X, "chunks") else X["x0"]
    auc(y, score, tol=tol, client=client)
    return 0


def step_case(X, y, client, max_steps):
    from rocpath.dask import minimize_aum

    minimize_aum(X, y, coef=COEF[::-1], max_steps=max_steps, client=client)
    return 3 + 2 * max_steps


def classifier_case(X, y, client):
    from rocpath.dask import AUCClassifier

    return AUCClassifier(random_state=0, client=client).fit(X, y).n_passes_


def making_case(X, y, client):
    client.compute(X.sum()).result()
    return 1


def xgboost_case(X, y, client):
    from xgboost import dask as boosted

    model = boosted.DaskXGBClassifier(n_estimators=1, tree_method="hist")
    model.client = client
    model.fit(X, y)
    return 1


def dask_ml_case(X, y, client):
    from dask_ml.linear_model import LogisticRegression

    # It reads X in every move, and does not keep it.
    X, y = client.persist([X, y])
    LogisticRegression(solver="newton", max_iter=10).fit(X, y)
    return 1


OURS = {
    "auc": auc_case,
    "auc, tol=0.001": lambda X, y, client: auc_case(X, y, client, 1e-3),
    "minimize_aum, 0 steps": lambda X, y, client: step_case(X, y, client, 0),
    "minimize_aum, 1 steps": lambda X, y, client: step_case(X, y, client, 1),
    "AUCClassifier": classifier_case,
}
OTHERS = {"XGBoost, one round": xgboost_case, "dask_ml, logistic": dask_ml_case}


def in_memory(n_rows):
    """Fit in memory, in a process of its own; return seconds, CPU and peak memory."""
    code = (
        "import sys, time, numpy as np; sys.path.insert(0, sys.argv[1]);"
        "import dask_scale as d, rocpath as rp, resource;"
        "n = int(sys.argv[2]);"
        "parts = [d.part_of_rows(*one) for one in enumerate(d.part_sizes(n))];"
        "X, y = map(np.concatenate, zip(*parts)); del parts;"
        "rp.AUCClassifier(random_state=0).fit(X[:1000], y[:1000]);"
        "t = time.perf_counter(); c = time.process_time();"
        "rp.AUCClassifier(random_state=0).fit(X, y);"
        "print(time.perf_counter() - t, time.process_time() - c,"
        "resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)"
    )
    folder = str(Path(__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", code, folder, str(n_rows)],
        capture_output=True,
        text=True,
        check=True,
    )
    return [float(number) for number in done.stdout.split()]


class Table:
    """What was measured, printed and saved as it comes."""

    columns = (
        "source,rows,case,seconds,worker_cpu_seconds,client_cpu_seconds,passes,"
        "client_peak_gb"
    )

    def __init__(self, out):
        self.out, self.rows = out, []

    def note(self, source, n_rows, case, times, passes, peak):
        self.rows.append((source, n_rows, case, *times, passes, peak))
        seconds, workers, here = times
        print(
            f"{source:9} {n_rows:>10,} {case:22} {seconds:8.2f} s  CPU {workers:7.2f} "
            f"and {here:6.2f} s  {passes} passes  {peak:.2f} GB",
            flush=True,
        )
        self.save()

    def run(self, client, source, n_rows, lazy, cases):
        for name, case in cases.items():
            clock = Clock(client)
            # An extra that is missing or does not go with this Dask is left out.
            try:
                passes = case(*lazy, client)
            except Exception as error:
                if name not in OTHERS:
                    raise
                print(f"{name}: left out, {type(error).__name__}: {str(error)[:100]}")
                continue
            self.note(source, n_rows, name, clock.read(), passes, client_peak())

    def cpu(self, source, n_rows, case):
        """Return CPU seconds of workers and client."""
        for row in self.rows:
            if row[:3] == (source, n_rows, case):
                return row[4] + row[5]
        return None

    def save(self):
        with open(self.out, "w") as file:
            file.write(f"{self.columns}\n")
            for source, n_rows, case, *times, passes, peak in self.rows:
                seconds = ",".join(f"{one:.3f}" for one in times)
                file.write(
                    f'{source},{n_rows},"{case}",{seconds},{passes},{peak:.3f}\n'
                )


def tell(table, sizes):
    """Print growth exponents, the cost over that in memory, and an extrapolation."""
    small, large = sizes[-2:]
    making = {n: table.cpu("made", n, "making rows") for n in sizes}
    for case in ("auc", "minimize_aum, 1 steps", "AUCClassifier"):
        times = [table.cpu("made", n, case) for n in (small, large)]
        slope = np.log(times[1] / times[0]) / np.log(large / small)
        print(f"growth exponent of {case}, in CPU seconds: {slope:.2f}")
    for n in sizes:
        memory = table.cpu("memory", n, "AUCClassifier")
        if memory is None:
            continue
        ours = table.cpu("made", n, "AUCClassifier")
        passes = next(r[6] for r in table.rows if r[:3] == ("made", n, "AUCClassifier"))
        # Rows in memory are there before the clock starts.
        print(
            f"AUCClassifier, {n:,} rows: {ours - making[n]:.1f} CPU s without making "
            f"rows, {(ours - making[n]) / memory:.2f} x the {memory:.1f} s in memory; "
            f"bar 1.5 x and .1 s a pass: {1.5 * memory + 0.1 * passes:.1f} s"
        )
    zero, one = (
        table.cpu("made", large, f"minimize_aum, {k} steps") - making[large]
        for k in (0, 1)
    )
    rates = {"AUM step": one - zero}
    for case in ("auc", "AUCClassifier"):
        rates[case] = table.cpu("made", large, case) - making[large]
    for name, seconds in rates.items():
        print(
            f"{name}: {seconds / large * 1e6:.2f} CPU seconds per million rows; 10^9 "
            f"rows on 100 workers: {seconds / large * 1e7:.0f} s, without making rows"
        )


def warm_up(client):
    """Let workers and client import what they need."""
    lazy = made_rows(2000)
    auc_case(*lazy, client)
    classifier_case(*lazy, client)


def cluster(limit):
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=2, threads_per_worker=1, memory_limit=limit, dashboard_address=":0"
    )


def measure_made(table, sizes, memory):
    """Rows made in the workers, and the same in memory."""
    from distributed import Client

    with cluster(memory) as workers, Client(workers) as client:
        warm_up(client)
        for n in sizes:
            cases = {"making rows": making_case, **OURS, **OTHERS}
            table.run(client, "made", n, made_rows(n), cases)
            if n <= 10**6:
                *times, peak = in_memory(n)
                table.note("memory", n, "AUCClassifier", (*times, 0.0), 0, peak)


def measure_parquet(table, n_rows, memory, folder):
    """Rows of Parquet files, kept by workers or read in every pass."""
    import dask.dataframe as dd
    from distributed import Client

    with cluster(memory) as workers, Client(workers) as client:
        warm_up(client)
        clock = Clock(client)
        lazy = written_rows(client, folder, n_rows)
        table.note("parquet", n_rows, "writing", clock.read(), 0, client_peak())
        table.run(client, "parquet", n_rows, lazy, OURS)
    # Half of the memory has no room for all rows.
    with cluster(f"{memory_bytes(memory) // 2}B") as workers, Client(workers) as client:
        warm_up(client)
        frame = dd.read_parquet(f"{folder}/*.parquet")
        lazy = frame.drop(columns="y"), frame["y"]
        names = ("minimize_aum, 1 steps", "AUCClassifier")
        cases = {name: OURS[name] for name in names}
        table.run(client, "not kept", n_rows, lazy, cases)


def memory_bytes(text):
    from dask.utils import parse_bytes

    return parse_bytes(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="10^5 rows at most")
    parser.add_argument("--rows", type=int, nargs="+", default=None)
    parser.add_argument("--memory", default="3GB", help="of each worker")
    parser.add_argument("--parquet-only", action="store_true")
    parser.add_argument("--out", default=None)
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sizes = options.rows or ([30_000, 100_000] if options.quick else [10**6, 10**7])
    out = options.out or Path(__file__).with_suffix(".csv")
    if options.quick and not options.out:
        out = Path(__file__).with_name("dask_scale_quick.csv")
    table = Table(out)
    if not options.parquet_only:
        measure_made(table, sizes, options.memory)
        tell(table, sizes)
    with tempfile.TemporaryDirectory() as folder:
        measure_parquet(table, sizes[-1], options.memory, folder)


if __name__ == "__main__":
    main()

"""Measure how time and memory grow with rows in parts, on two workers of one thread.

Prints and saves seconds, passes over X and peak memory of the client for `auc`, one
step of `minimize_aum` and `AUCClassifier`, with rows made in the workers and read from
Parquet files; beside them the classifier in memory on one thread, where the rows fit,
and XGBoost's Dask interface for one round of trees where it is installed. Then: growth
exponents, and an extrapolation to 10^9 rows on 100 workers by the measured rates.
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


def timed(function):
    start = time.perf_counter()
    result = function()
    return result, time.perf_counter() - start


def client_peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6  # GB


def cases(client, X, y):
    """Give the name, seconds and passes of every task."""
    from rocpath.dask import AUCClassifier, auc, minimize_aum

    score = X[:, 0] if hasattr(X, "chunks") else X["x0"]
    for tol in (None, 1e-3):
        _, seconds = timed(lambda tol=tol: auc(y, score, tol=tol, client=client))
        yield ("auc" if tol is None else "auc, tol=0.001"), seconds, 0
    for max_steps in (0, 1):
        _, seconds = timed(
            lambda most=max_steps: minimize_aum(
                X, y, coef=COEF[::-1], max_steps=most, client=client
            )
        )
        yield f"minimize_aum, {max_steps} steps", seconds, 3 + 2 * max_steps
    model, seconds = timed(
        lambda: AUCClassifier(random_state=0, client=client).fit(X, y)
    )
    yield "AUCClassifier", seconds, model.n_passes_


def xgboost_round(client, X, y):
    """Time one round of histogram trees, or None where XGBoost is not installed."""
    try:
        from xgboost import dask as boosted
    except ImportError:
        return None
    model = boosted.DaskXGBClassifier(n_estimators=1, tree_method="hist")
    model.client = client
    return timed(lambda: model.fit(X, y))[1]


def in_memory(n_rows):
    """Fit in memory, in a process of its own; return seconds and peak memory."""
    code = (
        "import sys, time, numpy as np; sys.path.insert(0, sys.argv[1]);"
        "import dask_scale as d, rocpath as rp, resource;"
        "n = int(sys.argv[2]);"
        "parts = [d.part_of_rows(*one) for one in enumerate(d.part_sizes(n))];"
        "X, y = map(np.concatenate, zip(*parts)); del parts;"
        "t = time.perf_counter(); rp.AUCClassifier(random_state=0).fit(X, y);"
        "print(time.perf_counter() - t,"
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


def growth(rows, name):
    """Return the exponent between the two largest sizes of a case."""
    times = [(n, s) for source, n, case, s, *_ in rows if (source, case) == name]
    (n1, s1), (n2, s2) = sorted(times)[-2:]
    return np.log(s2 / s1) / np.log(n2 / n1)


def tell_billion(rows, n_rows):
    """Extrapolate by the rates of the largest case made in workers: two workers."""
    times = {
        case: s for source, n, case, s, *_ in rows if (source, n) == ("made", n_rows)
    }
    step = times["minimize_aum, 1 steps"] - times["minimize_aum, 0 steps"]
    per_row = {"exact AUC": times["auc"], "AUM step": step}
    per_row["AUCClassifier"] = times["AUCClassifier"]
    for name, seconds in per_row.items():
        rate = 2 * seconds / n_rows
        print(
            f"{name}: {rate * 1e6:.2f} worker-seconds per million rows; 10^9 rows on "
            f"100 workers: {rate * 1e9 / 100:.0f} s"
        )
    print(
        f"bytes: X {8 * N_COLUMNS * 1e9 / 100 / 1e9:.1f} GB a worker as float64; "
        "scores sent once between workers for an exact AUC: 8 GB in all, 80 MB a "
        "worker; lines of the sample on the client: 2 million, 34 MB."
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="10^5 rows at most")
    parser.add_argument("--rows", type=int, nargs="+", default=None)
    parser.add_argument("--memory", default="3GB", help="of each worker")
    parser.add_argument("--out", default=None)
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    from distributed import Client, LocalCluster

    sizes = options.rows or ([30_000, 100_000] if options.quick else [10**6, 10**7])
    rows = []

    def note(*row):
        rows.append(row)
        source, n_rows, case, seconds, passes, peak = row
        print(
            f"{source:8} {n_rows:>10,} {case:22} {seconds:8.2f} s  {passes} passes  "
            f"{peak:.2f} GB",
            flush=True,
        )

    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            memory_limit=options.memory,
            dashboard_address=":0",
        ) as cluster,
        Client(cluster) as client,
        tempfile.TemporaryDirectory() as folder,
    ):
        client.run(lambda: __import__("rocpath.dask"))
        for n_rows in sizes:
            for case in cases(client, *made_rows(n_rows)):
                note("made", n_rows, *case, client_peak())
            seconds = xgboost_round(client, *made_rows(n_rows))
            if seconds is not None:
                note("made", n_rows, "XGBoost, one round", seconds, 1, client_peak())
            if n_rows <= 10**6:
                seconds, peak = in_memory(n_rows)
                note("memory", n_rows, "AUCClassifier", seconds, 0, peak)
        n_rows = sizes[-1]
        lazy, seconds = timed(lambda: written_rows(client, folder, n_rows))
        note("parquet", n_rows, "writing", seconds, 0, client_peak())
        for case in cases(client, *lazy):
            note("parquet", n_rows, *case, client_peak())
    for case in ("auc", "minimize_aum, 1 steps", "AUCClassifier"):
        print(f"growth exponent of {case}: {growth(rows, ('made', case)):.2f}")
    times = {(source, n, case): s for source, n, case, s, *_ in rows}
    for n_rows in sizes:
        if ("memory", n_rows, "AUCClassifier") in times:
            ratio = times["made", n_rows, "AUCClassifier"]
            ratio /= times["memory", n_rows, "AUCClassifier"]
            print(f"AUCClassifier, {n_rows:,} rows: {ratio:.2f} x in memory")
    tell_billion(rows, sizes[-1])
    out = options.out or Path(__file__).with_suffix(".csv")
    if options.quick and not options.out:
        out = Path(__file__).with_name("dask_scale_quick.csv")
    with open(out, "w") as file:
        file.write("source,rows,case,seconds,passes,client_peak_gb\n")
        for source, n_rows, case, seconds, passes, peak in rows:
            case = f'"{case}"'
            file.write(f"{source},{n_rows},{case},{seconds:.3f},{passes},{peak:.3f}\n")


if __name__ == "__main__":
    main()

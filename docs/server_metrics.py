"""Simulate CPU metrics of servers, label some, learn, and draw docs/server_metrics.png.

    python docs/server_metrics.py FOLDER

Writes metrics.csv, labels.csv and new.csv into the folder, which the page on
changepoints uses, and runs its commands.
"""

import sys
from datetime import datetime, timedelta
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import polars as pl

from rocpath.cli import main as rocpath

HERE = Path(__file__).parent
START = datetime(2024, 3, 29)
N = 6 * 24 * 7  # a week of ten minutes
COLUMNS = ["--sequence", "host", "--position", "timestamp", "--value", "cpu"]


def simulated(rng):
    """Return percentages with autocorrelated noise and spikes, and the changes."""
    rho, scale = rng.uniform(0.3, 0.8), rng.choice([1.0, 4.0])
    noise = rng.normal(size=N)
    for t in range(1, N):
        noise[t] = rho * noise[t - 1] + np.sqrt(1 - rho**2) * noise[t]
    n_changes = int(rng.integers(0, 4))
    changes = np.sort(rng.choice(np.arange(100, N - 100, 120), n_changes, False))
    level = rng.uniform(15, 40) + np.zeros(N)
    for change in changes:
        level[change:] += scale * rng.choice([-1, 1]) * rng.uniform(3.5, 5)
    x = np.round(np.clip(level + scale * noise, 0, 100), 1)
    spikes = rng.choice(N, 8, replace=False)
    x[spikes] = np.round(rng.uniform(80, 100, size=8), 1)
    x[rng.choice(N, 5, replace=False)] = np.nan
    return x, changes


def times():
    return [(START + timedelta(minutes=10 * k)).strftime("%Y-%m-%dT%H:%MZ") for k in range(N)]


def table(hosts, rng):
    frames, truth = [], {}
    for host in hosts:
        x, truth[host] = simulated(rng)
        frame = pl.DataFrame({"host": [host] * N, "timestamp": times(), "cpu": x})
        frames.append(frame.with_columns(pl.col("cpu").fill_nan(None)))
    return pl.concat(frames), truth


def labels(truth, time):
    """Label the true changes, and the stretches between them."""
    rows = []
    for host, changes in truth.items():
        last = 0
        for change in changes:
            rows.append((host, time[last], time[change - 12], "no_change"))
            rows.append((host, time[change - 12], time[change + 12], "one_change"))
            last = change + 12
        rows.append((host, time[last], time[-1], "no_change"))
    return pl.DataFrame(rows, schema=["host", "start", "end", "kind"], orient="row")


def draw(new, truth, changes):
    figure, axes = plt.subplots(3, 1, figsize=(9, 5.4), sharex=True)
    hosts = sorted(truth, key=lambda host: -len(truth[host]))[:3]
    for ax, host in zip(axes, hosts, strict=True):
        own = new.filter(pl.col("host") == host)
        hour = np.arange(N) / 6
        ax.plot(hour, own["cpu"], ".", color="#8c959f", markersize=2)
        place = {time: k for k, time in enumerate(own["timestamp"])}
        for time in changes.filter(pl.col("host") == host)["timestamp"]:
            ax.axvline(place[time] / 6, color="#0072B2", linewidth=1.5)
        for change in truth[host]:
            ax.plot(change / 6, 0, "^", color="#D55E00", clip_on=False, zorder=5)
        ax.set_ylabel(f"{host}\nCPU (%)")
        ax.set_ylim(0, 100)
    axes[-1].set_xlabel("hours; lines: detected changes, triangles: true changes")
    figure.tight_layout()
    figure.savefig(HERE / "server_metrics.png", dpi=100)


def main(folder):
    mpl.use("Agg")
    rng = np.random.default_rng(7)
    known, truth = table([f"web-{k:02d}" for k in range(16)], rng)
    new, new_truth = table([f"db-{k:02d}" for k in range(8)], rng)
    known.write_csv(folder / "metrics.csv")
    new.write_csv(folder / "new.csv")
    labels(truth, times()).write_csv(folder / "labels.csv")
    first, model = str(folder / "first-look"), str(folder / "model")
    metrics, given = str(folder / "metrics.csv"), str(folder / "labels.csv")
    how = [*COLUMNS, "--cost", "biweight", "--max-changes", "15", "--force"]
    rocpath(["changepoint", "segment", metrics, *how, "--out", first])
    rocpath(["changepoint", "fit", metrics, given, *how, "--max-changes", "15", "--out", model])
    out = str(folder / "changes.csv")
    rocpath(["changepoint", "predict", model, str(folder / "new.csv"), "--out", out, "--force"])
    changes = pl.read_csv(out, infer_schema=False)
    n_true = sum(len(one) for one in new_truth.values())
    print(f"{changes.height} changes found on new hosts, {n_true} true ones")
    print(changes.head(3))
    draw(new, new_truth, changes)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

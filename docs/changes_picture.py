"""Draw the picture of the guide on changepoints: a series, its changes and their intervals.

python docs/changes_picture.py
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np

from rocpath import changepoint as cp

mpl.use("Agg")
from rocpath import plots


def series():
    """Return levels in noise with an autocorrelation of one half, and the true changes."""
    rng = np.random.default_rng(4)
    level = np.repeat([20.0, 26.0, 23.0, 31.0], [120, 90, 150, 60])
    noise = 2 * rng.normal(size=level.size)
    for t in range(1, level.size):
        noise[t] = 0.5 * noise[t - 1] + np.sqrt(0.75) * noise[t]
    return level + noise, np.array([120, 210, 360])


def main():
    x, true = series()
    (found,) = cp.detect_changes([x])
    ax = plots.plot_changes(x, found)
    ax.set(xlabel="time", ylabel="CPU load")
    path = Path(__file__).parent / "changes.png"
    ax.figure.savefig(path, dpi=120)
    print(f"true changes {true.tolist()}, detected {found.changes.tolist()}")
    print(f"intervals {found.intervals.tolist()}")


if __name__ == "__main__":
    main()

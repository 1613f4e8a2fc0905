"""Run the paper's experiments: ``python benchmarks/paper [--quick] [experiment ...]``.

Each experiment writes a CSV file, from which the figures are drawn. A quick run is
smaller and writes to ``quick/``, so that the results in the repository are kept.
"""

import argparse
import csv
import time
import warnings
from pathlib import Path

from sklearn.exceptions import ConvergenceWarning

import asymptotics
import changepoints
import collapse
import figures
import image_models
import scale
import ties

HERE = Path(__file__).parent
REMEDY = (
    "Set ROCPATH_DATA to the data folder (with images/, tabular/ and changepoint/), as "
    "docs/experiments.md describes. Without it, only images are available, from OpenML."
)
DOCS = HERE.parent.parent / "docs"
EXPERIMENTS = {
    "descents": (asymptotics.DESCENT_HEAD, asymptotics.descents),
    "searches": (asymptotics.SEARCH_HEAD, asymptotics.searches),
    "changepoints": (changepoints.HEAD, changepoints.results),
    "ties": (ties.HEAD, ties.results),
    "collapse": (collapse.HEAD, collapse.results),
    "image_models": (image_models.HEAD, image_models.results),
    "scale": (scale.HEAD, scale.parts),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("experiment", nargs="*", default=list(EXPERIMENTS))
    arguments = parser.parse_args()
    unknown = set(arguments.experiment) - set(EXPERIMENTS)
    if unknown:
        parser.error(
            f"unknown experiments: {', '.join(unknown)}; choose from {', '.join(EXPERIMENTS)}"
        )
    warnings.simplefilter("ignore", ConvergenceWarning)
    folder = HERE / ("quick" if arguments.quick else "results")
    folder.mkdir(exist_ok=True)
    for name in arguments.experiment:
        head, results = EXPERIMENTS[name]
        begin = time.perf_counter()
        try:
            n_rows = write(folder / f"{name}.csv", head, results(arguments.quick))
        except OSError as error:  # no such file, or no network to fetch it from
            (folder / f"{name}.part").unlink(missing_ok=True)
            parser.exit(2, f"{name} cannot be run: {error}\n{REMEDY}\n")
        seconds = time.perf_counter() - begin
        print(f"{name}: {n_rows} rows in {seconds:.0f} s", flush=True)
    figures.draw_all(folder, folder if arguments.quick else DOCS)


def write(path, head, rows):
    """Write rows as they are computed, and rename the file when it is complete."""
    unfinished = path.with_suffix(".part")
    with unfinished.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        n_rows = 0
        for row in rows:
            writer.writerow(f"{cell:.6g}" if isinstance(cell, float) else cell for cell in row)
            file.flush()
            n_rows += 1
    unfinished.rename(path)
    return n_rows


if __name__ == "__main__":
    main()

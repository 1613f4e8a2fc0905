"""Evaluate learned penalties by leave-one-out on real series with different units.

    python benchmarks/accuracy/penalty_units.py

The labels of each training series come from one annotator: one change within five points
of each annotated change, and no change elsewhere. Prints the mean covering and F1 score
over all annotators, for every unit of the penalty and for the default penalty. Series
come from ``$ROCPATH_DATA/changepoint/series``.
"""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path

import numpy as np

from rocpath import changepoint as cp

SERIES = Path(os.environ.get("ROCPATH_DATA", "missing")) / "changepoint" / "series"
MARGIN = 5


def series():
    text = (SERIES / "annotated.json").read_text(encoding="utf-8")
    for one in json.loads(text).values():
        x = np.array([np.nan if v is None else v for v in one["value"]], dtype=float)
        people = [
            sorted(c for c in changes if 0 < c < x.size)
            for changes in one["changes_by_annotator"].values()
        ]
        yield x, people


def labels_of(n, people):
    """Return labels from the annotator with the median number of changes."""
    changes = sorted(people, key=len)[len(people) // 2]
    start, end, kind = [], [], []
    last = 0
    for change in changes:
        low, high = max(change - MARGIN - 1, last), min(change + MARGIN, n)
        if low > last:
            start.append(last)
            end.append(low)
            kind.append("no_change")
        if high > low and low < change <= high:
            start.append(low)
            end.append(high)
            kind.append("one_change")
            last = high
    if last < n:
        start.append(last)
        end.append(n)
        kind.append("no_change")
    return cp.Labels(start, end, kind)


def scores(found, people, n):
    return cp.covering(found, people, n=n), cp.f1_score(found, people, n=n)


def main():
    warnings.simplefilter("ignore")
    every = list(series())
    labels = [labels_of(x.size, people) for x, people in every]
    for cost in ("normal", "biweight"):
        default = [
            scores(cp.detect_changes([x], cost=cost)[0].changes, people, x.size)
            for x, people in every
        ]
        print(f"{cost:8} default penalty: covering, F1", np.mean(default, 0).round(3))
        for unit in ("noise", "free", None):
            fold_scores = []
            for k, (x, people) in enumerate(every):
                rest = [j for j in range(len(every)) if j != k]
                detector = cp.LearnedDetector(unit=unit, cost=cost, random_state=0)
                detector.fit([every[j][0] for j in rest], [labels[j] for j in rest])
                fold_scores.append(scores(detector.predict([x])[0], people, x.size))
            print(f"{cost:8} unit {unit}: covering, F1", np.mean(fold_scores, 0).round(3))


if __name__ == "__main__":
    main()

"""Scores of rows with labels: how well each ranks, where to cut, which is better."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rocpath.auc_statistics.intervals import auc_interval, compare_auc
from rocpath.cli.terminal import say, show_table
from rocpath.tables.columns import column, numbers_of
from rocpath.tables.labels import binary_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from numpy.typing import NDArray

    from rocpath.auc_statistics.results import AUCComparison, AUCInterval
    from rocpath.tables.labels import BinaryLabel

# Under the names that metrics.json of a fit has for them.
_ENDS = ("standard_error", "low", "high", "confidence")
_SURE = 0.05  # below it a p-value of Holm's is called a difference


class ScoreTable(NamedTuple):
    """Labels, and scores of the same rows by name."""

    label: BinaryLabel
    score: dict[str, NDArray[np.float64]]


class Pair(NamedTuple):
    """Two scores, their difference in AUC, and its p-value among those of all pairs."""

    first: str
    second: str
    comparison: AUCComparison
    holm_p_value: float


def score_table(
    table: pl.DataFrame,
    label: str,
    positive: str | None,
    names: Sequence[str],
    others: Sequence[str] = (),
) -> ScoreTable:
    """Read labels and columns of scores; by default all columns but the others."""
    # Columns that are not scores are then errors, and not silently dropped.
    excluded = {label, *others}
    names = names or [name for name in table.columns if name not in excluded]
    if len(set(names)) < len(names):
        raise ValueError(
            f"--scores must name each column once, got {', '.join(names)}."
        )
    truth = binary_label(column(table, label, "label"), positive)
    score = {
        name: numbers_of(column(table, name, "--scores"), may_miss=False).to_numpy()
        for name in names
    }
    if len(score) < 2:
        raise ValueError("--scores must name two columns or more, as --scores a,b.")
    return ScoreTable(truth, score)


def split_names(given: Sequence[str]) -> list[str]:
    """Split names at commas."""
    return [name.strip() for one in given for name in one.split(",") if name.strip()]


def compared_pairs(scores: ScoreTable, max_fpr: float | None) -> list[Pair]:
    """Compare the AUCs of all pairs, with p-values for all of them together (Holm)."""
    y = scores.label.is_positive
    pairs = [
        (
            first,
            second,
            compare_auc(y, scores.score[first], scores.score[second], max_fpr=max_fpr),
        )
        for first, second in combinations(scores.score, 2)
    ]
    # Many pairs find a small p-value by chance alone.
    adjusted = holm([comparison.p_value for *_, comparison in pairs])
    return [Pair(*pair, p) for pair, p in zip(pairs, adjusted, strict=True)]


def holm(p_value: Sequence[float]) -> list[float]:
    """Raise p-values such that any is below a level by chance as rarely as one.

    The k-th smallest of n counts n - k + 1 times, and none less than a smaller one.
    """
    # From the smallest on, each is multiplied by how many are left.
    order = np.argsort(p_value, kind="stable")
    times = np.arange(order.size, 0, -1)
    adjusted = np.empty(order.size)
    adjusted[order] = np.maximum.accumulate(times * np.asarray(p_value)[order])
    return np.minimum(adjusted, 1.0).tolist()  # type: ignore[no-any-return]


def comparison_summary(
    scores: ScoreTable, pairs: Sequence[Pair], max_fpr: float | None
) -> dict[str, Any]:
    """Write down areas and differences."""
    return {
        **scores.label.summary,
        "max_fpr": max_fpr,
        "scores": {
            name: _written(area, "value", *_ENDS[:3])
            for name, area in _areas(scores, max_fpr).items()
        },
        "pairs": [
            {
                "first": pair.first,
                "second": pair.second,
                "difference": pair.comparison.difference,
                **_written(pair.comparison, "value", *_ENDS[:3]),
                "p_value": pair.comparison.p_value,
                "holm_p_value": pair.holm_p_value,
            }
            for pair in pairs
        ],
    }


def show_pairs(
    title: str, scores: ScoreTable, pairs: Sequence[Pair], max_fpr: float | None
) -> None:
    """Show areas and differences, and say which of them are sure."""
    area_name = "AUC" if max_fpr is None else f"area up to an FPR of {max_fpr:g}"
    label = scores.label
    show_table(
        f"{title}: {label.counted}",
        ("score", area_name, "95% interval"),
        [
            (
                name,
                f"{area.value:.4f} ± {area.standard_error:.4f}",
                f"{area.low:.4f} to {area.high:.4f}",
            )
            for name, area in _areas(scores, max_fpr).items()
        ],
    )
    show_table(
        f"Differences in {area_name} (DeLong's test; Holm's p for all pairs together)",
        ("pair", "difference", "95% interval", "p", "Holm's p"),
        [
            (
                f"{pair.first} - {pair.second}",
                f"{one.difference:+.4f} ± {one.standard_error:.4f}",
                f"{one.low:+.4f} to {one.high:+.4f}",
                f"{one.p_value:.3g}",
                f"{pair.holm_p_value:.3g}",
            )
            for pair in pairs
            for one in (pair.comparison,)
        ],
    )
    for line in pair_verdicts(pairs):
        say(line)


def pair_verdicts(pairs: Sequence[Pair]) -> list[str]:
    """Say which scores rank better than others."""
    lines = []
    for pair in pairs:
        # Of pairs that may differ by chance nothing is said, rather than a guess.
        if pair.holm_p_value < _SURE:
            better, worse = pair.first, pair.second
            if pair.comparison.difference < 0:
                better, worse = worse, better
            lines.append(
                f"{better!r} ranks better than {worse!r}, by "
                f"{abs(pair.comparison.difference):.4f}."
            )
    return lines or ["No difference that these rows could show."]


def _areas(scores: ScoreTable, max_fpr: float | None) -> dict[str, AUCInterval]:
    y = scores.label.is_positive
    return {
        name: auc_interval(y, score, max_fpr=max_fpr)
        for name, score in scores.score.items()
    }


def _written(one: AUCInterval | AUCComparison, *names: str) -> dict[str, float]:
    return {name: getattr(one, name) for name in names}

"""Scores that are columns of a table: read, and compared for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from rocpath.cli.terminal import say
from rocpath.tables.columns import column, numbers_of
from rocpath.tables.labels import binary_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from rocpath.auc_statistics.many_curves import AUCComparisons
    from rocpath.tables.labels import BinaryLabel

_ENDS = ("value", "standard_error", "low", "high")
_LEVEL = 0.05  # of significance, for Holm's adjusted p-values


class ScoreTable(NamedTuple):
    """Labels, and scores of the same rows by name."""

    label: BinaryLabel
    score: dict[str, NDArray[np.float64]]


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
        raise ValueError(f"--scores must name each column once, got {', '.join(names)}.")
    if len(names) < 2:
        raise ValueError("--scores must name two columns or more, as --scores a,b.")
    score = {
        name: numbers_of(column(table, name, "--scores"), may_miss=False).to_numpy()
        for name in names
    }
    return ScoreTable(binary_label(column(table, label, "label"), positive), score)


def split_names(given: Sequence[str]) -> list[str]:
    """Split names at commas."""
    return [name.strip() for one in given for name in one.split(",") if name.strip()]


def comparison_dict(
    label: BinaryLabel, found: AUCComparisons, max_fpr: float | None
) -> dict[str, Any]:
    """Return AUCs and differences, for JSON."""
    return {
        **label.summary,
        "max_fpr": max_fpr,
        "scores": {
            name: {key: getattr(area, key) for key in _ENDS}
            for name, area in found.intervals.items()
        },
        "pairs": [
            {
                "first": pair.first,
                "second": pair.second,
                **{key: getattr(pair.comparison, key) for key in ("difference", *_ENDS, "p_value")},
                "holm_p_value": pair.holm_p_value,
            }
            for pair in found.pairs
        ],
        "p_value": found.p_value,
    }


def show_differences(found: AUCComparisons) -> None:
    """Report the significant differences."""
    significant = [pair for pair in found.pairs if pair.holm_p_value < _LEVEL]
    for pair in significant:
        names = pair.first, pair.second
        better, worse = names if pair.comparison.difference > 0 else names[::-1]
        say(
            f"{better!r} ranks significantly better than {worse!r} (difference "
            f"{abs(pair.comparison.difference):.4f} ± "
            f"{pair.comparison.standard_error:.4f})."
        )
    if not significant:
        say("No significant difference.")

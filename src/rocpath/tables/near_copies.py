"""Find rows that equal others in all but one or two columns, such as a time of upload.

Each row has a sum of hashes of its cells. Without the hash of a column, the sums of two
rows are equal if the rows are equal in all other columns, so that near-copies are found
by sorting sums and not by comparing pairs of rows.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rocpath.hashing import INCREMENT, mixed_bits
from rocpath.tables.dependence import cell_bits

_MAX_SINGLE, _MAX_PAIRED = 32, 8  # columns that are omitted alone, and in pairs
_MIN_LEVELS = 10  # columns with fewer distinct values are rarely evidence of a copy
_MAX_CHANCE = 0.01  # maximum expected number of rows that equal a given row by chance
# Minimum number of values of one of these columns, as a share of the rows: in tables of a
# few ratings, rows are similar for other reasons.
_MIN_VALUES = 0.05
_MAX_EVIDENCE = 12  # columns
_MIN_SHARE = 0.05  # minimum share of near-copies; fewer hardly change an AUC
_SAMPLED = 20_000  # rows from which it is estimated whether there are near-copies


class NearCopies(NamedTuple):
    """Code shared by near-copies, and the columns in which they differ."""

    code: NDArray[np.intp]
    columns: tuple[str, ...]

    @property
    def n_copies(self) -> int:
        """Number of rows that are near-copies of others."""
        return int(self.code.size - np.unique(self.code).size)


def find_near_copies(frame: pl.DataFrame) -> NearCopies | None:
    """Assign a code to each row that only near-copies share, whatever their labels.

    Rows are near-copies if they are equal in all but one or two columns, and if at most
    0.01 such rows are expected by chance, given the values of the other columns. Returns
    None if fewer than 5% of the rows are near-copies.
    """
    names = sorted(frame.columns, key=lambda name: -frame[name].n_unique())
    if len(names) < 3:
        return None
    # Each column has hashes of its own, so that equal values of two columns differ.
    salts = np.arange(2, frame.width + 2, dtype=np.uint64) * INCREMENT
    cells = {
        series.name: mixed_bits(cell_bits(series) + salt)
        for series, salt in zip(frame, salts, strict=True)
    }
    total = np.zeros(frame.height, dtype=np.uint64)
    for cell in cells.values():
        total = total + cell
    best = None
    for omitted in _omissions(names):
        code = total.copy()
        for name in omitted:
            code -= cells[name]
        if not _has_repeats(code):
            continue
        found = _near_copies(frame, code, omitted)
        if found is not None and (best is None or found.n_copies > best.n_copies):
            best = found
    return best


def _omissions(names: list[str]) -> Iterator[tuple[str, ...]]:
    """Yield the columns in which near-copies may differ; those with most values first."""
    yield from ((name,) for name in names[:_MAX_SINGLE])
    if len(names) > 3:
        yield from combinations(names[:_MAX_PAIRED], 2)


def _has_repeats(code: NDArray[np.uint64]) -> bool:
    """Return whether enough codes occur several times, judged by a sample of codes."""
    # Equal codes are sampled together.
    n_parts = max(code.size // _SAMPLED, 1)
    sampled = np.sort(code[code % np.uint64(n_parts) == 0])
    n_repeated = np.count_nonzero(sampled[1:] == sampled[:-1])
    return bool(n_repeated >= max(_MIN_SHARE * sampled.size, 3))


def _near_copies(
    frame: pl.DataFrame, code: NDArray[np.uint64], omitted: tuple[str, ...]
) -> NearCopies | None:
    """Return the rows with equal codes that are unlikely to be equal by chance."""
    _, number, count = np.unique(code, return_inverse=True, return_counts=True)
    is_copy = count[number] > 1
    is_copy[is_copy] = _is_distinctive(frame.drop(omitted), np.flatnonzero(is_copy))
    # Rows that are equal by chance are independent: each has a number of its own.
    number = np.where(is_copy, number, count.size + np.arange(code.size))
    found = NearCopies(np.unique(number, return_inverse=True)[1], omitted)
    return found if found.n_copies >= max(_MIN_SHARE * code.size, 5) else None


def _is_distinctive(frame: pl.DataFrame, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which of the rows are unlikely to equal others by chance.

    Only the columns with most values count, each once: one that is determined by
    another, such as a temperature in two units, is no further evidence.
    """
    levels = {one.name: one.n_unique() for one in frame}
    names = sorted(levels, key=lambda name: -levels[name])[:_MAX_EVIDENCE]
    fine = _MIN_VALUES * frame.height
    if levels[names[0]] < fine:
        return np.zeros(rows.size, dtype=bool)
    chance = np.full(rows.size, float(frame.height))
    coarse: list[str] = []
    for name in names:
        if levels[name] < fine:
            if levels[name] < _MIN_LEVELS or any(
                frame[[name, other]].n_unique() <= 1.05 * levels[other] for other in coarse
            ):
                continue
            coarse.append(name)
        share = frame.select(pl.len().over(name)).to_series() / frame.height
        chance *= share.to_numpy()[rows]
        if (chance <= _MAX_CHANCE).all():
            break
    return np.asarray(chance <= _MAX_CHANCE)

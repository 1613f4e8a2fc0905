"""Some rows of every class, the same for any partition.

A hash of a row's number among all rows decides, and not one of its content: of a table
with many equal rows, all or none of them would be drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rocpath.dask.parts import Facts, Part
    from rocpath.dask.passes import Passes
    from rocpath.matrices import Matrix

MOST_OF_A_CLASS = 20_000  # as many as rankings climb by
_MOST_BYTES = 2**28  # of all rows that come to the client
_LEAST_OF_A_CLASS = 1_000  # however wide rows are: fewer would say too little


class ThinnedRows(NamedTuple):
    """Rows in their order, and how much of its class each stands for."""

    X: Matrix
    place: NDArray[np.intp]  # of the label in the classes
    weight: NDArray[np.float64]
    is_all: bool


class _Draw(NamedTuple):
    """Which rows to draw: of each class those whose hash is below a limit."""

    classes: NDArray[Any]
    limit: NDArray[np.uint64]
    seed: int


def thinned_rows(
    passes: Passes, parts: list[Any], facts: Facts, seed: int
) -> ThinnedRows:
    """Bring at most so many rows of every class here, in one pass."""
    counts = facts.class_counts
    row_bytes = facts.n_bytes / sum(facts.n_rows)
    affordable = int(_MOST_BYTES / (row_bytes * counts.size))
    most = min(MOST_OF_A_CLASS, max(affordable, _LEAST_OF_A_CLASS))
    # A few more than wanted, so that there are hardly ever fewer; then the lowest.
    share = np.minimum((most + 6.0 * np.sqrt(most)) / counts, 1.0)
    # Below 2**64 by what float64 rounds off there, or the cast would overflow.
    limit = np.minimum(share * 2.0**64, 2.0**64 - 2048).astype(np.uint64)
    limit[share == 1.0] = np.iinfo(np.uint64).max
    draw = _Draw(facts.classes, limit, seed)
    tasks = passes.each(_drawn, parts, facts.first_row, state=draw)
    drawn = passes.results("drawing rows", tasks, reads_x=True)
    columns = zip(*(one[:3] for one in drawn), strict=True)
    hashes, place, weight = map(np.concatenate, columns)
    blocks = [X for *_, X in drawn if X.shape[0]]
    X = sparse.vstack(blocks, "csr") if _is_sparse(blocks) else np.concatenate(blocks)
    # Exactly so many, by the lowest hashes: those a smaller draw would have had.
    is_kept = np.zeros(place.size, dtype=bool)
    for label in range(counts.size):
        here = np.flatnonzero(place == label)
        is_kept[here[np.argsort(hashes[here])[:most]]] = True
    if is_kept.all() and place.size == sum(facts.n_rows):
        return ThinnedRows(X, place, weight, is_all=True)
    place, weight = place[is_kept], weight[is_kept]
    # As rows in memory are thinned: a class keeps its weight.
    factor = facts.class_weights / np.bincount(place, weight, counts.size)
    return ThinnedRows(X[is_kept], place, weight * factor[place], is_all=False)


def row_hashes(first_row: int, n_rows: int, seed: int) -> NDArray[np.uint64]:
    """Mix the numbers of rows into evenly spread ones (the finalizer of SplitMix64)."""
    step = np.uint64(0x9E3779B97F4A7C15)
    with np.errstate(over="ignore"):
        mixed = np.arange(first_row, first_row + n_rows).astype(np.uint64)
        mixed = (mixed + np.uint64(seed) * np.uint64(0xD1342543DE82EF95) + step) * step
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def _drawn(
    part: Part, first_row: int, draw: _Draw
) -> tuple[NDArray[np.uint64], NDArray[np.intp], NDArray[np.float64], Matrix]:
    place = np.searchsorted(draw.classes, part.y)
    hashes = row_hashes(first_row, place.size, draw.seed)
    is_drawn = hashes <= draw.limit[place]
    place = place[is_drawn]
    weight = np.ones(place.size) if part.weight is None else part.weight[is_drawn]
    return hashes[is_drawn], place, weight, part.X[is_drawn]


def _is_sparse(blocks: list[Matrix]) -> bool:
    return bool(blocks) and sparse.issparse(blocks[0])

"""Sequences that are read in pieces: arrays, memory maps and bedGraph files."""

from __future__ import annotations

import gzip
import io
import os
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath.arguments import check_count, finite_vector, whole_number
from rocpath.changepoint.labels import Labels

# Observations per piece: fast to read, and small compared with memory.
PIECE_SIZE = 2**18
# Bytes of a text file that contain about as many observations.
_TEXT_SIZE = 2**23


class Piece(NamedTuple):
    """Consecutive observations of a sequence.

    Attributes
    ----------
    x : array
        The observations.
    weights : array or None
        Weights of the observations; None if all weights are 1.
    position : array or None
        Start of each observation; None if it is the index.
    """

    x: NDArray[np.float64]
    weights: NDArray[np.float64] | None
    position: NDArray[np.float64] | None

    @property
    def weight(self) -> NDArray[np.float64]:
        """The weights as an array, even if all are 1."""
        return np.ones(len(self.x)) if self.weights is None else self.weights


@dataclass(frozen=True, slots=True, eq=False)
class SequencePieces:
    """Hold a function that reads a sequence in pieces and can be called repeatedly.

    Attributes
    ----------
    read : callable
        Function that returns an iterator over all pieces in order.
    """

    read: Callable[[], Iterator[Piece]]


def array_pieces(
    x: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    position: ArrayLike | None = None,
    size: int = PIECE_SIZE,
) -> SequencePieces:
    """Split arrays, including memory-mapped ones, into pieces without copying them.

    Parameters
    ----------
    x : array-like, shape (n,) or (n, d)
        The sequence, of any numeric type; an array from
        ``np.load(path, mmap_mode="r")`` stays on disk.
    weights, position : array-like, shape (n,), optional
        As for `segment`.
    size : int
        Number of observations per piece.

    Returns
    -------
    SequencePieces

    Examples
    --------
    >>> from rocpath import changepoint as cp
    >>> pieces = cp.array_pieces([1, 1, 5, 5, 5, 2], size=4)
    >>> [piece.x.tolist() for piece in pieces.read()]
    [[1.0, 1.0, 5.0, 5.0], [5.0, 2.0]]
    """
    columns = [_numeric("x", x, max_dimensions=2)]
    for name, given in (("weights", weights), ("position", position)):
        columns.append(None if given is None else _numeric(name, given))
        if given is not None:
            n_given, n = len(columns[-1]), len(columns[0])
            check_count(f"{name} must have an entry", n_given, n, "observations")
    return SequencePieces(partial(_slices, *columns, size=whole_number("size", size, least=1)))


def bedgraph_pieces(
    path: str | os.PathLike[str], *, chrom: str | None = None, fill: float | None = None
) -> SequencePieces:
    r"""Read a bedGraph file in pieces: every run of equal values is one observation.

    The weight of a run is its length, and its position is its start. Each pass reads
    the file again, so that files of any size can be used.

    Parameters
    ----------
    path : str or path
        Text file with four columns: chromosome, start, end and value, sorted by start;
        gzip-compressed if the name ends with ``.gz``. Lines that begin with ``#``,
        ``track`` or ``browser`` are skipped.
    chrom : str, optional
        The chromosome to read; optional if the file has only one.
    fill : float, optional
        Value for gaps between runs, such as 0 if zeros are not stored. By default, a
        gap is an error.

    Returns
    -------
    SequencePieces

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from rocpath import changepoint as cp
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "coverage.bedGraph")
    ...     _ = path.write_text("chr1 0 100 2\nchr1 100 150 9\nchr1 150 300 1\n")
    ...     found = cp.segment_penalty(cp.bedgraph_pieces(path), 30, cost="poisson")
    >>> found.changes.tolist(), found.position.tolist()
    ([1, 2], [100.0, 150.0])
    """
    path = Path(path)
    # A missing file raises here rather than when the first piece is read.
    _opened(path).close()
    only = _the_chromosome(path, chromosomes(path), None) if chrom is None else chrom
    return SequencePieces(partial(_runs, path, only, fill))


def bed_labels(path: str | os.PathLike[str], *, chrom: str | None = None) -> Labels:
    r"""Read labels from a BED file whose fourth column is the kind of label.

    Parameters
    ----------
    path, chrom
        As for `bedgraph_pieces`, with the kind of label instead of the value.

    Returns
    -------
    Labels

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from rocpath import changepoint as cp
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "labels.bed")
    ...     _ = path.write_text("chr1 0 60 noPeaks\nchr1 90 110 peakStart\n")
    ...     cp.bed_labels(path).kind
    ('no_peaks', 'peak_start')
    """
    rows = read_bed(path)
    only = _the_chromosome(Path(path), {row[0] for row in rows}, chrom)
    start, end, kind = zip(*(row[1:] for row in rows if row[0] == only), strict=True)
    return Labels(np.array(start, float), np.array(end, float), kind, sequence=only)


def read_bed(path: str | os.PathLike[str]) -> list[list[str]]:
    """Return the first four fields of each line of a BED file."""
    path = Path(path)
    with _opened(path) as file:
        rows = [line.decode().split()[:4] for line in file if not _is_comment(line)]
    for row in rows:
        if len(row) < 4:
            raise ValueError(f"{path.name} must have four columns, got {row}.")
    return rows


def chromosomes(path: str | os.PathLike[str]) -> dict[str, int]:
    """Return the chromosomes of a bedGraph file, and the line where each starts, or raise."""
    first: dict[str, int] = {}
    with _opened(Path(path)) as file:
        for place, line in enumerate(file, 1):
            if not _is_comment(line):
                first.setdefault(line.split(None, 1)[0].decode(), place)
    if not first:
        raise ValueError(f"{Path(path).name} must have at least one run, got none.")
    return first


def _numeric(name: str, values: ArrayLike, *, max_dimensions: int = 1) -> Any:
    """Return the array itself if it is numeric."""
    # asarray would drop a mask, and a copy would load a memory map.
    given = np.asanyarray(values)
    is_plain = not isinstance(given, np.ma.MaskedArray) and given.dtype.kind in "buif"
    is_plain = is_plain and 1 <= given.ndim <= max_dimensions
    return given if is_plain else finite_vector(name, values)


def _slices(
    x: NDArray[np.generic],
    weights: NDArray[np.generic] | None,
    position: NDArray[np.generic] | None,
    *,
    size: int,
) -> Iterator[Piece]:
    for start in range(0, len(x), size):
        columns = (
            None
            if column is None
            else np.ascontiguousarray(column[start : start + size], dtype=np.float64)
            for column in (x, weights, position)
        )
        yield Piece(*columns)  # type: ignore[arg-type]


def _runs(path: Path, chrom: str, fill: float | None) -> Iterator[Piece]:
    """Read the runs of one chromosome, and fill gaps."""
    end = None
    for table in _tables(path, chrom):
        start, stop, value = table.T
        # The first run must continue the last run of the previous piece.
        before = np.append(start[0] if end is None else end, stop[:-1])
        is_bad = (start < before) | (stop <= start)
        if fill is None:
            is_bad |= start > before
        if is_bad.any():
            row = int(is_bad.argmax())
            raise ValueError(
                f"{path.name} must have sorted runs without overlaps"
                + (" or gaps (set fill=0 to fill gaps with zeros)" if fill is None else "")
                + f", got {start[row]:.0f} to {stop[row]:.0f} after {before[row]:.0f}."
            )
        end = stop[-1]
        if fill is not None:
            # A gap becomes a run, from the end of the previous run.
            gap = np.flatnonzero(start > before)
            stop = np.insert(stop, gap, start[gap])
            start = np.insert(start, gap, before[gap])
            value = np.insert(value, gap, fill)
        yield Piece(np.ascontiguousarray(value), stop - start, start)


def _tables(path: Path, chrom: str) -> Iterator[NDArray[np.float64]]:
    """Read rows of start, end and value for one chromosome."""
    prefix = b"\n" + chrom.encode() + b"\t"
    name = re.escape(chrom.encode())
    pattern = re.compile(rb"^[ \t]*%b[ \t]+([^\r\n]*)" % name, re.MULTILINE)
    is_empty = True
    with _opened(path) as file:
        # readline completes the last line.
        while text := file.read(_TEXT_SIZE) + file.readline():
            lines = b"\n" + text.rstrip(b"\n")
            # Most blocks contain a single chromosome. For these, replacing the prefix is
            # twice as fast as matching lines.
            is_single = lines.count(prefix) == lines.count(b"\n")
            rows = lines.replace(prefix, b"\n") if is_single else b"\n".join(pattern.findall(text))
            if rows:
                is_empty = False
                yield _numbers(path, rows)
    if is_empty:
        _the_chromosome(path, chromosomes(path), chrom)


def _numbers(path: Path, rows: bytes) -> NDArray[np.float64]:
    rule = f"{path.name} must have a chromosome and three numbers in each line"
    try:
        table = np.loadtxt(io.BytesIO(rows), ndmin=2)
    except ValueError as error:
        # NumPy counts rows from the start of this block, not of the file.
        raise ValueError(f"{rule}: {str(error).partition(' at row')[0]}.") from None
    if table.shape[1] != 3:
        raise ValueError(
            f"{rule}, got {rows.strip().splitlines()[0].decode()!r} after the chromosome."
        )
    return table


def _is_comment(line: bytes) -> bool:
    return not line.strip() or line.startswith((b"#", b"track", b"browser"))


def _the_chromosome(path: Path, names: Collection[str], chrom: str | None) -> str:
    if chrom is None and len(names) == 1:
        return next(iter(names))
    if chrom is None or chrom not in names:
        listed = ", ".join(sorted(names)[:10])
        raise ValueError(f"chrom must be in {path.name}, which has {listed}, got {chrom!r}.")
    return chrom


def _opened(path: Path) -> BinaryIO:
    if path.suffix == ".gz":
        return gzip.open(path, "rb")  # type: ignore[return-value]
    return path.open("rb")

"""Sequences from long tables, with one row per observation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from rocpath.cli.positions import parsed_positions
from rocpath.tables.columns import listed, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_LARGEST = 1e100  # squares of observations can still be summed
_ONLY_SEQUENCE = "sequence"  # the name of the only sequence of a table
# Names that tables use, the first of them by default.
_USUAL_NAMES = {
    "sequence": ("sequence", "chrom"),
    "position": ("position", "timestamp", "time", "datetime", "date"),
    "value": ("value",),
    "weight": ("weight",),
}
RUN_COLUMNS = (("chromStart", "chromEnd"), ("start", "end"))


class SequenceColumns(NamedTuple):
    """Names of columns that were given as options; None for the usual ones."""

    sequence: str | None = None
    position: str | None = None
    value: str | None = None
    weight: str | None = None

    def name(self, role: str) -> str:
        """Return the given name of a column, or its first usual one."""
        return getattr(self, role) or _USUAL_NAMES[role][0]

    @property
    def names_as_text(self) -> list[str]:
        """All names of columns that must stay as they are written."""
        given = [one for one in (self.sequence, self.position) if one is not None]
        usual = _USUAL_NAMES["sequence"] + _USUAL_NAMES["position"]
        return [*given, *usual, *(name for pair in RUN_COLUMNS for name in pair)]

    def optional(self, table: pl.DataFrame, role: str) -> pl.Series | None:
        """Return a column that may be missing, unless its name was given."""
        given = getattr(self, role)
        if given is not None:
            return named_column(table, given, role, "sequences")
        usual = [name for name in _USUAL_NAMES[role] if name in table.columns]
        return table[usual[0]] if usual else None

    def needed(self, table: pl.DataFrame, role: str) -> pl.Series:
        """Return a column, or raise."""
        found = self.optional(table, role)
        if found is None:
            return named_column(table, self.name(role), role, "sequences")
        return found


@dataclass(frozen=True, slots=True, eq=False)
class LongSequence:
    """One sequence: its values, positions and weights.

    ``shown`` has the positions as they are written; None for row numbers.
    """

    name: str
    row: int
    value: NDArray[np.float64]
    position: NDArray[np.float64]
    weight: NDArray[np.float64] | None = None
    shown: pl.Series | None = None
    columns: tuple[str, ...] = ()  # of a table with common changes

    def text_of_position(self, index: int) -> Any:
        """Return the position of an observation as it is written."""
        return index if self.shown is None else self.shown[index]

    @property
    def written_positions(self) -> list[str] | NDArray[np.float64]:
        """Positions as they are written, or row numbers."""
        if self.shown is None:
            return self.position
        return self.shown.cast(pl.String).str.strip_chars().to_list()


class SkippedSequence(NamedTuple):
    """A sequence that cannot be used, the first bad row, and the reason."""

    sequence: str
    row: int
    reason: str

    def __str__(self) -> str:
        """Return a sentence."""
        name = f"sequence {self.sequence!r}" if self.sequence else "rows without a name"
        return f"skipped {name}: {self.reason} in row {self.row}."


class LongTable(NamedTuple):
    """The sequences of a table."""

    sequences: list[LongSequence]
    skipped: list[SkippedSequence]
    is_time: bool = False  # positions are times
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """Names of the sequences."""
        return [one.name for one in self.sequences]

    @property
    def values(self) -> list[NDArray[np.float64]]:
        """Values of the sequences."""
        return [one.value for one in self.sequences]

    @property
    def weights(self) -> list[NDArray[np.float64] | None]:
        """Weights of the sequences."""
        return [one.weight for one in self.sequences]

    @property
    def for_page(self) -> dict[str, Any]:
        """Arguments of `labeling_page` besides the values."""
        weights = self.weights
        return {
            "names": self.names,
            # Labels are saved in the form of the positions.
            "positions": [one.written_positions for one in self.sequences],
            "weights": weights if any(one is not None for one in weights) else None,
        }

    def check_not_empty(self) -> None:
        """Raise if no sequence can be used, with the first reason."""
        if not self.sequences:
            one = self.skipped[0]
            raise ValueError(
                f"no sequence can be used; the first one, {one.sequence!r}: "
                f"{one.reason} in row {one.row}."
            )


class _Check(NamedTuple):
    """A rule for the values of a column, and the rows that break it."""

    series: pl.Series
    is_bad: pl.Series
    rule: str

    def reason(self, row: int) -> str:
        got = self.series[row - 1]
        got = "nothing" if got is None else repr(got)
        return f"column {self.series.name!r} {self.rule}, got {got}"


def named_column(table: pl.DataFrame, name: str, role: str, of: str) -> pl.Series:
    """Return a column, or raise with the option that names it."""
    if name not in table.columns:
        raise ValueError(
            f"{of} column {name!r} not found: name it with --{role}; columns are: "
            f"{listed(table.columns)}."
        )
    return table[name]


def sequences_of(
    table: pl.DataFrame, columns: SequenceColumns, *, cost: str, repeated: str = "error"
) -> LongTable:
    """Split a table by the names of its sequences, in order of first appearance."""
    raw = columns.needed(table, "value")
    # Rules are collected and not raised: a bad row invalidates only its own sequence.
    value, checks = _checked_numbers(raw)
    if cost == "poisson":
        checks.append(_Check(raw, value < 0, "must not be negative for Poisson cost"))
    parts = [value.alias("value")]
    runs = _run_columns(table, columns)
    shown = table[runs[0]] if runs else columns.optional(table, "position")
    positions = None if shown is None else parsed_positions(shown)
    if shown is not None and positions is not None:
        checks.append(_Check(shown, positions.is_bad, positions.rule))
        parts += [positions.number.alias("position"), shown.alias("shown")]
    weight = columns.optional(table, "weight")
    if runs and positions is not None:
        weight = parsed_positions(table[runs[1]]).number - positions.number
        weight = weight.alias(runs[1])
    if weight is not None:
        number, more = _checked_numbers(weight)
        rule = f"must exceed {runs[0]!r}" if runs else "must be positive"
        is_null = _Check(weight, number.is_null(), "must be a number")
        checks += [is_null, *more, _Check(weight, number <= 0, rule)]
        parts.append(number.alias("weight"))
    names = sequence_names(table, columns)
    # Rows without a name become one sequence of the empty name, which is skipped.
    checks.append(_Check(names, names.is_null(), "must name the sequence"))
    frame = pl.DataFrame([names.fill_null("").alias("sequence"), *parts])
    is_time = positions is not None and positions.is_time
    found = _split(frame, checks, is_time=is_time, repeated=repeated)
    return found._replace(notes=_notes(found, runs))


def _notes(found: LongTable, runs: tuple[str, str] | None) -> tuple[str, ...]:
    notes = []
    if runs:
        notes.append(
            f"columns {runs[0]!r} and {runs[1]!r} are the limits of runs, whose "
            "lengths are weights."
        )
    n_missing = sum(int(np.isnan(one.value).sum()) for one in found.sequences)
    if n_missing:
        notes.append(f"missing values, which have weight 0: {n_missing:,}.")
    return tuple(notes)


def _run_columns(table: pl.DataFrame, columns: SequenceColumns) -> tuple[str, str] | None:
    """Return the names of the start and end of runs, unless a position was given."""
    if columns.position is not None or columns.weight is not None:
        return None
    if any(name in table.columns for name in ("position", "weight")):
        return None
    return next((one for one in RUN_COLUMNS if set(one) <= set(table.columns)), None)


def sequence_names(table: pl.DataFrame, columns: SequenceColumns) -> pl.Series:
    """Return the name of the sequence of each row."""
    names = columns.optional(table, "sequence")
    if names is not None:
        return text_of(names)
    roles = ("position", "value", "weight")
    used = [columns.optional(table, role) for role in roles]
    known = {one.name for one in used if one is not None}
    known.update(*(pair for pair in RUN_COLUMNS))
    # A further column may well name the sequences; the option can tell.
    if set(table.columns) <= known:
        return pl.Series("sequence", [_ONLY_SEQUENCE] * table.height)
    return text_of(columns.needed(table, "sequence"))


def _checked_numbers(series: pl.Series) -> tuple[pl.Series, list[_Check]]:
    """Return float64, null if missing, and the rows that are invalid."""
    source = series
    # Polars does not parse " 1" as a number.
    if series.dtype == pl.String:
        source = series.str.strip_chars()
    try:
        number = source.cast(pl.Float64, strict=False).fill_nan(None)
    except pl.exceptions.PolarsError:
        raise ValueError(f"column {series.name!r} must be numbers, got {series.dtype}.") from None
    is_text = number.is_null() & series.is_not_null()
    if series.dtype == pl.String:
        is_text &= ~source.str.to_lowercase().is_in(["", "nan", "na", "null"])
    elif series.dtype.is_float():
        is_text &= ~series.is_nan()
    rule = f"must be finite and at most {_LARGEST:g} in size"
    return number, [
        _Check(series, is_text, "must be a number"),
        _Check(series, number.abs() > _LARGEST, rule),
    ]


def _split(frame: pl.DataFrame, checks: list[_Check], *, is_time: bool, repeated: str) -> LongTable:
    """Build the sequences; those with a row that breaks a rule are skipped."""
    # The first broken rule of each row: one reason is enough to act on.
    fault = pl.coalesce(
        *(
            # Comparisons with null are null; missing values have their own rule.
            pl.when(check.is_bad.fill_null(value=False)).then(pl.lit(place))
            for place, check in enumerate(checks)
        )
    )
    frame = frame.with_columns(fault.alias("fault")).with_row_index("row", offset=1)
    parts = frame.partition_by("sequence", maintain_order=True, as_dict=True)
    table = LongTable([], [], is_time)
    for (name,), part in parts.items():
        faulty = part.filter(pl.col("fault").is_not_null())
        if faulty.height:
            row = faulty["row"][0]
            reason = checks[faulty["fault"][0]].reason(row)
            table.skipped.append(SkippedSequence(str(name), row, reason))
            continue
        found = _sequence(str(name), part, repeated)
        if isinstance(found, SkippedSequence):
            table.skipped.append(found)
        else:
            table.sequences.append(found)
    return table


def _sequence(name: str, part: pl.DataFrame, repeated: str) -> LongSequence | SkippedSequence:
    row = int(part["row"][0])
    if part["value"].null_count() == part.height:
        return SkippedSequence(name, row, "all values are missing")
    position = np.arange(float(part.height))
    shown = None
    if "position" in part.columns:
        # Rows may be in any order; messages name the rows of the file.
        part = part.sort("position", maintain_order=True)
        is_repeated = part["position"].diff().to_numpy() == 0
        if is_repeated.any() and repeated == "error":
            at = int(is_repeated.argmax())
            reason = (
                f"positions must not repeat, got {part['shown'][at]!r} again (see --repeated mean)"
            )
            return SkippedSequence(name, int(part["row"][at]), reason)
        if repeated == "mean" and is_repeated.any():
            part = _averaged(part)
        position, shown = part["position"].to_numpy(), part["shown"]
        if repeated == "keep":
            position = _spread(position)
    weight = part["weight"].to_numpy() if "weight" in part.columns else None
    value = part["value"].cast(pl.Float64).fill_null(float("nan")).to_numpy()
    return LongSequence(name, row, value, position, weight, shown)


def _averaged(part: pl.DataFrame) -> pl.DataFrame:
    """Replace observations at one position by their mean, weighted by their number."""
    weight = pl.col("weight") if "weight" in part.columns else pl.lit(1.0)
    used = weight * pl.col("value").is_not_null()
    return (
        part.with_columns(used.alias("used"))
        .group_by("position", maintain_order=True)
        .agg(
            ((pl.col("used") * pl.col("value")).sum() / pl.col("used").sum())
            .fill_nan(None)
            .alias("value"),
            pl.col("shown", "row").first(),
            # A position without a value keeps a weight, which is never used.
            pl.max_horizontal(pl.col("used").sum(), 1.0).alias("weight"),
        )
    )


def _spread(position: NDArray[np.float64]) -> NDArray[np.float64]:
    """Spread repeated positions evenly up to the next one, so that they increase."""
    distinct, first, count = np.unique(position, return_index=True, return_counts=True)
    gap = np.append(np.diff(distinct), 1.0)
    rank = np.arange(position.size) - np.repeat(first, count)
    return position + rank * np.repeat(gap / count, count)


def first_of(skipped: Sequence[SkippedSequence], most: int = 10) -> list[str]:
    """Return sentences about skipped sequences, the first of many."""
    lines = [f"warning: {one}" for one in skipped[:most]]
    if len(skipped) > most:
        lines.append(f"warning: skipped {len(skipped) - most} more sequences.")
    return lines

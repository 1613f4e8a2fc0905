"""Sequences from long tables, one row an observation; bad ones are named, not fatal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from rocpath import changepoint as cp
from rocpath.cli.positions import Places, places
from rocpath.cli.terminal import say
from rocpath.tables.columns import LARGEST_NUMBER, listed, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rocpath.changepoint.segmentation import Constraint, SegmentCost

# Values of a sequence once its runs are written out for the features: 0.8 GB.
_MOST_REPEATED = 10**8
_MOST_NAMED = 10  # sequences left out, in the terminal; metrics.json has them all
_ONLY_SEQUENCE = "sequence"  # the name of the one in a table that names none


class SequenceColumns(NamedTuple):
    """Names of columns that were told; None for the usual ones."""

    sequence: str | None = None
    position: str | None = None
    value: str | None = None
    weight: str | None = None

    def name(self, role: str) -> str:
        """Return the name of a column, told or usual."""
        return getattr(self, role) or role

    def optional(self, table: pl.DataFrame, role: str) -> pl.Series | None:
        """Return a column that may be missing, unless it was told."""
        # A told name that is mistyped must not pass for a column that is not there.
        if getattr(self, role) is None and role not in table.columns:
            return None
        return self.needed(table, role)

    def needed(self, table: pl.DataFrame, role: str) -> pl.Series:
        """Return a column, or raise."""
        return named_column(table, self.name(role), role, "sequences")


@dataclass(frozen=True, slots=True, eq=False)
class LongSequence:
    """One sequence: its values, where they lie, and how much each counts.

    ``shown`` has the positions as they were written; None if they are row numbers.
    """

    name: str
    row: int
    value: NDArray[np.float64]
    position: NDArray[np.float64]
    weight: NDArray[np.float64] | None = None
    shown: pl.Series | None = None

    @property
    def has_runs(self) -> bool:
        """Whether all weights are whole, so that they can be lengths of runs."""
        return self.weight is not None and bool((self.weight % 1 == 0).all())

    def form(self, index: int) -> Any:
        """Return the position of an observation as it was written."""
        return index if self.shown is None else self.shown[index]

    @property
    def written_positions(self) -> list[str] | NDArray[np.float64]:
        """Positions as they were written, or row numbers."""
        if self.shown is None:
            return self.position
        return self.shown.cast(pl.String).str.strip_chars().to_list()


class LeftOut(NamedTuple):
    """A sequence that is not used, the row of the file that is to blame, and why."""

    sequence: str
    row: int
    reason: str

    def __str__(self) -> str:
        """Say all of it in one line."""
        name = f"sequence {self.sequence!r}" if self.sequence else "rows without a name"
        return f"left out {name}: {self.reason} in row {self.row}."


class LongTable(NamedTuple):
    """What a table of sequences holds."""

    sequences: list[LongSequence]
    left_out: list[LeftOut]
    is_time: bool = False  # positions are times, not numbers


class Request(NamedTuple):
    """How to read sequences and to segment them."""

    source: str
    max_changes: int
    cost: SegmentCost
    constraint: Constraint
    seed: int = 0
    columns: SequenceColumns = SequenceColumns()
    group: str | None = None

    def models(self, one: LongSequence) -> cp.Segmentations:
        """Return the best segmentations, up to the most changes."""
        most = min(self.max_changes, one.value.size - 1)
        return cp.segment(one.value, most, **self._how(one))

    def segmentation(self, one: LongSequence, penalty: float) -> cp.Segmentation:
        """Return the best segmentation for a penalty."""
        return cp.segment_penalty(one.value, penalty, **self._how(one))

    def default_penalty(self, one: LongSequence) -> float:
        """Return the penalty that needs no labels."""
        return cp.default_penalty(one.value, cost=self.cost, weights=one.weight)

    def errors(self, one: LongSequence, labels: cp.Labels) -> cp.PenaltyErrors:
        """Return the label errors as a function of the penalty."""
        most, position = self.max_changes, one.position
        return cp.errors_by_penalty(
            one.value, labels, max_changes=most, position=position, **self._how(one)
        )

    def _how(self, one: LongSequence) -> dict[str, Any]:
        constraint = self.constraint
        return {"cost": self.cost, "constraint": constraint, "weights": one.weight}


def warn_of(left_out: Sequence[LeftOut]) -> None:
    """Name the sequences that are not used, the first of very many."""
    for one in left_out[:_MOST_NAMED]:
        say(f"warning: {one}")
    if left_out[_MOST_NAMED:]:
        say(f"warning: left out {len(left_out) - _MOST_NAMED} more sequences.")


def refuse_if_all_left_out(
    sequences: Sequence[LongSequence], left_out: Sequence[LeftOut]
) -> None:
    """Raise if there is nothing to work with, with the first reason."""
    if not sequences:
        one = left_out[0]
        raise ValueError(
            f"no sequence can be used; of the first, {one.sequence!r}: {one.reason} in "
            f"row {one.row}."
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
    table: pl.DataFrame, columns: SequenceColumns, *, cost: SegmentCost
) -> LongTable:
    """Split a table by the names of its sequences, in order of first appearance."""
    raw = columns.needed(table, "value")
    # Rules are collected and not raised: a bad row costs its own sequence, and the
    # others are still worth reading.
    value, checks = _checked_numbers(raw)
    if cost == "poisson":
        checks.append(_Check(raw, value < 0, "must not be negative for Poisson cost"))
    parts = [value.alias("value")]
    shown = columns.optional(table, "position")
    place = None if shown is None else places(shown)
    if shown is not None and place is not None:
        checks.append(_checked_places(shown, place))
        parts += [place.number.alias("position"), shown.alias("shown")]
    weight = columns.optional(table, "weight")
    if weight is not None:
        number, more = _checked_numbers(weight)
        checks += [*more, _Check(weight, number <= 0, "must be positive")]
        parts.append(number.alias("weight"))
    names = sequence_names(table, columns)
    # Rows without a name make one sequence of the empty name, and are left out as one.
    checks.append(_Check(names, names.is_null(), "must name the sequence"))
    frame = pl.DataFrame([names.fill_null("").alias("sequence"), *parts])
    return _split(frame, checks, is_time=place is not None and place.is_time)


def without_runs_at_fault(
    sequences: Sequence[LongSequence], *, has_runs: bool
) -> tuple[list[LongSequence], list[LeftOut]]:
    """Leave out sequences whose weights should be, but cannot be, lengths of runs."""
    good, left_out = [], []
    # Features count runs by their lengths; of other weights they would be other
    # features than those that the model has learned from.
    for one in sequences:
        weight = one.weight
        reason = ""
        if has_runs and (weight is None or not one.has_runs):
            got = "none" if weight is None else str(weight[weight % 1 != 0][0])
            reason = (
                "weights must be whole numbers, the lengths of runs, as when the model "
                f"was fitted, got {got}"
            )
        elif has_runs and weight is not None and weight.sum() > _MOST_REPEATED:
            reason = (
                f"weights must sum to at most {_MOST_REPEATED:g}, got {weight.sum():g}"
            )
        if reason:
            left_out.append(LeftOut(one.name, one.row, reason))
        else:
            good.append(one)
    return good, left_out


def features_of(
    sequences: Sequence[LongSequence], *, has_runs: bool
) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Compute features, and their names; runs count by their lengths."""
    values = [
        np.repeat(one.value, one.weight.astype(np.int64))
        if has_runs and one.weight is not None
        else one.value
        for one in sequences
    ]
    features = cp.sequence_features(values)
    return features.value, features.name


def sequence_names(table: pl.DataFrame, columns: SequenceColumns) -> pl.Series:
    """Return the name of the sequence of each row."""
    used = [columns.name(role) for role in ("position", "value", "weight")]
    is_alone = columns.sequence is None and "sequence" not in table.columns
    # With a further column the table may well name its sequences, in a way that only
    # --sequence can tell.
    if is_alone and set(table.columns) <= set(used):
        return pl.Series("sequence", [_ONLY_SEQUENCE] * table.height)
    return text_of(columns.needed(table, "sequence"))


def _checked_numbers(series: pl.Series) -> tuple[pl.Series, list[_Check]]:
    """Return float64, and the rows that are no number or too large."""
    source = series
    # Polars reads " 1" as no number.
    if series.dtype == pl.String:
        source = series.str.strip_chars()
    try:
        number = source.cast(pl.Float64, strict=False).fill_nan(None)
    except pl.exceptions.PolarsError:
        raise ValueError(
            f"column {series.name!r} must be numbers, got {series.dtype}."
        ) from None
    rule = f"must be finite and at most {LARGEST_NUMBER:g} in size"
    return number, [
        _Check(series, number.is_null(), "must be a number"),
        _Check(series, number.abs() > LARGEST_NUMBER, rule),
    ]


def _checked_places(shown: pl.Series, place: Places) -> _Check:
    is_bad = place.number.is_null() | ~place.number.is_finite()
    return _Check(shown, is_bad, place.rule)


def _split(frame: pl.DataFrame, checks: list[_Check], *, is_time: bool) -> LongTable:
    """Make the sequences; those with a row that breaks a rule are left out."""
    # For each row the first rule it breaks: one reason is enough to act on.
    fault = pl.coalesce(
        *(
            # What is null compares as null, and has a rule of its own.
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
            table.left_out.append(LeftOut(str(name), row, reason))
            continue
        found = _sequence(str(name), part)
        if isinstance(found, LeftOut):
            table.left_out.append(found)
        else:
            table.sequences.append(found)
    return table


def _sequence(name: str, part: pl.DataFrame) -> LongSequence | LeftOut:
    row = int(part["row"][0])
    position = np.arange(float(part.height))
    shown = None
    if "position" in part.columns:
        # Rows may come in any order, as from a database; the row numbers that messages
        # name are still those of the file.
        part = part.sort("position", maintain_order=True)
        position, shown = part["position"].to_numpy(), part["shown"]
        is_repeated = np.diff(position, prepend=np.nan) == 0
        if is_repeated.any():
            at = int(is_repeated.argmax())
            reason = f"positions must not repeat, got {shown[at]!r} again"
            return LeftOut(name, int(part["row"][at]), reason)
    weight = part["weight"].to_numpy() if "weight" in part.columns else None
    return LongSequence(name, row, part["value"].to_numpy(), position, weight, shown)

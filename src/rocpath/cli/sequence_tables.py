"""Read sequences from long tables, wide tables and bedGraph files.

A row that breaks a rule invalidates only its own sequence, which is named and skipped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from rocpath.changepoint.pieces import bedgraph_pieces, chromosomes
from rocpath.cli.files import read_table
from rocpath.cli.positions import parsed_positions
from rocpath.cli.terminal import say
from rocpath.tables.columns import LARGEST_NUMBER, listed, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rocpath.cli.changepoint_options import LabelTable, Sequences

# Columns of the results besides the names of sequences and the positions.
MEANS = ("mean_before", "mean_after")
WORTH = ("gain", "min_penalty", "max_penalty")
NOTE = "note"
# Names that tables use, the first of them by default; other roles are names themselves.
_USUAL_NAMES = {
    "sequence": ("sequence", "chrom"),
    "position": ("position", "timestamp", "time", "datetime", "date"),
}
_RUNS = (("chromStart", "chromEnd"), ("start", "end"))
_BEDGRAPH = (".bedgraph", ".bdg", ".bg")
_MISSING = ("", "nan", "na", "null")
_MAX_NAMED = 10  # skipped sequences
_Rule = tuple[pl.Series, pl.Series, str]  # a column, its bad rows, and what must hold


class TableSequence(NamedTuple):
    """One sequence: its values, positions and weights."""

    name: str
    value: NDArray[np.float64]
    position: NDArray[np.float64]
    written: pl.Series  # positions as in the table, or row numbers
    weight: NDArray[np.float64] | None = None
    columns: tuple[str, ...] = ()  # of a table with common changes


class SkippedSequence(NamedTuple):
    """A sequence that cannot be used, the first bad row, and the reason."""

    sequence: str
    row: int
    reason: str

    @property
    def note(self) -> str:
        """The reason and the row."""
        return f"{self.reason} in row {self.row}"

    def __str__(self) -> str:
        """Return a sentence."""
        name = f"sequence {self.sequence!r}" if self.sequence else "rows without a name"
        return f"skipped {name}: {self.note}."


class SequenceTable(NamedTuple):
    """The sequences of a table; the options have the names of its columns."""

    options: Sequences
    sequences: list[TableSequence]
    skipped: list[SkippedSequence]
    is_time: bool = False  # positions are times
    notes: tuple[str, ...] = ()
    rows: pl.DataFrame = pl.DataFrame()
    row_names: pl.Series = pl.Series("sequence", [], dtype=pl.String)  # of `rows`

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
        # Labels are saved in the form of the positions.
        written = [
            one.written if one.written.dtype.is_numeric() else one.written.cast(pl.String)
            for one in self.sequences
        ]
        is_weighted = any(weight is not None for weight in self.weights)
        return {
            "names": self.names,
            "positions": [one.to_numpy() for one in written],
            "weights": self.weights if is_weighted else None,
        }

    def show_notes(self, *, quiet: bool) -> None:
        """Name the skipped sequences, the first of many, and show the notes."""
        for one in self.skipped[:_MAX_NAMED]:
            say(f"warning: {one}")
        if len(self.skipped) > _MAX_NAMED:
            say(f"warning: skipped {len(self.skipped) - _MAX_NAMED} more sequences.")
        for note in () if quiet else self.notes:
            say(f"note: {note}")


def read_sequences(
    options: Sequences, *, cost: str, saved: Mapping[str, Any] | None = None
) -> SequenceTable:
    """Read a table or a bedGraph file with at least one usable sequence.

    Columns have the names of the options, or else those saved with a model.
    """
    given, known = options.columns, saved or {}
    names: dict[str, Any] = {role: given[role] or known.get(role) for role in given}
    options = options._replace(**names)
    _check_names(options)
    if has_ending(options.sequences, _BEDGRAPH):
        found = _coverage(options, cost)
    else:
        found = _table_sequences(options, cost)
    if not found.sequences:
        one = found.skipped[0]
        raise ValueError(f"no sequence can be used; the first one, {one.sequence!r}: {one.note}.")
    return found


def has_ending(source: str, endings: tuple[str, ...]) -> bool:
    """Return whether a file, possibly compressed, has one of these extensions."""
    return source.lower().removesuffix(".gz").endswith(endings)


def needed_column(table: pl.DataFrame, options: Sequences | LabelTable, role: str) -> pl.Series:
    """Return the column of a role, or raise with the option that names it."""
    given = getattr(options, role)
    for name in _USUAL_NAMES.get(role, (role,)) if given is None else (given,):
        if name in table.columns:
            return table[name]
    raise ValueError(
        f"column {given or role!r} not found: name it with --{role}; columns are: "
        f"{listed(table.columns)}."
    )


def _optional_column(table: pl.DataFrame, options: Sequences, role: str) -> pl.Series | None:
    """Return the column of a role: a given one must exist, a usual one may not."""
    usual = _USUAL_NAMES.get(role, (role,))
    if getattr(options, role) is None and not set(usual) & set(table.columns):
        return None
    return needed_column(table, options, role)


def _check_names(options: Sequences) -> None:
    given = [name for name in options.columns.values() if name is not None]
    results = (*MEANS, *WORTH, NOTE)
    for name in given:
        is_result = name in results and name in (options.sequence, options.position)
        if given.count(name) > 1 or is_result:
            raise ValueError(
                f"column {name!r} must have one role, and not the name of a result "
                f"({', '.join(results)}): rename it."
            )


def _table_sequences(options: Sequences, cost: str) -> SequenceTable:
    # As text, names such as 007 and positions stay as they are written.
    text = {name for names in (*_USUAL_NAMES.values(), *_RUNS) for name in names}
    text |= {name for name in (options.sequence, options.position) if name is not None}
    table = read_table(options.sequences, text=text)
    if not (options.wide or options.common):
        return _split(table, options, cost)
    position = _optional_column(table, options, "position")
    at = None if position is None else position.name
    names = [one.name for one in table if one.name != at and one.dtype.is_numeric()]
    if not names:
        raise ValueError(
            f"sequences must have a numeric column; columns are: {listed(table.columns)}."
        )
    # A long table, in which bad columns are skipped like other bad sequences.
    long = table.unpivot(names, index=at, variable_name="sequence", value_name="value")
    own = options._replace(sequence="sequence", position=at, value="value", weight=None)
    found = _split(long, own, cost)._replace(options=options, rows=pl.DataFrame())
    if options.common and not found.skipped:
        value = np.column_stack(found.values)
        one = found.sequences[0]._replace(name="all columns", value=value, columns=tuple(names))
        found = found._replace(sequences=[one])
    return found


def _split(table: pl.DataFrame, options: Sequences, cost: str) -> SequenceTable:
    """Split a long table by the names of its sequences, in order of first appearance."""
    raw = needed_column(table, options, "value")
    names, runs = _names(table, options), _run_columns(table, options)
    rules: list[_Rule] = [(names, names.is_null(), "must name the sequence")]
    # Rows without a name become one sequence of the empty name, which is skipped.
    names = names.fill_null("").alias("sequence")
    frame = pl.DataFrame([names, _numbers(raw, rules).alias("value")])
    is_empty = frame.select(pl.col("value").is_null().all().over("sequence"))
    rules.append((raw, is_empty.to_series(), "must not be missing in a whole sequence"))
    if cost == "poisson":
        rules.append((raw, frame["value"] < 0, "must not be negative for Poisson cost"))
    written = table[runs[0]] if runs else _optional_column(table, options, "position")
    weight = _optional_column(table, options, "weight")
    is_time = False
    if written is not None:
        positions = parsed_positions(written)
        is_time = positions.is_time
        rules.append((written, positions.is_bad, positions.rule))
        frame = frame.with_columns(position=positions.number, written=written)
        if options.repeated == "error":
            is_new = frame.select(pl.struct("sequence", "position").is_first_distinct())
            rules.append((written, ~is_new.to_series(), "must not repeat (see --repeated mean)"))
        if runs:
            end = parsed_positions(table[runs[1]]).number
            weight = (end - positions.number).alias(runs[1])
    if weight is not None:
        number = _numbers(weight, rules)
        rule = f"must exceed {runs[0]!r}" if runs else "must be a positive number"
        rules.append((weight, number.is_null() | (number <= 0), rule))
        frame = frame.with_columns(weight=number)
    skipped = _broken_rules(names, rules)
    used = frame.filter(~pl.col("sequence").is_in(list(skipped)))
    parts = used.partition_by("sequence", maintain_order=True, as_dict=True)
    sequences = [_sequence(str(name), part, options) for (name,), part in parts.items()]
    notes = _notes(sequences, runs)
    return SequenceTable(
        options, sequences, list(skipped.values()), is_time, notes, rows=table, row_names=names
    )


def _names(table: pl.DataFrame, options: Sequences) -> pl.Series:
    """Return the name of the sequence of each row."""
    names = _optional_column(table, options, "sequence")
    if names is not None:
        return text_of(names)
    used = [_optional_column(table, options, role) for role in ("position", "value", "weight")]
    known = {one.name for one in used if one is not None}
    # A further column may well name the sequences; the option can tell.
    if set(table.columns) <= known.union(*_RUNS):
        return pl.Series("sequence", ["sequence"] * table.height)
    return text_of(needed_column(table, options, "sequence"))


def _run_columns(table: pl.DataFrame, options: Sequences) -> tuple[str, str] | None:
    """Return the names of the start and end of runs, unless there are positions."""
    names = table.columns
    if options.position or options.weight or "position" in names or "weight" in names:
        return None
    return next((pair for pair in _RUNS if set(pair) <= set(names)), None)


def _numbers(series: pl.Series, rules: list[_Rule]) -> pl.Series:
    """Return float64, null if missing, and add the rules for numbers."""
    # Polars does not parse " 1" as a number.
    source = series.str.strip_chars() if series.dtype == pl.String else series
    try:
        number = source.cast(pl.Float64, strict=False).fill_nan(None)
    except pl.exceptions.PolarsError:
        raise ValueError(f"column {series.name!r} must be numbers, got {series.dtype}.") from None
    if series.dtype == pl.String:
        is_text = number.is_null() & ~source.str.to_lowercase().is_in(_MISSING)
        rules.append((series, is_text, "must be a number"))
    rule = f"must be finite and at most {LARGEST_NUMBER:g} in size"
    rules.append((series, number.abs() > LARGEST_NUMBER, rule))
    return number


def _broken_rules(names: pl.Series, rules: list[_Rule]) -> dict[str, SkippedSequence]:
    """Return the sequences with a row that breaks a rule, and the first such row."""
    broken = []
    for series, is_bad, rule in rules:
        rows = pl.DataFrame([names, series.alias("got")]).with_row_index("row", offset=1)
        # Comparisons with null are null; missing values have their own rule.
        rows = rows.filter(is_bad.fill_null(False)).unique("sequence", keep="first")
        for row, name, got in rows.iter_rows():
            shown = "nothing" if got is None else repr(got)
            reason = f"column {series.name!r} {rule}, got {shown}"
            broken.append(SkippedSequence(name, row, reason))
    skipped: dict[str, SkippedSequence] = {}
    for one in sorted(broken, key=lambda one: one.row):
        skipped.setdefault(one.sequence, one)
    return skipped


def _sequence(name: str, part: pl.DataFrame, options: Sequences) -> TableSequence:
    written = pl.Series(np.arange(part.height))
    position = written.to_numpy().astype(np.float64)
    if "position" in part.columns:
        # Rows may be in any order.
        part = part.sort("position", maintain_order=True)
        if options.repeated == "mean" and part["position"].is_duplicated().any():
            part = _averaged(part)
        position, written = part["position"].to_numpy(), part["written"]
        if options.repeated == "keep":
            position = _spread(position)
    weight = part["weight"].to_numpy() if "weight" in part.columns else None
    value = part["value"].fill_null(float("nan")).to_numpy()
    return TableSequence(name, value, position, written, weight)


def _averaged(part: pl.DataFrame) -> pl.DataFrame:
    """Replace observations at one position by their mean, weighted by their number."""
    weight = pl.col("weight") if "weight" in part.columns else pl.lit(1.0)
    used = part.with_columns(used=weight * pl.col("value").is_not_null())
    total = pl.col("used").sum()
    return used.group_by("position", maintain_order=True).agg(
        value=((pl.col("used") * pl.col("value")).sum() / total).fill_nan(None),
        written=pl.col("written").first(),
        # A position without a value keeps a weight, which is never used.
        weight=pl.max_horizontal(total, 1.0),
    )


def _spread(position: NDArray[np.float64]) -> NDArray[np.float64]:
    """Spread repeated positions evenly up to the next one, so that they increase."""
    distinct, first, count = np.unique(position, return_index=True, return_counts=True)
    gap = np.append(np.diff(distinct), 1.0)
    rank = np.arange(position.size) - np.repeat(first, count)
    return position + rank * np.repeat(gap / count, count)


def _notes(sequences: Sequence[TableSequence], runs: tuple[str, str] | None) -> tuple[str, ...]:
    notes: tuple[str, ...] = ()
    if runs:
        notes += (
            f"columns {runs[0]!r} and {runs[1]!r} are the limits of runs, whose "
            "lengths are weights.",
        )
    n_missing = sum(int(np.isnan(one.value).sum()) for one in sequences)
    if n_missing:
        notes += (f"missing values, which have weight 0: {n_missing:,}.",)
    return notes


def _coverage(options: Sequences, cost: str) -> SequenceTable:
    """Read every chromosome of a bedGraph file; the weights are the lengths of runs."""
    table = SequenceTable(options, [], [])
    # One after the other, so that an error in one chromosome skips only that one.
    for name, row in chromosomes(options.sequences).items():
        try:
            pieces = bedgraph_pieces(options.sequences, chrom=name, fill=options.fill).read()
            value, weight, position = map(np.concatenate, zip(*pieces, strict=True))
            if cost == "poisson" and value.min() < 0:
                raise ValueError(
                    "values must not be negative for Poisson cost, got "
                    f"{value.min()} at {position[value.argmin()]:.0f}"
                )
            if not np.isfinite(value).all():
                raise ValueError("values must be finite")
        except ValueError as error:
            table.skipped.append(SkippedSequence(name, row, str(error).rstrip(".")))
            continue
        # Genomic positions are integers.
        written = pl.Series(position).cast(pl.Int64)
        table.sequences.append(TableSequence(name, value, position, written, weight))
    return table

"""Read sequences from long tables, wide tables and bedGraph files.

An invalid row affects only its own sequence, which is reported and skipped.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rocpath.files.columns import LARGEST_NUMBER, cast_numbers, text_of
from rocpath.files.positions import parsed_positions
from rocpath.files.sequence_table import (
    RESULT_COLUMNS,
    SequenceColumns,
    SequenceTable,
    SkippedSequence,
    TableSequence,
)
from rocpath.files.source_rows import Source, as_rows, genome_column
from rocpath.files.table_names import listed
from rocpath.files.value_limits import COST_NAMES, value_limits
from rocpath.validation import one_of

# Common column names of each role, in order of preference. Columns of other roles have the
# name of the role.
_USUAL_NAMES = {
    "sequence": ("sequence", "chrom"),
    "position": ("position", "timestamp", "time", "datetime", "date", "year"),
}
_RUNS = (("chromStart", "chromEnd"), ("start", "end"))
_MISSING = ("", "nan", "na", "n/a", "#n/a", "<na>", "null", "none", "-", "?")
_SECOND = 1e6  # microseconds
_Rule = tuple[pl.Series, pl.Series, str]  # a column, its invalid rows, and the requirement


def read_sequences(
    source: Source,
    *,
    sequence: str | None = None,
    position: str | None = None,
    value: str | None = None,
    weight: str | None = None,
    fill: float | None = None,
    repeated: Literal["error", "mean", "keep"] = "error",
    layout: Literal["long", "wide", "common"] = "long",
    cost: str = "normal",
) -> SequenceTable:
    """Read sequences from a long table, a wide table or a bedGraph file.

    Positions are numbers or times, and rows need not be sorted by them. Sequences with
    invalid values are skipped.

    Parameters
    ----------
    source : path, binary file, or pandas or polars data frame
        Table as for :func:`read_table`, or a bedGraph file, whose chromosomes are
        sequences of runs.
    sequence, position, value, weight : str, optional
        Names of the columns with sequence names, positions, values and weights. By
        default, columns with common names are used. Columns ``start`` and ``end`` are
        limits of runs, whose lengths are the weights.
    fill : float, optional
        Value for gaps between the runs of a bedGraph file; by default, a gap is an
        error.
    repeated : {"error", "mean", "keep"}
        Treatment of observations at the same position: they cause an error, are
        replaced by their mean with their number or total weight, or are all kept.
    layout : {"long", "wide", "common"}
        Layout of the table: one row per observation, one sequence per numeric column,
        or all numeric columns as one sequence with common changes.
    cost : str
        Cost of the segmentations. Sequences with values that it does not allow are
        skipped.

    Returns
    -------
    SequenceTable

    Examples
    --------
    >>> import polars as pl
    >>> import rocpath as rp
    >>> frame = pl.DataFrame({"host": ["a", "a", "b"], "value": [2.0, 3.0, 5.0]})
    >>> table = rp.read_sequences(frame, sequence="host")
    >>> table.names, [one.tolist() for one in table.values]
    (['a', 'b'], [[2.0, 3.0], [5.0]])
    """
    columns = SequenceColumns(sequence, position, value, weight)
    _check_names(columns)
    one_of("cost", cost, (*COST_NAMES, "auto"))
    one_of("repeated", repeated, ("error", "mean", "keep"))
    one_of("layout", layout, ("long", "wide", "common"))
    # These columns are read as text, so that names such as 007 keep their format.
    text = {name for names in (*_USUAL_NAMES.values(), *_RUNS) for name in names}
    rows = as_rows(source, {*text, sequence, position})
    if genome_column(source) is not None:
        if fill is not None:
            rows = _with_filled_gaps(rows, fill)
        found = _split(rows, SequenceColumns(), repeated, cost, fill_is_needed=True)
        # The given names do not apply to a bedGraph file, but the table of changes uses them.
        found = found._replace(columns=columns, notes=())
    else:
        read = _split if layout == "long" else _wide
        found = read(rows, columns, repeated, cost)
    if not found.sequences:
        one = found.skipped[0]
        raise ValueError(f"no sequence can be used; the first one, {one.sequence!r}: {one.note}.")
    if layout == "common":
        value_ = np.column_stack(found.values)
        every = found.sequences[0]._replace(
            name="all columns", value=value_, columns=tuple(found.names)
        )
        found = found._replace(sequences=[every])
    return found


def needed_column(
    table: pl.DataFrame, role: str, given: str | None = None, *, hint: str = ""
) -> pl.Series:
    """Return the column with the given or a common name, or raise an error with a hint."""
    for name in _USUAL_NAMES.get(role, (role,)) if given is None else (given,):
        if name in table.columns:
            return table[name]
    raise ValueError(
        f"{role} column {given or role!r} not found: set {role} to one of "
        f"{listed(table.columns)}{hint}."
    )


def _optional_column(table: pl.DataFrame, role: str, given: str | None) -> pl.Series | None:
    """Return the column of a role, or None if no name is given and no common name exists."""
    if given is None and not set(_USUAL_NAMES.get(role, (role,))) & set(table.columns):
        return None
    return needed_column(table, role, given)


def _check_names(columns: SequenceColumns) -> None:
    given = [name for name in columns if name is not None]
    for name in given:
        is_result = name in RESULT_COLUMNS and name in columns[:2]
        if given.count(name) > 1 or is_result:
            raise ValueError(
                f"column {name!r} must have one role and must not have the name of a result "
                f"({', '.join(RESULT_COLUMNS)}): rename it."
            )


def _wide(table: pl.DataFrame, columns: SequenceColumns, repeated: str, cost: str) -> SequenceTable:
    """Read every numeric column as a sequence."""
    position = _optional_column(table, "position", columns.position)
    at = None if position is None else position.name
    others = [one for one in table if one.name != at]
    names = [one.name for one in others if one.dtype.is_numeric()]
    if not names:
        raise ValueError(
            f"sequences must have at least one numeric column, got columns {listed(table.columns)}."
        )
    # A long table is split, so that invalid columns are skipped like invalid sequences.
    long = table.unpivot(names, index=at, variable_name="sequence", value_name="value")
    found = _split(long, SequenceColumns("sequence", at, "value"), repeated, cost)
    # Messages refer to columns and rows of the wide table.
    skipped = []
    for name, row, reason in found.skipped:
        own = reason.replace("column 'value'", f"column {name!r}")
        skipped.append(SkippedSequence(name, (row - 1) % table.height + 1, own))
    unused = [one.name for one in others if one.name not in names]
    notes = [f"skipped columns that are not numeric: {listed(unused)}."] if unused else []
    return found._replace(
        columns=columns, skipped=skipped, rows=pl.DataFrame(), notes=(*found.notes, *notes)
    )


def _split(
    table: pl.DataFrame,
    columns: SequenceColumns,
    repeated: str,
    cost: str,
    *,
    fill_is_needed: bool = False,
) -> SequenceTable:
    """Split a long table by the names of its sequences, in order of first appearance."""
    hint = "" if columns.value else ", or read the table as wide if each column is a sequence"
    raw = needed_column(table, "value", columns.value, hint=hint)
    names, runs = _names(table, columns), _run_columns(table, columns)
    rules: list[_Rule] = [(names, names.is_null(), "must name the sequence")]
    # Rows without a name become one sequence with an empty name, which is skipped.
    names = names.fill_null("").alias("sequence")
    frame = pl.DataFrame([names, _numbers(raw, rules).alias("value")])
    is_empty = frame.select(pl.col("value").is_null().all().over("sequence"))
    rules.append((raw, is_empty.to_series(), "must not be missing in all rows of a sequence"))
    least, most, rule = value_limits(cost)
    rules.append((raw, (frame["value"] < least) | (frame["value"] > most), rule))
    written = _optional_column(table, "position", runs[0] if runs else columns.position)
    is_time = False
    if written is not None:
        positions = parsed_positions(written)
        is_time = positions.is_time
        rules.append((written, positions.is_bad, positions.rule))
        frame = frame.with_columns(position=positions.number, written=written)
        if repeated == "error":
            is_first = frame.select(pl.struct("sequence", "position").is_first_distinct())[:, 0]
            rules.append((written, ~is_first, "must not repeat unless repeated is mean or keep"))
    if runs:
        length, of_runs = _run_lengths(table[runs[1]], frame, runs[0])
        rules += of_runs if fill_is_needed else of_runs[:-1]
        frame = frame.with_columns(weight=length)
    else:
        frame = frame.with_columns(_weights(table, columns.weight, rules))
    skipped = _broken_rules(names, rules)
    used = frame.filter(~pl.col("sequence").is_in(list(skipped)))
    parts = used.partition_by("sequence", maintain_order=True, as_dict=True)
    sequences = [_sequence(str(name), part, repeated) for (name,), part in parts.items()]
    of_rows = _notes(sequences, runs), table, names
    return SequenceTable(columns, sequences, list(skipped.values()), is_time, *of_rows)


def _weights(table: pl.DataFrame, given: str | None, rules: list[_Rule]) -> list[pl.Series]:
    """Return the column of weights, if there is one, and add its rules."""
    weight = _optional_column(table, "weight", given)
    if weight is None:
        return []
    number = _numbers(weight, rules)
    rules.append((weight, number.is_null() | (number <= 0), "must be a positive number"))
    return [number.alias("weight")]


def _run_lengths(ends: pl.Series, frame: pl.DataFrame, name: str) -> tuple[pl.Series, list[_Rule]]:
    """Return the lengths of runs, in seconds for times, and the rules for runs.

    The last rule, that there are no gaps, applies only to bedGraph files.
    """
    end = parsed_positions(ends)
    length = end.number - frame["position"]
    # Rows may be in any order.
    place = pl.col("position")
    following = frame.select(place.shift(-1).over("sequence", order_by=place)).to_series()
    rules = [
        (length.is_null() | (length <= 0), f"must exceed {name!r}"),
        (end.number > following, f"must not exceed the next {name!r}, unless position is {name!r}"),
        (end.number < following, f"must be the next {name!r}, unless fill is given"),
    ]
    seconds = length / _SECOND if end.is_time else length
    return seconds, [(ends, is_bad, rule) for is_bad, rule in rules]


def _names(table: pl.DataFrame, columns: SequenceColumns) -> pl.Series:
    """Return the name of the sequence of each row."""
    names = _optional_column(table, "sequence", columns.sequence)
    if names is not None:
        return text_of(names)
    roles = columns._asdict().items()
    used = [_optional_column(table, role, given) for role, given in roles]
    known = {one.name for one in used if one is not None}
    others = [name for name in table.columns if name not in known.union(*_RUNS)]
    # Another column may contain the names of the sequences, so it must be specified.
    if others:
        hint = ", or drop the other columns if the table is one sequence"
        return needed_column(table.select(others), "sequence", hint=hint)
    return pl.Series("sequence", ["sequence"] * table.height)


def _run_columns(table: pl.DataFrame, columns: SequenceColumns) -> tuple[str, str] | None:
    """Return the columns with the limits of runs, unless there are positions or weights."""
    names = table.columns
    if columns.position or columns.weight or "position" in names or "weight" in names:
        return None
    return next((pair for pair in _RUNS if set(pair) <= set(names)), None)


def _numbers(series: pl.Series, rules: list[_Rule]) -> pl.Series:
    """Return values as float64 with null for missing ones, and add the rules for numbers."""
    number = cast_numbers(series).fill_nan(None)
    if series.dtype == pl.String:
        # With decimal commas, most values are not numbers otherwise.
        with_points = cast_numbers(series.str.replace(",", ".", literal=True)).fill_nan(None)
        has_points = series.str.contains(".", literal=True).any()
        if with_points.null_count() < number.null_count() and not has_points:
            number = with_points
        text = series.str.strip_chars().str.to_lowercase()
        is_text = number.is_null() & ~text.is_in(_MISSING)
        rules.append((series, is_text, "must be a number"))
    rule = f"must be finite and at most {LARGEST_NUMBER:g} in absolute value"
    rules.append((series, number.abs() > LARGEST_NUMBER, rule))
    return number


def _broken_rules(names: pl.Series, rules: list[_Rule]) -> dict[str, SkippedSequence]:
    """Return the sequences that violate a rule, with the first such row of each."""
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


def _sequence(name: str, part: pl.DataFrame, repeated: str) -> TableSequence:
    written = pl.Series(np.arange(part.height))
    position = written.to_numpy().astype(np.float64)
    if "position" in part.columns:
        # Rows may be in any order.
        part = part.sort("position", maintain_order=True)
        if repeated == "mean" and part["position"].is_duplicated().any():
            part = _averaged(part)
        position, written = part["position"].to_numpy(), part["written"]
        if repeated == "keep":
            position = _spread(position)
    weight = part["weight"].to_numpy() if "weight" in part.columns else None
    value = part["value"].fill_null(float("nan")).to_numpy()
    return TableSequence(name, value, position, written, weight)


def _averaged(part: pl.DataFrame) -> pl.DataFrame:
    """Replace observations at the same position by their mean, with the total weight."""
    weight = pl.col("weight") if "weight" in part.columns else pl.lit(1.0)
    used = part.with_columns(used=weight * pl.col("value").is_not_null())
    total = pl.col("used").sum()
    return used.group_by("position", maintain_order=True).agg(
        value=((pl.col("used") * pl.col("value")).sum() / total).fill_nan(None),
        written=pl.col("written").first(),
        # The weight of a position without values is not used, but must be positive.
        weight=pl.when(total > 0).then(total).otherwise(1.0),
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
        notes += (f"number of missing values, which have weight 0: {n_missing:,}.",)
    return notes


def _with_filled_gaps(rows: pl.DataFrame, fill: float) -> pl.DataFrame:
    """Add a run for each gap between the runs of a sequence."""
    start = pl.col("start").cast(pl.Float64, strict=False)
    before = pl.col("before").cast(pl.Float64, strict=False)
    runs = rows.sort(start).with_columns(before=pl.col("end").shift().over("sequence"))
    value = pl.lit(fill).cast(rows["value"].dtype)
    gaps = runs.filter(before < start).select("sequence", start="before", end="start", value=value)
    return pl.concat([rows, gaps])

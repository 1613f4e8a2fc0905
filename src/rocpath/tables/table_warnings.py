"""Warnings about tables: reasons to doubt the results of a fit or an evaluation."""

from typing import Any, NamedTuple, Self

_MESSAGES = {
    "leak": "column {!r}: {note}",
    "copies": "{count:,} of {n_rows:,} rows are copies of others: identical rows are kept in one "
    "fold and count as one in standard errors",
    "near copies": "{count:,} of {n_rows:,} rows equal others in all columns but {names}: they are "
    "kept in one fold and count as one in standard errors",
    "groups": "column {!r} looks like a repeated identifier ({count:,} values in "
    "{n_rows:,} rows{reason}): rows with the same value may not be independent, and the AUC for "
    "new values may be lower; evaluate by group",
    "time": "the share of positives changes with column {!r}: if the model is used on later "
    "rows, evaluate it forward in time",
    "drift": "with column {!r}, models of earlier rows rank later rows with an AUC of {past:.3f}, "
    "and models of rows of all times with {mixed:.3f}: evaluate forward in time",
    "trend": "the AUC changes from {first:.3f} to {last:.3f} over {n_windows} time windows "
    "(p = {p_value:.2g}): newer rows may differ further",
    "perfect": "the AUC of {area:.3f} is nearly perfect; it rests on {names}: drop columns that "
    "are known only after the label",
    "few rows": "one class has only {count} rows, too few to estimate an AUC",
    "labels": "column {!r} has more than two labels: {counts} count as negative; drop these rows "
    "if they are not",
    "unseen": "{note}",
    "unlabeled": "{count:,} of {n_rows:,} rows have no label and are skipped",
    "training rows": "{count:,} of {n_rows:,} test rows are copies of training rows: the AUC on "
    "new rows may be lower",
}


class TableWarning(NamedTuple):
    """Reason to doubt the results, and the columns concerned.

    ``kind`` is ``"leak"``, ``"perfect"``, ``"copies"``, ``"near copies"``,
    ``"groups"``, ``"time"``, ``"drift"``, ``"trend"``, ``"few rows"``, ``"labels"``,
    ``"unlabeled"``, ``"training rows"`` or ``"unseen"``.
    """

    kind: str
    message: str
    columns: tuple[str, ...] = ()

    @classmethod
    def from_kind(cls, kind: str, *columns: str, **values: Any) -> Self:
        """Return a warning of a kind, with values inserted into its message."""
        return cls(kind, _MESSAGES[kind].format(*columns, **values), columns)

"""The labels of a table: two kinds, of which one is to rank high."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rocpath.tables.columns import column, complete, is_plain, listed, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class KnownLabels:
    """Both kinds of labels by their text, and how many rows have them."""

    column: str
    positive: str
    negative: str
    n_positive: int
    n_negative: int

    @property
    def counted(self) -> str:
        """How many rows are of either kind, for the title of a table."""
        return (
            f"{self.n_positive:,} rows of {self.positive!r} (positive), "
            f"{self.n_negative:,} of {self.negative!r}"
        )

    @property
    def summary(self) -> dict[str, str | int]:
        """The two kinds and how many rows they have, as results write them down."""
        names = ("positive", "negative", "n_positive", "n_negative")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True, eq=False)
class BinaryLabel(KnownLabels):
    """Labels of two kinds, row by row."""

    is_positive: NDArray[np.bool_]

    @classmethod
    def of(
        cls, column: str, positive: str, negative: str, is_positive: NDArray[np.bool_]
    ) -> BinaryLabel:
        """Count the rows."""
        n_positive = int(is_positive.sum())
        n_negative = is_positive.size - n_positive
        return cls(column, positive, negative, n_positive, n_negative, is_positive)


def binary_label(table: pl.DataFrame, name: str, positive: str | None) -> BinaryLabel:
    """Find the two kinds of labels; more than two need the positive one named."""
    text = label_text(column(table, name, "label"))
    values = text.unique().sort().to_list()
    positive, negative = label_kinds(name, values, positive)
    return BinaryLabel.of(name, positive, negative, (text == positive).to_numpy())


def label_kinds(
    name: str, values: Sequence[str], positive: str | None
) -> tuple[str, str]:
    """Return the positive label and the other, of sorted values, or raise."""
    if len(values) < 2:
        raise ValueError(
            f"label column {name!r} has only the value {values[0]!r}: two are needed."
        )
    if positive is None:
        if len(values) > 2:
            raise ValueError(
                f"label column {name!r} has {len(values)} values ({listed(values)}): "
                "name one with --positive."
            )
        # The last in the alphabet, as scikit-learn has it: 1 of 0 and 1, yes of no
        # and yes.
        positive = values[1]
    elif positive not in values:
        raise ValueError(
            f"label column {name!r} has no value {positive!r}: name one of "
            f"{listed(values)} with --positive."
        )
    others = [value for value in values if value != positive]
    # A rest of several kinds has one name, which `known_label` knows again.
    return positive, others[0] if len(others) == 1 else f"not {positive}"


def known_label(
    table: pl.DataFrame, name: str, positive: str, negative: str
) -> BinaryLabel:
    """Read labels of which a model knows the two kinds, and find both."""
    is_positive = known_positives(table, name, positive, negative)
    if is_positive.all() or not is_positive.any():
        only = positive if is_positive.all() else negative
        raise ValueError(
            f"label column {name!r} has only the value {only!r}: two are needed."
        )
    return BinaryLabel.of(name, positive, negative, is_positive)


def known_positives(
    table: pl.DataFrame, name: str, positive: str, negative: str
) -> NDArray[np.bool_]:
    """Tell which rows are positive, or raise if one is of neither kind."""
    text = label_text(column(table, name, "label"))
    is_positive = (text == positive).to_numpy()
    # The rest of several kinds may hold any; of two kinds a third is a mistake, and
    # counted as negative it would be a wrong AUC.
    if negative != f"not {positive}":
        is_strange = ~is_positive & (text != negative).to_numpy()
        if is_strange.any():
            row = int(is_strange.argmax())
            raise ValueError(
                f"label column {name!r} has {text[row]!r} in row {row + 1}; the model "
                f"knows {negative!r} and {positive!r}."
            )
    return np.asarray(is_positive)


def label_text(series: pl.Series) -> pl.Series:
    """Return labels as text, or raise."""
    if not is_plain(series):
        raise ValueError(
            f"label column {series.name!r} must be text, numbers or booleans, got "
            f"{series.dtype}."
        )
    return complete(text_of(series), "label column")

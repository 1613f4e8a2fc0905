"""Binary labels of a table."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rocpath.files.columns import complete, is_plain, text_of
from rocpath.files.table_names import listed


@dataclass(frozen=True, slots=True, eq=False)
class LabelColumn:
    """Column of labels, names of both classes as text, and their numbers of rows.

    ``values`` are the negative and the positive label if they are numbers or booleans,
    and ``others`` are the numbers of rows of labels that are merged as negative.
    """

    column: str
    positive: str
    negative: str
    n_positive: int
    n_negative: int
    values: NDArray[Any] | None = None
    others: Mapping[str, int] = field(default_factory=dict)

    @property
    def counted(self) -> str:
        """Numbers of rows of both classes, for the title of a table."""
        return (
            f"{self.n_positive:,} rows of {self.positive!r} (positive), "
            f"{self.n_negative:,} of {self.negative!r}"
        )

    @property
    def summary(self) -> dict[str, str | int]:
        """Classes and their numbers of rows, for JSON."""
        names = ("positive", "negative", "n_positive", "n_negative")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def from_counts(
        cls, column: str, positive: str, negative: str, is_positive: NDArray[np.bool_]
    ) -> Self:
        """Count the rows of both classes."""
        n_positive = int(is_positive.sum())
        return cls(column, positive, negative, n_positive, is_positive.size - n_positive)


def two_classes(series: pl.Series, positive: Any) -> tuple[LabelColumn, NDArray[np.bool_]]:
    """Find the two classes of a label column without missing values.

    With more than two values, ``positive`` is required, and all others are negative.
    Returns the classes, and which rows are positive.
    """
    text, name = label_text(series), f"label column {series.name!r}"
    values = text.unique().sort().to_list()
    if len(values) < 2:
        shown = f"only the value {values[0]!r}" if values else "no value"
        raise ValueError(f"{name} has {shown}: two are required.")
    if positive is None and len(values) > 2:
        raise ValueError(
            f"{name} has {len(values)} values ({listed(values)}): specify the positive one."
        )
    # The second in sorted order, as in scikit-learn: 1 of 0 and 1, or yes of no and yes.
    positive = values[1] if positive is None else str(positive)
    if positive not in values:
        raise ValueError(
            f"{name} has no value {positive!r}: the positive label must be one of {listed(values)}."
        )
    others = [value for value in values if value != positive]
    # Several negative values share one name, which `known_positives` recognizes.
    negative = others[0] if len(others) == 1 else f"not {positive}"
    is_positive = np.asarray((text == positive).to_numpy())
    label = LabelColumn.from_counts(series.name, positive, negative, is_positive)
    if len(others) > 1:
        counts = {value: int((text == value).sum()) for value in others}
        return replace(label, others=counts), is_positive
    if series.dtype.is_numeric() or series.dtype == pl.Boolean:
        ends = series.filter(text == negative)[:1], series.filter(text == positive)[:1]
        label = replace(label, values=pl.concat(ends).to_numpy())
    return label, is_positive


def labels_of_classes(
    series: pl.Series, positive: str, negative: str
) -> tuple[LabelColumn, NDArray[np.bool_]]:
    """Read labels of the two classes of a model; both must occur."""
    is_positive = known_positives(series, positive, negative)
    if is_positive.all() or not is_positive.any():
        only = positive if is_positive.all() else negative
        raise ValueError(
            f"label column {series.name!r} has only the value {only!r}: two are required."
        )
    return LabelColumn.from_counts(series.name, positive, negative, is_positive), is_positive


def known_positives(series: pl.Series, positive: str, negative: str) -> NDArray[np.bool_]:
    """Return which rows are positive, or raise if a row belongs to neither class."""
    text = label_text(series)
    is_positive = (text == positive).to_numpy()
    # "not {positive}" includes any other value. With two classes, a third value is a
    # mistake: counted as negative, it would give a wrong AUC.
    if negative != f"not {positive}":
        is_unknown = ~is_positive & (text != negative).to_numpy()
        if is_unknown.any():
            row = int(is_unknown.argmax())
            raise ValueError(
                f"label column {series.name!r} has {text[row]!r} in row {row + 1}; the "
                f"classes of the model are {negative!r} and {positive!r}."
            )
    return np.asarray(is_positive)


def label_text(series: pl.Series) -> pl.Series:
    """Return labels as text, or raise if they are missing or not scalars."""
    if not is_plain(series):
        raise ValueError(
            f"label column {series.name!r} must be text, numbers or booleans, got {series.dtype}."
        )
    return complete(text_of(series), "label column")

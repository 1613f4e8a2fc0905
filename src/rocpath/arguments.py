"""Checks of arguments: each error names the argument, the rule and the value got."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def finite_vector(
    name: str, values: ArrayLike, *, copy: bool = True
) -> NDArray[np.float64]:
    """Return a read-only float64 vector, or raise if it is not finite."""
    try:
        vector = np.array(values, dtype=np.float64, order="C", copy=copy or None)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be numbers, got {describe(values)}.") from error
    if vector.ndim != 1:
        raise ValueError(
            f"{name} must be one-dimensional, got an array of shape {vector.shape}."
        )
    is_finite = np.isfinite(vector)
    if not is_finite.all():
        worst = is_finite.argmin()
        raise ValueError(
            f"{name} must be finite, got {vector[worst]} at index {worst}."
        )
    vector = vector[:]
    vector.setflags(write=False)
    return vector


def same_length(**columns: NDArray[Any]) -> None:
    """Raise unless all have one length."""
    if len({column.size for column in columns.values()}) > 1:
        sizes = ", ".join(f"{name} {column.size}" for name, column in columns.items())
        raise ValueError(
            f"{' and '.join(columns)} must have the same length, got {sizes}."
        )


def set_fields(frozen: object, **values: object) -> None:
    """Set the fields of a frozen dataclass while it is being made."""
    for name, value in values.items():
        object.__setattr__(frozen, name, value)


def describe(values: object) -> str:
    """Return a short form for a message."""
    text = repr(values)
    return text if len(text) <= 60 else f"{text[:57]}..."


def finite_number(name: str, number: object) -> float:
    """Return a finite float, or raise."""
    if isinstance(number, bool) or not isinstance(number, (int, float, np.number)):
        raise TypeError(f"{name} must be a number, got {describe(number)}.")
    if not np.isfinite(number):
        raise ValueError(f"{name} must be finite, got {number}.")
    return float(number)


def whole_numbers(name: str, values: ArrayLike) -> NDArray[np.int64]:
    """Return a read-only int64 vector, or raise."""
    vector = finite_vector(name, values)
    integers = vector.astype(np.int64)
    if (integers != vector).any():
        worst = (integers != vector).argmax()
        raise ValueError(
            f"{name} must be whole numbers, got {vector[worst]} at index {worst}."
        )
    integers.setflags(write=False)
    return integers


def one_of(name: str, got: str, choices: tuple[str, ...]) -> str:
    """Return the choice, or raise if it is none."""
    if got not in choices:
        listed = " or ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be {listed}, got {got!r}.")
    return got

"""Checks of arguments: each error names the argument, the rule and the value got."""

from __future__ import annotations

import numbers
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

import rocpath._core as _core

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Number = TypeVar("Number", bound=np.generic)

# Thresholds and slopes below this, and jumps whose sizes sum to less, keep every
# product of them within float64.
LARGEST_VALUE = 1e200
LARGEST_JUMPS = 1e100


def finite_vector(
    name: str, values: ArrayLike, *, copy: bool = True
) -> NDArray[np.float64]:
    """Return a read-only float64 vector, or raise if it is not finite."""
    refuse_masked(name, values)
    given = np.asarray(values)
    # Fractions and integers beyond 64 bits arrive as objects.
    is_real = given.dtype.kind in "buif" or (
        given.dtype.kind == "O"
        and all(isinstance(value, numbers.Real) for value in given.flat)
    )
    if not is_real:
        raise TypeError(f"{name} must be real numbers, got {describe(values)}.")
    if given.ndim != 1:
        raise ValueError(
            f"{name} must be one-dimensional, got an array of shape {given.shape}."
        )
    try:
        vector = np.array(given, dtype=np.float64, order="C", copy=copy or None)
    except OverflowError:
        raise ValueError(
            f"{name} must be below {LARGEST_VALUE:g} in size, got {describe(values)}."
        ) from None
    # NaN fails this comparison too. One pass: predictions of a million rows come
    # through here at every step.
    if not _core.largest_size(vector) < LARGEST_VALUE:
        rule = f"{name} must be finite and below {LARGEST_VALUE:g} in size"
        refuse_any(~(np.abs(vector) < LARGEST_VALUE), rule, vector)
    # A view: the caller's own array, where it was not copied, stays writable.
    return read_only(vector[:])


def refuse_masked(name: str, values: object) -> None:
    """Raise if values are masked, which numpy and scikit-learn take as they are."""
    if np.ma.is_masked(values):
        raise ValueError(f"{name} must have no masked values, got a masked array.")


def whole_numbers(name: str, values: ArrayLike) -> NDArray[np.int64]:
    """Return a read-only int64 vector, or raise."""
    vector = finite_vector(name, values)
    # Beyond, float64 skips whole numbers, and one that was rounded would pass as
    # itself.
    refuse_any(np.abs(vector) > 2.0**53, f"{name} must be below 2**53", vector)
    integers = vector.astype(np.int64)
    refuse_any(integers != vector, f"{name} must be whole numbers", vector)
    return read_only(integers)


def finite_number(name: str, number: object) -> float:
    """Return a finite float, or raise."""
    value = _real_number(name, number)
    if not abs(value) < LARGEST_VALUE:
        raise ValueError(
            f"{name} must be finite and below {LARGEST_VALUE:g} in size, got {value}."
        )
    return value


def nonnegative_number(name: str, number: object) -> float:
    """Return a non-negative float, possibly infinite, or raise."""
    value = _real_number(name, number)
    if not value >= 0:
        raise ValueError(f"{name} must be non-negative, got {value}.")
    return value


def share_between(name: str, number: object) -> float:
    """Return a float above 0 and below 1, or raise."""
    value = finite_number(name, number)
    if not 0 < value < 1:
        raise ValueError(f"{name} must be above 0 and below 1, got {value}.")
    return value


def whole_number(name: str, number: object, *, least: int) -> int:
    """Return an integer that is at least ``least``, or raise."""
    value = _real_number(name, number)
    if not np.isfinite(value) or int(value) != value or value < least:
        raise ValueError(
            f"{name} must be an integer of at least {least}, got {number}."
        )
    return int(value)


def one_of(name: str, got: Any, choices: tuple[str | None, ...]) -> Any:
    """Return the choice, or raise if it is none."""
    if not (got is None or isinstance(got, str)) or got not in choices:
        listed = " or ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be {listed}, got {describe(got)}.")
    return got


def same_length(**columns: NDArray[Any]) -> None:
    """Raise unless all have one length."""
    if len({column.size for column in columns.values()}) > 1:
        sizes = ", ".join(f"{name} {column.size}" for name, column in columns.items())
        raise ValueError(
            f"{' and '.join(columns)} must have the same length, got {sizes}."
        )


def check_count(rule: str, n_given: int, n_needed: int, of: str) -> None:
    """Raise unless as many are given as needed; the rule says of what."""
    if n_given != n_needed:
        raise ValueError(f"{rule} for each of the {n_needed} {of}, got {n_given}.")


def refuse_any(
    is_bad: NDArray[np.bool_], rule: str, values: NDArray[Any], *, offset: int = 0
) -> None:
    """Raise with the rule and the first value that breaks it, counted from offset."""
    if is_bad.any():
        first = int(is_bad.argmax())
        raise ValueError(f"{rule}, got {values[first]} at index {offset + first}.")


def check_increase(
    rule: str, position: NDArray[np.float64], *, after: float = -np.inf, offset: int = 0
) -> None:
    """Raise unless positions, counted from offset, increase from the one before."""
    before = np.concatenate(([after], position[:-1]))
    # NaN fails this comparison too.
    is_good = (position > before) & np.isfinite(position)
    if not is_good.all():
        worst = int(is_good.argmin())
        raise ValueError(
            f"{rule}, got {position[worst]} at index {offset + worst} after "
            f"{before[worst]}."
        )


def set_fields(frozen: object, **values: object) -> None:
    """Set the fields of a frozen dataclass while it is being made."""
    for name, value in values.items():
        object.__setattr__(frozen, name, value)


def read_only(array: NDArray[Number]) -> NDArray[Number]:
    """Return the array itself, made read-only."""
    array.setflags(write=False)
    return array


def describe(values: object) -> str:
    """Return a short form for a message."""
    text = repr(values)
    return text if len(text) <= 60 else f"{text[:57]}..."


def available_memory() -> int:
    """Return the bytes of memory that a result may take."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    # Other systems do not tell without another package; 8 GB is an ordinary machine.
    return 2**33


def _real_number(name: str, number: object) -> float:
    # True is 1 to Python, but as a tolerance or a count it is a mistake.
    is_bool = isinstance(number, (bool, np.bool_))
    if is_bool or not isinstance(number, (numbers.Real, np.number)):
        raise TypeError(f"{name} must be a number, got {describe(number)}.")
    try:
        return float(number)
    except OverflowError:
        # An integer beyond float64: the caller's rule is to judge it, and report it as
        # infinite.
        return float("-inf") if str(number).startswith("-") else float("inf")

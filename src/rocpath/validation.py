"""Argument validation: errors name the argument, the rule and the value received."""

import numbers
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

import rocpath._core as _core

Number = TypeVar("Number", bound=np.generic)
# Short name for signatures with several arrays, which may have any shape.
Floats: TypeAlias = NDArray[np.float64]

# Bound on thresholds and slopes that keeps their products in the range of float64.
LARGEST_VALUE = 1e200


def finite_vector(name: str, values: ArrayLike, *, copy: bool = True) -> Floats:
    """Return a finite read-only float64 vector, or raise."""
    check_masked(name, values)
    given = np.asarray(values)
    # Arrays of fractions and of integers beyond 64 bits have dtype object.
    is_real = given.dtype.kind in "buif" or (
        given.dtype.kind == "O" and all(isinstance(value, numbers.Real) for value in given.flat)
    )
    if not is_real:
        raise TypeError(f"{name} must be real numbers, got {describe(values)}.")
    if given.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got an array of shape {given.shape}.")
    try:
        vector = np.array(given, dtype=np.float64, order="C", copy=copy or None)
    except OverflowError:
        raise ValueError(
            f"{name} must be below {LARGEST_VALUE:g} in absolute value, got {describe(values)}."
        ) from None
    # NaN fails this comparison too. It takes a single pass, since a descent checks its
    # predictions at every step.
    if not _core.largest_size(vector) < LARGEST_VALUE:
        rule = f"{name} must be finite and below {LARGEST_VALUE:g} in absolute value"
        check_none(~(np.abs(vector) < LARGEST_VALUE), rule, vector)
    if given.dtype.kind in "iu" and given.dtype.itemsize == 8:
        check_exact(name, given, vector)
    elif given.dtype.kind == "O" or given.dtype.itemsize > 8:
        check_distinct(name, given, vector)
    # Freeze a view, so that the caller's own array remains writable if it was not copied.
    return read_only(vector[:])


def check_exact(name: str, integers: NDArray[Any], vector: Floats) -> None:
    """Raise if float64 would round an integer, which could create ties."""
    is_large = np.abs(vector) >= 2**53
    rounded = [value for value in integers[is_large].tolist() if int(float(value)) != value]
    if rounded:
        raise ValueError(
            f"{name} must be exact in float64, such as integers of at most 2**53 in absolute "
            f"value, got {rounded[0]}. Subtract a constant, or use ranks."
        )


def check_distinct(name: str, given: NDArray[Any], vector: Floats) -> None:
    """Raise if float64 would make different numbers equal: fractions or long doubles."""
    order = np.argsort(vector, kind="stable")
    is_tied = np.diff(vector[order]) == 0
    lost = np.flatnonzero(is_tied & (given[order[1:]] != given[order[:-1]]))
    if lost.size:
        raise ValueError(
            f"{name} must be distinct in float64 if they are different, got "
            f"{describe(given[order[lost[0]]])} and {describe(given[order[lost[0] + 1]])}. "
            "Subtract a constant, or use ranks."
        )


def check_masked(name: str, values: object) -> None:
    """Raise if values are masked or lazy, which NumPy would silently convert."""
    if np.ma.is_masked(values):
        raise ValueError(f"{name} must have no masked values, got a masked array.")
    if hasattr(values, "__dask_graph__"):
        raise TypeError(
            f"{name} must be in memory, got a Dask {type(values).__name__.lower()}: use the "
            "function of rocpath.dask, or call compute()."
        )


def whole_numbers(name: str, values: ArrayLike) -> NDArray[np.int64]:
    """Return a read-only int64 vector, or raise."""
    vector = finite_vector(name, values)
    # Beyond 2**53, float64 does not represent all integers, and a rounded one would pass.
    check_none(np.abs(vector) > 2.0**53, f"{name} must be below 2**53", vector)
    integers = vector.astype(np.int64)
    check_none(integers != vector, f"{name} must be integers", vector)
    return read_only(integers)


def finite_number(name: str, number: object) -> float:
    """Return a finite float, or raise."""
    value = _real_number(name, number)
    if not abs(value) < LARGEST_VALUE:
        raise ValueError(
            f"{name} must be finite and below {LARGEST_VALUE:g} in absolute value, got {value}."
        )
    return value


def nonnegative_number(name: str, number: object) -> float:
    """Return a non-negative float, possibly infinite, or raise."""
    value = _real_number(name, number)
    if not value >= 0:
        raise ValueError(f"{name} must be non-negative, got {value}.")
    return value


def share_between(name: str, number: object) -> float:
    """Return a float in (0, 1), or raise."""
    value = finite_number(name, number)
    if not 0 < value < 1:
        raise ValueError(f"{name} must be in (0, 1), got {value}.")
    return value


def whole_number(name: str, number: object, *, least: int) -> int:
    """Return an integer that is at least ``least``, or raise."""
    value = _real_number(name, number)
    if not np.isfinite(value) or int(value) != value or value < least:
        raise ValueError(f"{name} must be an integer of at least {least}, got {number}.")
    return int(value)


def one_of(name: str, got: Any, choices: tuple[str | None, ...]) -> Any:
    """Return one of the choices, or raise."""
    if not (got is None or isinstance(got, str)) or got not in choices:
        listed = " or ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be {listed}, got {describe(got)}.")
    return got


def same_length(**columns: NDArray[Any]) -> None:
    """Raise unless all columns have the same length."""
    if len({column.size for column in columns.values()}) > 1:
        sizes = ", ".join(f"{name} {column.size}" for name, column in columns.items())
        raise ValueError(f"{' and '.join(columns)} must have the same length, got {sizes}.")


def check_count(rule: str, n_given: int, n_needed: int, of: str) -> None:
    """Raise unless ``n_given`` equals ``n_needed``; ``rule`` begins the message."""
    if n_given != n_needed:
        raise ValueError(f"{rule} for each of the {n_needed} {of}, got {n_given}.")


def check_none(is_bad: NDArray[np.bool_], rule: str, values: NDArray[Any]) -> None:
    """Raise with the rule and the first value that violates it."""
    if is_bad.any():
        first = int(is_bad.argmax())
        raise ValueError(f"{rule}, got {values[first]} at index {first}.")


def check_increase(rule: str, position: Floats) -> None:
    """Raise unless positions are finite and strictly increasing."""
    before = np.concatenate(([-np.inf], position[:-1]))
    # NaN fails this comparison too.
    is_good = (position > before) & np.isfinite(position)
    if not is_good.all():
        worst = int(is_good.argmin())
        raise ValueError(f"{rule}, got {position[worst]} at index {worst} after {before[worst]}.")


def set_fields(frozen: object, **values: object) -> None:
    """Set the fields of a frozen dataclass in its constructor."""
    for name, value in values.items():
        object.__setattr__(frozen, name, value)


def read_only(array: NDArray[Number]) -> NDArray[Number]:
    """Return the array itself, made read-only."""
    array.setflags(write=False)
    return array


def freeze_arrays(frozen: Any) -> None:
    """Make the array fields of a frozen dataclass read-only, without affecting other views."""
    for one in fields(frozen):
        value = getattr(frozen, one.name)
        if isinstance(value, np.ndarray) and value.flags.writeable:
            set_fields(frozen, **{one.name: read_only(value[:])})


def reconstruction(frozen: Any) -> tuple[Any, ...]:
    """Return what copies or unpickles a dataclass through its constructor."""
    values = {one.name: getattr(frozen, one.name) for one in fields(frozen)}
    constructor: Callable[..., Any] = type(frozen)
    return partial(constructor, **values), ()


def describe(values: object) -> str:
    """Return a short representation for a message."""
    text = repr(values)
    return text if len(text) <= 60 else f"{text[:57]}..."


def rate_up_to_one(name: str, rate: float | None) -> float:
    """Return a rate in (0, 1], by default 1, or raise."""
    value = 1.0 if rate is None else finite_number(name, rate)
    if not 0 < value <= 1:
        raise ValueError(f"{name} must be in (0, 1], got {value}.")
    return value


def region_border(max_fpr: float | None) -> float | None:
    """Return ``max_fpr`` if it is below 1, or None for the full AUC."""
    value = rate_up_to_one("max_fpr", max_fpr)
    return value if value < 1 else None


def _real_number(name: str, number: object) -> float:
    # True equals 1, but as a tolerance or a count it is a mistake.
    is_bool = isinstance(number, (bool, np.bool_))
    if is_bool or not isinstance(number, (numbers.Real, np.number)):
        raise TypeError(f"{name} must be a number, got {describe(number)}.")
    try:
        return float(number)
    except OverflowError:
        # An integer too large for float64 is treated as infinite by the caller.
        return float("-inf") if str(number).startswith("-") else float("inf")

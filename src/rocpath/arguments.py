"""Argument validation: errors name the argument, the rule and the value received."""

import numbers
import re
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

import rocpath._core as _core

Number = TypeVar("Number", bound=np.generic)
# Short name for signatures with several arrays, which may have any shape.
Floats: TypeAlias = NDArray[np.float64]

# Bounds on thresholds and slopes, and on the sum of jumps, that keep their products in
# the range of float64.
LARGEST_VALUE = 1e200
LARGEST_JUMPS = 1e100


def finite_vector(name: str, values: ArrayLike, *, copy: bool = True) -> Floats:
    """Return a finite read-only float64 vector, or raise."""
    refuse_masked(name, values)
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
        refuse_any(~(np.abs(vector) < LARGEST_VALUE), rule, vector)
    if given.dtype.kind in "iu" and given.dtype.itemsize == 8:
        refuse_rounded(name, given, vector)
    # Freeze a view, so that the caller's own array remains writable if it was not copied.
    return read_only(vector[:])


def refuse_rounded(name: str, integers: NDArray[Any], vector: Floats) -> None:
    """Raise if float64 would round an integer, which could create ties."""
    is_large = np.abs(vector) >= 2**53
    rounded = [value for value in integers[is_large].tolist() if int(float(value)) != value]
    if rounded:
        raise ValueError(
            f"{name} must be exact in float64, such as integers of at most 2**53 in absolute "
            f"value, got {rounded[0]}. Subtract a constant, or use ranks."
        )


def refuse_masked(name: str, values: object) -> None:
    """Raise if values are masked or lazy, which NumPy would silently convert."""
    if np.ma.is_masked(values):
        raise ValueError(f"{name} must have no masked values, got a masked array.")
    if hasattr(values, "__dask_graph__"):
        raise TypeError(
            f"{name} must be in memory, got a Dask {type(values).__name__.lower()}: use auc, "
            "auc_interval, compare_auc, choose_threshold, minimize_aum or AUCClassifier of "
            "rocpath.dask, or call compute()."
        )


def whole_numbers(name: str, values: ArrayLike) -> NDArray[np.int64]:
    """Return a read-only int64 vector, or raise."""
    vector = finite_vector(name, values)
    # Beyond 2**53, float64 does not represent all integers, and a rounded one would pass.
    refuse_any(np.abs(vector) > 2.0**53, f"{name} must be below 2**53", vector)
    integers = vector.astype(np.int64)
    refuse_any(integers != vector, f"{name} must be integers", vector)
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


def refuse_any(is_bad: NDArray[np.bool_], rule: str, values: NDArray[Any]) -> None:
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


def describe(values: object) -> str:
    """Return a short representation for a message."""
    text = repr(values)
    return text if len(text) <= 60 else f"{text[:57]}..."


def available_memory() -> int:
    """Return the number of bytes of memory that a result may occupy."""
    with suppress(ImportError):
        import psutil  # type: ignore[import-untyped, unused-ignore]

        return int(psutil.virtual_memory().available)
    with suppress(OSError):
        found = re.search(r"MemAvailable: +(\d+) kB", Path("/proc/meminfo").read_text())
        if found is not None:
            return int(found[1]) * 1024
    # Other systems require psutil; without it, assume 8 GB.
    return 2**33


def multiples_and_total(diff: Floats, total: float | None) -> tuple[NDArray[np.int64], int]:
    """Return jumps and their divisor as integer multiples of one unit."""
    if total is None:
        count, _ = _core.in_units(diff)
        return count, int(count.sum())
    # The total is usually a multiple of the unit of the jumps.
    count, _ = _core.in_units(np.append(diff, total))
    return read_only(count[:-1]), int(count[-1])


def unit_multiples(name: str, diff: Floats) -> tuple[NDArray[np.int64], float]:
    """Return jumps as integer multiples of a unit, or raise if precision is lost."""
    size = np.abs(diff)
    total = size.sum()
    if not total < LARGEST_JUMPS:
        raise ValueError(
            f"{name} must sum to less than {LARGEST_JUMPS:g} in absolute value, got {total}."
        )
    count, unit = _core.in_units(diff)
    # A jump of fewer than 2**20 units would keep at most six digits after rounding.
    is_lost = (np.abs(count) < 2**20) & (count * unit != diff)
    if is_lost.any():
        worst = is_lost.argmax()
        raise ValueError(
            f"{name} has too large a dynamic range: {diff[worst]} at index {worst} is "
            f"lost in a sum of {total}. Remove the entry or make it larger."
        )
    return count, unit


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


def refuse_one_class(classes: NDArray[Any]) -> None:
    """Raise unless the rows with a positive weight have at least two classes."""
    if classes.size < 2:
        raise ValueError(
            "y must have at least two classes with a positive weight, got one class: "
            f"{describe(classes.tolist())}."
        )


def group_numbers(groups: ArrayLike | None, n_rows: int) -> NDArray[np.intp] | None:
    """Return an integer code for the group of each row, None without groups, or raise."""
    if groups is None:
        return None
    labels = label_vector("groups", groups, rule="must not have missing values")
    check_count("groups must have one entry", labels.size, n_rows, "rows")
    return np.unique(labels, return_inverse=True)[1]


def row_weights(sample_weight: ArrayLike | None, n_rows: int) -> Floats:
    """Return the weight of every row, 1 by default, or raise if all are zero."""
    if sample_weight is None:
        return np.ones(n_rows)
    weight = finite_vector("sample_weight", sample_weight)
    check_count("sample_weight must have one entry", weight.size, n_rows, "rows")
    refuse_any(weight < 0, "sample_weight must not be negative", weight)
    if not weight.any():
        raise ValueError("sample_weight must have a positive entry, got only zeros.")
    return weight


def label_weights(is_positive: NDArray[np.bool_], sample_weight: ArrayLike | None) -> Floats:
    """Return the weight of every row, or raise if a class has no weight."""
    weight = row_weights(sample_weight, is_positive.size)
    # Rates divide by these sums.
    for name, members in (("negative", ~is_positive), ("positive", is_positive)):
        if weight[members].sum() <= 0:
            raise ValueError(
                f"sample_weight of the {name} class must sum to a positive number, got 0."
            )
    return weight


def positive_labels(y: ArrayLike, positive: Any = None) -> NDArray[np.bool_]:
    """Return a mask of the positive labels, by default the larger of the two, or raise."""
    labels = label_vector("y", y)
    classes = _distinct(labels)
    check_two_classes(classes)
    if positive is None:
        # As in scikit-learn, 1 is positive if the labels are 0 and 1.
        positive = classes[1]
    elif positive not in classes.tolist():
        raise ValueError(
            f"positive must be one of the labels {describe(classes.tolist())}, got {positive!r}."
        )
    return np.asarray(labels == positive)


def label_vector(
    name: str, labels: ArrayLike, *, rule: str = "must have no missing or infinite values"
) -> NDArray[Any]:
    """Return labels of any type as a vector, or raise if one is missing."""
    refuse_masked(name, labels)
    label = np.asarray(labels)
    if label.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {label.shape}.")
    refuse_any(is_missing(label), f"{name} {rule}", label)
    return label


def is_missing(labels: NDArray[Any]) -> NDArray[np.bool_]:
    """Return a mask of the labels that are missing or not finite."""
    if labels.dtype.kind in "biuSU":
        return np.zeros(labels.shape, dtype=bool)
    if labels.dtype.kind in "fc":
        return np.asarray(~np.isfinite(labels))
    # NaN and NaT differ from themselves.
    return np.array([x is None or x != x for x in labels], dtype=bool)


def check_two_classes(classes: NDArray[Any]) -> None:
    """Raise unless there are exactly two classes."""
    if classes.size != 2:
        raise ValueError(
            f"y must have exactly two classes, got {classes.size}: {describe(classes.tolist())}."
        )


def _distinct(labels: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct labels in increasing order."""
    if labels.size and labels.dtype.kind in "buif":
        # Two distinct numbers are the minimum and the maximum, so no sort is needed.
        ends = np.array([labels.min(), labels.max()])
        if ends[0] != ends[1] and np.all((labels == ends[0]) | (labels == ends[1])):
            return ends
    return np.unique(labels)


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

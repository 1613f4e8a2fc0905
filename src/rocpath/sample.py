"""Labels of rows with their weights, groups, strata and times, validated once."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from rocpath.survival import Survival
from rocpath.validation import (
    Floats,
    check_count,
    check_masked,
    check_none,
    describe,
    finite_vector,
    same_length,
)

Codes = NDArray[np.intp]  # integer codes of groups or strata

# Standard errors from 30 block means have 29 degrees of freedom, and neighbors are
# correlated only over a small part of a block.
_N_TIME_BLOCKS = 30


@dataclass(frozen=True, eq=False)
class Sample:
    """Binary labels, and how the rows were sampled.

    Attributes
    ----------
    is_positive : array of bool
        Label of each row.
    weight : array of float or None
        Weight of each row; None for equal weights.
    group : array of int or None
        Code of the group of each row; rows of a group may depend on each other.
    stratum : array of int or None
        Code of the stratum of each row; only pairs within a stratum are compared.
    time : array of float or None
        Time of each row, for evaluation forward in time.
    copy : array of int or None
        Code shared by identical rows.
    duration : array of float or None
        Time until the event or censoring, if the outcome is a censored time; positives
        are then the rows with an event that counts.
    event : array of bool or None
        Whether the event occurred, if only those until a time count.
    classes : tuple
        Negative and positive label.
    """

    is_positive: NDArray[np.bool_]
    weight: Floats | None = None
    group: Codes | None = None
    stratum: Codes | None = None
    time: Floats | None = None
    copy: Codes | None = None
    duration: Floats | None = None
    event: NDArray[np.bool_] | None = None
    classes: tuple[Any, Any] = (0, 1)

    @classmethod
    def from_outcome(
        cls,
        y: Any,
        *,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        strata: ArrayLike | None = None,
        positive: Any = None,
    ) -> Self:
        """Validate an outcome of any kind: labels, or censored times."""
        censored = Survival.from_outcome(y)
        if censored is None:
            return cls.from_labels(
                y, sample_weight=sample_weight, groups=groups, strata=strata, positive=positive
            )
        if positive is not None:
            raise ValueError(f"positive must be None for censored times, got {positive!r}.")
        n_rows = len(censored)
        weight = None if sample_weight is None else row_weights(sample_weight, n_rows)
        codes = _design_codes(groups, strata, n_rows)
        return cls(censored.event, weight, *codes, duration=censored.time)

    @property
    def has_event(self) -> NDArray[np.bool_]:
        """Whether the event of each row occurred, if the outcome is a censored time."""
        return self.is_positive if self.event is None else self.event

    def until(self, time: float) -> Self:
        """Count only the events until a time; the same sample is returned each time."""
        samples = self.__dict__.setdefault("_until", {})
        if time not in samples:
            counted = self.has_event & (np.asarray(self.duration) <= time)
            samples[time] = self._with_unit(self.unit, is_positive=counted, event=self.has_event)
        return samples[time]  # type: ignore[no-any-return]

    @property
    def outcome(self) -> str:
        """Kind of the outcome: "labels", or "survival" with censored times."""
        return "labels" if self.duration is None else "survival"

    @classmethod
    def from_labels(
        cls,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        strata: ArrayLike | None = None,
        positive: Any = None,
    ) -> Self:
        """Validate labels, weights, groups and strata."""
        is_positive, classes = binary_labels(y, positive)
        weight = None if sample_weight is None else label_weights(is_positive, sample_weight)
        codes = _design_codes(groups, strata, is_positive.size)
        return cls(is_positive, weight, *codes, classes=classes)

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.is_positive.size

    def take(self, rows: NDArray[Any]) -> Self:
        """Select rows; their independent units remain those of the whole sample."""
        columns = ((one.name, getattr(self, one.name)) for one in fields(self))
        taken: dict[str, Any] = {
            name: column[rows] for name, column in columns if isinstance(column, np.ndarray)
        }
        return self._with_unit(None if self.unit is None else self.unit[rows], **taken)

    def reweighted(self, weight: Floats) -> Self:
        """Replace the weights of the rows."""
        return self._with_unit(self.unit, weight=weight)

    def _with_unit(self, unit: Codes | None, **changes: Any) -> Self:
        sample = replace(self, **changes)
        # Otherwise, blocks of times would be those of the selected rows.
        sample.__dict__["unit"] = unit
        return sample

    def scores(self, name: str, given: ArrayLike) -> Floats:
        """Validate scores, and return them as a float64 array."""
        score = finite_vector(name, given, copy=False)
        same_length(**{"y": self.is_positive, name: score})
        return score

    @property
    def weights(self) -> Floats:
        """Weight of each row, 1 without weights."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @cached_property
    def unit(self) -> Codes | None:
        """Code of the independent unit of each row; None if all rows are independent.

        With groups, units are the groups, and groups that share identical rows are one
        unit. With times only, they are blocks of consecutive times, since rows that are
        close in time are rarely independent. Otherwise, they are the distinct rows.
        """
        if self.group is None and self.time is not None:
            return _time_blocks(self.time)
        if self.group is None or self.copy is None:
            return self.copy if self.group is None else self.group
        n_groups, n_copies = int(self.group.max()) + 1, int(self.copy.max()) + 1
        edges = sparse.coo_array(
            (np.ones(self.group.size), (self.group, n_groups + self.copy)),
            shape=(n_groups + n_copies, n_groups + n_copies),
        )
        component = connected_components(edges, directed=False)[1][self.group]
        return np.unique(component, return_inverse=True)[1]

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments ``groups`` and ``sample_weight`` of functions of these rows."""
        return {"groups": self.unit, "sample_weight": self.weight}

    @property
    def units(self) -> Codes:
        """Code of the independent unit of each row; without units, its index."""
        return np.arange(len(self)) if self.unit is None else self.unit

    @cached_property
    def class_weight(self) -> Floats:
        """Total weight of the class of each row."""
        weight = self.weights
        positive, negative = (weight[side].sum() for side in (self.is_positive, ~self.is_positive))
        return np.asarray(np.where(self.is_positive, positive, negative))

    @cached_property
    def balanced_weight(self) -> Floats:
        """Weights that sum to one half in each class."""
        return np.asarray(self.weights / (2.0 * self.class_weight))

    @property
    def n_minority(self) -> int:
        """Number of independent units in the class that has fewer of them."""
        return min(np.unique(self.units[side]).size for _, side in self.class_masks)

    @property
    def class_masks(self) -> Iterator[tuple[str, NDArray[np.bool_]]]:
        """Names of the classes, and masks of their rows, negatives first.

        For censored times, positives are the events that count.
        """
        n_events = int(np.count_nonzero(self.is_positive))
        if self.duration is not None and min(n_events, len(self) - n_events) < 2:
            # The variance of a single row cannot be estimated by itself.
            yield "row", np.ones(len(self), dtype=bool)
            return
        yield from (("negative", ~self.is_positive), ("positive", self.is_positive))

    @cached_property
    def counts(self) -> dict[str, Any]:
        """Numbers of rows and groups, by their names in the results."""
        n_positives = int(np.count_nonzero(self.has_event))
        names = ("positives", "negatives") if self.duration is None else ("events", "censored")
        return {
            f"n_{names[0]}": n_positives,
            f"n_{names[1]}": len(self) - n_positives,
            "n_groups": None if self.unit is None else count_groups(self.unit),
        }

    def squared_influences(self, deviation: Floats) -> list[float]:
        """Sum the squared influences of the positives and of the negatives."""
        weighted = deviation if self.weight is None else self.weight * deviation
        total = np.bincount(self.is_positive, self.weight)
        squares = np.bincount(self.is_positive, weighted**2) / total**2
        return squares[::-1].tolist()  # type: ignore[no-any-return]


def _design_codes(
    groups: ArrayLike | None, strata: ArrayLike | None, n_rows: int
) -> tuple[Codes | None, Codes | None]:
    """Validate groups and strata, and return their codes."""
    group = None if groups is None else group_codes("groups", groups, n_rows, least=2)
    # With one row in each group, rows are independent.
    if group is not None and count_groups(group) == n_rows:
        group = None
    return group, None if strata is None else group_codes("strata", strata, n_rows)


def _time_blocks(time: Floats) -> Codes:
    """Assign rows to blocks of consecutive times with about equal numbers of rows."""
    rank = np.searchsorted(np.sort(time), time)
    block = rank * _N_TIME_BLOCKS // time.size
    return np.unique(block, return_inverse=True)[1]


def group_codes(name: str, labels: ArrayLike, n_rows: int, *, least: int = 1) -> Codes:
    """Encode labels of any type as integers; raise if fewer than ``least`` are distinct."""
    label = label_vector(name, labels, rule="must not have missing values")
    check_count(f"{name} must have one entry", label.size, n_rows, "rows")
    code = _codes(label)
    if count_groups(code) < least:
        only = describe(label[:1].tolist()[0])
        raise ValueError(f"{name} must have at least two different values, got only {only}.")
    return code


def row_groups(groups: ArrayLike | None, n_rows: int) -> Codes | None:
    """Return the code of the group of each row; None without groups."""
    return None if groups is None else group_codes("groups", groups, n_rows)


def count_groups(code: Codes) -> int:
    """Return the number of distinct codes, which need not be consecutive."""
    return int(np.count_nonzero(np.bincount(code)))


def _codes(label: NDArray[Any]) -> Codes:
    """Encode labels as non-negative integers; equal labels have equal codes."""
    if label.dtype.kind in "bui" and label.size:
        low = int(label.min())
        if int(label.max()) - low <= 2 * label.size:
            # Integers without large gaps can serve as codes.
            return np.asarray(label.astype(np.intp) - low)
    elif label.dtype.kind == "O":
        label = label.astype(str)
    return np.asarray(np.unique(label, return_inverse=True)[1])


def row_weights(sample_weight: ArrayLike | None, n_rows: int) -> Floats:
    """Return the weight of every row, 1 by default, or raise if all are zero."""
    if sample_weight is None:
        return np.ones(n_rows)
    weight = finite_vector("sample_weight", sample_weight)
    check_count("sample_weight must have one entry", weight.size, n_rows, "rows")
    check_none(weight < 0, "sample_weight must not be negative", weight)
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
    return binary_labels(y, positive)[0]


def binary_labels(y: ArrayLike, positive: Any = None) -> tuple[NDArray[np.bool_], tuple[Any, Any]]:
    """Return a mask of the positive labels, and the negative and positive label, or raise."""
    labels = label_vector("y", y)
    classes = _distinct(labels)
    check_two_classes(classes)
    names = classes.tolist()
    if positive is None:
        # As in scikit-learn, 1 is positive if the labels are 0 and 1.
        index = 1
    elif positive not in names:
        raise ValueError(f"positive must be one of the labels {describe(names)}, got {positive!r}.")
    else:
        index = names.index(positive)
    return np.asarray(labels == classes[index]), (names[1 - index], names[index])


def label_vector(
    name: str, labels: ArrayLike, *, rule: str = "must have no missing or infinite values"
) -> NDArray[Any]:
    """Return labels of any type as a vector, or raise if one is missing."""
    check_masked(name, labels)
    label = np.asarray(labels)
    if label.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {label.shape}.")
    check_none(is_missing(label), f"{name} {rule}", label)
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


def check_several_classes(classes: NDArray[Any]) -> None:
    """Raise unless the rows with a positive weight have at least two classes."""
    if classes.size < 2:
        raise ValueError(
            "y must have at least two classes with a positive weight, got one class: "
            f"{describe(classes.tolist())}."
        )


def _distinct(labels: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct labels in increasing order."""
    if labels.size and labels.dtype.kind in "buif":
        # Two distinct numbers are the minimum and the maximum, so no sort is needed.
        ends = np.array([labels.min(), labels.max()])
        if ends[0] != ends[1] and np.all((labels == ends[0]) | (labels == ends[1])):
            return ends
    try:
        return np.unique(labels)
    except TypeError:
        types = sorted({type(label).__name__ for label in labels})
        raise TypeError(
            f"labels must be of one type, got {' and '.join(types)}. Convert them first, for "
            "example to strings."
        ) from None

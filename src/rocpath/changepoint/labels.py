"""Labeled regions of a sequence, and the label errors of segmentations."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath.changepoint.segmentation_results import Segmentations
from rocpath.validation import (
    Floats,
    check_count,
    check_increase,
    describe,
    finite_vector,
    read_only,
    same_length,
    set_fields,
    whole_number,
    whole_numbers,
)


class _Kind(NamedTuple):
    """Object that is counted in a region, and the range of correct counts."""

    counts: str
    least: int
    most: float


KINDS = {
    "no_change": _Kind("change", 0, 0),
    "one_change": _Kind("change", 1, 1),
    "at_least_one_change": _Kind("change", 1, np.inf),
    "no_peaks": _Kind("peak", 0, 0),
    "peaks": _Kind("peak", 1, np.inf),
    "peak_start": _Kind("peak_start", 1, 1),
    "peak_end": _Kind("peak_end", 1, 1),
}
# Alternative names, which are used in published sets of labels.
_ALIASES = {
    "no_change": ("normal", "0breakpoints", "0changes", "noChange"),
    "one_change": ("oneChange", "1breakpoint", "1change"),
    "at_least_one_change": ("breakpoint", ">0breakpoints", ">0changes"),
    "no_peaks": ("noPeaks",),
    "peak_start": ("peakStart",),
    "peak_end": ("peakEnd",),
}
_KIND_OF = {alias: kind for kind, aliases in _ALIASES.items() for alias in aliases}
KIND_NAMES = (*KINDS, *_KIND_OF)


def kind_of(name: object, argument: str, row: int) -> str:
    """Return the kind of label with this name or alias, or raise."""
    if not isinstance(name, str) or name not in KIND_NAMES:
        known = ", ".join(KIND_NAMES)
        raise ValueError(f"{argument} must be one of {known}; got {name!r} in row {row}.")
    return _KIND_OF.get(name, name)


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """Labeled regions of one sequence.

    Region i is (start, end]: a change at t, where ``x[t]`` begins a new segment, lies
    in it if start < t <= end. Each label contributes at most one error:

    ===================  =========================  ===================
    kind                 false positive             false negative
    ===================  =========================  ===================
    no_change            any change inside
    one_change           two or more changes        no change inside
    at_least_one_change                             no change inside
    no_peaks             any overlapping peak
    peaks                                           no overlapping peak
    peak_start           two or more peak starts    no peak start inside
    peak_end             two or more peak ends      no peak end inside
    ===================  =========================  ===================

    These aliases are also accepted: ``normal``, ``0breakpoints``, ``0changes`` and
    ``noChange`` for ``no_change``; ``1breakpoint``, ``1change`` and ``oneChange`` for
    ``one_change``; ``breakpoint``, ``>0breakpoints`` and ``>0changes`` for
    ``at_least_one_change``; ``noPeaks``, ``peakStart`` and ``peakEnd``.

    Parameters
    ----------
    start, end : array-like, shape (n_labels,)
        Limits of the regions, which must not overlap: numbers or, if the positions of the
        observations are of this type, ``datetime64``. Without regions, the sequence is
        unlabeled.
    kind : array-like of str, shape (n_labels,)
        Kind of each label, which determines the correct number of changes or peaks.
    sequence : str, optional
        Name of the sequence, for error messages.
    row : array-like of int, shape (n_labels,), optional
        Row number of each label, for error messages; by default its index.

    Examples
    --------
    >>> from rocpath import changepoint as cp
    >>> labels = cp.Labels([0, 4], [4, 8], ["no_change", "one_change"])
    >>> labels.possible_fp, labels.possible_fn
    (2, 1)
    """

    start: Floats
    end: Floats
    kind: tuple[str, ...]
    sequence: str | None = field(default=None, kw_only=True)
    row: NDArray[np.int64] = field(default=None, kw_only=True)  # type: ignore[arg-type]

    if TYPE_CHECKING:

        def __init__(
            self,
            start: ArrayLike,
            end: ArrayLike,
            kind: ArrayLike,
            *,
            sequence: str | None = None,
            row: ArrayLike | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        """Check and freeze the arrays."""
        where = self.where
        start = place_vector(f"start{where}", self.start)
        end = place_vector(f"end{where}", self.end)
        # The dtype is object, because NumPy would otherwise convert numbers to strings.
        kind = tuple(np.asarray(self.kind, dtype=object).ravel().tolist())
        row = whole_numbers("row", np.arange(start.size) if self.row is None else self.row)
        same_length(start=start, end=end, kind=np.empty(len(kind)), row=row)
        kind = tuple(kind_of(name, f"kind{where}", at) for name, at in zip(kind, row, strict=True))
        if not (start < end).all():
            worst = int((start < end).argmin())
            raise ValueError(
                f"start{where} must be below end, got {start[worst]} and {end[worst]} "
                f"in row {row[worst]}."
            )
        # If any labels overlap, two neighbors in this order overlap.
        order = np.argsort(start, kind="stable")
        # Regions are open on the left, so one may start where another ends.
        overlaps = end[order][:-1] > start[order][1:]
        if overlaps.any():
            rank = int(overlaps.argmax())
            first, second = sorted(order[rank : rank + 2].tolist())
            raise ValueError(
                f"labels{where} must not overlap, got ({start[first]}, {end[first]}] "
                f"in row {row[first]} and ({start[second]}, {end[second]}] in row "
                f"{row[second]}."
            )
        set_fields(self, start=start, end=end, kind=kind, row=row)

    def __len__(self) -> int:
        """Return the number of labels."""
        return len(self.kind)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and unpickle through the constructor, so that arrays stay read-only."""
        make = partial(Labels, sequence=self.sequence, row=self.row)
        return make, (self.start, self.end, self.kind)

    @property
    def possible_fp(self) -> int:
        """Number of labels that can have a false positive."""
        return sum(KINDS[kind].most < np.inf for kind in self.kind)

    @property
    def possible_fn(self) -> int:
        """Number of labels that can have a false negative."""
        return sum(KINDS[kind].least > 0 for kind in self.kind)

    @property
    def where(self) -> str:
        """Reference to the sequence in error messages."""
        return "" if self.sequence is None else f" of sequence {self.sequence!r}"


@dataclass(frozen=True, slots=True, eq=False)
class LabelErrors:
    """Label errors of every model of a sequence.

    Attributes
    ----------
    fp, fn : array of int, shape (n_models,)
        Numbers of false positives and false negatives.
    """

    fp: NDArray[np.int64]
    fn: NDArray[np.int64]

    def __len__(self) -> int:
        """Return the number of models."""
        return self.fp.size


def label_errors(
    changes: Segmentations | Sequence[ArrayLike],
    labels: Labels,
    *,
    n: int | None = None,
    position: ArrayLike | None = None,
) -> LabelErrors:
    """Count the label errors of every model.

    For labels of peaks, segments 1, 3, ... are the peaks, as `segment` finds them with
    ``constraint="up_down"``: a peak starts at a change and ends at the next one, or at
    the end of the sequence. It overlaps a region if they have a common point.

    Parameters
    ----------
    changes : Segmentations or list of array-like of int
        Changes of each model: indices from 1 to n - 1 where new segments start.
    labels : Labels
        The labeled regions.
    n : int, optional
        Length of the sequence; not needed with `Segmentations` or ``position``.
    position : array-like, shape (n,), optional
        Increasing positions of the observations in the units of the labels; by default
        their indices. For run-length encoded data, these are the starts of the runs.

    Returns
    -------
    LabelErrors

    Examples
    --------
    >>> from rocpath import changepoint as cp
    >>> models = cp.segment([1, 1, 5, 5, 5, 2], 2)
    >>> labels = cp.Labels([0, 3], [3, 6], ["one_change", "no_change"])
    >>> errors = cp.label_errors(models, labels)
    >>> errors.fp.tolist(), errors.fn.tolist()
    ([0, 0, 1], [1, 0, 0])
    """
    if not isinstance(labels, Labels):
        raise TypeError(f"labels must be Labels, got {type(labels).__name__}.")
    if isinstance(changes, Segmentations):
        n, changes = changes.n, changes.changes
    place = sequence_places(n, position, labels)
    wrong = [_wrong(model, k, place, labels) for k, model in enumerate(changes)]
    fp, fn = np.array(wrong, dtype=np.int64).reshape(len(wrong), 2, len(labels)).sum(axis=2).T
    return LabelErrors(read_only(fp), read_only(fn))


def label_outcomes(changes: ArrayLike, labels: Labels, position: ArrayLike) -> list[str]:
    """Return ``"FP"``, ``"FN"`` or ``""`` for each label, given one model's changes."""
    fp, fn = _wrong(changes, 0, sequence_places(None, position, labels), labels)
    return [str(one) for one in np.select([fp, fn], ["FP", "FN"], "")]


def _wrong(
    changes: ArrayLike, k: int, place: Floats, labels: Labels
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return masks of the labels with a false positive and with a false negative."""
    counts = _counts(place[_checked_changes(changes, k, place.size, labels)], labels)
    kinds = [KINDS[kind] for kind in labels.kind]
    count = np.array([counts[kind.counts][i] for i, kind in enumerate(kinds)])
    least, most = np.array([(kind.least, kind.most) for kind in kinds]).reshape(-1, 2).T
    return count > most, count < least


def _counts(change: Floats, labels: Labels) -> dict[str, NDArray[np.int64]]:
    """Count changes, peak starts, peak ends and overlapping peaks in every region."""
    # The first change is up, so segments 1, 3, ... are the peaks.
    peak_start, peak_end = change[::2], change[1::2]
    inside = {
        name: np.searchsorted(places, labels.end, side="right")
        - np.searchsorted(places, labels.start, side="right")
        for name, places in (("change", change), ("peak_start", peak_start), ("peak_end", peak_end))
    }
    # Peaks that start before the end of the region, minus those that end before its start.
    inside["peak"] = np.searchsorted(peak_start, labels.end, side="left") - np.searchsorted(
        peak_end, labels.start, side="right"
    )
    return inside


def place_vector(name: str, values: ArrayLike) -> Floats:
    """Return positions as numbers; times become microseconds since 1970."""
    array = np.asanyarray(values)
    if array.dtype.kind == "M":
        if np.isnat(array).any():
            raise ValueError(f"{name} must not contain missing times, got NaT.")
        values = array.astype("datetime64[us]").astype(np.int64)
    return finite_vector(name, values)


def sequence_places(n: int | None, position: ArrayLike | None, labels: Labels | None) -> Floats:
    """Return the position of each index; reject labels outside of the sequence."""
    where = "" if labels is None else labels.where
    if position is None:
        if n is None:
            raise ValueError("n must be given if changes are lists, got None.")
        place = np.arange(float(whole_number("n", n, least=1)))
        low, high = 0.0, float(place.size)
    else:
        place = place_vector(f"position{where}", position)
        n_needed = max(place.size if n is None else n, 1)
        rule = f"position{where} must have one entry"
        check_count(rule, place.size, n_needed, "observations")
        check_increase(f"position{where} must increase", place)
        low, high = float(place[0]), float(place[-1])
    if labels is not None:
        _check_inside(labels, low, high, has_position=position is not None)
    return place


def _check_inside(labels: Labels, low: float, high: float, *, has_position: bool) -> None:
    """Raise if a label lies outside a sequence from low to high."""
    if has_position:
        # Regions may extend beyond the first and the last observation.
        is_inside = (labels.end > low) & (labels.start < high)
    else:
        is_inside = (labels.start >= low) & (labels.end <= high)
    if not is_inside.all():
        first = int(is_inside.argmin())
        raise ValueError(
            f"labels{labels.where} must lie within the sequence, from {low} to "
            f"{high}, got ({labels.start[first]}, {labels.end[first]}] in row "
            f"{labels.row[first]}."
        )


def _checked_changes(changes: ArrayLike, k: int, n: int, labels: Labels) -> NDArray[np.int64]:
    name = f"changes[{k}]{labels.where}"
    change = whole_numbers(name, np.asarray(changes))
    if change.size and not (change[0] >= 1 and change[-1] <= n - 1 and (np.diff(change) > 0).all()):
        raise ValueError(
            f"{name} must be increasing indices from 1 to {n - 1}, where new segments "
            f"start, got {describe(change.tolist())}."
        )
    return change

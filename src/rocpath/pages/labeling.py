"""A page to label sequences in a browser, with what each label decides beside it."""

from __future__ import annotations

import base64
import hashlib
import json
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from rocpath.arguments import describe, finite_vector, whole_number
from rocpath.changepoint import Labels, default_penalty, model_selection, segment
from rocpath.pages.page import page_html

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from rocpath.changepoint.segmentation import Constraint, SegmentCost

TITLE = "Label changes"
# In this order: each takes from the shared object what those before it put there.
_SCRIPTS = (
    "signal",
    "labels",
    "models",
    "drawing",
    "overview",
    "edits",
    "input",
    "page",
)


def labeling_html(
    names: Sequence[str],
    positions: Sequence[ArrayLike],
    values: Sequence[ArrayLike],
    *,
    labels: Sequence[tuple[str, Any, Any, str]] | None = None,
    max_changes: int = 20,
    cost: SegmentCost = "normal",
    constraint: Constraint = None,
    weights: Sequence[ArrayLike | None] | None = None,
    penalties: Sequence[float] | None = None,
    title: str = TITLE,
) -> str:
    """Make a page to mark where sequences change and where they do not.

    It shows all sequences small and one large, the segmentations that penalties select
    from few to many changes, and the label errors of each. Labels are saved as CSV with
    the columns sequence, start, end and kind, which ``rocpath changepoint fit`` reads.
    The page needs no other file and no network.

    Parameters
    ----------
    names : list of str
        A name for each sequence, none twice.
    positions : list of array-like
        Where the observations of each sequence lie, increasing: numbers, or text such
        as times, which the labels then have too. Text that is neither numbers nor times
        is taken as evenly spaced.
    values : list of array-like
        The sequences.
    labels : list of tuple, optional
        Labels to begin with: name of the sequence, start, end, and kind as for
        `Labels`; start and end in the form of the positions.
    max_changes : int
        The most changes of the segmentations shown.
    cost, constraint
        As for `segment`; labels of peaks are offered with ``"up_down"``.
    weights : list of array-like or None, optional
        As for `segment`, for each sequence; the values are then drawn as runs.
    penalties : list of float, optional
        The penalty of the segmentation that each sequence shows at first; by default
        `default_penalty`.
    title : str
        Plain text.

    Returns
    -------
    str
        HTML, to be written as UTF-8.

    Examples
    --------
    >>> from rocpath.pages.labeling import labeling_html
    >>> page = labeling_html(["a"], [[0, 1, 2]], [[1, 1, 5]], title="a < b")
    >>> "<title>a &lt; b</title>" in page
    True
    """
    _check_lengths(names, positions=positions, values=values)
    _check_lengths(names, weights=weights, penalties=penalties)
    whole_number("max_changes", max_changes, least=0)
    rows = _checked_labels(labels or [], names)
    none = [None] * len(names)
    weight = none if weights is None else weights
    penalty = none if penalties is None else penalties
    sequences = [
        _sequence(*one, max_changes, cost, constraint)
        for one in zip(names, positions, values, weight, penalty, strict=True)
    ]
    has_peaks = constraint == "up_down" or any("peak" in row[3] for row in rows)
    data = {"sequences": sequences, "labels": rows, "has_peaks": has_peaks}
    # Browsers keep labels under it: a page of the same sequences and first labels
    # finds them again, and any other page must not.
    data["key"] = _digest([[one["name"], one["value"]] for one in sequences], rows)
    return page_html(
        "labeling.html",
        title=title,
        scripts=[f"labeling_{name}" for name in _SCRIPTS],
        styles=("page", "labeling"),
        needs_plotly=False,
        data=data,
    )


def _sequence(
    name: str,
    position: ArrayLike,
    values: ArrayLike,
    weight: ArrayLike | None,
    penalty: float | None,
    max_changes: int,
    cost: SegmentCost,
    constraint: Constraint,
) -> dict[str, Any]:
    """Compute what the page holds of a sequence."""
    value = finite_vector(f"values of {name!r}", values)
    models = _models(value, weight, max_changes, cost, constraint)
    if penalty is None:
        penalty = default_penalty(value, cost=cost, weights=weight)
    n_larger = sum(one["min_penalty"] > float(penalty) for one in models)
    return {
        "name": name,
        "position": _position(name, position, value.size),
        "value": _scaled(value),
        "is_runs": weight is not None,
        "models": models,
        # Models go from large penalties to small ones. A penalty so small that it asks
        # for more changes than were tried gets the most of them.
        "shown": min(n_larger, len(models) - 1),
    }


def _check_lengths(names: Sequence[str], **lists: Sequence[Any] | None) -> None:
    if len(names) == 0:
        raise ValueError("names must have at least one sequence, got none.")
    if len(set(names)) < len(names):
        twice = next(one for k, one in enumerate(names) if one in names[:k])
        raise ValueError(f"names must not repeat, got {twice!r} twice.")
    for role, given in lists.items():
        if given is not None and len(given) != len(names):
            raise ValueError(
                f"{role} must have one entry for each of the {len(names)} names, got "
                f"{len(given)}."
            )


def _checked_labels(
    labels: Sequence[tuple[str, Any, Any, str]], names: Sequence[str]
) -> list[list[Any]]:
    """Return rows for the page, with one name for each kind; the page places them."""
    known = set(names)
    for row, (name, *_) in enumerate(labels):
        if name not in known:
            raise ValueError(
                f"labels must be of sequences in names, got {name!r} in row {row}."
            )
    if not labels:
        return []
    # Of the regions only the kinds are checked: their ends may be times.
    place = np.arange(float(len(labels)))
    kinds = Labels(place, place + 1, tuple(row[3] for row in labels)).kind
    return [
        [name, *(one if isinstance(one, str) else float(one) for one in ends), kind]
        for (name, *ends, _), kind in zip(labels, kinds, strict=True)
    ]


def _models(
    value: NDArray[np.float64],
    weight: ArrayLike | None,
    max_changes: int,
    cost: SegmentCost,
    constraint: Constraint,
) -> list[dict[str, Any]]:
    """Find the models that some penalty selects, from few to many changes."""
    found = segment(
        value,
        min(max_changes, value.size - 1),
        cost=cost,
        weights=weight,
        constraint=constraint,
    )
    selection = model_selection(found.cost)
    middle, half = _scale(value)
    return [
        {
            "min_penalty": float(penalty),
            "changes": found.changes[k],
            # On the scale of the values beside which they are drawn; five digits are
            # less than a pixel, and keep the page small.
            "mean": ((found.mean[k] - middle) / half).round(5),
        }
        for k, penalty in zip(
            selection.model[::-1], selection.min_penalty[::-1], strict=True
        )
    ]


def _scale(value: NDArray[np.float64]) -> tuple[float, float]:
    """Return the middle and half the range, which is never zero."""
    low, high = float(value.min()), float(value.max())
    return low / 2 + high / 2, (high / 2 - low / 2) or 1.0


def _scaled(value: NDArray[np.float64]) -> dict[str, Any]:
    """Code values as single precision within their own range: they are only drawn."""
    middle, half = _scale(value)
    return {
        "middle": middle,
        "half": half,
        "float32": _coded(((value - middle) / half).astype("<f4")),
    }


def _position(name: str, position: ArrayLike, n: int) -> dict[str, Any]:
    """Code positions as numbers, and as text if they come as text."""
    given = np.asarray(position)
    if given.shape != (n,):
        raise ValueError(
            f"positions of {name!r} must have one entry for each of the {n} values, "
            f"got shape {given.shape}."
        )
    # Text, of a fixed width or as objects; anything else must be numbers.
    if given.dtype.kind not in "USO":
        number = finite_vector(f"positions of {name!r}", given)
        _refuse_disorder(name, number)
        return {"kind": "number", **_coded_places(number)}
    text = [str(one) for one in given]
    # Numbers first, as 2024 is a number and a year; what is out of order under one
    # reading may be in order under the next.
    for kind, place in (("number", _numbers(text)), ("time", _times(text))):
        if place is not None and (np.diff(place) > 0).all():
            return {"kind": kind, "text": text, **_coded_places(place)}
    return {"kind": "order", "text": text, "first": 0.0, "step": 1.0, "n": n}


def _refuse_disorder(name: str, place: NDArray[np.float64]) -> None:
    is_bad = np.diff(place) <= 0
    if is_bad.any():
        at = int(is_bad.argmax()) + 1
        raise ValueError(
            f"positions of {name!r} must increase, got {place[at]} at index {at} after "
            f"{place[at - 1]}."
        )


def _coded_places(place: NDArray[np.float64]) -> dict[str, Any]:
    """Code evenly spaced places as two numbers, if they give exactly the same."""
    n = place.size
    step = float(place[1] - place[0]) if n > 1 else 1.0
    first = float(place[0])
    if np.array_equal(first + step * np.arange(n), place):
        return {"first": first, "step": step, "n": n}
    return {"float64": _coded(place.astype("<f8"))}


def _numbers(text: list[str]) -> NDArray[np.float64] | None:
    try:
        place = np.array(text, dtype=np.float64)
    except ValueError:
        return None
    return place if np.isfinite(place).all() else None


def _times(text: list[str]) -> NDArray[np.float64] | None:
    """Read times as milliseconds since 1970, as browsers count them."""
    with warnings.catch_warnings():
        # Of zones numpy warns; all are taken as one.
        warnings.simplefilter("ignore")
        try:
            time = np.array(text, dtype="datetime64[us]")
        except ValueError:
            return None
    return None if np.isnat(time).any() else time.astype(np.int64) / 1000.0


def _coded(array: NDArray[Any]) -> str:
    # Bytes, not digits: exact, and read by a browser without parsing numbers.
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")


def _digest(*parts: Any) -> str:
    text = json.dumps(parts, default=describe)
    # 64 bits: enough to tell the pages of one browser apart.
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]

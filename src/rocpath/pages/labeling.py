"""HTML page for labeling sequences in a browser."""

import base64
import hashlib
import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath.pages.page import page_html
from rocpath.palette import KIND_COLORS
from rocpath.validation import check_increase, describe, finite_vector

# The order matters: each script adds to an object that the following ones use.
_SCRIPTS = ("signal", "labels", "models", "drawing", "overview", "edits", "input", "page")


class PageModel(NamedTuple):
    """A segmentation, and the smallest penalty that selects it."""

    min_penalty: float
    changes: NDArray[np.int64]
    mean: NDArray[np.float64]
    rise: NDArray[np.float64] | None = None  # of the line of each segment, from start to end
    intervals: NDArray[np.int64] | None = None  # of the locations of the changes


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PageSequence:
    """A sequence of the labeling page, and the segmentations to choose from.

    Attributes
    ----------
    name : str
        Name of the sequence.
    position : array-like, shape (n,)
        Increasing positions of the observations: numbers, or text such as times. Labels
        are saved in the same form. Positions that are neither numbers nor times are
        equally spaced.
    value : array, shape (n,)
        Observations, with NaN for missing ones.
    models : list of PageModel
        Segmentations to choose from, by decreasing penalty.
    shown : int
        Index of the model that is shown initially.
    is_runs : bool
        Whether observations are runs of equal values.
    note : str
        Note about the models, for example if the penalty selects more changes than shown.
    """

    name: str
    position: ArrayLike
    value: NDArray[np.float64]
    models: Sequence[PageModel]
    shown: int
    is_runs: bool = False
    note: str = ""


def labeling_html(
    sequences: Sequence[PageSequence],
    *,
    labels: Sequence[tuple[str, Any, Any, str]] = (),
    has_peaks: bool = False,
    title: str = "Label changes",
) -> str:
    """Return a self-contained page for labeling sequences in a browser.

    Parameters
    ----------
    sequences : list of PageSequence
        Sequences with unique names.
    labels : list of tuple
        Initial labels: name of the sequence, start, end and kind. Starts and ends have
        the same form as the positions.
    has_peaks : bool
        Whether to offer labels of peaks.
    title : str
        Title of the page, as plain text.

    Returns
    -------
    str
        HTML, to be written as UTF-8.

    See Also
    --------
    rocpath.changepoint.labeling_page : Compute the segmentations and return the page.
    """
    rows = [[one if isinstance(one, str) else float(one) for one in row] for row in labels]
    encoded = [_sequence(one) for one in sequences]
    data = {
        "sequences": encoded,
        "labels": rows,
        "has_peaks": has_peaks,
        "kind_colors": KIND_COLORS,
        # Browsers store labels under this key, so that only a page with the same
        # sequences and initial labels restores them.
        "key": _digest([[one["name"], one["value"]] for one in encoded], rows),
    }
    return page_html(
        "labeling.html",
        title=title,
        scripts=[f"labeling_{name}" for name in _SCRIPTS],
        styles=("page", "labeling"),
        needs_plotly=False,
        data=data,
    )


def _sequence(one: PageSequence) -> dict[str, Any]:
    """Return the data of a sequence, with values relative to the middle of their range."""
    low, high = float(np.nanmin(one.value)), float(np.nanmax(one.value))
    middle, half = low / 2 + high / 2, (high / 2 - low / 2) or 1.0
    scaled = ((one.value - middle) / half).astype("<f4")
    return {
        "name": one.name,
        "position": _position(one.name, one.position, one.value.size),
        "value": {"middle": middle, "half": half, "float32": _base64(scaled)},
        "is_runs": one.is_runs,
        "note": one.note,
        "models": [
            {
                "min_penalty": float(model.min_penalty),
                "changes": model.changes,
                # Five decimals are more precise than a pixel.
                "mean": ((model.mean - middle) / half).round(5),
                "rise": None if model.rise is None else (model.rise / half).round(5),
                "intervals": model.intervals,
            }
            for model in one.models
        ],
        "shown": one.shown,
    }


def _position(name: str, position: ArrayLike, n: int) -> dict[str, Any]:
    """Encode positions as numbers, and as text if they are text."""
    array = np.asarray(position)
    if array.shape != (n,):
        raise ValueError(
            f"positions of {name!r} must have one entry for each of the {n} values, "
            f"got shape {array.shape}."
        )
    # Text has a string or object dtype; anything else must be numeric.
    if array.dtype.kind not in "USO":
        number = finite_vector(f"positions of {name!r}", array)
        check_increase(f"positions of {name!r} must increase", number)
        return {"kind": "number", **_encoded_places(number)}
    text = [str(one) for one in array]
    # Numbers are tried first, because 2024 is both a number and a year. Positions that do not
    # increase as numbers may increase as times. Browsers measure times in milliseconds.
    for kind, dtype, unit in (("number", "f8", 1.0), ("time", "datetime64[us]", 1000.0)):
        place = _parsed(text, dtype)
        if place is not None and (place[1:] > place[:-1]).all():
            return {"kind": kind, "text": text, **_encoded_places(place.astype("f8") / unit)}
    return {"kind": "order", "text": text, "first": 0.0, "step": 1.0, "n": n}


def _encoded_places(place: NDArray[np.float64]) -> dict[str, Any]:
    """Encode evenly spaced positions as two numbers, if that is exact."""
    n = place.size
    step = float(place[1] - place[0]) if n > 1 else 1.0
    first = float(place[0])
    if np.array_equal(first + step * np.arange(n), place):
        return {"first": first, "step": step, "n": n}
    return {"float64": _base64(place.astype("<f8"))}


def _parsed(text: list[str], dtype: str) -> NDArray[Any] | None:
    """Return text as numbers or times, or None if that is impossible."""
    with warnings.catch_warnings():
        # NumPy warns about time zones; all positions are read in UTC.
        warnings.simplefilter("ignore")
        try:
            place = np.array(text, dtype=dtype)
        except ValueError:
            return None
    return place if np.isfinite(place).all() else None


def _base64(array: NDArray[Any]) -> str:
    # Bytes are exact, and browsers do not have to parse numbers.
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")


def _digest(*parts: Any) -> str:
    text = json.dumps(parts, default=describe)
    # 64 bits are enough to distinguish the pages of one browser.
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]

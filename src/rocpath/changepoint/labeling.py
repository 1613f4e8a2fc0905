"""HTML page for labeling sequences in a browser."""

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from rocpath.changepoint.cost_choice import resolved_cost
from rocpath.changepoint.intervals import location_intervals
from rocpath.changepoint.labels import kind_of
from rocpath.changepoint.observations import (
    checked_sequences,
    drawn_values,
    one_for_each,
    possible_changes,
)
from rocpath.changepoint.penalty_default import default_penalty, noise_scaled
from rocpath.changepoint.segment_costs import Constraint, DetectionCost, SegmentCost
from rocpath.changepoint.segmentation import segment, segment_penalty
from rocpath.changepoint.segmentation_results import Segmentation, Segmentations
from rocpath.files.table_names import listed
from rocpath.validation import Floats, whole_number

if TYPE_CHECKING:
    from rocpath.pages.labeling import PageModel, PageSequence


_CAPPED = "This page shows at most"


def labeling_page(
    sequences: Sequence[ArrayLike],
    *,
    names: Sequence[str] | None = None,
    positions: Sequence[ArrayLike] | None = None,
    labels: Sequence[tuple[str, Any, Any, str]] = (),
    max_changes: int = 20,
    cost: DetectionCost | Sequence[SegmentCost] = "normal",
    constraint: Constraint = None,
    min_length: int = 1,
    weights: Sequence[ArrayLike | None] | None = None,
    penalties: Sequence[float] | None = None,
    notes: Sequence[str] | None = None,
    title: str = "Label changes",
) -> str:
    """Return an HTML page for labeling regions with and without changes.

    The page shows all sequences, the best segmentations for all penalties, and their
    label errors. Labels are saved as CSV with the columns sequence, start, end and kind,
    which ``rocpath changepoint fit`` reads. The page is self-contained.

    Parameters
    ----------
    sequences : list of array-like
        The sequences.
    names : list of str, optional
        Unique names of the sequences; by default their indices.
    positions : list of array-like, optional
        Increasing positions of the observations: numbers, or text such as times; by
        default indices.
    labels : list of tuple, optional
        Initial labels: name of the sequence, start, end, and kind as for `Labels`.
        Starts and ends have the same form as the positions.
    max_changes : int
        Maximum number of changes of the segmentations.
    cost : str or list of str
        Cost of a segment, as for `detect_changes`, or the cost of each sequence.
    constraint, min_length
        As for `segment`; labels of peaks are offered with ``constraint="up_down"``.
    weights : list of array-like or None, optional
        Weights of the observations. If given, the values are drawn as runs.
    penalties : list of float, optional
        Penalty of the segmentation that is initially shown for each sequence; by
        default its `default_penalty`.
    notes : list of str, optional
        Text to show with each sequence, such as the warnings of its model.
    title : str
        Title of the page, as plain text.

    Returns
    -------
    str
        HTML, to be written as UTF-8.

    Examples
    --------
    >>> from rocpath import changepoint as cp
    >>> page = cp.labeling_page([[1, 1, 5]], names=["a"], title="a < b")
    >>> "<title>a &lt; b</title>" in page
    True
    """
    # Pages are above the results that they show.
    from rocpath.pages.labeling import labeling_html

    whole_number("max_changes", max_changes, least=0)
    values = checked_sequences(sequences)
    n = len(values)
    name = [str(one) for one in one_for_each("names", names or range(n), n)]
    duplicate = next((one for k, one in enumerate(name) if one in name[:k]), None)
    if duplicate is not None:
        raise ValueError(f"names must not repeat, got {duplicate!r} twice.")
    place = one_for_each("positions", positions or [np.arange(len(one)) for one in values], n)
    weight = one_for_each("weights", weights, n)
    given = one_for_each("penalties", penalties, n)
    rows = _checked_labels(labels, set(name))
    settings: dict[str, Any] = {"constraint": constraint, "min_length": min_length}
    costs = one_for_each("cost", [cost] * n if isinstance(cost, str) else cost, n)
    text = one_for_each("notes", notes, n)
    pages = [
        _page_sequence(*one, max_changes=max_changes, settings=settings)
        for one in zip(name, place, values, weight, given, costs, text, strict=True)
    ]
    _warn_of_cap(pages, max_changes)
    has_peaks = constraint == "up_down" or any("peak" in row[3] for row in rows)
    return labeling_html(pages, labels=rows, has_peaks=has_peaks, title=title)


def _page_sequence(
    name: str,
    position: ArrayLike,
    value: Floats,
    weight: ArrayLike | None,
    penalty: float | None,
    cost: DetectionCost,
    note: str | None,
    *,
    max_changes: int,
    settings: dict[str, Any],
) -> "PageSequence":
    from rocpath.pages.labeling import PageSequence

    value = noise_scaled(value, weight)[0]
    settings = {**settings, "cost": resolved_cost(value, cost, weight)}
    if penalty is None:
        penalty = default_penalty(value, cost=settings["cost"], weights=weight)
    most = possible_changes(value, max_changes)
    found = segment(value, most, weights=weight, **settings)
    drawn, models = _page_models(value, found)
    n_larger = sum(one.min_penalty > float(penalty) for one in models)
    # The model with the most changes is also shown for all smaller penalties.
    shown = min(n_larger, len(models) - 1)
    intervals = location_intervals(
        value, models[shown].changes, cost=settings["cost"], weights=weight
    )
    models[shown] = models[shown]._replace(intervals=intervals)
    text = note or ""
    if n_larger >= len(models) - 1 and models[-1].changes.size == most:
        best = segment_penalty(value, float(penalty), weights=weight, **settings)
        text = f"{_capped(best, most)} {text}".strip()
    return PageSequence(
        name=name,
        position=position,
        value=drawn,
        models=models,
        shown=shown,
        is_runs=weight is not None,
        note=text,
    )


def _page_models(value: Floats, found: Segmentations) -> tuple[Floats, list["PageModel"]]:
    """Return the drawn values, and the models by decreasing penalty."""
    from rocpath.pages.labeling import PageModel

    selection = found.selection()
    drawn, mean = drawn_values(value, found.mean)
    return drawn, [
        PageModel(float(lowest), found.changes[k], mean[k], _rises(found, k))
        for k, lowest in zip(selection.n_changes[::-1], selection.min_penalty[::-1], strict=True)
    ]


def _capped(best: Segmentation, most: int) -> str:
    """Return a note if the page shows fewer changes than the best model has."""
    if best.n_changes <= most:
        return ""
    return f"{_CAPPED} {most:,} changes; the penalty {best.penalty:.3g} selects {best.n_changes:,}."


def _warn_of_cap(pages: "Sequence[PageSequence]", max_changes: int) -> None:
    capped = [page.name for page in pages if _CAPPED in page.note]
    if capped:
        warnings.warn(
            f"the page shows at most {max_changes:,} changes, but the penalties of the following "
            f"sequences select more: {listed(capped)}. Increase max_changes.",
            stacklevel=3,
        )


def _rises(found: Segmentations, k: int) -> Floats | None:
    """Return the difference between the ends of each line of a model."""
    if found.slope is None:
        return None
    return found.slope[k] * np.diff([0, *found.changes[k], found.n])


def _checked_labels(
    labels: Sequence[tuple[str, Any, Any, str]], names: set[str]
) -> list[tuple[str, Any, Any, str]]:
    """Replace the aliases of kinds; the page checks the regions."""
    rows = []
    for row, (name, start, end, kind) in enumerate(labels):
        if name not in names:
            raise ValueError(f"labels must refer to sequences in names, got {name!r} in row {row}.")
        rows.append((name, start, end, kind_of(kind, "kind", row)))
    return rows

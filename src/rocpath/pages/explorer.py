"""A page to explore a line search: a slider over the step moves linked panels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rocpath.arguments import whole_number
from rocpath.pages.page import page_html
from rocpath.pages.step_view import line_sample, step_view

if TYPE_CHECKING:
    from rocpath.lines import Lines
    from rocpath.pages.step_view import StepView

_TITLE = "Line search explorer"


def explorer_html(
    lines: Lines, *, title: str = _TITLE, max_lines: int = 2000, max_step: float | None = None
) -> str:
    """Make a page that shows a line search at any step.

    A slider moves the threshold lines' cursor, AUM and AUC, the ROC curve, and FP, FN
    and their minimum; buttons jump to the steps that variants of the search choose. The
    page needs no other file and no network.

    Parameters
    ----------
    lines : Lines
        Thresholds as functions of the step.
    title : str
        Plain text.
    max_lines : int
        Most lines in the page. Of more, a sample is shown, and the page says so; AUM
        and AUC stay those of all lines.
    max_step : float, optional
        Largest step; by default a quarter more than the largest variant's.

    Returns
    -------
    str
        HTML, to be written as UTF-8.

    Examples
    --------
    >>> import rocpath as rp
    >>> from rocpath.pages.explorer import explorer_html
    >>> bp = rp.ErrorBreakpoints.from_labels([0, 0, 1, 1])
    >>> lines = rp.Lines.from_predictions(bp, [-7, -2, 0, -4], [0, -0.5, 0, 0.5])
    >>> page = explorer_html(lines, title="a < b")
    >>> "<title>a &lt; b</title>" in page
    True
    """
    shown = explorer_values(lines, title, max_lines=max_lines, max_step=max_step)
    return page_html("explorer_page.html", title=title, scripts=["explorer"], explorer=shown)


def explorer_values(
    lines: Lines,
    title: str = _TITLE,
    *,
    max_lines: int = 2000,
    max_step: float | None = None,
    note: str = "",
) -> dict[str, Any]:
    """Compute what the template ``explorer.html`` shows; the note says of what."""
    # The sample is only drawn; curves and marked steps are those of all lines.
    sample = line_sample(lines, whole_number("max_lines", max_lines, least=2))
    view = step_view(lines, max_step=max_step)
    data = {
        "lines": sample._asdict(),
        "is_sample": sample.slope.size < len(lines),
        "max_step": view.max_step,
        "aum": view.aum._asdict(),
        "auc": view.auc._asdict(),
        "variants": [one._asdict() for one in view.variants],
    }
    shown = {"title": title, "lines": lines, "view": view, "data": data, "note": note}
    return shown | {"hint": _hint(view)}


def _hint(view: StepView) -> str:
    """Say in one sentence what there is to look for."""
    start, best = float(view.auc.value[0]), view.variants[-1]
    if best.auc > start:
        return (
            f"Look at where AUC is above its start: it rises from {start:.4f} to "
            f"{best.auc:.4f} at step {best.step:.3g}, which need not be where AUM is "
            "smallest."
        )
    return (
        f"Look at AUC: it is nowhere above its start, {start:.4f}, so no step along "
        "this line ranks these rows better, though AUM may fall."
    )

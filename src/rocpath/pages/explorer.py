"""Render a page for exploring a line search with a slider for the step."""

from rocpath.pages.page import page_html
from rocpath.search.lines import Lines
from rocpath.search.step_view import line_sample, step_view
from rocpath.validation import whole_number

_COLUMNS = ("intercept", "slope", "fp_diff", "fn_diff")


def explorer_html(
    lines: Lines,
    *,
    title: str = "Line search explorer",
    max_lines: int = 2000,
    max_step: float | None = None,
) -> str:
    """Return a self-contained page that shows a line search at any step.

    A slider selects a step, for which the page shows AUM, AUC, the ROC curve, and FP,
    FN and their minimum; buttons select the steps that variants of the search choose.

    Parameters
    ----------
    lines : Lines
        Thresholds as linear functions of the step.
    title : str
        Title of the page, as plain text.
    max_lines : int
        Maximum number of lines to draw. If there are more, a sample is drawn, which the
        page notes; AUM and AUC are always those of all lines.
    max_step : float, optional
        Largest step; by default 1.25 times the largest step of a variant.

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
    # The sample is only drawn; curves and marked steps are those of all lines.
    sample = line_sample(lines, whole_number("max_lines", max_lines, least=2))
    view = step_view(lines, max_step=max_step)
    data = {
        "lines": {name: getattr(sample, name) for name in _COLUMNS},
        "is_sample": len(sample) < len(lines),
        "max_step": view.max_step,
        "aum": view.aum._asdict(),
        "auc": view.auc._asdict(),
        "variants": [one._asdict() for one in view.variants],
    }
    return page_html(
        "explorer.html", title=title, scripts=["explorer"], lines=lines, view=view, data=data
    )

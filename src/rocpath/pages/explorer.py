"""A page to explore a line search: a slider over the step moves linked panels."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from rocpath.arguments import whole_number
from rocpath.pages.page import embedded_json, page_html, web_file
from rocpath.pages.step_view import line_sample, step_view

if TYPE_CHECKING:
    from rocpath.line_search import Lines
    from rocpath.pages.step_view import LineSample, StepView

_TITLE = "Line search explorer"


def explorer_html(
    lines: Lines,
    *,
    title: str = _TITLE,
    max_lines: int = 2000,
    max_step: float | None = None,
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
    body = explorer_fragment(
        lines, title=title, max_lines=max_lines, max_step=max_step, heading="h1"
    )
    return page_html(title, body, [explorer_script()])


def explorer_fragment(
    lines: Lines,
    *,
    title: str = _TITLE,
    max_lines: int = 2000,
    max_step: float | None = None,
    heading: str = "h2",
) -> str:
    """Make the part of a page that shows a line search.

    It holds its own script but not plotly.js, which the page must load before, nor the
    style sheet.

    Parameters
    ----------
    lines, title, max_lines, max_step
        As for `explorer_html`.
    heading : str
        The element of the title.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> import rocpath as rp
    >>> from rocpath.pages.explorer import explorer_fragment
    >>> bp = rp.ErrorBreakpoints.from_labels([0, 0, 1, 1])
    >>> lines = rp.Lines.from_predictions(bp, [-7, -2, 0, -4], [0, -0.5, 0, 0.5])
    >>> explorer_fragment(lines, title="One step").splitlines()[1]
    '<h2>One step</h2>'
    """
    most = whole_number("max_lines", max_lines, least=2)
    sample = line_sample(lines, most)
    view = step_view(lines, max_step=max_step)
    data = _data(sample, view, is_sample=len(lines) > most)
    return f"""<section class="explorer" aria-label="{escape(title)}">
<{heading}>{escape(title)}</{heading}>
{_note(lines, view, sample.slope.size)}
{_controls(view)}
<div class="panels">
<div class="chart steps" role="img" aria-label="AUC, AUM and the threshold lines \
against the step size, with a cursor at the step shown"></div>
<div class="chart roc" role="img" aria-label="ROC curve at the step shown"></div>
<div class="chart errors" role="img" aria-label="False positives, false negatives and \
their minimum against the threshold; the area under the minimum is the AUM"></div>
</div>
{embedded_json(data)}
<script>{explorer_script()}</script>
</section>"""


def explorer_script() -> str:
    """Return the script that the fragment holds."""
    return web_file("explorer.js")


def _data(sample: LineSample, view: StepView, *, is_sample: bool) -> dict[str, Any]:
    return {
        "lines": {name: column.tolist() for name, column in sample._asdict().items()},
        "is_sample": is_sample,
        "max_step": view.max_step,
        "aum": {name: part.tolist() for name, part in view.aum._asdict().items()},
        "auc": {name: part.tolist() for name, part in view.auc._asdict().items()},
        "variants": [one._asdict() for one in view.variants],
    }


def _note(lines: Lines, view: StepView, n_drawn: int) -> str:
    said = [f"{len(lines):,} lines"]
    if view.n_crossings is not None:
        said.append(f"{view.n_crossings:,} steps with crossings in view")
    note = f'<p class="note">{"; ".join(said)}.'
    if not lines.is_monotone:
        note += " The errors are not monotone, so AUM may have several minima."
    if view.auc_tol > 0:
        note += f" Best AUC is up to {view.auc_tol:g} below the largest of all."
    note += "</p>"
    if n_drawn < len(lines):
        note += (
            f'\n<p class="note warning">Drawn are {n_drawn:,} of the {len(lines):,} '
            "lines, chosen evenly of each kind of jump; the ROC curve and the errors "
            "are those of this sample. The curves of AUM and AUC, and the values at "
            "the buttons, are those of all lines; in between, values are read off the "
            "curves (≈).</p>"
        )
    return note


def _controls(view: StepView) -> str:
    buttons = ['<button type="button" data-step="0" data-variant="-1">Start</button>']
    buttons += [
        f'<button type="button" data-step="{one.step!r}" data-variant="{place}" '
        f'title="step {one.step:.6g}">{one.name[0].upper()}{one.name[1:]}</button>'
        for place, one in enumerate(view.variants)
    ]
    return f"""<div class="controls">
<label class="slider">Step size
<input type="range" min="0" max="1000" step="1" value="0"></label>
<label>or type
<input type="number" min="0" max="{view.max_step!r}" step="any" value="0"></label>
<div class="buttons" role="group" aria-label="Go to the step of a search">
{"".join(buttons)}</div>
<dl class="readout" aria-live="polite">
<div><dt>Step</dt><dd data-value="step"></dd></div>
<div><dt>AUM</dt><dd data-value="aum"></dd></div>
<div><dt>AUC</dt><dd data-value="auc"></dd></div></dl>
</div>"""

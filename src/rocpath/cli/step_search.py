"""The command ``path``: find the best steps along a line of predictions."""

from rocpath.cli.early_checks import shown_name
from rocpath.cli.files import opened, write_text
from rocpath.cli.score_tables import read_scores
from rocpath.cli.terminal import say, show_table
from rocpath.files.models import read_saved
from rocpath.files.tables import read_table
from rocpath.search import step_view
from rocpath.search.breakpoints import ErrorBreakpoints
from rocpath.search.lines import Lines
from rocpath.tables.model import TableModel


def model_lines(model: str, table: str, label: str | None, positive: str | None) -> Lines:
    """Return the lines of a model's predictions along its negative AUM gradient."""
    # The positive label of a model is fixed: the other would reverse its ranking.
    if positive is not None:
        raise ValueError(
            "--positive must not be given with --model, which has its own positive label."
        )
    fitted = read_saved(model, TableModel)
    rows = read_table(opened(table), text=fitted.text, codes=fitted.codes)
    return fitted.descent_lines(rows, label)


def column_lines(
    table: str, label: str | None, positive: str | None, predictions: str, direction: str
) -> Lines:
    """Return the lines of predictions in one column, with the direction in another."""
    if label is None:
        raise ValueError("--label is required with --predictions and --direction.")
    known = read_scores(table, label, positive, [predictions, direction])
    # True is the positive class, whatever its label.
    bp = ErrorBreakpoints.from_labels(known.is_positive, positive=True)
    return Lines.from_predictions(bp, known.score[predictions], known.score[direction])


def show_steps(lines: Lines, table: str, out: str | None, *, force: bool) -> None:
    """Show the steps that variants of the search choose, and write a page about them."""
    view = step_view.step_view(lines)
    within = f"; best AUC within {view.auc_tol:g}" if view.auc_tol else ""
    start = ("start", 0.0, view.aum.value[0], view.auc.value[0])
    rows = [
        (name, f"{step:.6g}", f"{aum:.6g}", f"{auc:.6f}")
        for name, step, aum, auc in (start, *view.variants)
    ]
    title = f"Steps for {len(lines):,} lines{within}"
    show_table(title, ("choice", "step", "AUM", "AUC"), rows)
    # The page needs Jinja2 and Plotly; the table of steps does not.
    if out is not None:
        from rocpath.pages.explorer import explorer_html

        page = explorer_html(lines, title=f"Steps of {shown_name(table)}")
        write_text(page, out, force=force)
        say(f"Open {out}")

"""Files with the results of a table's fit: model, numbers and report."""

from __future__ import annotations

import json
from importlib.util import find_spec
from typing import TYPE_CHECKING

import polars as pl

from rocpath.model_file import MODEL_FILE, model_bytes
from rocpath.pages.report import fit_report_html
from rocpath.tables.summaries import headline, metrics_dict

if TYPE_CHECKING:
    from rocpath.tables.evaluation import TableEvaluation
    from rocpath.tables.fit import TableFit


def result_files(
    fit: TableFit, *, title: str, test: TableEvaluation | None = None
) -> dict[str, bytes | str]:
    """Return the contents of the result files by name."""
    metrics = json.dumps(metrics_dict(fit, title, test), indent=2)
    files: dict[str, bytes | str] = {
        MODEL_FILE: model_bytes(fit.model),
        "metrics.json": f"{metrics}\n",
    }
    weights = fit.model.weights
    if weights:
        table = {"score": list(weights), "weight": list(weights.values())}
        files["weights.csv"] = pl.DataFrame(table).write_csv()
    # The report is an extra: a model is useful without it.
    if find_spec("plotly") and find_spec("jinja2"):
        files["report.html"] = report_page(fit, title, test)
    return files


def report_page(fit: TableFit, title: str, test: TableEvaluation | None) -> str:
    """Return the report as HTML."""
    return fit_report_html(fit, title=title, headline=headline(fit, test))

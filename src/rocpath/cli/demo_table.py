"""The demo: a table that comes with scikit-learn, fitted on one half of its rows.

Which table and question it is was decided by rows of that half alone: those where the
lead over tuned logistic regression was the surest (``benchmarks/demo_choice.py``).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from sklearn import datasets
from sklearn.model_selection import train_test_split

from rocpath.cli.comparison import Comparison
from rocpath.cli.files import write_folder
from rocpath.cli.table_fit import show_comparison
from rocpath.cli.table_report import TableFit, contents, findings, headline
from rocpath.cli.terminal import progress_bar, say
from rocpath.pages.score_view import NO_PROMISE
from rocpath.tables.columns import feature_columns
from rocpath.tables.labels import binary_label
from rocpath.tables.model import fit_table_model
from rocpath.tables.rankers import BALANCED, BLEND, BOOSTING, LOGISTIC

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rocpath.cli.options import Folder
    from rocpath.tables.model import TableModel

CHOSEN = "iris 1"  # the table, and the class of it that is asked for
_TITLE = "irises: versicolor"
_QUESTION = (
    "Which irises are versicolor, by the size of their leaves? Fitted to one half of "
    "the flowers, judged by the other. Of all tables of scikit-learn the blend's lead "
    "over tuned logistic regression was the surest here, on rows of the first half."
)
_METHODS = (BLEND, LOGISTIC, BALANCED, BOOSTING)

_PATIENTS = [
    "age",
    "sex",
    "body mass index",
    "blood pressure",
    "total cholesterol",
    "LDL",
    "HDL",
    "total cholesterol / HDL",
    "log triglycerides",
    "blood sugar",
]


def show_demo(to: Folder) -> None:
    """Fit a blend and its rivals to one half, and judge them by the other."""
    first, second = halves(CHOSEN)
    label, truth = (binary_label(half, "label", "yes") for half in (first, second))
    features, audit = feature_columns(first, ["label"], {})
    models: dict[str, TableModel] = {}
    with progress_bar(len(_METHODS) + 1, quiet=to.quiet) as progress:
        for method in _METHODS:
            progress(method)
            models[method] = fit_table_model(
                first, label, features, method=method, random_state=0
            )
        progress("writing the report")
        score = {method: model.scores(second) for method, model in models.items()}
        # One part: the second half has seen no fit.
        whole = [np.arange(second.height)]
        comparison = Comparison.judged(score, truth.is_positive, whole)
        best = max(_METHODS, key=lambda method: comparison.metrics[method]["auc"])
        fit = TableFit(
            second, _TITLE, truth, models[best], best, comparison, audit, NO_PROMISE
        )
        found = findings(fit, are_fitted=False)
        files = contents(fit, found)
    write_folder(to.out, files, force=to.force)
    say(_QUESTION)
    show_comparison(_TITLE, truth, comparison)
    say(headline(fit, found))
    last = "report.html" if "report.html" in files else "metrics.json"
    say(f"Open {Path(to.out) / last}")


def candidates() -> list[str]:
    """Name every question of two answers that these tables can be asked."""
    named = {"breast cancer": 1, "wine": 3, "iris": 3, "digits": 10}
    asked = [f"{table} {k}" for table, count in named.items() for k in range(count)]
    return [*asked, "fast diabetes"]


def halves(name: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Split a table in two, its labels yes and no in the column label."""
    X, is_positive, columns = _question(name)
    table = pl.DataFrame(X, schema=columns)
    table = table.with_columns(label=pl.Series(np.where(is_positive, "yes", "no")))
    first, second = train_test_split(
        np.arange(is_positive.size), test_size=0.5, stratify=is_positive, random_state=0
    )
    # Rows keep their order, so that a table is as its author wrote it.
    return table[np.sort(first)], table[np.sort(second)]


def _question(name: str) -> tuple[NDArray[Any], NDArray[np.bool_], list[str]]:
    if name == "fast diabetes":
        X, progression = datasets.load_diabetes(return_X_y=True, scaled=False)
        # The fastest tenth: a rare kind, as in most questions that AUC is asked.
        return X, progression > np.quantile(progression, 0.9), _PATIENTS
    table, _, kind = name.rpartition(" ")
    loaded = getattr(datasets, f"load_{table.replace(' ', '_')}")()
    return loaded.data, loaded.target == int(kind), [*map(str, loaded.feature_names)]

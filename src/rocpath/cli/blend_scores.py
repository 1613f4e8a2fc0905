"""Blend columns of scores that exist already, and judge the blend on rows held out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline

from rocpath.auc_statistics.threshold_targets import NO_TARGETS
from rocpath.cli.comparison import Comparison, folds_for
from rocpath.cli.files import write_folder
from rocpath.cli.table_report import TableFit, contents, findings, headline, verdicts
from rocpath.cli.terminal import progress_bar, say, show_table
from rocpath.ranking.auc_blender import AUCBlender
from rocpath.tables.audit import ColumnAudit
from rocpath.tables.model import TableModel
from rocpath.tables.rankers import BLEND

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rocpath.cli.options import Folder
    from rocpath.cli.score_tables import ScoreTable


def blend_scores(scores: ScoreTable, title: str, to: Folder, *, seed: int) -> None:
    """Fit the weights, compare the blend with every score, and write the results."""
    # In every table and figure the blend stands beside the scores by name.
    if BLEND in scores.score:
        raise ValueError(f"a column of scores must not be named {BLEND!r}: rename it.")
    label, names = scores.label, list(scores.score)
    table = pl.DataFrame(scores.score)
    n_folds = folds_for(label)
    with progress_bar(n_folds + 2, quiet=to.quiet, n_round=1) as progress:
        comparison = _compared(scores, n_folds, seed, progress)
        progress("blend, all rows")
        model = _saved(scores, table, seed)
        audit = [
            ColumnAudit(name, "number", "a column of scores", 0, series.n_unique())
            for name, series in zip(names, table, strict=True)
        ]
        fit = TableFit(table, title, label, model, BLEND, comparison, audit, NO_TARGETS)
        progress("writing the report")
        found = findings(fit)
        files = contents(fit, found)
    weights = pl.DataFrame({"score": names, "weight": model.pipeline[-1].weights_})
    files["weights.csv"] = weights.write_csv()
    write_folder(to.out, files, force=to.force)
    show_table(
        f"{title}: {label.counted}",
        ("score", "weight", "AUC", "95% interval"),
        [
            (
                name,
                f"{found.weights[name]:.3f}" if name in found.weights else "",
                f"{metric['auc']:.4f} ± {metric['standard_error']:.4f}",
                f"{metric['low']:.3f} to {metric['high']:.3f}",
            )
            for name, metric in comparison.metrics.items()
        ],
    )
    for line in (*verdicts(label, comparison), headline(fit, found)):
        say(line)
    say(f"Wrote weights.csv, model.skops and the rest into {to.out}.")


def _compared(
    scores: ScoreTable, n_folds: int, seed: int, progress: Callable[[str], None]
) -> Comparison:
    """Judge blends of all parts but one by that one, beside the scores themselves."""
    y, S = scores.label.is_positive, _columns(scores)
    blended = np.zeros(y.size)
    parts = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    folds = list(parts.split(S, y))
    # The scores are held out as they come; the weights of a blend are not, unless rows
    # are kept from them.
    for fold, (train, test) in enumerate(folds, 1):
        progress(f"blend, part {fold} of {n_folds}")
        model = AUCBlender(random_state=seed).fit_scores(S[train], y[train])
        blended[test] = model.decision_function(S[test])
    score = {BLEND: blended, **scores.score}
    return Comparison.judged(score, y, [test for _, test in folds])


def _saved(scores: ScoreTable, table: pl.DataFrame, seed: int) -> TableModel:
    """Fit the blend to all rows, as a model of a table of such scores."""
    label, names = scores.label, list(scores.score)
    # As they are: a gap among scores is refused by the blend, and not filled in.
    columns = ColumnTransformer([("number", "passthrough", names)])
    X = columns.fit_transform(table)
    blend = AUCBlender(random_state=seed).fit_scores(X, label.is_positive)
    # A blend of given scores calls them by number.
    blend.member_names_ = names
    return TableModel(
        Pipeline([("columns", columns), ("ranking", blend)]),
        tuple(names),
        (),
        label.column,
        label.positive,
        label.negative,
    )


def _columns(scores: ScoreTable) -> NDArray[np.float64]:
    return np.column_stack(list(scores.score.values()))

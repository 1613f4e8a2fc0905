"""Evaluate and predict tables in one or several files."""

from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from rocpath.cli.early_checks import check_file, check_folder
from rocpath.cli.files import opened, write_folder, write_table
from rocpath.cli.options import Targets
from rocpath.cli.terminal import say
from rocpath.files.table_names import file_names, is_many, names_below
from rocpath.files.tables import read_part, read_table
from rocpath.tables.classifier import TableClassifier
from rocpath.tables.columns import column
from rocpath.tables.evaluation import TableEvaluation
from rocpath.tables.model import TableModel


def evaluate_tables(
    model: TableModel,
    table: str,
    roles: dict[str, str | None],
    targets: Targets,
    encoding: str | None,
) -> TableEvaluation:
    """Evaluate a model on the rows of one or several files.

    ``roles`` contains the columns of labels, groups and weights, in this order.
    """
    label, group, weight = roles.values()
    rows = read_table(opened(table), text=model.text, codes=model.codes, encoding=encoding)
    fitted = TableClassifier.from_model(model).set_params(**targets._asdict())
    found: TableEvaluation = fitted.evaluate(rows, label, groups=group, sample_weight=weight)
    return found


def predict_files(
    model: TableModel,
    table: str,
    out: str,
    id_column: str | None,
    *,
    encoding: str | None,
    force: bool,
) -> None:
    """Write the scores of one file, or of several files to a folder under their names."""
    reading: dict[str, Any] = {"text": model.text, "codes": model.codes, "encoding": encoding}
    if not is_many(table):
        check_file(out, force=force, is_table=True)
        rows = read_table(opened(table), **reading)
        write_table(_predictions(model, rows, id_column), out, force=force)
        return
    check_folder(out, force=force)
    names = file_names(table)
    # Results are not compressed.
    targets = [name.removesuffix(".gz") for name in names_below(names)]
    if len(set(targets)) < len(targets):
        raise ValueError(f"{table!r} matches a file and its compressed copy: remove one of them.")

    # Files are scored one by one, since all scores together may not fit into memory.
    def score(name: str, target: Path) -> None:
        rows = read_part(name, **reading)
        write_table(_predictions(model, rows, id_column), str(target), force=force)

    each = zip(names, targets, strict=True)
    write_folder(out, {target: partial(score, name) for name, target in each}, force=force)


def _predictions(model: TableModel, rows: pl.DataFrame, id_column: str | None) -> pl.DataFrame:
    scores: pl.DataFrame = model.predictions(rows)
    if id_column is not None:
        if id_column in scores.columns:
            raise ValueError(
                f"--id must not be the name of an output column, got {id_column!r}: rename the "
                "column."
            )
        scores.insert_column(0, column(rows, id_column, "id"))
    for note in model.unusual_values(rows):
        say(f"note: {note}")
    return scores

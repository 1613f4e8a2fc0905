"""Read, evaluate and predict tables in several files, in memory or on Dask."""

import logging
import os
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from rocpath.cli.early_checks import STANDARD_STREAM, check_file, check_folder, file_names, is_many
from rocpath.cli.files import opened, write_table
from rocpath.cli.options import Source, Targets
from rocpath.cli.terminal import say
from rocpath.evaluation.threshold_targets import ThresholdTargets
from rocpath.files.tables import read_table
from rocpath.memory import available_memory
from rocpath.tables.classifier import TableClassifier
from rocpath.tables.columns import column, concatenate
from rocpath.tables.evaluation import TableEvaluation
from rocpath.tables.model import TableModel

_EXPANSION = 3  # ratio of memory to file size, typical of Parquet
_SHARE_OF_MEMORY = 0.5  # for the rows; the rest is for the fit


def runs_on_dask(table: str, source: Source) -> bool:
    """Return whether to read a table with Dask, as requested or to save memory."""
    _, engine, scheduler = source
    if engine == "memory" and scheduler is not None:
        raise ValueError("--scheduler requires --engine dask, got --engine memory.")
    if engine == "dask" or scheduler is not None:
        if table == STANDARD_STREAM:
            raise ValueError("standard input requires --engine memory, got --engine dask.")
        return True
    if engine == "memory" or not is_many(table):
        return False
    # A rough estimate: an exact one would take as long as reading the files.
    n_bytes = sum(os.path.getsize(name) for name in file_names(table))
    needed, memory = _EXPANSION * n_bytes, available_memory()
    if needed <= _SHARE_OF_MEMORY * memory:
        return False
    say(
        f"The files may need {needed / 1e9:.1f} GB of {memory / 1e9:.1f} GB of memory: "
        "reading them with Dask and local workers (change with --engine)."
    )
    return True


def connect(scheduler: str | None) -> Any:
    """Connect to a scheduler, or start local workers that stop with the client."""
    from distributed import Client

    if scheduler is None:
        # One thread per worker, because of the global interpreter lock; any free port
        # for the dashboard, because another cluster may use the default port.
        return Client(
            threads_per_worker=1,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
            set_as_default=False,
        )
    try:
        # The default client may belong to a calling program and is not replaced.
        return Client(scheduler, set_as_default=False, timeout=10)
    except OSError as error:
        raise ValueError(f"--scheduler {scheduler!r} does not respond: {error}") from None


def read_tables(
    table: str, *, text: Iterable[str] = (), codes: Iterable[str] = (), encoding: str | None = None
) -> pl.DataFrame:
    """Read one file, or concatenate the rows of several files."""
    # Sets, because the first file would exhaust iterators.
    read = partial(read_table, text=set(text), codes=set(codes), encoding=encoding)
    return concatenate({name: read(opened(name)) for name in file_names(table)})


def evaluate_tables(
    model: TableModel, table: str, roles: dict[str, str | None], targets: Targets, source: Source
) -> TableEvaluation:
    """Evaluate a model on the rows of one or several files.

    ``roles`` contains the columns of labels, groups and weights, in this order.
    """
    label, group, weight = roles.values()
    given: dict[str, Any] = {"groups": group, "sample_weight": weight}
    if runs_on_dask(table, source):
        from rocpath.dask.file_tables import evaluate_files

        given["targets"] = ThresholdTargets(*targets)
        with connect(source.scheduler) as client:
            files = file_names(table)
            return evaluate_files(model, files, label, **given, client=client, verbose=True)
    rows = read_tables(table, text=model.text, codes=model.codes, encoding=source.encoding)
    fitted = TableClassifier.from_model(model).set_params(**targets._asdict())
    return fitted.evaluate(rows, label, **given)


def predict_files(
    model: TableModel, table: str, out: str, id_column: str | None, *, source: Source, force: bool
) -> None:
    """Write the scores of one file, or of several files to a folder under their names."""
    is_lazy, names, targets = runs_on_dask(table, source), file_names(table), [out]
    if is_lazy or is_many(table):
        check_folder(out, force=force)
        # Results are not compressed.
        targets = [str(Path(out) / Path(name).name.removesuffix(".gz")) for name in names]
        if len(set(targets)) < len(targets):
            raise ValueError(f"{table!r} matches files with the same name in different folders.")
        Path(out).mkdir(exist_ok=True)
    else:
        check_file(out, force=force, is_table=True)
    # Files are scored one by one: all scores together may not fit into memory, and
    # completed files are kept if a later one fails.
    state = (model, id_column, source.encoding, force)
    if not is_lazy:
        for name, target in zip(names, targets, strict=True):
            _predict_file(name, target, state)
        return
    from rocpath.dask.passes import Passes
    from rocpath.dask.progress import progress_line

    with (
        connect(source.scheduler) as client,
        progress_line(is_shown=True) as show,
        Passes(client, show) as passes,
    ):
        passes.results("predicting", passes.each(_predict_file, names, targets, state=state))


def _predict_file(
    name: str, target: str, state: tuple[TableModel, str | None, str | None, bool]
) -> None:
    model, id_column, encoding, force = state
    rows = read_table(opened(name), text=model.text, codes=model.codes, encoding=encoding)
    scores = model.predictions(rows)
    if id_column is not None:
        if id_column in scores.columns:
            raise ValueError(
                f"--id must not be the name of an output column, got {id_column!r}: rename the "
                "column."
            )
        scores.insert_column(0, column(rows, id_column, "id"))
    for note in model.far_values(rows):
        say(f"note: {note}")
    write_table(scores, target, force=force)

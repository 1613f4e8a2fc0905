"""Read the files of changepoint commands, and prepare the files with their results."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rocpath import changepoint as cp
from rocpath.changepoint import LearnedDetector
from rocpath.changepoint.label_table import LabelTable, read_labels
from rocpath.cli.changepoint_options import LabelFile, Segmenting, Sequences
from rocpath.cli.files import opened
from rocpath.cli.terminal import say
from rocpath.files.sequence_table import SequenceTable, SkippedSequence
from rocpath.files.sequences import read_sequences

_MAX_NAMED = 10  # skipped sequences named in warnings


def open_sequences(
    options: Sequences, cost: Any, *, saved: Mapping[str, Any] | None = None, quiet: bool = False
) -> SequenceTable:
    """Read the sequences of a file, and warn about skipped ones.

    Column names are those of the options, or else those saved with a model.
    """
    source, *names, fill, repeated, wide, common = options
    roles = ("sequence", "position", "value", "weight")
    known = saved or {}
    settings: dict[str, Any] = {"fill": fill, "repeated": repeated, "cost": cost}
    settings |= {role: given or known.get(role) for role, given in zip(roles, names, strict=True)}
    settings["layout"] = "common" if common else "wide" if wide else "long"
    table = read_sequences(opened(source), **settings)
    _show(table.skipped, table.notes, quiet=quiet)
    return table


def open_labels(
    options: LabelFile, table: SequenceTable, group: str | None = None, *, quiet: bool = False
) -> LabelTable:
    """Read the labels of sequences, and warn about labels of unknown sequences."""
    source, start, end, kind = options
    found = read_labels(opened(source), table, start=start, end=end, kind=kind, group=group)
    n_unlabeled = found.labels.count(None)
    note = f"{n_unlabeled:,} of {len(found.labels):,} sequences have no labels."
    _show(found.unknown, [note] if n_unlabeled else [], quiet=quiet)
    return found


def labeling_page_of(table: SequenceTable, segmenting: Segmenting, **more: Any) -> str:
    """Return a page for labeling the sequences of a table."""
    about: dict[str, Any] = {"names": table.names, "positions": table.written_positions}
    about["weights"] = table.weights
    return cp.labeling_page(table.values, **about, **segmenting._asdict(), **more)


def _show(skipped: Sequence[SkippedSequence], notes: Sequence[str], *, quiet: bool) -> None:
    for one in skipped[:_MAX_NAMED]:
        say(f"warning: {one}")
    if len(skipped) > _MAX_NAMED:
        say(f"warning: skipped {len(skipped) - _MAX_NAMED} more sequences.")
    for note in () if quiet else notes:
        say(f"note: {note}")


def detector_files(
    detector: LearnedDetector, table: SequenceTable, unknown: Sequence[SkippedSequence], title: str
) -> dict[str, Any]:
    """Return the files of a fit by name: text, or functions that write them."""
    evaluation, comparison = detector.evaluate(), detector.comparison_
    settings = detector.get_params(deep=False)
    columns = table.columns._asdict()
    skipped = [*table.skipped, *unknown]
    metrics = {
        "source": title,
        "n_sequences": detector.n_labeled_,
        "n_labels": detector.n_labels_,
        "n_folds": comparison.n_folds,
        "n_groups": evaluation.problem.n_groups,
        **{k: v for k, v in settings.items() if k not in ("regressor", "search")},
        "columns": columns,
        "headline": detector.evaluate().headline(),
        "fewest_label_errors": evaluation.fewest_errors,
        "methods": {
            one.name: {**asdict(one), "auc": evaluation.roc[one.name].auc}
            for one in comparison.scores
        },
        "skipped": [one._asdict() for one in skipped],
    }
    about: dict[str, Any] = {"title": f"Penalties for {title}", "names": table.names}
    about |= {"is_time": table.is_time, "notes": [str(one) for one in skipped]}
    return {
        "model.skops": lambda path: detector.save(path, metadata=columns),
        "metrics.json": json.dumps(metrics, indent=2) + "\n",
        "report.html": lambda path: detector.report(path, **about),
    }

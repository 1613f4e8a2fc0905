"""The commands on sequences: segment, label, fit and predict.

Commands import what they need when they run, so that --help is fast.
"""

from __future__ import annotations

from typing import Any

import typer

from rocpath.cli import changepoint_options as own
from rocpath.cli import options
from rocpath.cli.options import command, examples

app = typer.Typer(
    help="Detect changes of sequences, with learned penalties.",
    epilog=examples(
        "rocpath changepoint segment signals.csv --out first-look",
        "rocpath changepoint fit signals.csv labels.csv --out signals-model",
        "rocpath changepoint predict signals-model new.csv --out changes.csv",
    ),
    rich_markup_mode=None,
)


@command(
    app,
    "rocpath changepoint segment signals.csv --out first-look",
    "rocpath changepoint segment load.csv --sequence host --position time --value latency_ms",
)
def segment(
    sequences: own.Sequences,
    penalty: own.PenaltyOption = None,
    segmenting: own.Segmenting = own.Segmenting(20),
    to: options.Folder = options.Folder("rocpath-segment"),
) -> None:
    """Detect changes without labels, and write a page to label them.

    The default penalty depends on the noise of each sequence, its autocorrelation and
    its length; see the documentation of rocpath.changepoint.default_penalty. Label what
    is right and wrong in labels.html, save the labels, and learn the penalty with
    changepoint fit. Writes changes.csv, sequences.csv and labels.html, which shows up
    to --max-changes changes.
    """
    from rocpath import changepoint as cp
    from rocpath.cli import change_tables
    from rocpath.cli.files import check_folder, write_folder
    from rocpath.cli.sequence_tables import read_sequences
    from rocpath.cli.terminal import count_progress, say

    check_folder(to.out, force=to.force)
    table = read_sequences(sequences, cost=segmenting.cost)
    table.show_notes(quiet=to.quiet)
    with count_progress("segmenting", quiet=to.quiet) as progress:
        how = {"weights": table.weights, **segmenting.search}
        found = cp.detect_changes(table.values, penalty, progress=progress, **how)
    page = cp.labeling_page(
        table.values,
        penalties=[one.penalty for one in found],
        title=f"Label changes of {sequences.shown_name}",
        **table.for_page,
        **segmenting._asdict(),
    )
    worth = cp.changes_worth(table.values, found, **how)
    files = {
        "changes.csv": change_tables.changes_table(table, found, worth).write_csv(),
        "sequences.csv": change_tables.summary_table(table, found).write_csv(),
        "labels.html": page,
    }
    write_folder(to.out, files, force=to.force)
    say(change_tables.detection_summary(found, penalty))
    say(f"Wrote {to.out}. Open {to.out}/labels.html to label the changes.")


@command(
    app,
    "rocpath changepoint label signals.csv --out labels.html",
    "rocpath changepoint label signals.csv --labels labels.csv --out labels.html",
)
def label(
    sequences: own.Sequences,
    labels: own.FirstLabelsOption = None,
    segmenting: own.Segmenting = own.Segmenting(20),
    to: own.Page = own.Page("labels.html"),
) -> None:
    """Write a page to label sequences in the browser.

    Mark regions with the mouse or the keyboard and choose what is right in them. The
    page shows which segmentations agree with the labels, and which sequence to label
    next. It works offline, and saves the labels as a table for changepoint fit.
    """
    from rocpath import changepoint as cp
    from rocpath.cli.files import STANDARD_STREAM, check_file, write_text
    from rocpath.cli.label_tables import read_labels
    from rocpath.cli.sequence_tables import read_sequences
    from rocpath.cli.terminal import say

    check_file(to.out, force=to.force)
    table = read_sequences(sequences, cost=segmenting.cost)
    initial: list[tuple[str, Any, Any, str]] = []
    if labels is not None:
        table, *_, initial = read_labels(own.LabelTable(labels), table)
    table.show_notes(quiet=to.quiet)
    page = cp.labeling_page(table.values, labels=initial, **table.for_page, **segmenting._asdict())
    write_text(page, to.out, force=to.force)
    if to.out != STANDARD_STREAM and not to.quiet:
        say(f"Wrote {to.out}; open it in a browser.")


@command(
    app,
    "rocpath changepoint fit signals.csv labels.csv --out signals-model",
    "rocpath changepoint fit load.csv labels.csv --sequence host --position time "
    "--value latency_ms --group rack",
    "rocpath changepoint fit coverage.bedGraph.gz labels.bed --fill 0 --cost poisson "
    "--constraint up_down",
)
def fit(
    sequences: own.Sequences,
    labels: own.LabelTable,
    group: own.GroupOption = None,
    segmenting: own.Segmenting = own.Segmenting(50),
    seed: options.SeedOption = 0,
    to: options.Folder = options.Folder("rocpath-changepoint"),
) -> None:
    """Learn penalties of sequences from labeled regions.

    A label states what is right in (start, end]: no_change, one_change,
    at_least_one_change, or for peaks no_peaks, peaks, peak_start, peak_end. Positions
    are numbers or times, by default row numbers from 0 within a sequence. Whole weights
    are lengths of runs of equal values. A sequence that cannot be read is named and
    skipped. Writes model.skops, metrics.json and report.html.
    """
    from rocpath import changepoint as cp
    from rocpath.cli.change_tables import fit_metrics
    from rocpath.cli.files import check_folder, write_folder
    from rocpath.cli.label_tables import read_labels
    from rocpath.cli.sequence_tables import read_sequences
    from rocpath.cli.terminal import count_progress, say, show_table

    check_folder(to.out, force=to.force)
    known = read_labels(labels, read_sequences(sequences, cost=segmenting.cost), group)
    table = known.table
    table.show_notes(quiet=to.quiet)
    detector = cp.LearnedDetector(random_state=seed, **segmenting._asdict())
    with count_progress("segmenting", quiet=to.quiet) as progress:
        detector.fit(table.values, progress=progress, **known.for_fit)
    about: dict[str, Any] = {"names": table.names, "is_time": table.is_time}
    about |= {"notes": [str(one) for one in table.skipped]}
    contents: dict[str, Any] = {
        "model.skops": lambda path: detector.save(path, metadata=sequences.columns),
        "metrics.json": fit_metrics(detector, table),
        "report.html": lambda path: detector.report(
            path, title=f"Penalties for {sequences.shown_name}", **about
        ),
    }
    write_folder(to.out, contents, force=to.force)
    comparison = detector.comparison_
    show_table(comparison.description, comparison.header, comparison.rows)
    say(detector.headline())
    say(f"Open {to.out}/report.html")


@command(app, "rocpath changepoint predict signals-model new.csv --out changes.csv")
def predict(
    model: options.ModelArgument,
    sequences: own.Sequences,
    out: options.TableFileOption = "-",
    force: options.ForceOption = False,
) -> None:
    """Detect the changes of sequences with penalties predicted by a model.

    The position of a change is that of the first observation after it, as it is
    written. Columns have by default the same names as in the fit. A sequence that
    cannot be read is named, and has a row with a note in place of a change.
    """
    from rocpath.changepoint.saved_detector import SavedDetector
    from rocpath.cli.change_tables import changes_table
    from rocpath.cli.files import check_file, write_table
    from rocpath.cli.sequence_tables import read_sequences
    from rocpath.model_file import read_saved

    check_file(out, force=force, is_table=True)
    detector = read_saved(model, SavedDetector).detector()
    table = read_sequences(sequences, cost=detector.cost, saved=detector.metadata_)
    table.show_notes(quiet=False)
    found = detector.segment(table.values, weights=table.weights, names=table.names)
    worth = detector.worth(table.values, found, weights=table.weights)
    write_table(changes_table(table, found, worth), out, force=force)

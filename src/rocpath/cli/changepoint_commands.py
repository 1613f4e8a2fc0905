"""Changepoint commands: segment, label, fit and predict.

Commands import what they need when they run, so that --help is fast.
"""

from typing import Any

import typer

from rocpath.cli import changepoint_options as own
from rocpath.cli import early_checks, options
from rocpath.cli.options import command, examples

app = typer.Typer(
    help="Detect changes in sequences with learned penalties.",
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
    period: own.PeriodOption = None,
    confidence: own.ConfidenceOption = 0.95,
    segmenting: own.Segmenting = own.Segmenting(20),
    to: options.Folder = options.Folder("rocpath-segment"),
) -> None:
    """Detect changes without labels, and write a labeling page.

    The default penalty depends on the noise, the autocorrelation and the length of each
    sequence. Label regions in labels.html, save the labels, and learn the penalty with
    changepoint fit. Writes changes.csv, sequences.csv and labels.html, which shows
    segmentations with up to --max-changes changes.
    """
    early_checks.check_exists(sequences.sequences)
    early_checks.check_folder(to.out, force=to.force)
    from rocpath import changepoint as cp
    from rocpath.cli.files import write_folder
    from rocpath.cli.sequence_files import open_sequences
    from rocpath.cli.terminal import progress_bar, say

    table = open_sequences(sequences, segmenting.cost, quiet=to.quiet)
    with progress_bar(quiet=to.quiet) as progress:
        search = {"period": period, "confidence": confidence, **segmenting._asdict()}
        result = cp.segment_table(table, penalty, progress=progress, **search)
    title = f"Label changes in {early_checks.shown_name(sequences.sequences)}"
    write_folder(to.out, result.to_files(title), force=to.force)
    say(repr(result))
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
    """Write a page for labeling sequences in a browser.

    Select regions with the mouse or the keyboard and choose their labels. The page
    shows which segmentations agree with the labels, and which sequence to label next.
    It works offline, and saves the labels as a table for changepoint fit.
    """
    early_checks.check_exists(sequences.sequences)
    early_checks.check_file(to.out, force=to.force)
    from rocpath.cli.files import write_text
    from rocpath.cli.sequence_files import labeling_page_of, open_labels, open_sequences
    from rocpath.cli.terminal import say

    table = open_sequences(sequences, segmenting.cost, quiet=to.quiet)
    known = None if labels is None else open_labels(own.LabelFile(labels), table, quiet=to.quiet)
    page = labeling_page_of(table, segmenting, labels=[] if known is None else known.rows)
    write_text(page, to.out, force=to.force)
    if to.out != early_checks.STANDARD_STREAM and not to.quiet:
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
    labels: own.LabelFile,
    group: own.GroupOption = None,
    segmenting: own.Segmenting = own.Segmenting(50),
    seed: options.SeedOption = 0,
    to: options.Folder = options.Folder("rocpath-changepoint"),
) -> None:
    """Learn penalties from labeled regions of sequences.

    The kind of a label describes the region (start, end]: no_change, one_change,
    at_least_one_change, or for peaks no_peaks, peaks, peak_start, peak_end. Positions
    are numbers or times, by default row numbers from 0 within a sequence. Integer
    weights are lengths of runs of equal values. A sequence that cannot be read is
    skipped with a warning. Writes model.skops, metrics.json and report.html.
    """
    early_checks.check_exists(sequences.sequences, labels.labels)
    early_checks.check_folder(to.out, force=to.force)
    from rocpath import changepoint as cp
    from rocpath.cli.files import write_folder
    from rocpath.cli.sequence_files import detector_files, open_labels, open_sequences
    from rocpath.cli.terminal import progress_bar, say, show_table

    table = open_sequences(sequences, segmenting.cost, quiet=to.quiet)
    label_table = open_labels(labels, table, group, quiet=to.quiet)
    detector = cp.LearnedDetector(random_state=seed, **segmenting._asdict())
    with progress_bar(quiet=to.quiet) as progress:
        rows: Any = {
            "weights": table.weights,
            "positions": table.positions,
            "groups": label_table.groups,
        }
        detector.fit(table.values, label_table.labels, **rows, progress=progress)
    title = early_checks.shown_name(sequences.sequences)
    files = detector_files(detector, table, label_table.unknown, title)
    write_folder(to.out, files, force=to.force)
    comparison = detector.comparison_
    show_table(comparison.description, comparison.header, comparison.rows)
    say(detector.evaluate().headline())
    say(f"Open {to.out}/report.html")


@command(app, "rocpath changepoint predict signals-model new.csv --out changes.csv")
def predict(
    model: options.ModelArgument,
    sequences: own.Sequences,
    out: options.TableFileOption = "-",
    force: options.ForceOption = False,
) -> None:
    """Detect changes with the penalties predicted by a model.

    The position of a change is that of the first observation after it, in the format
    of the table. By default, columns have the same names as in the fit. A sequence that
    cannot be read is listed with a note instead of changes.
    """
    early_checks.check_exists(model, sequences.sequences)
    early_checks.check_file(out, force=force, is_table=True)
    from rocpath.changepoint import changes_table
    from rocpath.changepoint.saved_detector import SavedDetector
    from rocpath.cli.files import write_table
    from rocpath.cli.sequence_files import open_sequences
    from rocpath.files.models import read_saved

    detector = read_saved(model, SavedDetector).detector()
    table = open_sequences(sequences, detector.cost, saved=detector.metadata_)
    found = detector.segment(table.values, weights=table.weights, names=table.names)
    worth = detector.worth(table.values, found, weights=table.weights)
    write_table(changes_table(table, found, worth), out, force=force)

"""The commands on long tables of sequences: segment, label, fit and predict.

Commands import what they need when they run, so that help is there at once.
"""

from __future__ import annotations

import typer

from rocpath.cli import changepoint_options as own
from rocpath.cli import options
from rocpath.cli.options import command, examples

app = typer.Typer(
    help="Learn where sequences change, from labeled regions.",
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
    "rocpath changepoint segment load.csv --sequence host --position time "
    "--value latency_ms",
)
def segment(
    sequences: own.Sequences,
    penalty: own.PenaltyOption = None,
    segmenting: own.Segmenting = own.Segmenting(20),
    to: options.Folder = options.Folder("rocpath-segment"),
) -> None:
    """Find changes of sequences without labels, and make a page to label them.

    The default penalty of a change is 2 σ² log n, where σ is the median absolute
    difference of neighbors over 0.954; for Poisson cost it is log n times the ratio of
    σ² to the mean, from 1 up. It is a way to begin: say in labels.html what is right,
    save the labels, and learn the penalty with changepoint fit. Writes changes.csv,
    sequences.csv and labels.html, which shows up to --max-changes changes.
    """
    from rocpath.cli.files import check_folder
    from rocpath.cli.labeled_tables import read_sequences, sequence_request
    from rocpath.cli.labeling import segment_sequences
    from rocpath.cli.penalty_model import check_columns

    check_folder(to.out, force=to.force)
    request = sequence_request(sequences, segmenting)
    check_columns(request.columns)
    table = read_sequences(sequences, request)
    # Without labels nothing is learned, and so no model is saved.
    segment_sequences(table, request, penalty, to)


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
    """Make a page to label sequences in the browser.

    Mark regions with the mouse or the keyboard and say what is right in them; the page
    shows which segmentations agree, and which sequence to label next. It works offline,
    and saves the labels as a table that changepoint fit reads.
    """
    from rocpath.cli.files import STANDARD_STREAM, check_file, write_text
    from rocpath.cli.labeled_tables import read_sequences, sequence_request
    from rocpath.cli.labeling import first_labels, labeling_page
    from rocpath.cli.long_tables import warn_of
    from rocpath.cli.terminal import say

    # The page has no table of results, so that columns may be called as they like.
    check_file(to.out, force=to.force)
    request = sequence_request(sequences, segmenting)
    table = read_sequences(sequences, request)
    warn_of(table.left_out)
    rows = () if labels is None else first_labels(labels, table, request.columns)
    page = labeling_page(table.sequences, request, labels=rows)
    write_text(page, to.out, force=to.force)
    # On a stream the page itself is what is seen.
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
    labels: own.Labels,
    group: own.GroupOption = None,
    segmenting: own.Segmenting = own.Segmenting(50),
    seed: options.SeedOption = 0,
    to: options.Folder = options.Folder("rocpath-changepoint"),
) -> None:
    """Learn penalties of sequences from labeled regions.

    A label says what is right in (start, end]: no_change, one_change,
    at_least_one_change, or of peaks no_peaks, peaks, peak_start, peak_end. Positions
    are numbers or times, or without a column of them row numbers from 0 within a
    sequence. Whole weights are lengths of runs of equal values. A sequence that cannot
    be read is named and left out. Writes model.skops, metrics.json and report.html.
    """
    from rocpath.cli.files import check_folder
    from rocpath.cli.labeled_tables import read_labeled, sequence_request
    from rocpath.cli.penalty_fit import fit_sequences
    from rocpath.cli.penalty_model import check_columns

    check_folder(to.out, force=to.force)
    # The names of columns are saved with the model: predict finds them by itself.
    request = sequence_request(sequences, segmenting, seed=seed, group=group)
    check_columns(request.columns)
    every = read_labeled(sequences, labels, request)
    fit_sequences(every, request, to)


@command(app, "rocpath changepoint predict signals-model new.csv --out changes.csv")
def predict(
    model: options.ModelArgument,
    sequences: own.Sequences,
    out: options.TableFileOption = "-",
    force: options.ForceOption = False,
) -> None:
    """Find the changes of sequences, with the penalties that a model predicts.

    The position of a change is that of the first observation after it, as it was
    written. Columns have by default the names that they had in the fit. A sequence that
    cannot be read is named, and has a row with a note in place of a change.
    """
    from rocpath.cli.files import check_file, write_table
    from rocpath.cli.labeled_tables import read_sequences, sequence_request
    from rocpath.cli.long_tables import refuse_if_all_left_out, warn_of
    from rocpath.cli.penalty_model import PenaltyModel, changes_table, check_columns
    from rocpath.model_file import read_saved

    check_file(out, force=force, is_table=True)
    fitted = read_saved(model, PenaltyModel)
    told = sequence_request(sequences, own.Segmenting(1, fitted.cost))
    request = told._replace(columns=fitted.sequence_columns(told.columns))
    check_columns(request.columns)
    table = read_sequences(sequences, request)
    segmented, at_fault = fitted.segmented(table.sequences)
    # Some cannot be read, and others not be segmented as the model has learned to.
    left_out = [*table.left_out, *at_fault]
    refuse_if_all_left_out([one for one, _ in segmented], left_out)
    warn_of(left_out)
    write_table(changes_table(segmented, left_out, request.columns), out, force=force)

"""Learn penalties from labeled sequences, judge them, and write what was found."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rocpath import changepoint as cp
from rocpath.changepoint.error_functions import can_be_learned
from rocpath.cli.files import write_folder
from rocpath.cli.long_tables import (
    LeftOut,
    LongSequence,
    features_of,
    refuse_if_all_left_out,
    warn_of,
    without_runs_at_fault,
)
from rocpath.cli.penalty_comparison import MOST_FOLDS, Problem, compare_penalties
from rocpath.cli.penalty_findings import Findings, report
from rocpath.cli.penalty_model import PenaltyModel
from rocpath.cli.terminal import progress_bar, say, show_table
from rocpath.model_file import model_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rocpath.cli.long_tables import Request
    from rocpath.cli.options import Folder
    from rocpath.cli.penalty_comparison import Comparison

_TINY = np.finfo(float).tiny
_PEAK_KINDS = ("no_peaks", "peaks", "peak_start", "peak_end")


class Labeled(NamedTuple):
    """Sequences with labels, what belongs together of them, and what cannot be used."""

    sequences: Sequence[LongSequence]
    labels: dict[str, cp.Labels]
    groups: dict[str, str] | None
    left_out: list[LeftOut]
    is_time: bool


def fit_sequences(every: Labeled, request: Request, to: Folder) -> None:
    """Fit penalties to the labeled sequences, compare, and write the results."""
    used, left_out = _usable(every, quiet=to.quiet)
    warn_of(left_out)
    # Segmenting is most of the work; two stages are the last fit and the report.
    n_stages = len(used) + MOST_FOLDS + 2
    with progress_bar(n_stages, quiet=to.quiet) as progress:
        model, found = _learned(used, every, left_out, request, progress)
        progress("making the report")
        contents: dict[str, bytes | str] = {
            "model.skops": model_bytes(model),
            "metrics.json": json.dumps(_summary(found, request), indent=2) + "\n",
            "report.html": report(found, request),
        }
    # Nothing is written before all is made: a folder is whole, or is not there.
    write_folder(to.out, contents, force=to.force)
    _show(f"{found.n_labels} labels of {len(used)} sequences", found.comparison)
    say(found.comparison.headline(found.n_labels))
    say(f"Open {to.out}/report.html")


def _usable(every: Labeled, *, quiet: bool) -> tuple[list[LongSequence], list[LeftOut]]:
    """Return the labeled sequences that can be used, and what is left out."""
    used = [one for one in every.sequences if one.name in every.labels]
    n_all, n_left = len(every.sequences), len(every.sequences) - len(used)
    if n_left and not quiet:
        say(f"note: left out, as without labels: {n_left} of {n_all} sequences.")
    # All or none, as one model takes features of one kind.
    has_runs = all(one.has_runs for one in used)
    used, too_long = without_runs_at_fault(used, has_runs=has_runs)
    refuse_if_all_left_out(used, too_long)
    return used, [*every.left_out, *too_long]


def _learned(
    used: list[LongSequence],
    every: Labeled,
    left_out: list[LeftOut],
    request: Request,
    progress: Callable[[str], None],
) -> tuple[PenaltyModel, Findings]:
    has_runs = all(one.has_runs for one in used)
    functions = error_functions(used, every.labels, request, progress=progress)
    X, names = features_of(used, has_runs=has_runs)
    problem = Problem(
        X,
        # Usual criteria have a penalty that grows with log n; its factor is learned.
        np.log([[one.value.size] for one in used]),
        # A constant sequence has none, and no changes whatever it is.
        np.log(np.maximum([request.default_penalty(one) for one in used], _TINY)),
        functions,
        None
        if every.groups is None
        else np.array([every.groups[one.name] for one in used]),
        request.seed,
    )
    # The model that is saved learns from all; the comparison says what to expect of it.
    comparison = compare_penalties(problem, progress=progress)
    progress("fitting all sequences")
    regressor = cp.PenaltyRegressor(random_state=request.seed)
    regressor.fit(X, functions, groups=problem.groups)
    columns = request.columns._asdict()
    model = PenaltyModel(
        regressor, names, request.cost, request.constraint, has_runs, columns
    )
    found = Findings(
        used, every.labels, comparison, regressor, names, left_out, every.is_time
    )
    return model, found


def _summary(found: Findings, request: Request) -> dict[str, Any]:
    comparison = found.comparison
    problem = comparison.problem
    return {
        "n_sequences": len(found.sequences),
        "n_labels": found.n_labels,
        "n_folds": comparison.n_folds,
        "n_groups": None if problem.groups is None else problem.n_units,
        **request._asdict(),
        "columns": request.columns._asdict(),
        "headline": comparison.headline(found.n_labels),
        "methods": comparison.metrics,
        "left_out": [one._asdict() for one in found.left_out],
    }


def _show(title: str, comparison: Comparison) -> None:
    rows = [
        (
            method,
            f"{metric['auc']:.4f}",
            f"{metric['label_errors']:,}",
            f"± {metric['standard_error']:.1f}",
        )
        for method, metric in comparison.metrics.items()
    ]
    header = ("method, on sequences held out", "AUC", "label errors", "")
    show_table(title, header, rows)


def error_functions(
    sequences: Sequence[LongSequence],
    labels: dict[str, cp.Labels],
    request: Request,
    *,
    progress: Callable[[str], None],
) -> list[cp.PenaltyErrors]:
    """Compute the label errors of each sequence as a function of its penalty."""
    # Without the constraint a change is neither the start nor the end of a peak.
    kinds = {kind for one in labels.values() for kind in one.kind}
    if request.constraint is None and kinds.intersection(_PEAK_KINDS):
        raise ValueError("labels of peaks need --constraint up_down.")
    functions = []
    for sequence in sequences:
        progress(f"segmenting {sequence.name}")
        functions.append(request.errors(sequence, labels[sequence.name]))
    # Any penalty would then be as good as any other, and a model of them noise.
    if not can_be_learned(functions):
        raise ValueError(
            "no penalty trades false positives for false negatives: labels must say "
            "both where changes are and where none are, of values that change."
        )
    return functions

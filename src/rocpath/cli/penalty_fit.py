"""Learn penalties from labelled sequences, judge them, and write what was found."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.model_selection import KFold

from rocpath import changepoint as cp
from rocpath.changepoint.error_functions import can_be_learned
from rocpath.cli.files import write_folder
from rocpath.cli.long_tables import LongSequence, features_of
from rocpath.cli.penalty_model import PenaltyModel
from rocpath.cli.saved_models import model_bytes
from rocpath.cli.terminal import progress_bar, say, show_table
from rocpath.roc import auc, inside_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from rocpath.changepoint.segmentation import Constraint, SegmentCost

OURS = "PenaltyRegressor"
METHODS = (OURS, "interval regression", "constant penalty")
MOST_FOLDS = 5
_PEAK_KINDS = ("no_peaks", "peaks", "peak_start", "peak_end")


class Request(NamedTuple):
    """How to segment the sequences that penalties are learned for."""

    max_changes: int
    cost: SegmentCost
    constraint: Constraint
    seed: int = 0


def fit_sequences(
    sequences: Sequence[LongSequence],
    labels: dict[str, cp.Labels],
    request: Request,
    *,
    out: str,
    force: bool,
    quiet: bool,
) -> None:
    """Fit penalties to the labelled sequences, compare, and write the results."""
    used = [sequence for sequence in sequences if sequence.name in labels]
    n_all, n_left = len(sequences), len(sequences) - len(used)
    if n_left and not quiet:
        say(f"note: left out, as without labels: {n_left} of {n_all} sequences.")
    has_runs = all(sequence.has_runs for sequence in used)
    with progress_bar(len(used) + MOST_FOLDS + 1, quiet=quiet) as progress:
        functions = error_functions(used, labels, request, progress=progress)
        X, names = features_of(used, has_runs=has_runs)
        metrics = compare_penalties(
            X, functions, random_state=request.seed, progress=progress
        )
        progress("fitting all sequences")
        regressor = cp.PenaltyRegressor(random_state=request.seed).fit(X, functions)
    model = PenaltyModel(regressor, names, request.cost, request.constraint, has_runs)
    n_labels = sum(len(one) for one in labels.values())
    summary = {
        "n_sequences": len(used),
        "n_labels": n_labels,
        "n_folds": min(MOST_FOLDS, len(used)),
        **request._asdict(),
        "methods": metrics,
    }
    contents: dict[str, bytes | str] = {
        "model.skops": model_bytes(model),
        "metrics.json": json.dumps(summary, indent=2) + "\n",
    }
    write_folder(out, contents, force=force)
    _show(f"{n_labels} labels of {len(used)} sequences", metrics)
    say(f"Wrote {out}")


def _show(title: str, metrics: dict[str, dict[str, float]]) -> None:
    rows = [
        (method, f"{metric['auc']:.4f}", f"{metric['label_errors']:,}")
        for method, metric in metrics.items()
    ]
    show_table(title, ("method, on sequences held out", "AUC", "label errors"), rows)


def error_functions(
    sequences: Sequence[LongSequence],
    labels: dict[str, cp.Labels],
    request: Request,
    *,
    progress: Callable[[str], None],
) -> list[cp.PenaltyErrors]:
    """Compute the label errors of each sequence as a function of its penalty."""
    kinds = {kind for one in labels.values() for kind in one.kind}
    if request.constraint is None and kinds.intersection(_PEAK_KINDS):
        raise ValueError("labels of peaks need --constraint up_down.")
    functions = []
    for sequence in sequences:
        progress(f"segmenting {sequence.name}")
        function = cp.errors_by_penalty(
            sequence.value,
            labels[sequence.name],
            max_changes=request.max_changes,
            cost=request.cost,
            weights=sequence.weight,
            constraint=request.constraint,
            position=sequence.position,
        )
        functions.append(function)
    if not can_be_learned(functions):
        raise ValueError(
            "no penalty trades false positives for false negatives: labels must say "
            "both where changes are and where none are, of values that change."
        )
    return functions


def compare_penalties(
    X: NDArray[np.float64],
    functions: Sequence[cp.PenaltyErrors],
    *,
    random_state: int,
    progress: Callable[[str], None],
) -> dict[str, dict[str, float]]:
    """Measure AUC and label errors of each method on sequences held out."""
    n_folds = min(MOST_FOLDS, len(functions))
    if n_folds < 2:
        raise ValueError("labels must be of at least two sequences, to hold one out.")
    log_penalty = {method: np.zeros(len(functions)) for method in METHODS}
    parts = KFold(n_folds, shuffle=True, random_state=random_state)
    for fold, (train, test) in enumerate(parts.split(X), 1):
        progress(f"part {fold} of {n_folds}")
        known = [functions[row] for row in train]
        for method in METHODS:
            log_penalty[method][test] = _predicted(
                method, X[train], known, X[test], random_state
            )
    bp = cp.error_breakpoints(functions)
    return {
        method: {
            "auc": auc(bp, -predicted),  # large penalties make few changes
            "label_errors": int(
                sum(f.at(one) for f, one in zip(functions, predicted, strict=True))
            ),
            "fewest_label_errors": int(sum((f.fp + f.fn).min() for f in functions)),
        }
        for method, predicted in log_penalty.items()
    }


def _predicted(
    method: str,
    X: NDArray[np.float64],
    functions: Sequence[cp.PenaltyErrors],
    X_new: NDArray[np.float64],
    random_state: int,
) -> NDArray[np.float64]:
    # Parts of a few sequences may lack what a regression needs; a constant always is.
    if method == "constant penalty" or not can_be_learned(functions):
        return np.full(len(X_new), _best_constant(functions))
    ours = cp.PenaltyRegressor(random_state=random_state)
    model = ours if method == OURS else cp.IntervalRegression()
    return np.asarray(model.fit(X, functions).predict(X_new))


def _best_constant(functions: Sequence[cp.PenaltyErrors]) -> float:
    """Return a log penalty with the fewest errors of all sequences together."""
    penalty = np.unique(np.concatenate([f.min_penalty for f in functions]))
    rows = [np.searchsorted(f.min_penalty, penalty, "right") - 1 for f in functions]
    pairs = list(zip(functions, rows, strict=True))
    fp = np.sum([f.fp[row] for f, row in pairs], axis=0)
    fn = np.sum([f.fn[row] for f, row in pairs], axis=0)
    return inside_interval(*cp.target_interval(cp.PenaltyErrors(penalty, fp, fn)))

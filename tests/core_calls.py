"""Call every function of the core and print a digest of the bits that each returns.

``test_core_builds.py`` runs this script once for each build of the core.
"""

import hashlib
import itertools
import json
import struct

import numpy as np
from scipy import sparse

import rocpath as rp
import rocpath._core as core
from rocpath import changepoint as cp
from rocpath.search.line_search import best_auc_step_along

answers = {}


def bits(answer):
    """Return the bytes of a result; those of arrays and floats are as in memory."""
    if isinstance(answer, np.ndarray):
        return answer.dtype.str.encode() + answer.tobytes()
    if isinstance(answer, float):
        return struct.pack("d", answer)
    if isinstance(answer, dict):
        return b"".join(key.encode() + bits(value) for key, value in answer.items())
    if isinstance(answer, tuple | list):
        return b"".join(map(bits, answer))
    if isinstance(answer, bool | int | None):
        return repr(answer).encode()
    if isinstance(answer, core.Segmenter | core.ModelFitter):
        return b""  # `segment` records their results
    raise TypeError(f"the core returned a {type(answer).__name__}")


def record_answers():
    """Replace each function of the core by one that also records its results."""
    for name in dir(core):
        function = getattr(core, name)
        if name.startswith("_") or isinstance(function, type):
            continue

        def recorded(*args, name=name, function=function, **keywords):
            answer = function(*args, **keywords)
            answers.setdefault(name, hashlib.sha256()).update(bits(answer))
            return answer

        answers[name] = hashlib.sha256()
        setattr(core, name, recorded)


def line_problems():
    """Yield a random generator, predictions and directions: tied, huge or tiny."""
    rng = np.random.default_rng(0)
    for n, scale in itertools.product((5, 40, 300), (1.0, 1e150, 1e-150, 1 / 3)):
        yield rng, rng.normal(size=n) * scale, rng.normal(size=n)
        yield rng, rng.integers(-4, 5, n) / 3 * scale, rng.integers(-4, 5, n) / 7


def search():
    for rng, prediction, direction in line_problems():
        n = len(prediction)
        is_positive = np.arange(n) % 3 == 0
        weights = rng.random(n) + 0.1
        rp.auc_interval(is_positive, prediction)  # calls the sort of the core
        rp.auc(is_positive, prediction)
        censored = rp.Survival(np.arange(n) % 7 + 1.0, is_positive)
        rp.interval(censored, prediction, "concordance")
        several = rp.ErrorBreakpoints(
            np.r_[np.arange(n), np.arange(n)],
            np.r_[np.zeros(n), np.ones(n)],
            np.r_[~is_positive * 1.0, ~is_positive * -0.5],
            np.r_[is_positive * -1.0, np.zeros(n)],
        )
        for bp in (
            rp.ErrorBreakpoints.from_labels(is_positive),
            rp.ErrorBreakpoints.from_labels(is_positive, sample_weight=weights),
            several,
        ):
            rp.auc(bp, prediction)
            rp.aum(bp, prediction)
            rp.aum_gradient(bp, prediction)
            rp.aum_derivatives(bp, prediction)
            lines = rp.Lines.from_predictions(bp, prediction, direction)
            for stop in (None, "first_min_aum", "first_max_auc"):
                rp.sweep(lines, stop=stop)
            core.count_crossings(lines.core, np.inf)  # otherwise called only for long paths
            rp.best_aum_step(lines)
            path = rp.aum_path(lines)
            path.aum_at(path.step[-1] / 3)
            if path.end > 0:
                core.minimum_near(path.lines.core, 0.0, path.step[-1], path.end, 0.0, 0.0)
            core.aum_difference(path.lines.core, path.step[-1] / 3, 0.0)
            best = rp.best_auc_step(lines, certificate=lines.is_monotone)
            if lines.is_monotone:
                rp.verify(lines, best, compiled=True)
        with rp.thread_limit(1):
            best_auc_step_along(rp.ErrorBreakpoints.from_labels(is_positive), prediction, direction)


def search_partitions():
    rng = np.random.default_rng(2)
    X = sparse.csr_array(rng.normal(size=(6000, 4)).round(1))
    is_positive = np.arange(6000) % 3 == 0
    bp = rp.ErrorBreakpoints.from_labels(is_positive)
    prediction = core.row_products(X.toarray(), rng.normal(size=4))
    change = core.row_products(X.toarray(), rng.normal(size=4))
    lines = rp.Lines.from_predictions(bp, prediction, change)
    place = core.sampled_places(6000)
    jumps = bp.jumps
    counts = [np.ascontiguousarray(column[place]) for column in (jumps.fp, jumps.tp)]
    units = jumps.fp_unit, jumps.tp_unit, jumps.divisor
    sample = core.Lines(lines.intercept[place], lines.slope[place], *counts, *units)

    def collapse(*box):
        return core.collapse_lines(lines.core, *box)

    core.best_aum_step_of_partitions(sample, 6000, collapse, np.inf)
    bracket = core.level_bracket(sample, 6000, 4.0)
    level = core.level_inside(collapse(0.0, 0.0, *bracket), sample)
    _, gradient = core.at_level(bp.core, prediction, level["threshold"], level["counts"], 2000)
    core.column_sums(X.toarray(), gradient)
    places = X.indptr.astype(np.int64), X.indices.astype(np.int64)
    core.sparse_column_sums(*places, X.data, gradient, 4)
    scores = np.unique(prediction[::2]), np.unique(prediction[1::2])
    counted = [(score, np.arange(1, 1 + score.size)) for score in scores]
    core.doubled_pairs(*counted[0], *counted[1])
    weight = rng.integers(1, 9, 40) / 7
    jump_range = core.jump_range(weight)
    are_multiples = core.are_multiples(weight, jump_range[0])
    core.count_units(weight, core.jump_unit(*jump_range, are_multiples))


def segment():
    core.segment_costs()  # otherwise called only when the package is imported
    rng = np.random.default_rng(1)
    features, errors = rng.normal(size=(20, 3)), []
    labels = cp.Labels([0, 30], [25, 60], ["no_change", "one_change"])
    for _ in range(20):
        x = np.repeat([0.0, 3.0], 40) + rng.normal(size=80)
        errors.append(cp.errors_by_penalty(x, labels, max_changes=8))
        for cost in ("biweight", "huber", "mean_variance"):
            cp.segment(x, 3, cost=cost)
            cp.segment_penalty(x, 4.0, cost=cost)
        cp.segment_penalty(np.column_stack((x, x)), 4.0)
        counts = rng.poisson(np.repeat([2.0, 7.0, 2.0], 30)).astype(float)
        every = {"normal": x, "poisson": counts, "exponential": counts + 1, "variance": x}
        for cost, values in (every | {"binomial": counts / 32}).items():
            for constraint in (None, "up_down"):
                how = {"cost": cost, "constraint": constraint}
                models = cp.segment(values, 6, **how)
                best = cp.segment_penalty(values, 4.0, **how)
                answers["segmenter"].update(bits((models.changes, best.changes)))
                answers["model_fitter"].update(bits((models.cost, models.mean)))
    rp.IntervalRegression(n_alphas=10).fit(features, errors)


if __name__ == "__main__":
    record_answers()
    search()
    search_partitions()
    segment()
    digests = {name: digest.hexdigest() for name, digest in answers.items()}
    no_answer = hashlib.sha256().hexdigest()
    print(json.dumps({"core": core.__name__, "digests": digests, "no_answer": no_answer}))

"""Subgroups of rows: intervals, tests of equal values, and the largest gap."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath.evaluation.columns import Arguments, interval_of
from rocpath.evaluation.designs import Design, design_of
from rocpath.evaluation.designs.rows import IndependentRows
from rocpath.evaluation.metrics.metric import Column
from rocpath.evaluation.pair_tests import CautiousVariance, PairTest, cautious_variance, holm
from rocpath.evaluation.results import Limits, MetricInterval
from rocpath.sample import label_vector
from rocpath.validation import Floats, check_count

_N_SIMULATED = 20_000  # the Monte Carlo error of a 95% quantile is .2% of its level
_SEED = 0


class Subgroups(NamedTuple):
    """The rows of each subgroup, and the columns of those for which a metric is defined."""

    arguments: dict[Any, Arguments]
    panels: dict[Any, list[Column]]


def subgroups_of(arguments: Arguments, scores: dict[str, Floats], by: ArrayLike) -> Subgroups:
    """Split all rows by subgroup."""
    labels = label_vector("by", by, rule="must not have missing values")
    check_count("by must have one entry", labels.size, len(arguments.sample), "rows")
    parts: dict[Any, Arguments] = {}
    panels: dict[Any, list[Column]] = {}
    for label, rows in _rows_by_label(labels):
        try:
            parts[label] = arguments.subset(rows)
            if all(mask.any() for _, mask in parts[label].used.class_masks):
                part = {name: score[rows] for name, score in scores.items()}
                panels[label] = parts[label].panel(part)
        except ValueError:
            # The metric is undefined there, such as without strata that have both classes.
            parts.setdefault(label, replace(arguments, sample=arguments.sample.take(rows)))
    return Subgroups(parts, panels)


def _rows_by_label(labels: NDArray[Any]) -> Iterator[tuple[Any, NDArray[np.intp]]]:
    """Return the distinct labels in increasing order, and the rows of each."""
    distinct, code = np.unique(labels, return_inverse=True)
    order = np.argsort(code, kind="stable")
    ends = np.searchsorted(code[order], np.arange(distinct.size + 1))
    for k, label in enumerate(distinct.tolist()):
        yield label, order[ends[k] : ends[k + 1]]


def with_subgroups(
    result: MetricInterval,
    arguments: Arguments,
    scores: dict[str, Floats],
    by: ArrayLike,
    confidence: float,
) -> MetricInterval:
    """Add the interval of each subgroup, the test of equal values, and the largest gap."""
    subgroups = subgroups_of(arguments, scores, by)
    intervals = {
        label: subgroup_interval(result, part, subgroups.panels.get(label), 0, confidence)
        for label, part in subgroups.arguments.items()
    }
    if len(subgroups.panels) < 2:
        return replace(result, subgroups=intervals)
    design = design_of(list(subgroups.panels.values()))
    p_value = equality_p_value(design, np.eye(len(design.columns)))
    gap = largest_gap(design, np.eye(len(design.columns)), confidence)
    return replace(result, subgroups=intervals, equality_p_value=p_value, largest_gap=gap)


def subgroup_interval(
    result: MetricInterval,
    arguments: Arguments,
    panel: Sequence[Column] | None,
    index: int,
    confidence: float,
) -> MetricInterval:
    """Return the interval of a subgroup, with NaN if the metric is undefined there."""
    if panel is not None:
        return interval_of(design_of([panel]), index, confidence, arguments)
    nan = float("nan")
    warning = ("the metric is undefined in this subgroup.",)
    undefined: Any = {"value": nan, "low": nan, "high": nan, "standard_error": nan}
    return replace(result, **undefined, **arguments.sample.counts, warnings=warning)


def equality_p_value(design: Design, quantities: Floats) -> float:
    """Test whether quantities, one per row and subgroup, are equal in all subgroups.

    ``quantities`` has rows of weights of columns, and may have several per subgroup.
    """
    if quantities.ndim == 2:
        quantities = quantities[:, None, :]
    contrasts = np.concatenate([part - quantities[-1] for part in quantities[:-1]])
    pairs = [
        PairTest(design, one[k], two[k])
        for one, two in combinations(quantities, 2)
        for k in range(quantities.shape[1])
    ]
    extra = np.array([part.cautious - part.plain.value for part in _columns(design)])
    center, slope = design.center, np.ones(len(design.columns))
    link = getattr(design.columns[0].metric.scale, "link", None)
    if link is not None and (np.abs(quantities).sum(axis=2) == 1).all():
        # Variances of small values are estimated as too small, but not on this scale.
        center, slope = link(design.columns[0].metric.bounds, design.center)
    test = design.test(contrasts * slope, np.maximum(extra, 0.0), center / slope)
    return test.p_value if test.is_reliable else min(holm([pair.p_value(0.0) for pair in pairs]))


def _columns(design: Design) -> list[CautiousVariance]:
    """Return the variances of each column."""
    return [cautious_variance(design, row) for row in np.eye(len(design.columns))]


def largest_gap(design: Design, quantities: Floats, confidence: float) -> Limits:
    """Return the largest difference between two quantities, and its simultaneous limits."""
    pairs = list(combinations(range(len(quantities)), 2))
    tests = [PairTest(design, quantities[i], quantities[j]) for i, j in pairs]
    error = np.array([test.standard_error for test in tests])
    size = np.abs([test.center for test in tests])
    contrasts = np.array([quantities[i] - quantities[j] for i, j in pairs])
    quantile = _simultaneous_quantile(design, contrasts, confidence)
    low, high = design.columns[0].metric.bounds
    largest = (high - low) * float(np.abs(contrasts).sum(axis=1).max()) / 2.0
    return Limits(
        float(size.max()),
        max(float((size - quantile * error).max()), 0.0),
        min(float((size + quantile * error).max()), largest),
    )


def _simultaneous_quantile(design: Design, contrasts: Floats, confidence: float) -> float:
    """Simulate the quantile of the largest absolute t statistic of several contrasts."""
    rng = np.random.default_rng(_SEED)
    columns = _columns(design)
    size = len(columns)
    plain = np.array([max(part.plain.value, 0.0) for part in columns])
    cautious = np.maximum([part.cautious for part in columns], 1e-300)
    matrix = design.matrix + np.diag(np.maximum(cautious - plain, 0.0))
    variance, direction = np.linalg.eigh(matrix)
    root = direction * np.sqrt(np.maximum(variance, 0.0))
    estimate = rng.normal(size=(_N_SIMULATED, size)) @ root.T @ contrasts.T
    freedom = np.array([min(part.plain.freedom, 1e6) for part in columns])
    if isinstance(design, IndependentRows):
        # Variances of different subgroups are estimated independently.
        chi = rng.chisquare(freedom, (_N_SIMULATED, size)) / freedom
        panel = np.repeat(np.arange(len(design.panels)), [len(p) for p in design.panels])
        chi = chi[:, np.searchsorted(panel, panel)]
        squares = np.array([np.diag(m) for m in _by_panel(contrasts, matrix, panel)])
        estimated = chi[:, np.unique(panel, return_index=True)[1]] @ squares
    else:
        expected = np.einsum("pi,ij,pj->p", contrasts, matrix, contrasts)
        chi = rng.chisquare(float(freedom.min()), (_N_SIMULATED, 1)) / float(freedom.min())
        estimated = chi * expected
    ratio = np.abs(estimate) / np.sqrt(np.maximum(estimated, 1e-300))
    return float(np.quantile(ratio.max(axis=1), confidence))


def _by_panel(contrasts: Floats, matrix: Floats, panel: NDArray[np.intp]) -> Iterator[Floats]:
    """Return the covariance matrix of the contrasts that each panel contributes."""
    for k in np.unique(panel):
        part = np.where(panel == k, contrasts, 0.0)
        yield part @ matrix @ part.T

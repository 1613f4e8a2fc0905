"""Comparisons of a metric between scores: differences, their tests, and an overall test."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from rocpath.evaluation.columns import Arguments, check_absent, interval_of, named_scores
from rocpath.evaluation.comparison_results import MetricComparison
from rocpath.evaluation.designs import Design, design_of
from rocpath.evaluation.intervals import auc_metric
from rocpath.evaluation.pair_tests import PairTest, holm
from rocpath.evaluation.results import AUCComparison
from rocpath.evaluation.subgroups import equality_p_value, largest_gap, subgroups_of
from rocpath.validation import Floats, finite_number, share_between


def compare(
    y: Any,
    scores: Any,
    metric: Any = "auc",
    *,
    groups: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    by: ArrayLike | None = None,
    other_y: Any = None,
    other_groups: ArrayLike | None = None,
    other_strata: ArrayLike | None = None,
    other_sample_weight: ArrayLike | None = None,
    confidence: float = 0.95,
    margin: float | None = None,
    positive: Any = None,
    weighting: Literal["pairs", "rows", "equal"] = "pairs",
    population: Literal["these", "like these"] | None = None,
    multi_class: Literal["ovr", "ovo"] = "ovr",
    average: Literal["macro", "weighted"] = "macro",
) -> MetricComparison:
    """Compare a metric between several scores.

    Intervals and tests of a difference use the same statistic, so an interval contains
    zero if and only if its p-value exceeds one minus ``confidence``.

    Parameters
    ----------
    y : array-like, shape (n_rows,)
        Labels, as in :func:`interval`.
    scores : dict of array-like, data frame or array, shape (n_rows, n_scores)
        Scores, one per column, larger for rows that are more likely to be positive. With
        several classes, a dict of arrays with one column per class.
    metric, groups, strata, sample_weight, confidence, positive
        As in :func:`interval`.
    by : array-like, shape (n_rows,), optional
        Subgroup of each row. The result then also has the comparison in each subgroup
        and the test of the interaction: whether the differences between the scores are
        the same in all subgroups.
    other_y : array-like, optional
        Labels of a second, independent sample. ``scores`` must then have two entries:
        the scores of the first sample and those of the second.
    other_groups, other_strata, other_sample_weight : array-like, optional
        Groups, strata and weights of the rows of the second sample.
    margin : float, optional
        Positive margin for tests of non-inferiority and equivalence.
    weighting, population, multi_class, average
        As in :func:`interval`.

    Returns
    -------
    MetricComparison

    Examples
    --------
    >>> import rocpath as rp
    >>> y = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> S = {"a": [1, 2, 3, 5, 4, 6, 7, 8], "b": [1, 5, 3, 7, 2, 4, 8, 6]}
    >>> round(rp.compare(y, S).difference, 4)
    0.3125
    """
    settings: dict[str, Any] = {
        "metric": metric,
        "positive": positive,
        "weighting": weighting,
        "population": population,
        "multi_class": multi_class,
        "average": average,
        "is_multiclass": _has_matrices(scores),
    }
    own: Any = {"groups": groups, "strata": strata, "sample_weight": sample_weight}
    weight, strata_of_other = other_sample_weight, other_strata
    other: Any = {"groups": other_groups, "strata": strata_of_other, "sample_weight": weight}
    first = Arguments.from_arguments(y, **own, **settings)
    levels = share_between("confidence", confidence), checked_margin(margin)
    if other_y is None:
        check_absent("other_y=None", **{f"other_{name}": other[name] for name in other})
        return _paired(first, scores, by, *levels)
    check_absent("other_y", by=by)
    return _unpaired(first, Arguments.from_arguments(other_y, **other, **settings), scores, *levels)


def _paired(
    arguments: Arguments, scores: Any, by: Any, confidence: float, margin: float | None
) -> MetricComparison:
    """Compare scores of the same rows."""
    columns = named_scores(arguments, scores)
    design = design_of([arguments.panel(columns)])
    result = comparison_of(design, [(name, arguments) for name in columns], confidence, margin)
    return result if by is None else _with_subgroups(result, arguments, columns, by)


def _has_matrices(scores: Any) -> bool:
    """Return whether each score has one column per class."""
    names = getattr(scores, "columns", scores)
    return isinstance(scores, dict) and any(np.ndim(scores[name]) == 2 for name in names)


def checked_margin(margin: float | None) -> float | None:
    """Return a positive margin, or raise."""
    if margin is None:
        return None
    value = finite_number("margin", margin)
    if not value > 0:
        raise ValueError(f"margin must be positive, got {value:g}.")
    return value


def comparison_of(
    design: Design,
    columns: Sequence[tuple[str, Arguments | None]],
    confidence: float,
    margin: float | None = None,
) -> MetricComparison:
    """Compare the columns of a design."""
    metric = design.columns[0].metric
    check_comparable(design)
    intervals = {
        name: interval_of(design, k, confidence, arguments)
        for k, (name, arguments) in enumerate(columns)
    }
    names, unit = list(intervals), np.eye(len(intervals))
    pairs = list(combinations(range(len(names)), 2))
    tests = [PairTest(design, unit[i], unit[j]) for i, j in pairs]
    adjusted = holm([test.p_value(0.0) for test in tests])
    differences = {
        (names[i], names[j]): test.result(confidence, margin, p)
        for (i, j), test, p in zip(pairs, tests, adjusted, strict=True)
    }
    return MetricComparison(
        name=metric.name,
        intervals=intervals,
        differences=differences,
        **_overall_test(design, tests, adjusted),
        confidence=confidence,
        margin=margin,
        warnings=tuple(dict.fromkeys(w for part in intervals.values() for w in part.warnings)),
    )


def check_comparable(design: Design) -> None:
    """Raise if the differences of a metric have no valid test for these rows."""
    for column in design.columns:
        check = getattr(column.metric, "check_comparable", None)
        if check is not None:
            check(column.sample)


def _overall_test(
    design: Design, tests: Sequence[PairTest], adjusted: Sequence[float]
) -> dict[str, Any]:
    """Test all differences from the last column at once.

    For two columns it is the test of their difference. With too few degrees of freedom
    for an F test, or for differences without variance, the p-value is the smallest
    adjusted one of the pairs.
    """
    if len(tests) == 1:
        statistic, freedom = tests[0].statistic ** 2, tests[0].variance.freedom
        values: tuple[float, int, float, float] = (statistic, 1, freedom, adjusted[0])
    else:
        unit = np.eye(len(design.columns))
        test = design.test(unit[:-1] - unit[-1])
        p_value = test.p_value if test.is_reliable else min(adjusted)
        values = (test.statistic, test.n_contrasts, test.freedom, p_value)
    return dict(zip(("statistic", "n_contrasts", "freedom", "p_value"), values, strict=True))


def _unpaired(
    first: Arguments, second: Arguments, scores: Any, confidence: float, margin: float | None
) -> MetricComparison:
    """Compare the metric of two independent samples."""
    if not isinstance(scores, dict) or len(scores) != 2:
        raise ValueError(
            "scores must be a dict with two entries for two samples: the scores of the rows "
            "of y, and those of the rows of other_y."
        )
    names = [str(name) for name in scores]
    panels = []
    for part, name, score in zip((first, second), names, scores.values(), strict=True):
        panels.append(part.panel({name: part.score(f"scores {name!r}", score)}))
    design = design_of(panels, share_units=False)
    return comparison_of(design, list(zip(names, (first, second), strict=True)), confidence, margin)


def _with_subgroups(
    result: MetricComparison, arguments: Arguments, scores: dict[str, Floats], by: ArrayLike
) -> MetricComparison:
    """Add the comparison in each subgroup, and the test of the interaction."""
    split, confidence = subgroups_of(arguments, scores, by), result.confidence
    parts = {
        label: comparison_of(
            design_of([panel]),
            [(name, split.arguments[label]) for name in scores],
            confidence,
            result.margin,
        )
        for label, panel in split.panels.items()
    }
    undefined = tuple(
        f"the metric is undefined in subgroup {label!r} ({part.sample.counts['n_positives']} "
        f"positives, {part.sample.counts['n_negatives']} negatives)."
        for label, part in split.arguments.items()
        if label not in parts
    )
    result = replace(result, subgroups=parts, warnings=(*result.warnings, *undefined))
    if len(parts) < 2:
        return result
    design = design_of(list(split.panels.values()))
    n_scores, n_parts = len(scores), len(parts)
    unit = np.eye(n_scores * n_parts).reshape(n_parts, n_scores, -1)
    differences = unit[:, :-1] - unit[:, -1:]
    p_value = equality_p_value(design, differences)
    gap = largest_gap(design, differences[:, 0], confidence) if n_scores == 2 else None
    return replace(result, equality_p_value=p_value, largest_gap=gap)


def compare_auc(
    y: ArrayLike,
    scores: ArrayLike,
    other_scores: ArrayLike,
    *,
    confidence: float = 0.95,
    max_fpr: float | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    margin: float | None = None,
    positive: Any = None,
) -> AUCComparison:
    """Compare the AUCs of two scores of the same rows.

    This is :func:`compare` for two scores and the AUC or a partial AUC. The standard
    error is DeLong's, or that of the score tests of both intervals if it is larger.

    Parameters
    ----------
    y : array-like, shape (n_rows,)
        Labels with exactly two distinct values.
    scores, other_scores : array-like, shape (n_rows,)
        Scores, larger for rows that are more likely to be positive. Ties count one
        half.
    confidence, max_fpr, sample_weight, groups, strata, positive
        As in :func:`auc_interval`.
    margin : float, optional
        Positive margin for tests of non-inferiority and equivalence.

    Returns
    -------
    AUCComparison

    Examples
    --------
    >>> import rocpath as rp
    >>> y = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> rp.compare_auc(y, [1, 2, 3, 5, 4, 6, 7, 8], [1, 5, 3, 7, 2, 4, 8, 6])
    AUC 0.938 and 0.625: difference +0.3125 (95% CI -0.1016 to +0.7266), p = 0.11
    """
    arguments = Arguments.from_arguments(
        y,
        metric=auc_metric(max_fpr),
        groups=groups,
        strata=strata,
        sample_weight=sample_weight,
        positive=positive,
    )
    columns = {
        "scores": arguments.score("scores", scores),
        "other_scores": arguments.score("other_scores", other_scores),
    }
    confidence, margin = share_between("confidence", confidence), checked_margin(margin)
    return auc_comparison_of(design_of([arguments.panel(columns)]), confidence, margin)


def auc_comparison_of(
    design: Design, confidence: float, margin: float | None = None
) -> AUCComparison:
    """Compare both columns of a design."""
    unit = np.eye(2)
    test = PairTest(design, unit[0], unit[1])
    result = test.result(confidence, margin, test.p_value(0.0))
    return AUCComparison(
        value=float(design.columns[0].value),
        other_value=float(design.columns[1].value),
        difference=result.value,
        standard_error=result.standard_error,
        low=result.low,
        high=result.high,
        p_value=result.p_value,
        confidence=confidence,
        margin=margin,
        non_inferiority_p_value=result.non_inferiority_p_value,
        equivalence_p_value=result.equivalence_p_value,
        asymptotic_standard_error=result.asymptotic_standard_error,
        name=design.columns[0].metric.name,
    )

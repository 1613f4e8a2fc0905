"""Harrell's C, Uno's C and AUC(t) against definitions, lifelines and scikit-survival."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import rocpath as rp
from rocpath.evaluation.metrics.concordance import Concordance, UnoConcordance
from rocpath.evaluation.metrics.time_dependent_auc import TimeDependentAUC
from rocpath.sample import Sample
from tests import oracle_survival as oracle

METRICS = {
    "harrell": (Concordance(), oracle.harrell),
    "uno": (UnoConcordance(), oracle.uno),
    "uno until 4": (UnoConcordance(tau=4), lambda rows: oracle.uno(rows, 4)),
    "auc at 2": (TimeDependentAUC(2), lambda rows: oracle.time_dependent_auc(rows, 2)),
    "mean auc": (TimeDependentAUC([1, 2, 3]), lambda rows: oracle.mean_auc(rows, [1, 2, 3])),
}
cases = pytest.mark.parametrize("name", METRICS)


@st.composite
def survival_rows(draw, max_size=10):
    """Draw rows with ties; the last row is censored, so that all events have weights."""
    n = draw(st.integers(3, max_size))
    columns = [
        draw(st.lists(element, min_size=n, max_size=n))
        for element in (st.integers(1, 5), st.booleans(), st.integers(0, 3), st.integers(1, 3))
    ]
    return [*zip(*columns, strict=True), (6, False, draw(st.integers(0, 3)), 1)]


def value_or_none(definition, rows):
    try:
        return definition(rows)
    except ZeroDivisionError:
        return None


def estimate(metric, rows):
    time, event, score, weight = (np.array(column, float) for column in zip(*rows, strict=True))
    sample = Sample.from_outcome(rp.Survival(time, event), sample_weight=weight)
    return metric.estimate(sample, score)


@cases
@given(rows=survival_rows())
def test_value_equals_its_definition_with_weights_and_ties(name, rows):
    metric, definition = METRICS[name]
    expected = value_or_none(definition, rows)
    assume(any(row[1] for row in rows))
    if expected is None:
        with pytest.raises(ValueError, match="y must have"):
            estimate(metric, rows)
    else:
        assert estimate(metric, rows).value == pytest.approx(float(expected), rel=1e-13)


@cases
@given(rows=survival_rows(max_size=7))
def test_influence_is_the_derivative_with_respect_to_weights(name, rows):
    metric, definition = METRICS[name]
    assume(value_or_none(definition, rows) is not None)
    influence = estimate(metric, rows).influence
    step = Fraction(1, 10**6)
    for k, row in enumerate(rows):
        high, low = (
            definition([*rows[:k], (*row[:3], row[3] * (1 + h)), *rows[k + 1 :]])
            for h in (step, -step)
        )
        assert influence[k] == pytest.approx(float((high - low) / (2 * step)), rel=1e-6, abs=1e-9)


def tied_data(seed, n=60):
    rng = np.random.default_rng(seed)
    time, score = rng.integers(1, 15, n) + 0.0, rng.integers(0, 8, n) + 0.0
    event = rng.random(n) < 0.6
    time[0], event[0] = 15.0, False
    return time, event, score


@pytest.mark.parametrize("seed", range(5))
def test_values_equal_those_of_lifelines(seed):
    utils = pytest.importorskip("lifelines.utils")
    time, event, score = tied_data(seed)
    expected = utils.concordance_index(time, -score, event)
    assert rp.interval(rp.Survival(time, event), score, "concordance").value == expected


@pytest.mark.parametrize("seed", range(5))
def test_values_equal_those_of_scikit_survival(seed):
    metrics = pytest.importorskip("sksurv.metrics")
    util = pytest.importorskip("sksurv.util")
    time, event, score = tied_data(seed)
    y = util.Surv.from_arrays(event, time)
    expected = metrics.concordance_index_censored(event, time, score)[0]
    # The structured array of scikit-survival is accepted as y.
    assert rp.interval(y, score, "concordance").value == expected
    for tau in (None, 9.0):
        expected = metrics.concordance_index_ipcw(y, y, score, tau=tau)[0]
        value = rp.interval(y, score, rp.metrics.UnoConcordance(tau)).value
        assert value == pytest.approx(expected, rel=1e-14)
    times = [4.0, 7.0, 10.0]
    areas, mean = metrics.cumulative_dynamic_auc(y, y, score, times)
    for time_point, expected in zip(times, areas, strict=True):
        value = rp.interval(y, score, rp.metrics.TimeDependentAUC(time_point)).value
        assert value == pytest.approx(expected, rel=1e-14)
    value = rp.interval(y, score, rp.metrics.TimeDependentAUC(times)).value
    assert value == pytest.approx(mean, rel=1e-14)


def test_a_perfect_ranking_has_an_interval():
    y = rp.Survival([1, 2, 3, 4, 5], [1, 1, 1, 1, 0])
    result = rp.interval(y, [5, 4, 3, 2, 1], "concordance")
    assert (result.value, result.high) == (1.0, 1.0)
    assert 0 < result.low < 1


def test_a_last_time_with_an_event_and_a_censored_row_needs_tau():
    y = rp.Survival([1, 2, 3, 3], [1, 1, 1, 0])
    with pytest.raises(ValueError, match="tau must be at most 3 here"):
        rp.interval(y, [4, 3, 2, 1], rp.metrics.UnoConcordance())
    assert rp.interval(y, [4, 3, 2, 1], rp.metrics.UnoConcordance(tau=3)).value == 1.0


def test_labels_and_censored_times_are_not_mixed_up():
    y = rp.Survival([1, 2, 3, 4], [1, 1, 0, 1])
    with pytest.raises(ValueError, match="AUC"):
        rp.interval(y, [4, 3, 2, 1])
    with pytest.raises(ValueError, match="Harrell's C"):
        rp.interval([0, 1, 0, 1], [4, 3, 2, 1], "concordance")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rp.metrics.UnoConcordance(tau=0), "tau must be positive, got 0"),
        (lambda: rp.metrics.TimeDependentAUC([2, 1]), "time must be positive and increasing"),
        (lambda: rp.metrics.TimeDependentAUC([]), "empty"),
        (lambda: rp.Survival([1, -1], [0, 1]), "time must not be negative, got -1.0"),
        (lambda: rp.Survival([1, 1], [0, 2]), "event must be False or True, or 0 or 1, got 2.0"),
        (lambda: rp.Survival([1, 1, 2], [0, 1]), "time and event must have the same length"),
    ],
)
def test_messages_name_the_argument_and_the_rule(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_structured_arrays_need_a_boolean_and_a_time():
    y = np.zeros(3, dtype=[("time", float), ("event", int)])
    with pytest.raises(ValueError, match="an array with a Boolean field"):
        rp.interval(y, [1, 2, 3], "concordance")


@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_group_out_estimates_use_pairs_of_different_groups(weighted):
    """With groups, the pairs within a group neither add to the estimate nor to its variance."""
    time, event, score = tied_data(3, n=24)
    group = np.arange(24) % 5
    weight = 1 + np.arange(24) % 3 if weighted else np.ones(24, int)
    rows = list(zip(time, event, score, weight.tolist(), group, strict=True))

    def between(rows):
        pairs = [
            (a[3] * b[3], a[3] * b[3] * oracle.wins(a, b))
            for a in rows
            for b in rows
            if a[4] != b[4] and oracle.precedes(a, b)
        ]
        return float(sum(won for _, won in pairs) / sum(weight for weight, _ in pairs))

    sample = Sample.from_outcome(rp.Survival(time, event), groups=group, sample_weight=weight)
    jackknife = Concordance().column(sample, score).jackknife
    assert jackknife.center == pytest.approx(between(rows), rel=1e-13)
    for code, replicate in enumerate(jackknife.replicates):
        rest = [row for row in rows if row[4] != code]
        assert replicate == pytest.approx(between(rest), rel=1e-13)


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_has_intervals_and_tests_with_groups_and_weights(name):
    metric, _ = METRICS[name]
    time, event, score = tied_data(0)
    settings = {"groups": np.arange(60) % 12, "sample_weight": 1 + np.arange(60) % 2}
    y = rp.Survival(time, event)
    single = rp.interval(y, score, metric, **settings)
    assert single.low < single.value < single.high
    assert single.n_groups == 12
    other = np.random.default_rng(1).normal(size=60)
    result = rp.compare(y, {"a": score, "b": other, "c": -time}, metric, **settings)
    assert 0 < result.differences["a", "b"].standard_error < 1
    assert 0 <= result.p_value <= 1
    assert "events" in repr(result)


@pytest.mark.parametrize("weighted", [False, True])
def test_within_strata_only_pairs_of_the_same_stratum_count(weighted):
    time, event, score = tied_data(4)
    stratum = np.arange(60) % 4
    weight = 1 + np.arange(60) % 3 if weighted else np.ones(60, int)
    rows = list(zip(time, event, score, weight.tolist(), strict=True))
    result = rp.interval(
        rp.Survival(time, event), score, "concordance", strata=stratum, sample_weight=weight
    )
    assert result.value == pytest.approx(float(oracle.harrell(rows, stratum)), rel=1e-13)
    metric = rp.metrics.TimeDependentAUC(7)
    result = rp.interval(rp.Survival(time, event), score, metric, strata=stratum)
    areas, sizes = [], []
    for code in range(4):
        part = [(*row[:3], 1) for row, s in zip(rows, stratum, strict=True) if s == code]
        areas.append(float(oracle.time_dependent_auc(part, 7)))
        weights = oracle.inverse_probabilities(part, 1, lambda at: at <= 7)
        sizes.append(float(sum(weights) * sum(row[0] > 7 for row in part)))
    assert result.value == pytest.approx(np.average(areas, weights=sizes), rel=1e-13)

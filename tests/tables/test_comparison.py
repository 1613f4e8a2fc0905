"""Comparison of models: DeLong's standard errors, groups and selection."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import rocpath as rp
from rocpath.sample import Sample
from rocpath.tables.comparison import CrossValidatedScores, compare_models


def scored(n_rows=60, n_models=2, seed=0, **dependence):
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % 3 == 0
    score = {f"m{k}": y + rng.normal(size=n_rows) for k in range(n_models)}
    rows = np.arange(n_rows)
    return CrossValidatedScores(rows, rows // 5 % 2, score, Sample(y, **dependence))


def test_values_and_differences_are_means_over_the_folds():
    held_out = scored()
    y, folds = held_out.sample.is_positive, [held_out.fold == k for k in (0, 1)]
    comparison = compare_models(held_out, candidates=["m0"])
    first, other = (held_out.score[name] for name in ("m0", "m1"))
    tests = [rp.compare_auc(y[rows], other[rows], first[rows]) for rows in folds]
    score = comparison["m1"]
    areas = [roc_auc_score(y[rows], other[rows]) for rows in folds]
    assert score.value == pytest.approx(np.mean(areas))
    assert score.difference == pytest.approx(np.mean([t.difference for t in tests]))
    # Folds share no rows, so the variance of the mean is the sum of variances over 4.
    variance = sum(t.asymptotic_standard_error**2 for t in tests) / 4
    assert score.difference_standard_error == pytest.approx(np.sqrt(variance))


def test_copies_count_as_one_row():
    alone = scored()
    rows = np.tile(np.arange(60), 4)
    copied = CrossValidatedScores(
        np.arange(240),
        alone.fold[rows],
        {name: one[rows] for name, one in alone.score.items()},
        Sample(alone.sample.is_positive[rows], copy=rows),
    )
    one = compare_models(alone, candidates=["m0"])
    many = compare_models(copied, candidates=["m0"])
    for name in ("m0", "m1"):
        assert many[name].value == pytest.approx(one[name].value)
        # The factors m / (m - 1) are those of the rows of a class, or of the 30 distinct
        # rows of a fold.
        assert many[name].standard_error == pytest.approx(one[name].standard_error, rel=0.04)


def test_grouped_standard_errors_sum_influence_over_groups():
    group = np.arange(60) // 5
    held_out = scored(group=group)
    comparison = compare_models(held_out, candidates=["m0"])
    assert comparison.sample_size == "20 positives, 12 groups"
    # By definition: a group's influence on the mean of the two folds' AUCs is the sum
    # over its rows of placement minus AUC, over the number of rows of the class.
    y, score, total = held_out.sample.is_positive, held_out.score["m0"], np.zeros(12)
    for fold in (0, 1):
        rows = np.flatnonzero(held_out.fold == fold)
        positive, negative = rows[y[rows]], rows[~y[rows]]
        wins = score[positive][:, None] > score[negative]
        area = wins.mean()
        for k, row in enumerate(positive):
            total[group[row]] += (wins[k].mean() - area) / positive.size / 2
        for k, row in enumerate(negative):
            total[group[row]] += (wins[:, k].mean() - area) / negative.size / 2
    # Six groups in each fold: the factor is 6 / 5.
    expected = np.sqrt(6 / 5 * (total**2).sum())
    assert comparison["m0"].standard_error == pytest.approx(expected)


def test_rows_of_weight_zero_are_ignored():
    half = np.arange(60) < 40
    held_out = scored(weight=half.astype(float))
    rows = np.flatnonzero(half)
    fewer = CrossValidatedScores(
        rows,
        held_out.fold[rows],
        {name: one[rows] for name, one in held_out.score.items()},
        Sample(held_out.sample.is_positive[rows]),
    )
    weighted = compare_models(held_out, candidates=["m0"])
    alone = compare_models(fewer, candidates=["m0"])
    assert weighted["m1"].value == pytest.approx(alone["m1"].value)


def test_the_simplest_model_within_one_standard_error_is_selected():
    held_out = scored(n_rows=300)
    noise = 1e-3 * np.random.default_rng(1).normal(size=300)
    held_out.score["simple"] = held_out.score["m0"] - noise
    held_out.score["poor"] = noise
    comparison = compare_models(held_out, candidates=["poor", "simple", "m0"])
    assert abs(comparison["simple"].value - comparison["m0"].value) < 1e-3
    assert comparison.selected == "simple"
    assert [one.value for one in comparison.scores] == sorted(
        (one.value for one in comparison.scores), reverse=True
    )


def test_partial_aucs_are_mean_true_positive_rates():
    comparison = compare_models(scored(), candidates=["m0"], max_fpr=0.5)
    held_out = scored()
    y, score = held_out.sample.is_positive, held_out.score["m0"]
    areas = [
        rp.auc_interval(y[rows], score[rows], max_fpr=0.5).value / 0.5
        for rows in (held_out.fold == 0, held_out.fold == 1)
    ]
    assert comparison.metric == "mean TPR up to an FPR of 0.5"
    assert comparison["m0"].value == pytest.approx(np.mean(areas))


def test_the_variance_of_single_positives_is_that_between_folds():
    # Positives beat 4, 2 and 3 of 4 negatives: the AUCs are 1, 1/2 and 3/4.
    y = np.tile([True, False, False, False, False], 3)
    score = np.concatenate([[won + 0.5, 0, 1, 2, 3] for won in (3, 1, 2)])
    fold = np.repeat(np.arange(3), 5)
    held_out = CrossValidatedScores(np.arange(15), fold, {"m": score}, Sample(y))
    only = compare_models(held_out, candidates=["m"])["m"]
    assert only.value == pytest.approx(0.75)
    # The positives contribute the sample variance of the AUCs, 1/16, over 3. Of the four
    # negatives of each fold, 0, 2 and 1 are above the positive: the sample variances of
    # these indicators are 0, 1/3 and 1/4, and those of their means a quarter.
    variance = (1 / 16) / 3 + (0 + 1 / 3 + 1 / 4) / 4 / 9
    assert only.standard_error == pytest.approx(np.sqrt(variance))


def test_sample_size_counts_distinct_rows():
    held_out = scored(copy=np.arange(60) // 2)
    assert held_out.sample_size == "20 positives, 30 distinct rows"

"""Studies with several readers, against loops and a published analysis."""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy import special, stats

import rocpath as rp
from tests import oracle_readers

pd = pytest.importorskip("pandas")
STUDY = Path(os.environ.get("ROCPATH_DATA", "missing")) / "readers" / "VanDyke.csv"


def simulated(n_modalities=3, n_readers=4, n_cases=24, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n_cases) % 3 == 0
    signal = y + rng.normal(size=n_cases)
    noise = rng.normal(size=(n_modalities, n_readers, n_cases))
    return y, np.round(2 * (signal + noise)) / 2


def long_frame(y, ratings):
    rows = [
        (i, f"r{j}", k, int(y[k]), ratings[i, j, k])
        for i in range(ratings.shape[0])
        for j in range(ratings.shape[1])
        for k in range(y.size)
    ]
    return pd.DataFrame(rows, columns=["modality", "reader", "case", "truth", "rating"])


@pytest.mark.parametrize("fixed", [None, "readers", "cases"])
@pytest.mark.parametrize("seed", [0, 1])
def test_analysis_equals_its_definition(fixed, seed):
    y, ratings = simulated(seed=seed)
    expected = oracle_readers.analyze(y.tolist(), ratings.tolist(), fixed)
    result = rp.compare_readers(y, ratings, fixed=fixed)
    difference = result.differences["modality 1", "modality 2"]
    assert difference.value == pytest.approx(expected["difference"], rel=1e-12)
    assert difference.standard_error**2 == pytest.approx(expected["variance"], rel=1e-10)
    assert difference.freedom == pytest.approx(expected["freedom"], rel=1e-10)
    assert result.statistic == pytest.approx(expected["statistic"], rel=1e-10)
    freedom = min(expected["freedom"], 1e9)
    assert result.p_value == pytest.approx(stats.f.sf(expected["statistic"], 2, freedom), rel=1e-5)
    half = stats.t.ppf(0.975, freedom) * expected["variance"] ** 0.5
    assert difference.high - difference.value == pytest.approx(half, rel=1e-6)


@pytest.mark.skipif(not STUDY.exists(), reason="needs the Van Dyke study in ROCPATH_DATA")
def test_published_digits_of_the_van_dyke_study():
    frame = pd.read_csv(STUDY)
    result = rp.compare_readers("truth", frame, modality="treatment")
    assert f"{result.difference:.7f}" == "-0.0438003"
    assert f"{result.standard_error:.7f}" == "0.0206825"
    assert f"{result.freedom:.3f}" == "15.066"
    assert (f"{result.low:.5f}", f"{result.high:.5f}") == ("-0.08787", "0.00027")


def test_two_modalities_have_one_test():
    y, ratings = simulated(n_modalities=2)
    result = rp.compare_readers(y, {"CT": ratings[0], "X-ray": ratings[1]}, margin=0.05)
    assert list(result.differences) == [("CT", "X-ray")]
    only = result.differences["CT", "X-ray"]
    # F with one degree of freedom in the numerator is the square of Student's t.
    assert only.p_value == pytest.approx(result.p_value, rel=1e-9)
    t = (only.value + 0.05) / only.standard_error
    assert result.non_inferiority_p_value == pytest.approx(stats.t.sf(t, only.freedom), rel=1e-9)
    other = (only.value - 0.05) / only.standard_error
    larger = max(stats.t.sf(t, only.freedom), stats.t.cdf(other, only.freedom))
    assert result.equivalence_p_value == pytest.approx(larger, rel=1e-9)


def test_a_long_data_frame_in_any_order_gives_the_same_result():
    y, ratings = simulated(n_modalities=2)
    frame = long_frame(y, ratings).sample(frac=1, random_state=0)
    from_frame = rp.compare_readers("truth", frame)
    from_array = rp.compare_readers(y, ratings)
    assert from_frame.difference == from_array.difference
    assert from_frame.standard_error == pytest.approx(from_array.standard_error, rel=1e-12)
    assert from_frame.readers == ["r0", "r1", "r2", "r3"]


def test_metrics_with_parameters():
    y, ratings = simulated(n_modalities=2)
    result = rp.compare_readers(y, ratings, metric=rp.metrics.AtThreshold("sensitivity", 1.0))
    np.testing.assert_allclose(result.values, (ratings[:, :, y] >= 1.0).mean(axis=2))
    with pytest.raises(ValueError, match="metric must be one of labels"):
        rp.compare_readers(y, ratings, metric="concordance")


def test_equal_ratings_have_no_difference():
    y, ratings = simulated(n_modalities=2)
    result = rp.compare_readers(y, ratings[[0, 0]])
    assert (result.difference, result.p_value) == (0.0, 1.0)


def test_means_of_one_modality_have_intervals_of_their_own():
    # Hillis (2014): Var = (MS(R) + r Cov2) / r, from the values of the modality alone.
    # Both variances have degrees of freedom; those of Cov2 are of 8 positives, at most.
    y, ratings = simulated(n_modalities=2)
    result = rp.compare_readers(y, ratings)
    areas = [rp.auc(y, rating) for rating in ratings[0]]
    covariance = [
        oracle_readers.oracle_auc.delong_variance(ratings[0, i].tolist(), y, ratings[0, j].tolist())
        for i in range(4)
        for j in range(4)
        if i != j
    ]
    square, shared = np.var(areas, ddof=1), 4 * max(np.mean(covariance), 0)
    of_cases = result.design.case_freedom[0]
    assert 4 < of_cases < 24
    freedom = (square + shared) ** 2 / (square**2 / 3 + shared**2 / of_cases)
    interval = result.intervals["modality 1"]
    assert interval.standard_error == pytest.approx(np.sqrt((square + shared) / 4), rel=1e-9)
    # Limits are symmetric on the logit scale.
    mean = np.mean(areas)
    half = stats.t.ppf(0.975, freedom) * interval.standard_error / (mean * (1 - mean))
    assert special.logit(interval.low) == pytest.approx(special.logit(mean) - half, rel=1e-9)
    assert special.logit(interval.high) == pytest.approx(special.logit(mean) + half, rel=1e-9)


@pytest.mark.parametrize(
    ("keep", "message"),
    [
        (lambda f: f.case != 3, None),
        (lambda f: ~((f.case == 3) & (f.reader == "r1")), "got none for .* reader r1, case 3"),
        (lambda f: (f.modality == 0) == f.reader.isin(["r0", "r1"]), "readers are nested in mod"),
        (lambda f: f.case % 4 == f.reader.str[1].astype(int), "cases are nested in readers"),
        (lambda f: f.case % 2 == f.modality, "cases are nested in modalities"),
    ],
)
def test_incomplete_designs_are_refused_by_name(keep, message):
    frame = long_frame(*simulated(n_modalities=2))
    frame = frame[keep(frame)]
    if message is None:
        rp.compare_readers("truth", frame)
        return
    with pytest.raises(ValueError, match=message):
        rp.compare_readers("truth", frame)


def test_messages_name_the_argument_and_the_rule():
    y, ratings = simulated(n_modalities=2)
    frame = long_frame(y, ratings)
    for arguments, message in (
        ((y, ratings[0]), r"ratings must have the shape"),
        ((y, ratings[:, :1]), "at least two readers, got one: use rocpath.compare"),
        ((y, ratings[:1]), "at least two modalities"),
        ((y[:-1], ratings), "y must have one entry for each of the 24 cases, got 23"),
        (("label", frame), "y must be a column of ratings, got 'label'"),
        (("truth", pd.concat([frame, frame[:1]])), "got 2 for modality 0"),
        (("truth", frame.assign(truth=frame.truth ^ (frame.modality == 1))), "the same for all"),
    ):
        with pytest.raises(ValueError, match=message):
            rp.compare_readers(*arguments)
    broken = ratings.copy()
    broken[1, 2, 3] = np.nan
    with pytest.raises(ValueError, match="modality 1, reader 2 and case 3"):
        rp.compare_readers(y, broken)


def test_printed_tables():
    y, ratings = simulated(n_modalities=2)
    text = repr(rp.compare_readers(y, {"CT": ratings[0], "X-ray": ratings[1]}, fixed="readers"))
    assert text.startswith("AUC by reader")
    assert "4 readers; conclusions hold for these readers and the population of cases." in text
    assert "CT - X-ray" in text


def test_planned_studies_have_the_power_of_simulated_tests():
    """F statistics with the planned noncentrality, drawn from the mean squares of the model."""
    y, ratings = simulated(n_modalities=2, n_cases=60)
    result = rp.compare_readers(y, ratings)
    n_cases = result.n_cases_needed(0.2, n_readers=6)
    design, rng = result.design, np.random.default_rng(0)
    (first, second, third), r, k = design.error_covariances, 6, 60 / n_cases
    shared = max(second - third, 0.0)
    of_case = design.error_variance - first - shared
    of_reader = max(design.interaction_mean_square - of_case, 0.0)
    expected = of_reader + k * of_case
    # MS(TR) is a multiple of chi-squared; the difference is normal with the variance of
    # the sum of all components.
    square = expected * rng.chisquare(r - 1, 40000) / (r - 1)
    difference = 0.2 + rng.normal(size=40000) * np.sqrt(2 / r * (expected + r * k * shared))
    error = square + r * k * shared
    freedom = error**2 / square**2 * (r - 1)
    found = stats.f.sf(0.5 * r * difference**2 / error, 1, freedom) < 0.05
    # The method treats the degrees of freedom as known, which makes a small difference.
    assert found.mean() == pytest.approx(0.8, abs=0.03)
    assert result.n_cases_needed(0.2, n_readers=12) < n_cases
    with pytest.raises(ValueError, match="n_readers must be larger than 2"):
        result.n_cases_needed(0.001, n_readers=2)
    with pytest.raises(ValueError, match="fixed cases"):
        rp.compare_readers(y, ratings, fixed="cases").n_cases_needed(0.1)


def test_planning_for_fixed_readers_is_that_of_a_normal_test():
    y, ratings = simulated(n_modalities=2, n_cases=60)
    result = rp.compare_readers(y, ratings, fixed="readers")
    # With variance proportional to 1 / n: (z_.975 + z_.8)^2 SE^2 60 / d^2, up to the tail
    # of the other sign.
    needed = (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) ** 2
    needed *= result.standard_error**2 * 60 / 0.1**2
    assert result.n_cases_needed(0.1) == pytest.approx(needed, abs=1)

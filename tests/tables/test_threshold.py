"""Thresholds of a table: guaranteed on calibration rows, estimated, or observed."""

import numpy as np
import polars as pl
import pytest

import rocpath as rp
from rocpath.evaluation.threshold_targets import ThresholdTargets
from rocpath.model_selection.folds import calibration_fold
from rocpath.sample import Sample
from rocpath.tables import rankers
from rocpath.tables.fold_fits import cross_validate, evaluation_folds, fit_all_rows, numbered_steps
from rocpath.tables.preparation import prepare_table
from rocpath.tables.settings import FitSettings


def simulated(n_rows=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    y = X[:, 0] + rng.normal(size=n_rows) > 0.5
    frame = pl.DataFrame(X, schema=["a", "b", "c"])
    # Missing values and a category, whose coefficients must be averaged as well.
    frame = frame.with_columns(
        a=pl.when(pl.arange(pl.len()) % 7 == 0).then(None).otherwise(pl.col("a")),
        color=pl.Series(rng.choice(["red", "green", "blue"], n_rows)),
    )
    return frame, y


@pytest.mark.parametrize("model", ["logistic", "boosting"])
def test_a_threshold_is_guaranteed_on_rows_that_only_calibrate(model):
    frame, y = simulated()
    settings = {"max_fpr": 0.2, "fast": True, "random_state": 0}
    fitted = rp.TableClassifier(model, calibration_size=0.4, **settings).fit(frame, y)
    fold = calibration_fold(Sample(y), 0.4, 0)
    assert fold.test.size == 120
    score = fitted.decision_function(frame[fold.test])
    expected = rp.choose_threshold(y[fold.test], score, max_fpr=0.2, confidence=0.95)
    assert fitted.model_.threshold == expected.threshold
    assert fitted.fit_.threshold_note.endswith(
        ": false positive rate at most 20%, guaranteed for new rows with 95% confidence."
    )
    assert fitted.fit_.evaluation.endswith("; threshold chosen on 120 calibration rows")
    # The model is that of the other rows.
    alone = rp.TableClassifier(model, **settings).fit(frame[fold.train], y[fold.train])
    if model == "boosting":
        np.testing.assert_array_equal(alone.decision_function(frame[fold.test]), score)


def test_calibration_groups_are_not_divided():
    frame, y = simulated()
    group = np.arange(300) // 6
    fitted = rp.TableClassifier(
        "logistic", fast=True, max_fpr=0.3, calibration_size=0.4, random_state=0
    ).fit(frame, y, groups=group)
    assert "guaranteed for new groups with 95% confidence" in fitted.fit_.threshold_note
    fold = calibration_fold(Sample(y, group=group), 0.4, 0)
    assert np.unique(group[fold.test]).size == 20
    assert not set(group[fold.test]) & set(group[fold.train])
    assert fitted.fit_.summary.n_positive + fitted.fit_.summary.n_negative == fold.test.size


def test_calibration_rows_are_the_latest():
    time = np.random.default_rng(0).permutation(100) // 2
    fold = calibration_fold(Sample(time % 2 == 0, time=time.astype(float)), 0.3, 0)
    assert time[fold.train].max() < time[fold.test].min()
    assert fold.test.size == 30


def test_calibration_rows_need_both_classes():
    y = np.arange(40) == 3
    with pytest.raises(ValueError, match="calibration_size must leave both classes"):
        calibration_fold(Sample(y, group=np.arange(40) // 4), 0.4, 0)
    frame, y = simulated()
    with pytest.raises(ValueError, match="calibration_size must be"):
        rp.TableClassifier(calibration_size=1.0).fit(frame, y)


@pytest.mark.parametrize("method", rankers.LINEAR)
def test_an_averaged_model_scores_rows_as_the_mean_of_the_folds(method):
    frame, y = simulated()
    table = prepare_table(frame, {"y": y})
    settings = FitSettings("logistic", ThresholdTargets(max_fpr=0.2), cv=3, random_state=0)
    folds = evaluation_folds(table, settings, method)
    start = numbered_steps(None, 0)
    fits = cross_validate(table, settings, folds, [method], start, has_common_inputs=True)
    pipelines = fits.pipelines[method]
    model, _ = fit_all_rows(table, settings, method, averaged=pipelines)
    fresh, _ = simulated(seed=1)
    mean = np.mean([one.decision_function(fresh) for one in pipelines], axis=0)
    np.testing.assert_allclose(model.scores(fresh), mean, atol=1e-9)


def test_a_threshold_of_linear_models_is_estimated_for_small_limits_only():
    frame, y = simulated()
    notes = {
        (model, max_fpr): rp.TableClassifier(model, fast=fast, max_fpr=max_fpr, random_state=0)
        .fit(frame, y)
        .fit_.threshold_note
        for model, max_fpr, fast in [
            ("linear", 0.2, True),
            ("linear", 0.3, True),
            ("boosting", 0.2, True),
        ]
    }
    assert "at most 20%, estimated for new rows; calibration_size" in notes["linear", 0.2]
    for key in [("linear", 0.3), ("boosting", 0.2)]:
        assert "observed on held-out rows with a margin for chance" in notes[key]
    assert not any("guaranteed for" in note for note in notes.values())

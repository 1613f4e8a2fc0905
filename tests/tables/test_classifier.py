"""TableClassifier on data frames: fits, refits, groups, time, weights and results."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score

import rocpath as rp
from rocpath.tables import rankers


@pytest.fixture(autouse=True)
def _logistic_regression_alone(monkeypatch):
    """Fit only logistic regression, so that tests are fast."""
    monkeypatch.setattr(rankers, "METHODS", (rankers.LOGISTIC,))
    monkeypatch.setitem(rankers.CANDIDATES, "auto", (rankers.LOGISTIC,))


def customers(n_groups=60, seed=0):
    """Simulate customers with five rows each, whose label is that of the customer."""
    rng = np.random.default_rng(seed)
    customer = np.repeat(np.arange(n_groups), 5)
    y = (rng.random(n_groups) < 0.4)[customer]
    frame = pd.DataFrame(
        {
            # Income identifies a customer, but does not predict the labels of others.
            "income": rng.normal(size=n_groups)[customer],
            "size": rng.normal(size=customer.size) + 0.5 * y,
            "color": rng.choice(["red", "green", None], customer.size),
            "since": pd.Timestamp("2024-01-01")
            + pd.to_timedelta(np.arange(customer.size), unit="D"),
        }
    )
    return frame, pd.Series(np.where(y, "yes", "no"), name="churned"), customer


def fitted(**roles):
    frame, y, _ = customers()
    return rp.TableClassifier(random_state=0).fit(frame, y, **roles)


def test_raw_pandas_and_polars_frames_are_fitted():
    frame, y, _ = customers()
    model = fitted()
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.feature_names_in_.tolist() == ["income", "size", "since", "color"]
    assert [one.kind for one in model.columns_] == ["number", "number", "category", "date"]
    assert model.comparison_.selected == "logistic regression"
    assert 0.5 < roc_auc_score(y == "yes", model.predict_proba(frame)[:, 1]) <= 1
    columns = {name: frame[name].to_list() for name in frame}
    columns["color"] = [one if isinstance(one, str) else None for one in frame["color"]]
    other = rp.TableClassifier(random_state=0).fit(pl.DataFrame(columns), y.to_list())
    np.testing.assert_allclose(other.decision_function(frame), model.decision_function(frame))


def test_labels_keep_their_type_and_may_be_a_column():
    frame, y, _ = customers()
    model = rp.TableClassifier(random_state=0).fit(frame, (y == "yes").astype(int))
    assert model.classes_.tolist() == [0, 1]
    assert set(model.predict(frame)) <= {0, 1}
    assert model.score(frame, (y == "yes").astype(int)) > 0.5
    named = rp.TableClassifier(random_state=0).fit(frame.assign(y=y), "y")
    assert "y" not in named.feature_names_in_
    np.testing.assert_allclose(named.decision_function(frame), model.decision_function(frame))


def test_clones_are_refitted_by_cross_val_score():
    frame, _, _ = customers()
    noise = pd.Series(np.random.default_rng(5).random(300) < 0.5).astype(int)
    model = rp.TableClassifier(fast=True, model="logistic", random_state=0)
    model.fit(frame, noise)
    assert not hasattr(clone(model), "model_")
    # Random labels cannot be predicted, except by a model that is not refitted.
    scores = cross_val_score(model, frame, noise, scoring="roc_auc", cv=3)
    assert scores.mean() < 0.65


def test_groups_are_kept_together_and_used_in_standard_errors():
    _, _, customer = customers()
    by_row, by_group = fitted(), fitted(groups=customer)
    folds = by_group.fit_.held_out.fold
    assert all(np.unique(folds[customer == k]).size == 1 for k in range(60))
    assert by_group.comparison_.sample_size.endswith(" positives, 60 groups")
    wider, narrow = by_group.comparison_.scores[0], by_row.comparison_.scores[0]
    assert wider.standard_error > 1.2 * narrow.standard_error
    assert by_group.fit_.evaluation == "5-fold cross-validation by group"


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_columns_with_a_role_are_not_features_if_given_by_name_or_value(kind):
    frame, y, customer = customers()
    columns = frame[["income", "size"]].assign(customer=customer, w=1.0, y=y.to_numpy())
    table = kind(columns.to_dict("list"))
    model = rp.TableClassifier(random_state=0)
    model.fit(table, table["y"], groups=table["customer"], sample_weight=table["w"])
    assert model.feature_names_in_.tolist() == ["income", "size"]
    named = rp.TableClassifier(random_state=0)
    named.fit(table, "y", groups="customer", sample_weight="w")
    assert named.comparison_ == model.comparison_
    # A column is a feature if the role has its name but other values; constants are dropped.
    model.fit(table, table["y"], groups=pd.Series(customer // 2, name="customer"))
    assert model.feature_names_in_.tolist() == ["income", "size", "customer"]


def test_suspected_groups_are_in_the_headline_and_given_groups_are_not():
    frame, y, customer = customers()
    frame = frame.assign(customer=customer)
    model = rp.TableClassifier(random_state=0).fit(frame, y)
    assert [one.kind for one in model.warnings_] == ["groups"]
    files = model.to_files(title="t")
    headline = json.loads(files["metrics.json"])["headline"]
    assert "Rows with the same 'customer' may be dependent" in headline
    grouped = rp.TableClassifier(random_state=0).fit(frame, y, groups="customer")
    assert grouped.warnings_ == []
    assert "customer" not in grouped.feature_names_in_


def test_models_of_the_past_are_evaluated_on_a_named_period():
    model = fitted(time="since")
    held_out = model.fit_.held_out
    # Six windows of 50 rows; the first is used only for training.
    assert held_out.row.tolist() == list(range(50, 300))
    assert held_out.n_folds == 5
    assert model.fit_.evaluation == (
        "5 forward time windows: trained on the past, evaluated on 2024-02-20 to 2024-10-26"
    )


def test_rows_of_weight_zero_do_not_matter():
    frame, y, _ = customers()
    weight = np.where(np.arange(300) < 200, 1.0, 0.0)
    weighted = fitted(sample_weight=weight)
    other = y.copy()
    other[200:] = np.where(other[200:] == "yes", "no", "yes")
    changed = rp.TableClassifier(random_state=0)
    changed.fit(frame, other, sample_weight=weight)
    # Folds are stratified by the labels of all rows, so only the final fit is similar.
    np.testing.assert_allclose(
        weighted.model_.pipeline[-1].coef_ / weighted.model_.pipeline[-1].coef_[0, 1],
        changed.model_.pipeline[-1].coef_ / changed.model_.pipeline[-1].coef_[0, 1],
        rtol=0.2,
        atol=0.1,
    )


def test_copies_are_reported_and_change_the_estimate_little():
    frame, y, _ = customers()
    four = pd.concat([frame] * 4, ignore_index=True)
    copied = rp.TableClassifier(random_state=0).fit(four, pd.concat([y] * 4))
    (warning,) = copied.warnings_
    assert warning.message.startswith("900 of 1,200 rows are copies of others")
    one, many = (m.comparison_.scores[0] for m in (fitted(), copied))
    for name in ("value", "low", "high"):
        assert getattr(many, name) == pytest.approx(getattr(one, name), abs=0.005)


def test_rows_without_a_label_are_skipped_with_a_count():
    frame, y, customer = customers()
    y = y.mask(np.arange(300) % 10 == 0)
    model = rp.TableClassifier(random_state=0).fit(frame, y, groups=customer)
    assert model.fit_.label.n_positive + model.fit_.label.n_negative == 270
    assert model.warnings_[0].message == ("30 of 300 rows have no label and are skipped")


def test_evaluate_uses_groups_of_new_rows():
    model = fitted()
    frame, y, customer = customers(seed=1)
    found = model.evaluate(frame, y, groups=customer)
    score = model.decision_function(frame)
    area = rp.auc_interval(y, score, groups=customer)
    assert found.auc.value == area.value
    assert found.auc.low == pytest.approx(area.low)
    assert found.n_groups == 60
    assert repr(found).startswith("AUC ")
    with pytest.raises(ValueError, match="groups must have one value for each of the"):
        model.evaluate(frame, y, groups=customer[:5])


def test_test_rows_that_are_training_rows_are_counted(tmp_path):
    frame, y, _ = customers()
    model = fitted()
    model.save(tmp_path)
    other, other_y, _ = customers(seed=1)
    for known in (model, rp.load_model(tmp_path)):
        assert known.evaluate(other, other_y).warnings == ()
        # 40 of the 340 rows were in the fit; their order does not matter.
        mixed = pd.concat([other, frame[:40][::-1]])
        found = known.evaluate(mixed, pd.concat([other_y, y[:40][::-1]]))
        message = "40 of 340 test rows are copies of training rows"
        assert found.warnings[0].message.startswith(message)
        assert found.to_dict()["warnings"][0].startswith(message)
    assert message in model.to_files(test=found)["metrics.json"]
    metrics = json.loads(model.to_files(test=found)["metrics.json"])
    assert message in metrics["headline"]


def test_rows_that_are_equal_by_chance_are_not_training_rows():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.choice(["x", "y", "z"], 400) for name in "abc"})
    y = rng.random(400) < 0.4
    model = rp.TableClassifier(random_state=0).fit(frame[:200], y[:200])
    assert model.evaluate(frame[200:], y[200:]).warnings == ()


def test_the_headline_for_test_rows_repeats_the_leak_warning():
    frame, y, _ = customers()
    leak = frame.assign(paid=(y == "yes") + 0.01 * np.arange(y.size) / y.size)
    model = rp.TableClassifier(random_state=0).fit(leak[:200], y[:200])
    files = model.to_files(test=model.evaluate(leak[200:], y[200:]))
    assert (
        "'paid' may be known only after the label" in json.loads(files["metrics.json"])["headline"]
    )


def test_test_rows_without_a_label_are_skipped_with_a_count():
    frame, y, _ = customers()
    found = fitted().evaluate(frame, y.where(np.arange(y.size) >= 7, None))
    assert found.warnings[0].message == "7 of 300 rows have no label and are skipped"
    assert found.label.n_positive + found.label.n_negative == 293


def test_report_model_and_metrics_are_written(tmp_path):
    frame, y, customer = customers()
    model = fitted(groups=customer)
    model.report(tmp_path / "report.html", title="customers.csv")
    page = (tmp_path / "report.html").read_text()
    assert "<h1>churned = yes in customers.csv</h1>" in page
    assert "5-fold cross-validation by group" in page
    model.save(tmp_path / "model")
    loaded = rp.load_model(tmp_path / "model")
    np.testing.assert_array_equal(loaded.decision_function(frame), model.decision_function(frame))
    # The loaded model has the parameters of the fit, and can be fitted again.
    assert loaded.get_params()["random_state"] == 0
    assert clone(loaded).fit(frame, y).comparison_ is not None
    assert "<table>" in model.comparison_._repr_html_()
    assert sorted(model.to_files()) == ["metrics.json", "model.skops", "report.html"]


def test_errors_name_the_row_of_invalid_groups_and_weights():
    frame, y, customer = customers()
    table = frame.assign(y=y, customer=pd.Series(customer, dtype=object), w=1.0)
    table.loc[7, "customer"], table.loc[3, "w"] = None, -2.0
    model = rp.TableClassifier(random_state=0)
    with pytest.raises(ValueError, match="group column 'customer' has a missing value in row 8"):
        model.fit(table, "y", groups="customer")
    with pytest.raises(ValueError, match=r"column 'w' must not be negative, got -2\.0 in row 4"):
        model.fit(table, "y", sample_weight="w")


def test_progress_is_called_before_every_step_and_sees_the_columns():
    steps = []
    frame, y, _ = customers()
    model = rp.TableClassifier(random_state=0)

    def progress(step, n_steps, text):
        steps.append((step, n_steps, text, len(model.columns_)))

    model.fit(frame, y, progress=progress)
    assert [one[0] for one in steps] == list(range(7))
    assert steps[0] == (0, 7, "logistic regression, fold 1 of 5", 4)
    assert steps[-1][2] == "summarizing the results"


@pytest.mark.parametrize(
    ("options", "roles", "message"),
    [
        ({"model": "trees"}, {}, "model must be 'linear' or"),
        ({"cv": 1}, {}, "cv must be an integer of at least 2"),
        ({"max_fpr": 2.0}, {}, "max_fpr must be"),
        ({"drop": ["none"]}, {}, "drop column 'none' not found"),
        ({"types": {"size": "float"}}, {}, "types must be one of number, category"),
        ({}, {"groups": "none"}, "groups column 'none' not found"),
        ({}, {"groups": np.zeros(300)}, "must have at least two different values"),
        ({}, {"groups": [1, 2]}, "groups must have one value for each of the 300"),
        ({}, {"sample_weight": -np.ones(300)}, "'sample_weight' must not be negative"),
        ({}, {"time": "color"}, "column 'color' must be numbers"),
    ],
)
def test_invalid_arguments_raise(options, roles, message):
    frame, y, _ = customers()
    with pytest.raises(ValueError, match=message):
        rp.TableClassifier(**options).fit(frame, y, **roles)


def test_an_estimated_threshold_is_saved_and_noted():
    frame, y, _ = customers()
    model = rp.TableClassifier(max_fpr=0.2, random_state=0).fit(frame, y)
    note = model.fit_.threshold_note
    assert note.endswith(
        ": false positive rate at most 20%, estimated for new rows; calibration_size gives a "
        "guarantee."
    )
    held_out = model.fit_.held_out
    point = rp.choose_threshold(
        held_out.sample.is_positive,
        held_out.score["logistic regression"],
        max_fpr=0.2,
        confidence=0.95,
    )
    assert model.model_.threshold == point.threshold
    score = model.decision_function(frame)
    assert ((model.predict(frame) == "yes") == (score >= point.threshold)).all()


def test_a_note_explains_why_a_threshold_of_weighted_rows_is_not_guaranteed():
    frame, y, _ = customers()
    weight = 1.0 + np.arange(y.size) % 3
    model = rp.TableClassifier(max_fpr=0.1, random_state=0).fit(frame, y, sample_weight=weight)
    reason = "not guaranteed: bounds on error rates are known only for equal weights."
    assert model.fit_.threshold_note.endswith(reason)
    by_group = rp.TableClassifier(min_precision=0.5, random_state=0)
    note = by_group.fit(frame, y, groups=np.arange(y.size) // 5).fit_.threshold_note
    assert note.endswith("no bound on the precision is known for rows that depend on each other.")


def test_thresholds_by_group_are_estimated_for_new_groups():
    frame, y, customer = customers()
    model = rp.TableClassifier(max_fpr=0.2, random_state=0)
    model.fit(frame, y, groups=customer)
    held_out = model.fit_.held_out
    score = held_out.score["logistic regression"]
    point = rp.choose_threshold(
        held_out.sample.is_positive, score, max_fpr=0.2, confidence=0.95, groups=customer
    )
    assert model.model_.threshold == point.threshold
    assert "estimated for new groups" in model.fit_.threshold_note
    bounded = model.fit_.summary.points[1]
    assert bounded.point.threshold == point.threshold
    assert bounded.point.tp + bounded.point.fp == (score >= point.threshold).sum()


def test_a_fast_fit_is_evaluated_by_its_inner_folds():
    frame, y, _ = customers()
    model = rp.TableClassifier("logistic", fast=True, max_fpr=0.2, random_state=0)
    model.fit(frame, y)
    assert model.comparison_.n_folds == 3
    assert model.fit_.evaluation == "3-fold cross-validation"
    assert model.model_.threshold is not None
    metrics = json.loads(model.to_files()["metrics.json"])
    assert metrics["max_fpr"] == 0.2
    assert set(metrics["methods"]) == {"logistic regression"}
    numbers, held_out = metrics["methods"]["logistic regression"], model.fit_.held_out
    y, score = held_out.sample.is_positive, held_out.score["logistic regression"]
    areas = [roc_auc_score(y[held_out.fold == k], score[held_out.fold == k]) for k in range(3)]
    assert numbers["auc"] == pytest.approx(np.mean(areas))
    assert numbers["pooled_auc"] == pytest.approx(roc_auc_score(y, score))
    assert numbers["partial_auc"] == model.comparison_["logistic regression"].value


@pytest.mark.parametrize("model", ["auto", "logistic"])
def test_a_fast_fit_with_times_is_evaluated_forward_in_time(model):
    # The effect of x changes its sign in the middle: a model of the past ranks later rows
    # in reverse, and a model of the whole period ranks them at random.
    rng = np.random.default_rng(0)
    x, time = rng.normal(size=300), np.arange(300)
    y = np.where(time < 150, x, -x) + 0.1 * rng.normal(size=300) > 0
    found = rp.TableClassifier(model, fast=True, random_state=0).fit(
        pl.DataFrame({"x": x}), y, time=time
    )
    assert "trained on the past, evaluated on 75 to 299" in found.fit_.evaluation
    assert found.fit_.held_out.row.min() == 75
    assert found.comparison_.scores[0].value < 0.5

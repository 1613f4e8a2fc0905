"""Types of predicted labels, and labels that are merged."""

import numpy as np
import pytest

import rocpath as rp
from tests.tables.test_classifier import customers


@pytest.mark.parametrize(
    "values",
    [np.array([0, 1]), np.array([3, 7]), np.array([False, True]), np.array([0.0, 1.0])],
    ids=str,
)
def test_predicted_labels_have_the_type_of_the_labels(values, tmp_path):
    frame, y, _ = customers()
    data = frame.assign(dead=values[(y == "yes").to_numpy().astype(int)])
    model = rp.TableClassifier("logistic", fast=True, random_state=0).fit(data, "dead")
    model.save(tmp_path / "m.skops")
    for one in (model, rp.load_model(tmp_path / "m.skops")):
        assert one.classes_.tolist() == values.tolist()
        predicted = one.predict(data)
        assert predicted.dtype == values.dtype
        accuracy = np.mean(predicted == data["dead"])
        assert accuracy > 0.5
        assert one.score(data) == one.score(data, "dead") == pytest.approx(accuracy)
        assert one.score(data.drop(columns="dead"), data["dead"]) == pytest.approx(accuracy)


def test_labels_that_are_merged_as_negative_are_counted_in_a_warning():
    frame, y, _ = customers()
    y = y.mask(np.arange(300) % 10 == 0, "unknown")
    model = rp.TableClassifier("logistic", fast=True, positive="yes", random_state=0)
    (found,) = [one for one in model.fit(frame, y).warnings_ if one.kind == "labels"]
    n_no = int((y == "no").sum())
    assert found.message == (
        f"column 'churned' has more than two labels: {n_no} rows of 'no', 30 rows of 'unknown' "
        "count as negative; drop these rows if they are not"
    )
    assert model.classes_.tolist() == ["not yes", "yes"]

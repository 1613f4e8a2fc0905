"""Results of model comparisons: sentences, tables, and the one-standard-error rule."""

import numpy as np
import pytest

from rocpath.model_selection.comparison import (
    ModelComparison,
    ModelScore,
    choose_candidate,
    simplest_model,
)


def comparison(**changes):
    values = {
        "metric": "AUC",
        "greater_is_better": True,
        "scores": (
            ModelScore("forest", 0.85, 0.01, 0.83, 0.87, 0.03, 0.01),
            ModelScore("linear", 0.82, 0.01, 0.80, 0.84),
            ModelScore("<b>", 0.8199, 0.01, 0.80, 0.84, -0.0001, 0.008),
            ModelScore("constant", 0.5, 0.0, 0.5, 0.5, -0.32, 0.01),
        ),
        "selected": "linear",
        "n_folds": 5,
        "sample_size": "293 positives",
    }
    return ModelComparison(**(values | changes))


def test_findings_compare_every_other_model_with_the_selected_one():
    assert comparison().findings() == [
        "forest vs. linear: significantly higher AUC (+0.0300 ± 0.0100, 293 positives).",
        "<b> vs. linear: no significant difference (\u22120.0001 ± 0.0080, 293 positives).",
        "constant vs. linear: significantly lower AUC (\u22120.3200 ± 0.0100, 293 positives).",
    ]


@pytest.mark.parametrize(
    ("difference", "error", "expected"),
    [
        (0.0197, 0.01, True),  # 1.97 standard errors; the 5% level is at 1.96
        (-0.0197, 0.01, True),
        (0.0195, 0.01, False),
        (0.1, 0.0, False),  # nothing can be tested without a standard error
        (0.0, 0.0, False),
        (None, None, False),
    ],
)
def test_a_difference_is_significant_beyond_1_96_standard_errors(difference, error, expected):
    score = ModelScore("a", 0.8, 0.01, 0.78, 0.82, difference, error)
    assert score.is_different is expected


def test_description_of_a_held_out_test_set_does_not_mention_folds():
    assert comparison(n_folds=1).description == "AUC, held-out test set, 293 positives"


def test_scores_are_found_by_name():
    assert comparison()["forest"].value == 0.85
    with pytest.raises(KeyError, match="no such model"):
        comparison()["no such model"]


def test_html_escapes_names():
    page = comparison()._repr_html_()
    assert "<td>&lt;b&gt;</td>" in page
    assert "<b>" not in page
    assert "<td>linear (selected)</td><td>0.820</td><td>0.800 to 0.840</td>" in page


def test_simplest_model_within_one_standard_error_of_the_best():
    errors = {("a", "c"): 0.03, ("b", "c"): 0.04}
    values = {"a": 0.80, "b": 0.81, "c": 0.84}  # a and b are worse than c by 0.04 and 0.03
    assert simplest_model(values, lambda *pair: errors[pair]) == "b"
    errors["a", "c"] = 0.05
    assert simplest_model(values, lambda *pair: errors[pair]) == "a"
    # Equal values need no standard error.
    assert simplest_model({"a": 1.0, "b": 1.0}, lambda *pair: 0.0) == "a"
    # For errors, a smaller value is better.
    fewer = simplest_model({"a": 12, "b": 10}, lambda *pair: 1.0, greater_is_better=False)
    assert fewer == "b"


def choice(table, n_errors):
    rows = iter(np.asarray(table, dtype=float))
    return choose_candidate([(None, None)] * len(table), lambda *_: next(rows), n_errors=n_errors)


def test_the_simplest_candidate_within_the_standard_error_is_chosen():
    # The differences from the last candidate are 3, 1, 5 (mean 3, standard error
    # 2 / sqrt(3)) and 1, -1, 3 (mean 1, same standard error).
    table = [[4, 2, 1], [3, 1, 2], [6, 4, 1]]
    assert choice(table, 0.0).chosen == 2
    found = choice(table, 1.0)
    assert found.chosen == 1
    assert found.mean.tolist() == pytest.approx([13 / 3, 7 / 3, 4 / 3])
    assert found.standard_error.tolist() == pytest.approx([2 / 3**0.5] * 2 + [0])
    assert choice(table, 0.8).chosen == 2
    assert choice(table, 2.5).chosen == 1
    assert choice(table, 2.7).chosen == 0


def test_the_simplest_of_equal_candidates_is_chosen():
    assert choice([[1, 1], [2, 2]], 0.0).chosen == 0
    assert choice([[1, 1]], 1.0).chosen == 0
    assert choice([], 1.0) is None

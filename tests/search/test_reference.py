"""Cases with exact results, and results of the R package aum where they are correct.

``tests/reference`` contains cases created for this project. Cases from public data are
read from the folder in the environment variable ROCPATH_REFERENCE.
"""

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pytest

import rocpath as rp

OWN = Path(__file__).parents[1] / "reference"
DERIVED = Path(os.environ.get("ROCPATH_REFERENCE", "missing")) / "derived"


def load(path):
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt") as file:
        return json.load(file)


def all_cases():
    for path in sorted([*OWN.glob("*.json*"), *DERIVED.glob("*.json")]):
        content = load(path)
        if isinstance(content, dict) and "kind" in content:
            yield pytest.param(content, id=content["id"])


CASES = list(all_cases())


def derived(name):
    if "ROCPATH_REFERENCE" not in os.environ:
        pytest.skip("set ROCPATH_REFERENCE to the folder with the derived cases")
    return load(DERIVED / f"{name}.json")


def numbers(values):
    return np.array([float(value) for value in values])


def breakpoints(case):
    """Return breakpoints, predictions, and features or None."""
    inputs, diffs = case["inputs"], case["inputs"]["diffs"]
    features = inputs.get("feature_mat")
    if features is None:
        prediction = numbers(inputs["pred_vec"])
    else:
        features = np.array(features, dtype=float)
        prediction = features @ numbers(inputs["weight_vec"])
    if case.get("pred_vec"):
        prediction = numbers(case["pred_vec"])
    bp = rp.ErrorBreakpoints(
        diffs["example"],
        diffs["pred"],
        diffs["fp_diff"],
        diffs["fn_diff"],
        n_examples=prediction.size,
    )
    return bp, prediction, features


def lines(case):
    given = case.get("line_search_input")
    if case["mode"] == "lines":
        given = case["inputs"]
    if given is None:
        bp, prediction, features = breakpoints(case)
        direction = -rp.aum_gradient(bp, prediction)
        if features is not None:
            direction = features @ (features.T @ direction)
        return rp.Lines.from_predictions(bp, prediction, direction)
    return rp.Lines(given["intercept"], given["slope"], given["fp_diff"], given["fn_diff"])


def has_predictions(case):
    return case.values[0]["mode"] != "lines"


@pytest.mark.parametrize("case", list(filter(has_predictions, CASES)))
def test_aum_and_its_derivatives_equal_the_reference(case):
    bp, prediction, features = breakpoints(case)
    known = case["aum"]
    assert rp.aum(bp, prediction) == pytest.approx(known["aum"], 1e-12, 1e-15)
    derivatives = np.array(known["derivative_mat"])
    found = np.column_stack(rp.aum_derivatives(bp, prediction))
    assert found == pytest.approx(derivatives, 1e-12, 1e-13)
    gradient = rp.aum_gradient(bp, prediction)
    assert gradient == pytest.approx(derivatives.mean(axis=1), 1e-12, 1e-13)
    if case["mode"] == "linear":
        expected = numbers(case["gradient_weight"])
        scale = np.abs(expected).max()
        assert features.T @ gradient == pytest.approx(expected, 1e-10, 1e-12 * scale)


@pytest.mark.parametrize("case", [c for c in CASES if "exact" in c.values[0]])
def test_path_is_exact(case):
    exact, probe = case["exact"], case["probe"]
    path = rp.sweep(lines(case))
    step, aum, slope = (numbers(exact[k]) for k in ("step_size", "aum", "aum_slope_after"))
    # Exact rows with the same float64 step share one row of the path.
    is_last = np.append(step[1:] != step[:-1], True)
    is_alone = is_last & np.append(True, is_last[:-1])
    assert path.step.tolist() == step[is_last].tolist()
    scale = aum.max()
    assert path.aum == pytest.approx(aum[is_last], 1e-12, 1e-15 * scale)
    steepest = np.abs(slope).max()
    assert path.aum_slope_after == pytest.approx(slope[is_last], 1e-12, 1e-14 * steepest)
    auc_at, auc_after = numbers(exact["auc"]), numbers(exact["auc_after"])
    assert path.auc_after == pytest.approx(auc_after[is_last], 1e-12, 1e-14)
    assert path.auc[is_alone[is_last]] == pytest.approx(auc_at[is_alone], 1e-12, 1e-14)
    assert path.aum.min() == pytest.approx(exact["global_min_aum"], 1e-12, 1e-15 * scale)
    first = rp.sweep(lines(case), stop="first_min_aum")
    local_min = exact["first_local_min_aum"]
    assert first.aum[-1] == pytest.approx(local_min, 1e-12, 1e-15 * scale)

    at = numbers(probe["step_size"])
    assert path.aum_at(at) == pytest.approx(numbers(probe["aum"]), 1e-12, 1e-14 * scale)
    assert path.auc_at(at) == pytest.approx(numbers(probe["auc"]), 1e-12, 1e-14)


def is_peer_correct(case):
    check = case.values[0]["peer_check"]
    return check.get("agrees_with_exact", check.get("agrees_with_float_bruteforce"))


# Columns of the R package and of StepPath; one long path has only three of them.
COLUMNS = {
    "step_size": "step",
    "aum": "aum",
    "aum_slope_after": "aum_slope_after",
    "auc": "auc",
    "auc_after": "auc_after",
    "intersections": "n_groups",
}
RECORDED = {"med_bin200": ("step_size", "aum", "auc_after")}


@pytest.mark.parametrize("case", list(filter(is_peer_correct, CASES)))
def test_path_equals_that_of_the_r_package_where_it_is_correct(case):
    known = case["line_search"]
    row = np.array(case.get("row_index") or range(len(known["step_size"])))
    path = rp.sweep(lines(case), max_crossings=row.max())
    steepest = np.abs(path.aum_slope_after).max()
    for name in RECORDED.get(case["id"], COLUMNS):
        expected = numbers(known[name])
        # Rounding errors accumulate in the sums of the R package.
        drift = 1e-11 * np.abs(expected).max() + 1e-15 * steepest * path.step[row]
        difference = np.abs(getattr(path, COLUMNS[name])[row] - expected)
        assert (difference <= 1e-8 * np.abs(expected) + drift).all(), name


def test_paper_example_of_four_labels():
    path = rp.sweep(lines(load(OWN / "bin4_paper.json")))
    assert path.step.tolist() == [0, 2, 8, 10]
    assert path.aum.tolist() == [1, 0, 0, 0]
    assert path.auc.tolist() == [0.75, 0.875, 1, 1]


def test_paper_example_of_two_sequences():
    path = rp.sweep(lines(derived("cp2_paper")))
    assert path.auc_after.tolist() == [0, 1, 0, 1, 2, 1, 0, 1]
    assert path.queue_size.tolist() == [2, 1, 2, 1, 2, 1, 1, 0]


def test_breakpoints_from_penalty_errors_equal_the_reference():
    for case in derived("diffs")["penalty"]:
        rows, names = case["errors"], case["pred_name_vec"]
        kept = [k for k, e in enumerate(rows["example"]) if names is None or e in names]
        example = [rows["example"][k] for k in kept]
        if names is not None:
            example = [names.index(e) for e in example]
        columns = [[rows[c][k] for k in kept] for c in ("min_lambda", "fp", "fn")]
        for denominator in ("count", "rate"):
            expected = case[denominator]
            bp = rp.ErrorBreakpoints.from_penalty_errors(example, *columns, denominator=denominator)
            assert bp.example.tolist() == expected["example"]
            assert bp.value == pytest.approx(numbers(expected["pred"]))
            assert bp.fp_diff == pytest.approx(numbers(expected["fp_diff"]))
            assert bp.fn_diff == pytest.approx(numbers(expected["fn_diff"]))


def test_breakpoints_from_labels_equal_the_reference():
    for case in derived("diffs")["binary"]:
        if "names" in case:
            continue
        for denominator in ("count", "rate"):
            expected = case[denominator]
            bp = rp.ErrorBreakpoints.from_labels(case["labels"], denominator=denominator)
            assert bp.fp_diff.tolist() == numbers(expected["fp_diff"]).tolist()
            assert bp.fn_diff.tolist() == numbers(expected["fn_diff"]).tolist()

"""Forged model files: indices out of range are rejected before compiled code follows them."""

import sys

import numpy as np
import pytest
import skops.io
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier

import rocpath as rp

pytest.importorskip("resource")

from rocpath.files.model_checks import check_model, parts_of
from tests.files import mutated_models


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Save one model of each kind."""
    folder = tmp_path_factory.mktemp("models")
    mutated_models.save_models(folder)
    return folder


def state_of(path):
    return skops.io.load(path, trusted=skops.io.get_untrusted_types(file=path))


def part_of(state, name):
    """Return the fitted parts of a type."""
    return [one for one in parts_of(state) if type(one).__name__ == name and len(vars(one)) > 0]


def fitted_part(state, name, attribute):
    return next(one for one in part_of(state, name) if attribute in vars(one))


def set_child(tree, value):
    tree.nodes = tree.nodes.copy()
    tree.nodes["left"][0] = value


def circle(tree):
    """Make the first node its own child."""
    tree.nodes = tree.nodes.copy()
    tree.nodes["right"][0] = 0


def replace(array, place, value):
    array = array.copy()
    array[place] = value
    return array


BOOSTING = ("boosting", "TreePredictor", "nodes")
ENCODER = ("linear", "OneHotEncoder", "_n_features_outs")
FOREST = ("blend", "ExtraTreeClassifier", "tree_")
SVC = ("blend", "SVC", "support_vectors_")
SPLINE = ("blend", "BSpline", "k")
FORGERIES = {
    "far child": (BOOSTING, lambda one: set_child(one, 2**31 - 10), "a child out of range"),
    "circle": (BOOSTING, circle, "a child out of range"),
    "feature": (
        BOOSTING,
        lambda one: setattr(one, "nodes", forged(one.nodes, "feature_idx", 2**40)),
        "a feature out of range",
    ),
    "category": (
        BOOSTING,
        lambda one: setattr(one, "nodes", forged(one.nodes, "is_categorical", 1)),
        "has categories",
    ),
    "categories": (
        ("boosting", "_BinMapper", "is_categorical_"),
        lambda one: setattr(one, "is_categorical_", one.is_categorical_ + np.uint8(1)),
        "has categories",
    ),
    "no width": (
        ("boosting", "HistGradientBoostingClassifier", "_predictors"),
        lambda one: vars(one).pop("n_features_in_"),
        "n_features_in_ must be a whole number",
    ),
    "forest child": (
        FOREST,
        lambda one: one.tree_.update(nodes=forged(one.tree_["nodes"], "left_child", 2**40)),
        "a child out of range",
    ),
    "forest feature": (
        FOREST,
        lambda one: one.tree_.update(nodes=forged(one.tree_["nodes"], "feature", -5)),
        "a feature out of range",
    ),
    "forest size": (
        FOREST,
        lambda one: one.tree_.update(node_count=10**9),
        "another number of nodes",
    ),
    "forest classes": (FOREST, lambda one: one.tree_.update(n_classes=9), "values must be an"),
    "support": (SVC, lambda one: vars(one).update(_n_support=one._n_support * 9), "support_ must"),
    "weights": (
        SVC,
        lambda one: vars(one).update(_dual_coef_=one._dual_coef_[:, :2]),
        "_dual_coef_ must be an array of shape",
    ),
    "kernel": (SVC, lambda one: vars(one).update(_impl="one_class"), "hides"),
    "one-hot width": (
        ENCODER,
        lambda one: vars(one).update(_n_features_outs=[1] * len(one._n_features_outs)),
        "group out of range|another size",
    ),
    "spline degree": (SPLINE, lambda one: vars(one).update(k=10**6), ""),
}


def forged(nodes, field, value):
    nodes = nodes.copy()
    nodes[field] = value
    return nodes


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_indices_are_rejected(saved, tmp_path, name):
    (kind, type_name, attribute), forge, message = FORGERIES[name]
    state = state_of(saved / f"{kind}.skops")
    forge(fitted_part(state, type_name, attribute))
    path = tmp_path / "forged.skops"
    skops.io.dump(state, path)
    with pytest.raises(ValueError, match=rf"forged\.skops' is damaged: .*({message})"):
        rp.load_model(path)


def test_sparse_matrices_are_checked():
    matrix = sparse.csr_array(np.eye(3))
    check_model({"coef_": matrix})
    matrix.indices[1] = 10**6
    with pytest.raises(ValueError, match="indices"):
        check_model({"coef_": matrix})


def test_estimators_that_no_model_contains_are_rejected(saved, tmp_path):
    state = state_of(saved / "linear.skops")
    X = np.arange(8.0)[:, None]
    state["pipeline"].steps[-1] = ("ranking", KNeighborsClassifier(1).fit(X, np.arange(8) % 2))
    path = tmp_path / "other.skops"
    skops.io.dump(state, path)
    with pytest.raises(ValueError, match=r"do not use: .*KNeighborsClassifier"):
        rp.load_model(path)


def test_mutated_models_do_not_crash(saved):
    outcomes, crashes = mutated_models.run(saved, 0, 60)
    assert not crashes, sys.version
    assert outcomes.total() == 60
    assert outcomes["rejected"] > 0
    assert outcomes["used"] > 0

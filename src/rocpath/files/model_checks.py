"""Check the indices in a loaded model that compiled code of other libraries follows.

A model file may contain arbitrary numbers. NumPy raises an error for an invalid index, but
the trees, kernel machines and encoders of scikit-learn and the splines of SciPy read memory
at indices that they do not check.
"""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

_BASIC = (str, bytes, int, float, bool, type(None), np.generic, slice, type)
_MAX_CLASSES = 1000
_NONE = ("", None)


def check_model(model: Any) -> None:
    """Rebuild trees, and raise a ValueError if any index in a model is out of range."""
    for part in parts_of(model):
        if type(part).__module__.startswith("sklearn."):
            hidden = [name for name in getattr(part, "__dict__", ()) if hasattr(type(part), name)]
            _check(not hidden, f"a {type(part).__name__} hides {hidden[:1]} of its class")
        fitted, check = _CHECKS.get(f"{type(part).__module__}.{type(part).__qualname__}", _NONE)
        if check is not None:
            # Without this attribute, an estimator is not fitted, and raises when it is used.
            if fitted in vars(part):
                check(part)
        elif sparse.issparse(part):
            part.check_format(full_check=True)


def parts_of(model: Any) -> Iterator[Any]:
    """Iterate over all objects that a model contains, each once."""
    waiting, seen = [model], set()
    while waiting:
        part = waiting.pop()
        if isinstance(part, _BASIC) or id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        if isinstance(part, dict):
            waiting += part.values()
        elif isinstance(part, (list, tuple)):
            waiting += part
        elif isinstance(part, np.ndarray):
            waiting += part.ravel().tolist() if part.dtype.kind == "O" else []
        else:
            waiting += getattr(part, "__dict__", {}).values()


def packed_trees(model: Any) -> dict[int, dict[str, Any]]:
    """Return the arrays of each compiled tree in a model by the id of the tree."""
    return {
        id(part.tree_): _packed_tree(part.tree_)
        for part in parts_of(model)
        if hasattr(part, "tree_") and hasattr(part.tree_, "node_count")
    }


def _packed_tree(tree: Any) -> dict[str, Any]:
    # Loading a compiled tree follows numbers in the file before they can be checked.
    sizes = {"n_features": tree.n_features, "n_classes": int(tree.n_classes[0])}
    return {**sizes, **tree.__getstate__()}


def _check(is_valid: Any, rule: str) -> None:
    if not is_valid:
        raise ValueError(rule)


def _n_features(estimator: Any) -> int:
    """Return the number of columns to which scikit-learn compares the columns of X."""
    n_features = vars(estimator).get("n_features_in_")
    _check(isinstance(n_features, (int, np.integer)), "n_features_in_ must be a whole number")
    return int(n_features)


def _array(name: str, value: Any, shape: tuple[int, ...], kind: str = "f") -> NDArray[Any]:
    is_valid = type(value) is np.ndarray and value.dtype.kind == kind and value.shape == shape
    _check(is_valid, f"{name} must be an array of shape {shape}")
    return value  # type: ignore[no-any-return]


def _check_nodes(nodes: Any, children: tuple[str, str], feature: str, n_features: int) -> None:
    """Raise unless the children of each inner node follow it and its feature exists."""
    _check(type(nodes) is np.ndarray and nodes.ndim == 1 and nodes.size, "a tree has no nodes")
    names = nodes.dtype.names or ()
    _check({*children, feature} <= {*names}, "a tree has nodes of another version")
    index = np.arange(nodes.size)
    # As in the code that follows the nodes, which differs between the two kinds of trees.
    is_leaf = nodes["is_leaf"] != 0 if "is_leaf" in names else nodes[children[0]] == -1
    for child in children:
        # A child comes after its parent, so that no path can be a circle.
        follows = (nodes[child] > index) & (nodes[child] < nodes.size)
        _check((is_leaf | follows).all(), "a tree has a child out of range")
    is_feature = (nodes[feature] >= 0) & (nodes[feature] < n_features)
    _check((is_leaf | is_feature).all(), "a tree has a feature out of range")
    if "is_categorical" in names:
        _check(not nodes["is_categorical"].any(), "a tree has categories")


def _check_boosting(model: Any) -> None:
    n_features = _n_features(model)
    state = vars(model)
    bins = vars(state["_bin_mapper"])
    # Categories would be read and written at positions given by numbers in the file.
    is_categorical = _array("is_categorical_", bins["is_categorical_"], (n_features,), "u")
    _check(not is_categorical.any(), "a boosting model has categories")
    _check(state.get("_preprocessor") is None, "a boosting model has a preprocessor")
    _check(not state.get("_in_fit"), "a boosting model is being fitted")
    for predictor in chain.from_iterable(state["_predictors"]):
        nodes = vars(predictor)["nodes"]
        _check_nodes(nodes, ("left", "right"), "feature_idx", n_features)


def _check_forest(model: Any) -> None:
    from sklearn.tree._tree import Tree

    n_features = _n_features(model)
    for estimator in vars(model)["estimators_"]:
        state = vars(estimator)
        packed = state["tree_"]
        _check(type(packed) is dict, "a tree is not a dictionary")
        nodes, n_classes = packed.pop("nodes"), packed.pop("n_classes")
        _check(packed.pop("n_features") == n_features, "a tree has another number of features")
        _check(type(n_classes) is int and 0 < n_classes <= _MAX_CLASSES, "a tree has no classes")
        _check_nodes(nodes, ("left_child", "right_child"), "feature", n_features)
        _check(packed["node_count"] == nodes.size, "a tree has another number of nodes")
        _array("values", packed["values"], (nodes.size, 1, n_classes))
        state["tree_"] = Tree(n_features, np.array([n_classes], dtype=np.intp), 1)
        state["tree_"].__setstate__({**packed, "nodes": nodes})


def _check_kernel_machine(model: Any) -> None:
    n_features, state = _n_features(model), vars(model)
    n_support = _array("_n_support", state["_n_support"], (2,), "i")
    n_vectors = int(n_support.sum())
    _check((n_support >= 0).all(), "_n_support must not be negative")
    _check(state["kernel"] == "rbf", "kernel must be 'rbf'")
    _array("support_", state["support_"], (n_vectors,), "i")
    _array("_intercept_", state["_intercept_"], (1,))
    for name in ("_probA", "_probB"):
        _array(name, state[name], (0,))
    vectors, weights = state["support_vectors_"], state["_dual_coef_"]
    if state["_sparse"] is False:
        _array("support_vectors_", vectors, (n_vectors, n_features))
        _array("_dual_coef_", weights, (1, n_vectors))
        return
    for name, matrix, n_columns in (("vectors", vectors, n_features), ("weights", weights, None)):
        is_csr = sparse.issparse(matrix) and matrix.format == "csr"
        _check(is_csr, f"support {name} must be a CSR matrix")
        matrix.check_format(full_check=True)
        _check(n_columns in (None, matrix.shape[1]), f"support {name} have another width")
    _check(vectors.shape[0] == n_vectors, "support vectors have another number of rows")
    _check(weights.shape == (1, n_vectors) == (1, weights.nnz), "support weights are missing")


def _check_encoder(encoder: Any) -> None:
    state = vars(encoder)
    sizes, levels = state["_n_features_outs"], state["categories_"]
    _check(state.get("_drop_idx_after_grouping") is None, "an encoder drops categories")
    _check(len(sizes) == len(levels), "an encoder has another number of columns")
    is_grouped = state["_infrequent_enabled"] is True
    rare = state["_infrequent_indices"] if is_grouped else [None] * len(levels)
    groups = state["_default_to_infrequent_mappings"] if is_grouped else [None] * len(levels)
    for size, names, rare_levels, group in zip(sizes, levels, rare, groups, strict=True):
        _check(type(names) is np.ndarray and names.ndim == 1, "categories must be arrays")
        if group is None:
            _check(rare_levels is None and size == names.size, "an encoder has another size")
            continue
        _array("groups of categories", group, (names.size,), "i")
        _check(((group >= 0) & (group < size)).all(), "an encoder has a group out of range")
        is_rare = np.isin(rare_levels, np.arange(names.size))
        _check(is_rare.all(), "an encoder has a rare category out of range")


def _check_spline(spline: Any) -> None:
    arrays = spline.t, spline.c
    _check({type(array) for array in arrays} == {np.ndarray}, "a spline must consist of arrays")
    _check(type(spline.k) is int, "the degree of a spline must be a whole number")
    # The constructor checks sizes and order.
    type(spline)(*arrays, spline.k, extrapolate=bool(spline.extrapolate))


# The attribute of a fitted object, and the check of it, by type.
_CHECKS: dict[str, tuple[str, Callable[[Any], None]]] = {
    "sklearn.ensemble._forest.ExtraTreesClassifier": ("estimators_", _check_forest),
    "sklearn.ensemble._hist_gradient_boosting.gradient_boosting.HistGradientBoostingClassifier": (
        "_predictors",
        _check_boosting,
    ),
    "sklearn.svm._classes.SVC": ("support_vectors_", _check_kernel_machine),
    "sklearn.preprocessing._encoders.OneHotEncoder": ("_n_features_outs", _check_encoder),
    "scipy.interpolate._bsplines.BSpline": ("k", _check_spline),
}

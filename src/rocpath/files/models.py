"""Write and read model files, which contain data and no code.

A model is a dataclass with a class attribute ``kind``. A file may contain only
numbers, text and the types listed here, and is rejected otherwise.
"""

import copy
import io
import json
import os
import zipfile
from collections.abc import Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import skops.io

from rocpath.files.csv_text import first_line
from rocpath.files.model_checks import check_model, packed_trees
from rocpath.files.writer import write_file

Model = TypeVar("Model")

MODEL_FILE = "model.skops"
LARGEST_MODEL = 2**30  # size in bytes, before and after unpacking
_FORMAT = 5  # increased when older models can no longer be read
# Types that a model may contain, besides numbers and text. skops trusts all estimators of
# scikit-learn, some of which hand the numbers in a file to compiled code without checks.
_TYPES = {
    "numpy.dtype",
    "numpy.ndarray",
    "numpy.random._generator.Generator",
    "rocpath.changepoint.interval_regression.IntervalRegression",
    "rocpath.changepoint.penalty_regressor.PenaltyRegressor",
    "rocpath.matrices.Columns",
    "rocpath.matrices.LinearModel",
    "rocpath.ranking.auc_blender.AUCBlender",
    "rocpath.ranking.auc_classifier.AUCClassifier",
    "rocpath.ranking.blend.Blend",
    "rocpath.ranking.blend.BlendHistory",
    "rocpath.ranking.blend.Scale",
    "rocpath.ranking.fit.History",
    "rocpath.ranking.initial_models.InitialModel",
    "rocpath.tables.calibration.PlattScaling",
    "rocpath.tables.columns.TableFeatures",
    "scipy._lib.array_api_compat.numpy._aliases.asarray",  # part of splines
    "scipy.interpolate._bsplines.BSpline",
    "scipy.sparse._csr.csr_array",
    "scipy.sparse._csr.csr_matrix",
    "sklearn._loss._loss.CyHalfBinomialLoss",
    "sklearn._loss.link.Interval",
    "sklearn._loss.link.LogitLink",
    "sklearn._loss.loss.HalfBinomialLoss",
    "sklearn.compose._column_transformer.ColumnTransformer",
    "sklearn.compose._column_transformer._RemainderColsList",
    "sklearn.ensemble._forest.ExtraTreesClassifier",
    "sklearn.ensemble._hist_gradient_boosting.binning._BinMapper",
    "sklearn.ensemble._hist_gradient_boosting.gradient_boosting.HistGradientBoostingClassifier",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.impute._base.MissingIndicator",
    "sklearn.impute._base.SimpleImputer",
    "sklearn.linear_model._logistic.LogisticRegression",
    "sklearn.pipeline.Pipeline",
    "sklearn.preprocessing._data.StandardScaler",
    "sklearn.preprocessing._encoders.OneHotEncoder",
    "sklearn.preprocessing._function_transformer.FunctionTransformer",
    "sklearn.preprocessing._label.LabelEncoder",
    "sklearn.preprocessing._polynomial.SplineTransformer",
    "sklearn.svm._classes.SVC",
    "sklearn.tree._classes.ExtraTreeClassifier",
}
_BUILTINS = ("bool", "dict", "float", "int", "list", "NoneType", "slice", "str", "tuple")
_SAVED_BY = {"table": "`rocpath fit`", "changepoint": "`rocpath changepoint fit`"}
# Fitted attributes that all predictions depend on.
_WEIGHTS = ("coef_", "intercept_", "scale_", "statistics_", "weights_")


def model_bytes(model: Any) -> bytes:
    """Serialize a model, a dataclass with a ``kind``, to bytes."""
    parts = {part.name: _packed(getattr(model, part.name)) for part in fields(model)}
    trees = packed_trees(parts)
    # Compiled trees are replaced by their arrays in a copy; other models are not copied.
    parts = copy.deepcopy(parts, dict(trees)) if trees else parts
    content: bytes = skops.io.dumps({"format": _FORMAT, "kind": model.kind, **parts})
    return content


def save_model(path: str | os.PathLike[str], model: Any) -> None:
    """Write a model to a file that ends in ``.skops``, or to ``model.skops`` in a folder."""
    target = Path(path)
    if target.suffix != ".skops":
        target.mkdir(exist_ok=True)
        target = target / MODEL_FILE
    write_file(target, model_bytes(model))


def _packed(part: Any) -> Any:
    """Pack names into one array, since skops writes each string of a tuple separately."""
    if hasattr(part, "_fields"):
        return type(part)(*map(_packed, part))
    is_names = isinstance(part, tuple) and all(type(one) is str for one in part)
    return np.array(part, dtype=np.str_) if is_names else part


def _unpacked(part: Any) -> Any:
    if hasattr(part, "_fields"):
        return type(part)(*map(_unpacked, part))
    is_names = isinstance(part, np.ndarray) and part.dtype.kind == "U"
    return tuple(part.tolist()) if is_names else part


def read_saved(source: str, *wanted: type[Model]) -> Model:
    """Read a model of one of the wanted types, after checking the types in the file."""
    # Size, types, format, kind and parts are checked in this order, for safety.
    content = _content(source)
    _check_size(source, content)
    try:
        trusted = sorted(_TYPES)
        untrusted = _other_types(content)
        untrusted |= set(skops.io.get_untrusted_types(data=content)) - _TYPES
        state = None if untrusted else skops.io.loads(content, trusted=trusted)
    # skops may raise any exception for a file that is not a model.
    except Exception as error:
        raise ValueError(f"{source!r} is not a rocpath model ({type(error).__name__}).") from None
    if untrusted:
        raise ValueError(
            f"{source!r} was not loaded, because it contains types that rocpath models do "
            f"not use: {', '.join(sorted(untrusted))}."
        )
    if not isinstance(state, dict) or state.pop("format", None) != _FORMAT:
        raise ValueError(f"{source!r} is not a model of this version of rocpath.")
    kind = state.pop("kind", None)
    by_kind = {one.kind: one for one in wanted}  # type: ignore[attr-defined]
    if kind not in by_kind:
        expected = " or ".join(_SAVED_BY[one] for one in by_kind)
        raise ValueError(
            f"{source!r} must be a model saved by {expected}, got one saved by "
            f"{_SAVED_BY.get(kind, 'an unknown command')}."
        )
    return _from_state(source, by_kind[kind], state)


def _other_types(content: bytes) -> set[str]:
    """Return the types in a file that rocpath's models do not contain."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        waiting = [json.loads(archive.read("schema.json"))]
    found = set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if "__class__" in node:
                found.add((str(node.get("__module__")), str(node["__class__"])))
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node
    return {f"{module}.{name}" for module, name in found if not _is_known(module, name)}


def _is_known(module: str, name: str) -> bool:
    if module == "builtins":
        return name in _BUILTINS
    if module == "numpy":
        # Scalars, such as numpy.float64.
        kind = getattr(np, name, None)
        if isinstance(kind, type) and issubclass(kind, np.generic):
            return kind is not np.void and kind is not np.object_
    return f"{module}.{name}" in _TYPES


def _from_state(source: str, wanted: type[Model], state: dict[str, Any]) -> Model:
    """Build a model from its parts, or raise if one is missing or has non-finite weights."""
    parts = fields(wanted)  # type: ignore[arg-type]
    needed = {
        part.name for part in parts if part.default is MISSING and part.default_factory is MISSING
    }
    missing = sorted(needed - state.keys())
    if missing:
        raise ValueError(f"{source!r} is not a complete model: {missing[0]!r} is missing.")
    unknown = sorted(state.keys() - {part.name for part in parts})
    if unknown:
        raise ValueError(f"{source!r} has an unknown entry {unknown[0]!r}.")
    try:
        check_model(state)
        bad = [name for value in state.values() for name in _bad_weights(value)]
        parts_read = {name: _unpacked(value) for name, value in state.items()}
        model = None if bad else wanted(**parts_read)
    except Exception as error:  # parts of an invalid type or shape
        raise ValueError(f"{source!r} is damaged: {first_line(error)}.") from None
    if model is None:
        raise ValueError(f"{source!r} is damaged: {bad[0]} is not finite.")
    return model


def _bad_weights(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield the names of non-finite weights of an estimator and of nested ones."""
    # Deep enough for a blend of pipelines; a malicious file could nest indefinitely.
    if depth > 6:
        return
    if isinstance(value, (list, tuple)):
        for one in value:
            yield from _bad_weights(one, depth + 1)
        return
    for name, part in getattr(value, "__dict__", {}).items():
        if name in _WEIGHTS:
            number = np.asarray(part)
            if number.dtype.kind == "f" and not np.isfinite(number).all():
                yield f"{name} of its {type(value).__name__}"
        elif name.endswith("_") or name == "steps":
            yield from _bad_weights(part, depth + 1)


def _check_size(source: str, content: bytes) -> None:
    """Raise if the unpacked file would exceed the maximum size of a model."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            size = sum(part.file_size for part in archive.infolist())
    except (zipfile.BadZipFile, ValueError, OSError, EOFError):
        raise ValueError(f"{source!r} is not a rocpath model, or is damaged.") from None
    if size > LARGEST_MODEL:
        raise ValueError(
            f"{source!r} would unpack to {size / 2**20:,.0f} MiB, more than the "
            f"{LARGEST_MODEL / 2**20:,.0f} MiB allowed for a model."
        )


def _content(source: str) -> bytes:
    """Read a model file, or the model file in a folder."""
    path = Path(source)
    path = path / MODEL_FILE if path.is_dir() else path
    try:
        if path.exists() and path.stat().st_size > LARGEST_MODEL:
            raise ValueError(f"{source!r} must be at most {LARGEST_MODEL / 2**20:,.0f} MiB.")
        return path.read_bytes()
    except FileNotFoundError:
        raise ValueError(f"{str(path)!r} does not exist.") from None
    except OSError as error:
        raise ValueError(f"{source!r} cannot be read: {error.strerror}.") from None

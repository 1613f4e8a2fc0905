"""Models as bytes that hold data and no code."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

import skops.io

from rocpath.cli.files import read_model

Model = TypeVar("Model")

_FORMAT = 1  # to be raised when models of before can no longer be read
# What a model may hold beyond what skops itself trusts: our own types, and the type of
# an array's numbers.
_TRUSTED = [
    "numpy.dtype",
    "rocpath.ranking.auc_classifier.AUCClassifier",
    "rocpath.changepoint.interval_regression.IntervalRegression",
    "rocpath.changepoint.penalty_regressor.PenaltyRegressor",
    "rocpath.ranking.starts.ConvexStart",
    "rocpath.ranking.fit.History",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
]
_MADE_BY = {"table": "rocpath fit", "changepoint": "rocpath changepoint fit"}


def model_bytes(model: Any) -> bytes:
    """Return a model, a dataclass that names its ``kind``, as bytes."""
    parts = {part.name: getattr(model, part.name) for part in fields(model)}
    content: bytes = skops.io.dumps({"format": _FORMAT, "kind": model.kind, **parts})
    return content


def load_model(source: str, wanted: type[Model]) -> Model:
    """Read what `model_bytes` was given, after a look at the types in it."""
    content = read_model(source)
    try:
        strange = set(skops.io.get_untrusted_types(data=content)) - set(_TRUSTED)
        state = None if strange else skops.io.loads(content, trusted=_TRUSTED)
    # A file that is no model can fail in any way, inside skops.
    except Exception as error:
        raise ValueError(
            f"{source!r} is not a model of rocpath ({type(error).__name__})."
        ) from None
    if strange:
        raise ValueError(
            f"{source!r} holds types that models of rocpath do not have, and was not "
            f"loaded: {', '.join(sorted(strange))}."
        )
    if not isinstance(state, dict) or state.pop("format", None) != _FORMAT:
        raise ValueError(f"{source!r} is not a model of this version of rocpath.")
    kind, needed = state.pop("kind", None), wanted.kind  # type: ignore[attr-defined]
    if kind != needed:
        raise ValueError(
            f"{source!r} was made by `{_MADE_BY.get(kind, 'something else')}`; this "
            f"needs one of `{_MADE_BY[needed]}`."
        )
    return wanted(**state)

"""Models as bytes that hold data and no code."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, Literal

Kind = Literal["table", "changepoint"]

_FORMAT = 1
# What a model may hold beyond what skops itself trusts: our own types, and the type of
# an array's numbers.
_TRUSTED = [
    "numpy.dtype",
    "rocpath.ranking.auc_classifier.AUCClassifier",
    "rocpath.changepoint.interval_regression.IntervalRegression",
    "rocpath.changepoint.penalty_regressor.PenaltyRegressor",
    "rocpath.ranking.fit.ConvexStart",
    "rocpath.ranking.fit.History",
]
_MADE_BY = {
    "table": "rocpath fit",
    "changepoint": "rocpath changepoint fit",
}

# Importing skops takes a second, which help pages should not; but that it is missing
# must be known before a fit.
if find_spec("skops") is None:
    raise ModuleNotFoundError("skops is missing.", name="skops")


def model_bytes(kind: Kind, state: dict[str, Any]) -> bytes:
    """Return a model as bytes."""
    import skops.io

    content: bytes = skops.io.dumps({"format": _FORMAT, "kind": kind, **state})
    return content


def model_state(content: bytes, kind: Kind, *, source: str) -> dict[str, Any]:
    """Return what `model_bytes` was given, after a look at the types in it."""
    import skops.io

    try:
        strange = set(skops.io.get_untrusted_types(data=content)) - set(_TRUSTED)
        if not strange:
            state = skops.io.loads(content, trusted=_TRUSTED)
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
    if not isinstance(state, dict) or state.get("format") != _FORMAT:
        raise ValueError(f"{source!r} is not a model of this version of rocpath.")
    if state["kind"] != kind:
        made = _MADE_BY.get(state["kind"], "something else")
        raise ValueError(
            f"{source!r} was made by `{made}`; this needs one of `{_MADE_BY[kind]}`."
        )
    return state

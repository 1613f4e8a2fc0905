"""Learned detector with the interface of skchange, an optional dependency."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from skchange.detectors import BaseChangeDetector
from skchange.utils.validation import validate_data


class SkchangeDetector(BaseChangeDetector):  # type: ignore[misc]
    """Detector for skchange that predicts a penalty for each sequence."""

    def __init__(self, learned: Any) -> None:
        self.learned = learned

    def __sklearn_tags__(self) -> Any:
        """Declare that sequences have one column."""
        tags = super().__sklearn_tags__()
        tags.input_tags.multivariate = False
        return tags

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Predict the penalty of a sequence; nothing else is learned."""
        column = validate_data(self, X, reset=True, ensure_2d=True)
        (self.penalty_,) = self.learned.predict_penalty([column[:, 0]])
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.intp]:
        """Detect changes with the penalty predicted for this sequence."""
        column = validate_data(self, X, reset=False, ensure_2d=True)
        (changes,) = self.learned.predict([column[:, 0]])
        return np.asarray(changes, dtype=np.intp)

"""Learned detector with the interface of sktime, an optional dependency."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sktime.detection.base import BaseDetector


class SktimeDetector(BaseDetector):  # type: ignore[misc]
    """Detector for sktime that predicts a penalty for each series."""

    _tags: ClassVar = {
        "task": "change_point_detection",
        "learning_type": "unsupervised",  # the penalty model is already fitted
        "capability:multivariate": False,
        "fit_is_empty": True,
        "X_inner_mtype": "np.ndarray",
    }

    def __init__(self, learned: Any) -> None:
        self.learned = learned
        super().__init__()

    def _predict(self, X: ArrayLike) -> NDArray[np.int64]:
        (changes,) = self.learned.predict([np.ravel(np.asarray(X))])
        return np.asarray(changes)

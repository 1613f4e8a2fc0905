"""Scorers for model selection by AUC or partial AUC with scikit-learn."""

from typing import Any

from numpy.typing import ArrayLike
from sklearn.metrics import make_scorer

from rocpath.search.breakpoints import ErrorBreakpoints
from rocpath.search.roc import auc


def partial_auc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    max_fpr: float | None = None,
    min_tpr: float | None = None,
    standardized: bool = True,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Compute the AUC or a partial AUC, with the signature of a scikit-learn metric.

    Parameters
    ----------
    y_true : array-like, shape (n_samples,)
        Labels with exactly two distinct values.
    y_score : array-like, shape (n_samples,)
        Scores, larger for rows that are more likely to be positive.
    max_fpr : float, optional
        Upper limit of the false positive rate.
    min_tpr : float, optional
        Lower limit of the true positive rate.
    standardized : bool
        Whether to rescale a partial area to 0.5 for chance and 1 for a perfect ranking
        (McClish), as ``roc_auc_score`` does with ``max_fpr``.
    sample_weight : array-like, shape (n_samples,), optional
        Non-negative weight of each row.
    pos_label : label, optional
        Positive class; by default, the larger of the two labels.

    Returns
    -------
    float

    Examples
    --------
    >>> import rocpath as rp
    >>> rp.partial_auc_score([0, 0, 1, 1], [1, 3, 2, 4], max_fpr=0.5)
    0.6666666666666666
    """
    bp = ErrorBreakpoints.from_labels(y_true, sample_weight=sample_weight, positive=pos_label)
    is_partial = max_fpr is not None or min_tpr is not None
    return auc(
        bp, y_score, max_fpr=max_fpr, min_tpr=min_tpr, standardized=standardized and is_partial
    )


def partial_auc_scorer(*, max_fpr: float | None = None, min_tpr: float | None = None) -> Any:
    """Create a scorer for the ``scoring`` argument of scikit-learn's model selection.

    Parameters
    ----------
    max_fpr, min_tpr : float, optional
        Same as for :func:`partial_auc_score`.

    Returns
    -------
    callable

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from sklearn.model_selection import GridSearchCV
    >>> import rocpath as rp
    >>> search = GridSearchCV(
    ...     RidgeClassifier(),
    ...     {"alpha": [0.1, 10.0]},
    ...     scoring=rp.scorers.partial_auc_scorer(max_fpr=0.1),
    ... ).fit(*load_breast_cancer(return_X_y=True))
    >>> bool(0.5 < search.best_score_ <= 1)
    True
    """
    return make_scorer(
        partial_auc_score,
        response_method=("decision_function", "predict_proba"),
        max_fpr=max_fpr,
        min_tpr=min_tpr,
    )

"""Agreement between detected and annotated changes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath.validation import check_none, whole_number, whole_numbers


def covering(changes: ArrayLike, annotations: ArrayLike | Sequence[ArrayLike], *, n: int) -> float:
    """Compute how well the detected segments cover the annotated ones.

    For one annotator, the covering is the mean over annotated segments, weighted by
    their lengths, of the largest Jaccard index with a detected segment. For several
    annotators, it is the mean of their coverings.

    Parameters
    ----------
    changes : array-like of int
        Indices from 1 to n - 1 where detected segments start.
    annotations : array-like of int, or list of array-like of int
        Changes of one annotator, or a list with the changes of each annotator.
    n : int
        Length of the sequence.

    Returns
    -------
    float
        Covering between 0 and 1 (perfect agreement).

    Examples
    --------
    >>> from rocpath import changepoint as cp
    >>> cp.covering([50], [[50], []], n=100)
    0.75
    """
    n = whole_number("n", n, least=1)
    found = _segments(_checked("changes", changes, n), n)
    scores = []
    for annotated in _annotators(annotations, n):
        segments = _segments(annotated, n)
        low = np.maximum(segments[:, None, 0], found[None, :, 0])
        high = np.minimum(segments[:, None, 1], found[None, :, 1])
        shared = np.maximum(high - low, 0)
        length, other = np.diff(segments).ravel(), np.diff(found).ravel()
        jaccard = shared / (length[:, None] + other[None, :] - shared)
        scores.append(float(length @ jaccard.max(axis=1)) / n)
    return float(np.mean(scores))


def f1_score(
    changes: ArrayLike, annotations: ArrayLike | Sequence[ArrayLike], *, n: int, margin: int = 5
) -> float:
    """Compute the F1 score of detected changes, with a margin of error.

    A detected change is correct if it is within the margin of an annotated one, and
    each change is matched at most once. Precision is computed for the union of the
    annotators' changes; recall is the mean over annotators. The start of the sequence,
    index 0, counts as a detected and an annotated change, so that the score is always
    defined.

    Parameters
    ----------
    changes, annotations, n
        As for `covering`.
    margin : int
        Maximum distance between a detected change and a matching annotated one.

    Returns
    -------
    float
        F1 score between 0 and 1.

    Examples
    --------
    >>> from rocpath import changepoint as cp
    >>> cp.f1_score([52, 80], [[50], [50]], n=100)
    0.8
    """
    n = whole_number("n", n, least=1)
    margin = whole_number("margin", margin, least=0)
    found = np.append(0, _checked("changes", changes, n))
    annotated = [np.append(0, one) for one in _annotators(annotations, n)]
    union = np.unique(np.concatenate(annotated))
    precision = _n_matched(union, found, margin) / found.size
    recalls = [_n_matched(one, found, margin) / one.size for one in annotated]
    recall = float(np.mean(recalls))
    return 2 * precision * recall / (precision + recall)


def _n_matched(annotated: NDArray[np.int64], found: NDArray[np.int64], margin: int) -> int:
    """Return the maximum number of matches within the margin, using each change once."""
    n_matched = first = 0
    # Matching the earliest change within the margin leaves the most changes for later
    # matches.
    for place in annotated:
        while first < found.size and found[first] < place - margin:
            first += 1
        if first < found.size and found[first] <= place + margin:
            n_matched += 1
            first += 1
    return n_matched


def _annotators(annotations: Any, n: int) -> list[NDArray[np.int64]]:
    # A list of numbers is from one annotator; a list of lists is from several annotators.
    every = annotations if any(np.ndim(one) > 0 for one in annotations) else [annotations]
    return [_checked(f"annotations[{k}]", one, n) for k, one in enumerate(every)]


def _checked(name: str, changes: ArrayLike, n: int) -> NDArray[np.int64]:
    place = np.unique(whole_numbers(name, np.asarray(changes)))
    is_bad = (place < 1) | (place > n - 1)
    check_none(is_bad, f"{name} must be from 1 to n - 1 = {n - 1}", place)
    return place


def _segments(changes: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    return np.column_stack((np.append(0, changes), np.append(changes, n)))

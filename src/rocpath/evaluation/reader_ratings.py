"""Ratings of cases by several readers with several modalities, from arrays or tables."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath.sample import Codes, label_vector
from rocpath.validation import Floats, check_count, describe, finite_vector

_ROLES = ("modality", "reader", "case")


@dataclass(frozen=True, eq=False)
class ReaderRatings:
    """Ratings of all cases by all readers with all modalities.

    Attributes
    ----------
    label : array-like, shape (n_cases,)
        Label of each case.
    rating : array, shape (n_modalities, n_readers, n_cases)
        Rating of each case, larger for cases that are more likely to be positive.
    modalities, readers : list of str
        Names of the modalities and readers.
    """

    label: ArrayLike
    rating: Floats
    modalities: list[str]
    readers: list[str]

    @classmethod
    def from_arguments(cls, y: Any, ratings: Any, columns: Mapping[str, str], rating: str) -> Self:
        """Check ratings in an array, a dict, or a data frame with named columns."""
        if isinstance(y, str):
            return cls.from_frame(y, ratings, columns, rating)
        return cls.from_array(y, ratings)

    @classmethod
    def from_array(cls, y: ArrayLike, ratings: Any) -> Self:
        """Check ratings in an array, or in a dict of modalities."""
        names = [str(name) for name in ratings] if isinstance(ratings, Mapping) else None
        table = np.asarray(list(ratings.values()) if isinstance(ratings, Mapping) else ratings)
        if table.ndim != 3:
            raise ValueError(
                "ratings must have the shape (modalities, readers, cases), got "
                f"{table.shape}. For a data frame, y must be the name of a column."
            )
        n_modalities, n_readers, n_cases = table.shape
        labels = label_vector("y", y)
        check_count("y must have one entry", labels.size, n_cases, "cases")
        if table.dtype.kind == "f" and np.isnan(table).any():
            modality, reader, case = np.argwhere(np.isnan(table))[0].tolist()
            raise ValueError(
                "ratings must have no missing values, got none for modality "
                f"{modality}, reader {reader} and case {case}: incomplete designs are not "
                "supported."
            )
        rating = finite_vector("ratings", table.ravel()).reshape(table.shape)
        modalities = names or [f"modality {k + 1}" for k in range(n_modalities)]
        readers = [f"reader {k + 1}" for k in range(n_readers)]
        return cls(labels, rating, modalities, readers)._checked()

    @classmethod
    def from_frame(cls, y: str, frame: Any, columns: Mapping[str, str], rating: str) -> Self:
        """Check ratings in a data frame with one row for each rating.

        ``columns`` maps "modality", "reader" and "case" to names of columns.
        """
        for role, name in {"y": y, **columns, "rating": rating}.items():
            if name not in list(frame.columns):
                raise ValueError(
                    f"{role} must be a column of ratings, got {name!r}: the columns are "
                    f"{describe([str(column) for column in frame.columns])}."
                )
        levels, codes = zip(
            *(
                np.unique(label_vector(columns[role], frame[columns[role]]), return_inverse=True)
                for role in _ROLES
            ),
            strict=True,
        )
        _check_factorial(levels, codes)
        shape = tuple(level.size for level in levels)
        place = np.ravel_multi_index(codes, shape)
        values = np.empty(place.size)
        values[place] = finite_vector(rating, frame[rating])
        truth, label = np.unique(label_vector(y, frame[y]), return_inverse=True)
        of_case = np.empty(shape[2], dtype=np.intp)
        of_case[codes[2]] = label
        if (of_case[codes[2]] != label).any():
            case = levels[2][codes[2][(of_case[codes[2]] != label).argmax()]]
            raise ValueError(f"y must be the same for all ratings of a case, got both for {case}.")
        names = [[str(value) for value in level] for level in levels[:2]]
        return cls(truth[of_case], values.reshape(shape), *names)._checked()

    def _checked(self) -> Self:
        """Raise unless there are several modalities and readers."""
        for name, values in (("modalities", self.modalities), ("readers", self.readers)):
            if len(values) < 2:
                remedy = ": use rocpath.compare for a single reader" if name == "readers" else ""
                raise ValueError(f"ratings must have at least two {name}, got one{remedy}.")
        return self


def _check_factorial(levels: tuple[NDArray[Any], ...], codes: tuple[Codes, ...]) -> None:
    """Raise unless there is one rating for each modality, reader and case."""
    shape = tuple(level.size for level in levels)
    count = np.bincount(np.ravel_multi_index(codes, shape), minlength=int(np.prod(shape)))
    if (count == 1).all():
        return
    observed = count.reshape(shape) > 0
    is_repeated = bool((count > 1).any())
    # Pairs of levels that occur together, by the axes of both factors.
    nested = [
        f"{inner} are nested in {outer}"
        for inner, outer, together in (
            ("readers", "modalities", observed.any(axis=2)),
            ("cases", "modalities", observed.any(axis=1).T),
            ("cases", "readers", observed.any(axis=0).T),
        )
        if _is_nested(together, inner)
    ]
    first = np.unravel_index(int((count != 1).argmax()), shape)
    where = ", ".join(
        f"{role} {level[k]}" for role, level, k in zip(_ROLES, levels, first, strict=True)
    )
    found = (
        f"{nested[0]} (a split-plot design)"
        if nested and not is_repeated
        else f"{count.max() if is_repeated else 'none'} for {where}"
    )
    raise ValueError(
        f"ratings must have one rating for each modality, reader and case, got {found}: only "
        "factorial designs are supported."
    )


def _is_nested(together: Any, inner: str) -> bool:
    """Return whether each level of the inner factor occurs with one level of the outer."""
    by_inner = together.T if inner == "readers" else together
    return bool(by_inner.shape[1] > 1 and (by_inner.sum(axis=1) == 1).all())

"""Independent rows: variances are sums of the squared influences of each class."""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rocpath.evaluation.designs.overall import OverallTest, satterthwaite_test
from rocpath.evaluation.influence import Variance
from rocpath.evaluation.metrics.metric import ClassVariance, Column
from rocpath.validation import Floats

# With many rows, the pairs of several columns share one covariance matrix, unless their
# rankings are nearly equal. The degrees of freedom then hardly matter.
_MANY_ROWS = 100_000
_CANCELLATION = 1e-6


class ClassCovariance(NamedTuple):
    """The covariance matrix that one class contributes, and its degrees of freedom."""

    matrix: Floats
    freedom: float


class IndependentRows:
    """Columns whose rows are independent.

    ``panels`` are lists of columns of the same rows; rows of different panels, such as
    subgroups or two samples, are different and independent.
    """

    def __init__(self, panels: Sequence[Sequence[Column]]) -> None:
        self.panels = panels
        self.columns = [column for panel in panels for column in panel]
        self.center = np.array([column.value for column in self.columns])

    def variance(self, contrast: Floats) -> Variance:
        """Return the variance of a weighted sum of the columns."""
        n_used = np.count_nonzero(contrast)
        if n_used > 1 and len(self.columns) > 2 and len(self.columns[0].score) >= _MANY_ROWS:
            variance = self._variance_of_many(contrast)
            if variance is not None:
                return variance
        parts = []
        for panel, weight in zip(self.panels, self._split(contrast), strict=True):
            parts += _panel_variances(panel, weight)
        return total_variance(parts)

    def _variance_of_many(self, contrast: Floats) -> Variance | None:
        """Return the variance from the covariance matrix, or None if digits would cancel."""
        value = float(contrast @ self.matrix @ contrast)
        if value <= _CANCELLATION * float(contrast**2 @ np.diagonal(self.matrix)):
            return None
        freedom = [
            total_variance(column.class_variances).freedom
            for column, weight in zip(self.columns, contrast, strict=True)
            if weight
        ]
        return Variance(value, min(freedom))

    def _split(self, contrast: Floats) -> list[Floats]:
        """Return the part of a contrast for each panel."""
        ends = np.cumsum([len(panel) for panel in self.panels])
        return np.split(contrast, ends[:-1])

    @cached_property
    def components(self) -> list[ClassCovariance]:
        """The covariance matrices that the classes of each panel contribute."""
        size = len(self.columns)
        start = 0
        found = []
        for panel in self.panels:
            stop = start + len(panel)
            for part in _class_covariances(panel):
                matrix = np.zeros((size, size))
                matrix[start:stop, start:stop] = part.matrix
                found.append(ClassCovariance(matrix, part.freedom))
            start = stop
        return found

    @cached_property
    def matrix(self) -> Floats:
        """The covariance matrix of all columns."""
        return np.asarray(sum(part.matrix for part in self.components))

    def test(
        self, contrasts: Floats, extra: Floats | None = None, center: Floats | None = None
    ) -> OverallTest:
        """Test whether all contrasts, one per row, are zero.

        ``extra`` are variances that are added to those of the columns, and ``center`` are
        transformed values whose derivatives are in the contrasts.
        """
        parts = [contrasts @ part.matrix @ contrasts.T for part in self.components]
        freedom = [part.freedom for part in self.components]
        if extra is not None:
            parts.append(contrasts * extra @ contrasts.T)
            freedom.append(np.inf)
        return satterthwaite_test(
            contrasts @ (self.center if center is None else center), parts, freedom
        )


def _panel_variances(panel: Sequence[Column], weight: Floats) -> list[ClassVariance]:
    """Return the variances of the classes of one panel."""
    used = np.flatnonzero(weight).tolist()
    if not used:
        return []
    first = panel[used[0]]
    if len(used) == 1:
        square = float(weight[used[0]] ** 2)
        return [part._replace(value=square * part.value) for part in first.class_variances]
    return first.contrast_variances(panel, weight)


def total_variance(parts: Sequence[ClassVariance]) -> Variance:
    """Add independent variances, with Satterthwaite's degrees of freedom."""
    total = sum(part.value for part in parts)
    terms = [part.value**2 / part.freedom for part in parts if part.freedom > 0]
    freedom = total**2 / sum(terms) if terms and total > 0 else np.inf
    return Variance(total, max(float(freedom), 1.0))


def _class_covariances(panel: Sequence[Column]) -> list[ClassCovariance]:
    """Return the covariance matrices of the classes of one panel."""
    first = panel[0]
    influence = np.array([column.influence for column in panel])
    influence *= first.row_factor
    single = np.array([column.single_variances for column in panel])
    found = []
    for c, (_, mask) in enumerate(first.sample.class_masks):
        side = influence[:, mask]
        matrix = side @ side.T + np.diag(single[:, c])
        # As for a single column, few rows may have most of the influence.
        freedom = [column.class_variances[c].freedom for column in panel]
        estimated = [free for free in freedom if free > 0]
        found.append(ClassCovariance(matrix, max(min(estimated, default=1.0), 1.0)))
    return found

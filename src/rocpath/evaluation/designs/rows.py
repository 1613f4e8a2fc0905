"""Independent rows: variances are sums of the squared influences of each class."""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rocpath.evaluation.designs.overall import OverallTest, satterthwaite_test
from rocpath.evaluation.influence import Variance
from rocpath.evaluation.metrics.metric import ClassVariance, Column, class_variances
from rocpath.validation import Floats

# Below this fraction of the variances of both values, the variance of a difference is
# computed by summing over rows, since most digits would cancel.
_CANCELLATION = 1e-6
_N_DIRECT = 200_000  # entries of the influences up to which variances are sums over rows


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
        parts = []
        for panel, weight in zip(self.panels, self._split(contrast), strict=True):
            parts += _panel_variances(panel, weight)
        return total_variance(parts)

    def _split(self, contrast: Floats) -> list[Floats]:
        """Return the part of a contrast for each panel."""
        ends = np.cumsum([len(panel) for panel in self.panels])
        return np.split(contrast, ends[:-1])

    @cached_property
    def components(self) -> list[ClassCovariance]:
        """The covariance matrices that the classes of each panel contribute."""
        size, start, found = len(self.columns), 0, []
        for panel in self.panels:
            stop = start + len(panel)
            for part in _class_covariances(panel):
                matrix = np.zeros((size, size))
                matrix[start:stop, start:stop] = part.matrix
                found.append(ClassCovariance(matrix, part.freedom))
            start = stop
        return found

    @property
    def matrix(self) -> Floats:
        """The covariance matrix of all columns."""
        return np.asarray(sum(part.matrix for part in self.components))

    def test(self, contrasts: Floats) -> OverallTest:
        """Test whether all contrasts, one per row, are zero."""
        parts = [contrasts @ part.matrix @ contrasts.T for part in self.components]
        freedom = [part.freedom for part in self.components]
        return satterthwaite_test(contrasts @ self.center, parts, freedom)


def _panel_variances(panel: Sequence[Column], weight: Floats) -> list[ClassVariance]:
    """Return the variances of the classes of one panel."""
    used = np.flatnonzero(weight).tolist()
    if not used:
        return []
    first = panel[used[0]]
    if len(used) == 1:
        square = float(weight[used[0]] ** 2)
        return [part._replace(value=square * part.value) for part in first.class_variances]
    influence = sum(weight[k] * panel[k].influence for k in used)
    parts = class_variances(first.sample, np.asarray(influence))
    # The covariance cannot be estimated from a single row of a class.
    return [
        part._replace(
            value=sum(float(weight[k] ** 2) * panel[k].class_variances[c].value for k in used)
        )
        if part.n_rows < 1.0001
        else part
        for c, part in enumerate(parts)
    ]


def total_variance(parts: Sequence[ClassVariance]) -> Variance:
    """Add independent variances, with Satterthwaite's degrees of freedom."""
    total = sum(part.value for part in parts)
    terms = [part.value**2 / part.freedom for part in parts if part.freedom > 0]
    freedom = total**2 / sum(terms) if terms and total > 0 else np.inf
    if any(part.n_rows < 1.0001 for part in parts) and not terms:
        freedom = np.inf
    return Variance(total, max(float(freedom), 1.0))


def _class_covariances(panel: Sequence[Column]) -> list[ClassCovariance]:
    """Return the covariance matrices of the classes of one panel."""
    sample = panel[0].sample
    influence = np.array([column.influence for column in panel])
    found = []
    for c, (_, mask) in enumerate(sample.class_masks):
        n_rows = panel[0].class_variances[c].n_rows
        if n_rows < 1.0001:
            values = [column.class_variances[c].value for column in panel]
            found.append(ClassCovariance(np.diag(values), 1.0))
            continue
        side = influence[:, mask]
        found.append(ClassCovariance(side @ side.T / (1.0 - 1.0 / n_rows), n_rows - 1.0))
    return found

"""Groups of rows: variances from the leave-one-group-out estimates (the jackknife).

The sum of squared influences of groups is too small with few or uneven groups, and
Student's t distribution with one degree of freedom less than there are groups does not
make up for it if a few groups have most of the rows. The degrees of freedom are
therefore the smaller of two numbers: those that the sizes of the groups imply for
independent rows (Bell and McCaffrey, 2002), and those that the kurtosis of the
leave-one-out estimates implies.
"""

from collections.abc import Sequence

import numpy as np

from rocpath.evaluation.designs.overall import (
    OverallTest,
    contrast_basis,
    hotelling,
    without_variance,
)
from rocpath.evaluation.influence import Variance
from rocpath.evaluation.metrics.metric import Column
from rocpath.sample import Sample
from rocpath.validation import Floats

# Groups with at least this share of the rows of a class are deleted in turn; for others,
# their influence predicts the estimate without them up to the square of their share.
_LARGE_SHARE = 0.02


class GroupedRows:
    """Columns whose rows are grouped; rows of different groups are independent."""

    def __init__(self, panels: Sequence[Sequence[Column]]) -> None:
        self.columns = [column for panel in panels for column in panel]
        for panel in panels:
            check_several_groups(panel[0])
        self.n_codes = max(panel[0].group_shares.shape[1] for panel in panels)
        self._shares = [
            padded(shares, self.n_codes)
            for panel in panels
            for shares in [panel[0].group_shares] * len(panel)
        ]
        pairs = [leave_one_out(column) for column in self.columns]
        self.center = np.array([center for center, _ in pairs])
        deviation = [replicates - center for center, replicates in pairs]
        self.deviation = np.array([padded(row, self.n_codes) for row in deviation])

    @property
    def matrix(self) -> Floats:
        """The covariance matrix of all columns."""
        return np.asarray(self.deviation @ self.deviation.T)

    def variance(self, contrast: Floats) -> Variance:
        """Return the variance of a weighted sum of the columns."""
        square = (contrast @ self.deviation) ** 2
        total, fourth = float(square.sum()), float(square @ square)
        if total <= 0:
            return Variance(0.0, max(self._design_freedom(contrast), 1.0))
        # For normal estimates of G groups, the expected ratio is 3 / (G + 2).
        freedom = min(3.0 * total**2 / fourth - 2.0, self._design_freedom(contrast))
        return Variance(total, max(freedom, 1.0))

    def test(
        self, contrasts: Floats, extra: Floats | None = None, center: Floats | None = None
    ) -> OverallTest:
        """Test whether all contrasts, one per row, are zero.

        ``extra`` are variances that are added to those of the columns, and ``center`` are
        transformed values whose derivatives are in the contrasts.
        """
        matrix = contrasts @ self.matrix @ contrasts.T
        if extra is not None:
            matrix = matrix + contrasts * extra @ contrasts.T
        value = contrasts @ (self.center if center is None else center)
        basis, free_of_variance = contrast_basis(matrix, value)
        q = basis.shape[1]
        if q == 0 or free_of_variance:
            return without_variance(value, q)
        inverse = np.linalg.inv(basis.T @ matrix @ basis)
        deviation = basis.T @ contrasts @ self.deviation
        length = np.einsum("ig,ij,jg->g", deviation, inverse, deviation)
        # As in `variance`, for the squared length of normal vectors.
        # Perfect rankings have no deviations: all of their variance is extra.
        square = float(length @ length)
        freedom = q * (q + 2.0) / square - 2.0 if square > 0 else np.inf
        for contrast in contrasts:
            freedom = min(freedom, self._design_freedom(contrast))
        difference = basis.T @ value
        return hotelling(float(difference @ inverse @ difference), q, freedom)

    def _design_freedom(self, contrast: Floats) -> float:
        """Return Bell and McCaffrey's degrees of freedom, for independent rows."""
        parts = [
            (weight**2 * part.value, share)
            for weight, column, shares in zip(contrast, self.columns, self._shares, strict=True)
            if weight
            for part, share in zip(column.class_variances, shares, strict=True)
        ]
        total = sum(value for value, _ in parts)
        if total <= 0:
            parts = [(1.0, share) for _, share in parts]
        return design_freedom(parts)


def padded(values: Floats, size: int) -> Floats:
    """Append zeros to the last axis, for groups without rows."""
    return np.pad(values, [*([(0, 0)] * (values.ndim - 1)), (0, size - values.shape[-1])])


def check_several_groups(column: Column) -> None:
    """Raise if a class is in one group only, so that its variance is unknown."""
    names = [name for name, _ in column.sample.class_masks]
    for name, shares in zip(names, column.group_shares, strict=True):
        n_groups = np.count_nonzero(shares)
        if n_groups < 2:
            raise ValueError(
                f"groups must include at least two groups with {name} rows, got {n_groups}."
            )


def design_freedom(parts: Sequence[tuple[float, Floats]]) -> float:
    """Return the degrees of freedom of a sum over groups of independent class means.

    Each part is the variance of the mean of a class, and the share of each group in it.
    """
    # The sum of group g is proportional to that of its residuals from the class means,
    # whose covariance is diag(d) - sum of v w w'. It is scaled to be unbiased for each group.
    independent = sum(value * share for value, share in parts)
    residual = sum(value * share * (1.0 - share) for value, share in parts)
    used = np.asarray(independent) > 0
    scale = np.asarray(independent)[used] / np.maximum(np.asarray(residual)[used], 1e-300)
    shares = [(value, share[used]) for value, share in parts if value > 0]
    diagonal = scale * np.asarray(independent)[used]
    squares = float(diagonal @ diagonal)
    for value, share in shares:
        squares -= 2.0 * value * float(scale * share @ (diagonal * share))
        squares += sum(v * value * float(scale * share @ other) ** 2 for v, other in shares)
    trace = float(np.asarray(independent)[used].sum())
    return trace**2 / max(squares, 1e-300)


def leave_one_out(column: Column) -> tuple[float, Floats]:
    """Return the estimate that tests use, and the estimate without each group."""
    own = getattr(column, "jackknife", None)
    if own is not None:
        return own.center, own.replicates
    shares = column.group_shares
    replicates = column.value - np.sum(
        column.group_influence / np.maximum(1.0 - shares, 1e-9), axis=0
    )
    for group in np.flatnonzero(shares.max(axis=0) >= _LARGE_SHARE).tolist():
        if (shares[:, group] < 1.0).all():
            value = column.without_group(group)
            replicates[group] = value if np.isfinite(value) else replicates[group]
    return column.value, replicates


def n_effective_groups(sample: Sample) -> float:
    """Return the effective number of groups: (sum of sizes)² / sum of squared sizes."""
    size = np.bincount(sample.unit).astype(np.float64)  # type: ignore[arg-type]
    return float(size.sum() ** 2 / (size @ size))

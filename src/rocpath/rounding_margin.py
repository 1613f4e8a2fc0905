"""Lines whose AUC is a lower bound of the AUC of rounded predictions."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocpath.lines import Lines, lines_with_jumps


def with_rounding_margin(lines: Lines, rounding: float) -> Lines:
    """Return the lines in the worst case of a given rounding error.

    A threshold at step ``s >= 0`` may be off by ``rounding * (a + s * b)``, where ``a``
    and ``b`` are the largest sizes of an intercept and a slope. In the worst case each
    false positive comes that much earlier and each true positive that much later. AUC
    never increases when a pair of thresholds moves that way, so AUC of the lines
    returned is a lower bound of AUC with any such errors.
    """
    if not lines.is_monotone:
        raise ValueError(
            "rounding must be 0 unless errors are monotone (fp_diff >= 0 and "
            f"fn_diff <= 0), got {rounding}: with others, worse thresholds may have a "
            "larger AUC."
        )
    fp, tp = lines.jumps.fp, lines.jumps.tp
    # A line that has jumps of both kinds becomes two, which move apart.
    source = np.concatenate([np.arange(fp.size), np.flatnonzero((fp > 0) & (tp > 0))])
    is_copy = np.arange(source.size) >= fp.size
    is_split = np.isin(source, source[fp.size :])
    has_tp = np.where(is_split, is_copy, tp[source] > 0)
    sign = np.where(has_tp, 1.0, np.where(fp[source] > 0, -1.0, 0.0))
    # The sums below are rounded too, each by less than 2**-53 of the largest.
    margin = rounding + 2.0**-52

    def moved(column: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(column[source] + sign * (margin * np.abs(column).max()))

    jumps = lines.jumps.mapped(
        lambda column: np.where(is_split & is_copy, 0, column[source]),
        lambda column: np.where(is_split & ~is_copy, 0, column[source]),
    )
    return lines_with_jumps(moved(lines.intercept), moved(lines.slope), jumps)

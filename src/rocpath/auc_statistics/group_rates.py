"""Thresholds with guaranteed error rates for grouped rows.

The loss of a group at a threshold is the fraction of its negatives that are predicted
positive, or of its positives that are missed. Losses of groups are independent, lie in
[0, 1] and are monotone in the threshold. So the threshold where the Hoeffding-Bentkus
upper confidence bound of the mean loss stops to be below the target controls the
expected loss of a new group with the given confidence (Bates, Angelopoulos, Lei, Malik
and Jordan, "Distribution-free, risk-controlling prediction sets", J. ACM 68, 2021,
theorem 1 with equations 9 to 11). No correlation within groups is assumed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import special

from rocpath.auc_statistics.operating_points import DEFAULT_CONFIDENCE, OperatingPoint, RankedRows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rocpath.auc_statistics.groups import RowGroups

_BOUNDED = ("max_fpr", "min_tpr", "top")  # constraints with a bound for new groups


class GroupRates(NamedTuple):
    """Mean rates of groups by place, and the number of groups with each class."""

    rows: RankedRows
    tpr: NDArray[np.float64]
    fpr: NDArray[np.float64]
    n_positive_groups: int
    n_negative_groups: int

    @classmethod
    def of(
        cls, is_positive: NDArray[np.bool_], score: NDArray[np.float64], groups: RowGroups
    ) -> GroupRates:
        """Weight each row by the inverse size of its group and class."""
        n_codes = int(groups.code.max()) + 1
        key = np.where(is_positive, groups.code + n_codes, groups.code)
        size = np.bincount(key, minlength=2 * n_codes)
        weighted = RankedRows.of(is_positive, score, 1.0 / size[key])
        return cls(
            RankedRows.of(is_positive, score),
            weighted.tp / weighted.tp[-1],
            weighted.fp / weighted.fp[-1],
            int(np.count_nonzero(size[n_codes:])),
            int(np.count_nonzero(size[:n_codes])),
        )

    def choose(self, targets: dict[str, Any], confidence: float | None) -> OperatingPoint:
        """Choose a threshold, or raise if a constraint has no valid bound here."""
        allowed = _BOUNDED if confidence is not None else (*_BOUNDED, "min_precision")
        refused = [name for name in targets if name not in allowed]
        if refused:
            raise ValueError(
                f"{refused[0]} must be None with groups: no bound is known that is "
                "valid for correlated rows and every choice of the threshold. Give "
                "max_fpr, min_tpr or top, or one row of each group."
            )
        n_rates = sum(name != "top" for name in targets)
        level = confidence
        if confidence is not None and n_rates > 1:
            level = 1.0 - (1.0 - confidence) / n_rates
        feasible = np.ones(self.tpr.size, dtype=bool)
        for name, target in targets.items():
            feasible &= self._region(name, target, level)
        places = np.flatnonzero(feasible)
        if places.size == 0:
            raise ValueError(self._reason(targets, confidence))
        place = int(places[0] if set(targets) == {"min_tpr"} else places[-1])
        return self.point(place, level or DEFAULT_CONFIDENCE)

    def _region(self, name: str, target: Any, confidence: float | None) -> NDArray[np.bool_]:
        """Return the places that satisfy a constraint."""
        if name == "top":
            return np.asarray(self.rows.n_called <= target)
        if name == "min_precision":
            return np.asarray(self.rows.precision >= target)
        if name == "max_fpr":
            loss, n_groups, limit = self.fpr, self.n_negative_groups, target
        else:
            loss, n_groups, limit = 1.0 - self.tpr, self.n_positive_groups, 1.0 - target
        limit *= 1.0 + 1e-12
        if confidence is None:
            return np.asarray(loss <= limit)
        # Losses are monotone, so the bound is tested once for each distinct loss.
        p_value = hoeffding_bentkus(loss, n_groups, limit)
        return np.asarray(p_value <= 1.0 - confidence)

    def point(self, place: int, level: float) -> OperatingPoint:
        """Return the operating point with bounds at this place."""
        rows = self.rows
        tpr, fpr = float(self.tpr[place]), float(self.fpr[place])
        called = int(rows.n_called[place])
        return OperatingPoint(
            threshold=rows.threshold(place),
            tpr=tpr,
            fpr=fpr,
            precision=float(rows.tp[place]) / called if called else float("nan"),
            tpr_interval=_bounds(tpr, self.n_positive_groups, level),
            fpr_interval=_bounds(fpr, self.n_negative_groups, level),
            precision_interval=(0.0, 1.0),
            expected_cost=None,
            expected_cost_interval=None,
            confidence=level,
        )

    def _reason(self, targets: dict[str, Any], confidence: float | None) -> str:
        text = ", ".join(f"{name} = {target:g}" for name, target in targets.items())
        sure = "" if confidence is None else f" with confidence {confidence:g}"
        return (
            f"{text} is out of reach{sure}: there are {self.n_positive_groups} groups "
            f"with positive and {self.n_negative_groups} with negative rows. Use a "
            "weaker constraint or more groups."
        )


def hoeffding_bentkus(mean: NDArray[np.float64], n_units: int, limit: float) -> NDArray[np.float64]:
    """Test the hypothesis that the mean of losses in [0, 1] exceeds a limit."""
    low = np.minimum(mean, limit)
    # Relative entropy of two Bernoulli distributions; 0 log 0 is 0.
    entropy = special.rel_entr(low, limit) + special.rel_entr(1.0 - low, 1.0 - limit)
    # A sum of losses may be rounded: without it, a mean of 0.1 of 10 would count 2.
    count = np.ceil(n_units * mean - 1e-9)
    bentkus = np.e * special.bdtr(count, n_units, limit)
    hoeffding = np.exp(-n_units * entropy)
    return np.asarray(np.minimum(np.minimum(hoeffding, bentkus), 1.0))


def _bounds(mean: float, n_units: int, confidence: float) -> tuple[float, float]:
    """Return the limits that the Hoeffding-Bentkus test does not reject."""
    limits = np.linspace(0.0, 1.0, 2001)[1:-1]
    missing = 1.0 - confidence
    upper = [hoeffding_bentkus(np.array(mean), n_units, one) for one in limits]
    lower = [hoeffding_bentkus(np.array(1.0 - mean), n_units, one) for one in limits]
    high = limits[np.array(upper) > missing]
    low = 1.0 - limits[np.array(lower) > missing]
    return (
        min(float(low.min()) if low.size else 0.0, mean),
        max(float(high.max()) if high.size else 1.0, mean),
    )

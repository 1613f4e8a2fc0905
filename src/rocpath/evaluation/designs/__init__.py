"""Designs: covariance matrices and degrees of freedom, from the influences of rows."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

from rocpath.evaluation.designs.groups import GroupedRows
from rocpath.evaluation.designs.overall import OverallTest
from rocpath.evaluation.designs.rows import IndependentRows
from rocpath.evaluation.influence import Variance
from rocpath.evaluation.metrics.metric import Column
from rocpath.validation import Floats


class Design(Protocol):
    """The joint distribution of the values of several columns.

    ``center`` are the values that tests use, and ``matrix`` is their covariance matrix.
    """

    center: Floats
    columns: list[Column]

    @property
    def matrix(self) -> Floats:
        """The covariance matrix."""

    def variance(self, contrast: Floats) -> Variance:
        """Return the variance of a weighted sum of the columns."""

    def test(
        self, contrasts: Floats, extra: Floats | None = None, center: Floats | None = None
    ) -> OverallTest:
        """Test whether all contrasts, one per row, are zero.

        ``extra`` are variances that are added to those of the columns, and ``center`` are
        transformed values whose derivatives are in the contrasts.
        """


def design_of(panels: Sequence[Sequence[Column]], *, share_units: bool = True) -> Design:
    """Return the design of columns; those of one panel have the same rows.

    Panels may share groups, as subgroups do. With ``share_units=False`` they are
    independent samples.
    """
    is_grouped = any(panel[0].sample.unit is not None for panel in panels)
    if not is_grouped:
        return IndependentRows(panels)
    return GroupedRows(panels if share_units else with_distinct_units(panels))


def with_distinct_units(panels: Sequence[Sequence[Column]]) -> list[list[Column]]:
    """Return the columns of independent samples, with different codes of their groups."""
    distinct, start = [], 0
    for panel in panels:
        unit = panel[0].sample.units
        stratum, group = panel[0].sample.stratum, unit + start
        # Strata that are the units remain the units.
        is_stratum = stratum is not None and panel[0].sample.group is stratum
        codes: Any = {"group": group, "stratum": group if is_stratum else stratum}
        sample = replace(panel[0].sample, **codes, copy=None, time=None)
        distinct.append([replace(column, sample=sample) for column in panel])
        start += int(unit.max()) + 1
    return distinct

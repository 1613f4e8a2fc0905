"""Designs: covariance matrices and degrees of freedom, from the influences of rows."""

from collections.abc import Sequence
from typing import Protocol

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

    def test(self, contrasts: Floats) -> OverallTest:
        """Test whether all contrasts, one per row, are zero."""


def design_of(panels: Sequence[Sequence[Column]]) -> Design:
    """Return the design of columns; those of one panel have the same rows."""
    is_grouped = any(panel[0].sample.unit is not None for panel in panels)
    return GroupedRows(panels) if is_grouped else IndependentRows(panels)

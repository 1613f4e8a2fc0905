"""A model of changepoint penalties for the sequences of long tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from rocpath.changepoint import PenaltyRegressor, Segmentation
from rocpath.cli.long_tables import LongSequence, features_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocpath.changepoint.segmentation import Constraint, SegmentCost


@dataclass(frozen=True, slots=True, eq=False)
class PenaltyModel:
    """Hold a fitted regressor, and how sequences were segmented for it."""

    kind: ClassVar = "changepoint"
    regressor: PenaltyRegressor
    feature_names: tuple[str, ...]
    cost: SegmentCost
    constraint: Constraint
    has_runs: bool

    def __post_init__(self) -> None:
        """Refuse what a file might bring instead of our regressor."""
        if type(self.regressor) is not PenaltyRegressor:
            raise ValueError("the regressor is not one that rocpath makes.")

    def changes(self, sequences: Sequence[LongSequence]) -> pl.DataFrame:
        """Find the changes: where each is, and the means on both of its sides."""
        X, _ = features_of(list(sequences), has_runs=self.has_runs)
        # A column of weights is there for all sequences or for none.
        weights = [one.weight for one in sequences if one.weight is not None]
        segmentations: list[Segmentation] = self.regressor.predict_changes(
            [one.value for one in sequences],
            X,
            cost=self.cost,
            constraint=self.constraint,
            weights=weights or None,
        )
        rows = [
            (one.name, float(one.position[change]), float(before), float(after))
            for one, found in zip(sequences, segmentations, strict=True)
            for change, before, after in zip(
                found.changes, found.mean[:-1], found.mean[1:], strict=True
            )
        ]
        numbers = dict.fromkeys(("position", "mean_before", "mean_after"), pl.Float64)
        schema = {"sequence": pl.String, **numbers}
        table = pl.DataFrame(rows, schema=schema, orient="row")
        is_whole = (table["position"] % 1 == 0).all()
        return table.cast({"position": pl.Int64}) if is_whole else table

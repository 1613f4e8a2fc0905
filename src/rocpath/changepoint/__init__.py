"""Changepoints: sequences and labelled regions to segmentations and label errors."""

from rocpath.changepoint.segmentation import (
    Segmentation,
    Segmentations,
    segment,
    segment_penalty,
)

__all__ = [
    "Segmentation",
    "Segmentations",
    "segment",
    "segment_penalty",
]

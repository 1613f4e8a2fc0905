"""Confidence intervals and tests for any metric; thresholds with guaranteed error rates."""

import lazy_loader  # type: ignore[import-untyped]

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submodules=["metrics"])

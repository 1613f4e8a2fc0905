"""Changepoint detection: segmentation, labels, learned penalties and detectors."""

import lazy_loader

# Names are imported on first use, because importing scikit-learn is slow.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

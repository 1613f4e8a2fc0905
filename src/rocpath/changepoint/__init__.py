"""Segmentation, labels, penalties and detectors of changes in sequences."""

import lazy_loader

# Names are imported on first use: scikit-learn takes longer than reading a table.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

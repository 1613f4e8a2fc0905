"""Models that rank: maximise the area under the ROC curve by exact line search."""

import lazy_loader

# Names are listed once, in __init__.pyi, and imported when first asked for: the
# searches and `rocpath --help` need not wait a second for scikit-learn.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

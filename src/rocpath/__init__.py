"""Models that rank: maximize the area under the ROC curve by exact line search."""

import lazy_loader

# Names are listed once, in __init__.pyi, and imported when first asked for: the
# searches and `rocpath --help` need not wait a second for scikit-learn.
_lazy_getattr, _lazy_dir, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("rocpath")
    return _lazy_getattr(name)


def __dir__() -> list[str]:
    return [*_lazy_dir(), "__version__"]

"""Exact ROC analysis and AUC optimization."""

import lazy_loader

# Names are listed once, in __init__.pyi, and imported when they are first used, so that
# the searches and `rocpath --help` do not import scikit-learn, which takes a second.
_lazy_getattr, _lazy_dir, __all__ = lazy_loader.attach_stub(__name__, __file__)
_EXTRAS = {"polars": "tables", "skops": "tables", "matplotlib": "plot"}


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("rocpath")
    try:
        return _lazy_getattr(name)
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in _EXTRAS:
            raise
        raise ImportError(
            f"rocpath.{name} requires {missing}; install it with: "
            f"pip install 'rocpath[{_EXTRAS[missing]}]'"
        ) from error


def __dir__() -> list[str]:
    return [*_lazy_dir(), "__version__"]

"""Import the fastest core that this processor supports.

Portable builds install this file as ``rocpath/_core.py``. The environment variable
``ROCPATH_CORE``, "base" or "avx2", selects another core. The results of all cores are
bitwise equal.
"""

import importlib
import os
import sys

from rocpath import _cpu


def _choose() -> str:
    asked = os.environ.get("ROCPATH_CORE", "")
    if asked not in ("", "base", "avx2"):
        raise ImportError(f"ROCPATH_CORE must be 'base' or 'avx2', got {asked!r}.")
    can_run = _cpu.has_avx2_and_fma()
    if asked == "avx2" and not can_run:
        raise ImportError(
            "ROCPATH_CORE is 'avx2', but this processor has no AVX2 and FMA: unset it."
        )
    return asked or ("avx2" if can_run else "base")


# Importing rocpath._core then gives the extension itself, at no cost for a call.
sys.modules[__name__] = importlib.import_module(f"rocpath._core_{_choose()}")

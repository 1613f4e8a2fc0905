"""The memory that a result may occupy."""

import re
from contextlib import suppress
from pathlib import Path


def available_memory() -> int:
    """Return the number of bytes of memory that a result may occupy."""
    with suppress(ImportError):
        import psutil  # type: ignore[import-untyped, unused-ignore]

        return int(psutil.virtual_memory().available)
    with suppress(OSError):
        found = re.search(r"MemAvailable: +(\d+) kB", Path("/proc/meminfo").read_text())
        if found is not None:
            return int(found[1]) * 1024
    # Other systems require psutil; without it, assume 8 GB.
    return 2**33

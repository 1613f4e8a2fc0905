"""Check that tables fit into the memory that is available to the process."""

import gzip
import io
import zlib
from contextlib import suppress
from pathlib import Path

from rocpath.memory import available_memory

_EXPANSION = 4  # ratio of memory to text size while parsing: text, copies and columns
_CHUNK = 2**22  # bytes decompressed at a time


def check_memory(source: str, n_bytes: int) -> None:
    """Raise if text of this size cannot be parsed in memory."""
    limit = memory_limit()
    if _EXPANSION * n_bytes > limit:
        raise MemoryError(
            f"{source} is {n_bytes / 1e6:,.0f} MB and would need about "
            f"{_EXPANSION * n_bytes / 1e6:,.0f} MB of memory, more than the "
            f"{limit / 1e6:,.0f} MB available."
        )


def memory_limit() -> int:
    """Return the bytes of memory that are available to this process."""
    limit = available_memory()
    # Some systems lack the module or the file.
    with suppress(ImportError, OSError, ValueError, IndexError):
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most != resource.RLIM_INFINITY:
            used = int(Path("/proc/self/statm").read_text().split()[0])
            limit = min(limit, max(most - used * resource.getpagesize(), 0))
    return limit


def unpacked(source: str, content: bytes) -> bytes:
    """Decompress gzip, or raise if it is damaged or does not fit into memory."""
    limit = memory_limit() // _EXPANSION
    chunks, n_bytes = [], 0
    try:
        with gzip.open(io.BytesIO(content)) as file:
            while chunk := file.read(_CHUNK):
                chunks.append(chunk)
                n_bytes += len(chunk)
                if n_bytes > limit:
                    raise MemoryError(
                        f"{source!r} is {len(content) / 1e6:,.1f} MB compressed and more than "
                        f"{limit / 1e6:,.0f} MB decompressed, which is too much for the "
                        "available memory."
                    )
    except (EOFError, OSError, zlib.error) as error:
        raise ValueError(f"{source!r} is not readable gzip: {error}.") from None
    return b"".join(chunks)

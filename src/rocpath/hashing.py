"""64-bit hashes that are the same on every platform."""

import numpy as np
from numpy.typing import NDArray

# The increment of SplitMix64, 2**64 divided by the golden ratio; it separates the inputs
# of consecutive numbers.
INCREMENT = np.uint64(0x9E3779B97F4A7C15)


def mixed_bits(code: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Map 64-bit numbers to uniform ones, with the finalizer of SplitMix64.

    The map is one to one: different numbers have different hashes.
    """
    # Products wrap around.
    with np.errstate(over="ignore"):
        mixed = (code ^ (code >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))

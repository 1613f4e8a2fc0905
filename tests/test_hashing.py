"""Hashes of 64 bits."""

import numpy as np

from rocpath.hashing import INCREMENT, mixed_bits


def test_hashes_are_the_published_outputs_of_splitmix64():
    # The first outputs for the seed 1234567, from the test data of the Rosetta Code task
    # "Pseudo-random numbers/Splitmix64".
    expected = [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    seed = np.full(5, 1234567, dtype=np.uint64)
    state = seed + np.arange(1, 6, dtype=np.uint64) * INCREMENT
    assert mixed_bits(state).tolist() == expected

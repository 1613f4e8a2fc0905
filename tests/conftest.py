"""Settings for every test."""

import os

from hypothesis import settings

# With CI in the environment Hypothesis would draw the same examples every time.
everywhere = settings(deadline=None, derandomize=False)
settings.register_profile("quick", everywhere, max_examples=200)
settings.register_profile("thorough", everywhere, max_examples=5000)
settings.load_profile(os.environ.get("ROCPATH_TEST_PROFILE", "quick"))

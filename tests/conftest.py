"""Settings for every test."""

import os

from hypothesis import settings

settings.register_profile("quick", deadline=None, max_examples=200)
settings.register_profile("thorough", deadline=None, max_examples=5000)
settings.load_profile(os.environ.get("ROCPATH_TEST_PROFILE", "quick"))

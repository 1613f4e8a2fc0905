"""Settings for every test."""

import os

import pytest
from hypothesis import settings

# With CI in the environment Hypothesis would draw the same examples every time.
everywhere = settings(deadline=None, derandomize=False)
settings.register_profile("brief", everywhere, max_examples=50)
settings.register_profile("quick", everywhere, max_examples=200)
settings.register_profile("thorough", everywhere, max_examples=5000)
settings.load_profile(os.environ.get("ROCPATH_TEST_PROFILE", "quick"))


@pytest.fixture(scope="session")
def fitted(tmp_path_factory):
    """Fit a table with the command once; tests only read what it wrote."""
    from command_tables import labelled_table
    from rocpath.cli import main

    folder = tmp_path_factory.mktemp("fitted")
    table = str(folder / "table.csv")
    labelled_table().write_csv(table)
    model = str(folder / "model")
    assert main(["fit", table, "--label", "y", "--out", model, "--quiet"]) == 0
    return model, table

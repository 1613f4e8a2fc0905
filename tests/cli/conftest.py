"""Fixtures for the tests of commands."""

import pytest

from rocpath.cli import main
from tests.cli.command_tables import fit_argv, long_tables


@pytest.fixture(scope="session")
def changepoint_model(tmp_path_factory):
    """Fit penalties with the command, once for all tests that only read the model."""
    folder = tmp_path_factory.mktemp("changepoint")
    sequences, labels = long_tables(folder)
    assert main(fit_argv(sequences, labels, folder / "model")) == 0
    return str(folder / "model")

"""Settings and fixtures shared by all tests."""

import os
import shutil

import pytest
from hypothesis import settings

# If CI is set, Hypothesis would otherwise draw the same examples every time.
shared = settings(deadline=None, derandomize=False)
settings.register_profile("brief", shared, max_examples=50)
settings.register_profile("quick", shared, max_examples=200)
settings.register_profile("thorough", shared, max_examples=5000)
settings.load_profile(os.environ.get("ROCPATH_TEST_PROFILE", "quick"))

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1280,900",
)


@pytest.fixture(scope="session")
def fitted(tmp_path_factory):
    """Fit a table with the command line, once for all tests, which only read the files."""
    from rocpath.cli import main
    from tests.cli.command_tables import labeled_table

    folder = tmp_path_factory.mktemp("fitted")
    table = str(folder / "table.csv")
    labeled_table().write_csv(table)
    model = str(folder / "model")
    assert main(["fit", table, "--label", "y", "--out", model, "--quiet"]) == 0
    return model, table


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """Start headless Chromium, once for all tests."""
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if binary is None or driver is None:
        reason = "chromium and chromedriver are missing: apt-get install chromium-driver"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in FLAGS:
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('chromium')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(executable_path=driver)
    chrome = webdriver.Chrome(options=options, service=service)
    chrome.set_script_timeout(30)
    yield chrome
    chrome.quit()


@pytest.fixture(scope="session")
def client():
    """Start a Dask cluster of two workers, each a process with a nanny."""
    distributed = pytest.importorskip("distributed")
    dask = pytest.importorskip("dask")
    with (
        # By default, a cluster removes a worker some time after it was lost, even if it
        # has been restarted and a later test has just killed it again.
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit="2GB", dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client

"""Settings for every test."""

import os
import shutil

import pytest
from hypothesis import settings

# With CI in the environment Hypothesis would draw the same examples every time.
everywhere = settings(deadline=None, derandomize=False)
settings.register_profile("brief", everywhere, max_examples=50)
settings.register_profile("quick", everywhere, max_examples=200)
settings.register_profile("thorough", everywhere, max_examples=5000)
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
    """Fit a table with the command once; tests only read what it wrote."""
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
    """Start Chromium once, without a window."""
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if binary is None or driver is None:
        reason = "no chromium and chromedriver: apt-get install chromium-driver"
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
    """Start two workers, each a process with a nanny, for the tests of Dask."""
    distributed = pytest.importorskip("distributed")
    dask = pytest.importorskip("dask")
    with (
        # A cluster gives up a worker that is away at this time after it was lost, also
        # when it came back and a later test has just killed it again.
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"}),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            memory_limit="2GB",
            dashboard_address=":0",
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client

"""Draw docs/labeling.png: the labeling page in Chromium, with a few labels."""

import shutil
import tempfile
from pathlib import Path

import numpy as np
from selenium import webdriver

from rocpath.changepoint import labeling_page

HERE = Path(__file__).parent
SCREEN = {"width": 1300, "height": 900, "deviceScaleFactor": 1, "mobile": False}
LABELS = [
    ("host-00", 10, 62, "no_change"),
    ("host-00", 70, 95, "one_change"),
    ("host-00", 138, 190, "no_change"),
    ("host-00", 196, 228, "one_change"),
    ("host-02", 30, 90, "no_change"),
]


def latencies(n_hosts=12, seed=8):
    """Draw a sequence with three steps, then others with steps of many sizes."""
    rng = np.random.default_rng(seed)
    yield steps(300, np.array([80, 120, 210]), np.array([8, -6, 2.5]), 1.5, rng)
    for _ in range(n_hosts - 1):
        n = int(rng.integers(220, 400))
        changes = np.sort(rng.choice(np.arange(10, n - 10), rng.integers(0, 5), False))
        jump = rng.normal(scale=6, size=changes.size)
        yield steps(n, changes, jump, rng.choice([0.6, 1.5, 3]), rng)


def steps(n, changes, jump, noise, rng):
    mean = 40 + (np.arange(n)[:, None] >= changes) @ jump
    return mean + noise * rng.normal(size=n)


def main():
    values = list(latencies())
    html = labeling_page(
        values,
        names=[f"host-{k:02d}" for k in range(len(values))],
        labels=LABELS,
        title="Latency of twelve hosts",
    )
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    service = webdriver.ChromeService(executable_path=shutil.which("chromedriver"))
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu"):
        options.add_argument(flag)
    with tempfile.TemporaryDirectory() as folder, webdriver.Chrome(options, service) as browser:
        page = Path(folder) / "labels.html"
        page.write_text(html, encoding="utf-8")
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", SCREEN)
        browser.get(page.as_uri())
        browser.execute_async_script("setTimeout(arguments[0], 500)")
        browser.save_screenshot(str(HERE / "labeling.png"))


if __name__ == "__main__":
    main()

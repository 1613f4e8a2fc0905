"""Draw docs/_static/live_*.png: the top of each page of ``live_pages.py`` in Chromium."""

import shutil
import tempfile
from pathlib import Path

import live_pages
from selenium import webdriver

STATIC = Path(__file__).parent / "_static"
SCREEN = {"width": 1280, "height": 811, "deviceScaleFactor": 0.5, "mobile": False}
# Elements that a picture begins with, if not with the top of the page.
BEGIN = {"evaluation": "section.decide", "table_report": "section.decide"}


def main():
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    service = webdriver.ChromeService(executable_path=shutil.which("chromedriver"))
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(flag)
    with tempfile.TemporaryDirectory() as folder, webdriver.Chrome(options, service) as browser:
        live_pages.write_all(Path(folder))
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", SCREEN)
        for page in sorted(Path(folder).glob("*.html")):
            browser.get(page.as_uri())
            browser.execute_async_script("setTimeout(arguments[0], 1500)")
            script = "document.querySelector(arguments[0]).scrollIntoView()"
            browser.execute_script(script, BEGIN.get(page.stem, "main"))
            browser.execute_async_script("setTimeout(arguments[0], 500)")
            browser.save_screenshot(str(STATIC / f"live_{page.stem}.png"))


if __name__ == "__main__":
    main()

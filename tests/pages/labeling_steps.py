"""Actions of a user on the labeling page, for tests in a browser."""

import numpy as np

from rocpath.changepoint import labeling_page
from tests.pages.browsing import find, wait_until

N = 100
STORED_LABELS = "return Object.values(localStorage).map((one) => JSON.parse(one))[0] || []"


def reload(browser):
    browser.refresh()
    wait_until(browser, "return document.querySelector('.labeling').dataset.ready")


def sequences(n_sequences=3, n=N):
    """Return noisy sequences with a step up at 30% and a step down at 70%."""
    rng = np.random.default_rng(0)
    step = 10.0 * ((np.arange(n) >= 0.3 * n) & (np.arange(n) < 0.7 * n))
    return [step + rng.normal(size=n) for _ in range(n_sequences)]


def page(names=("a", "b", "c"), **options):
    values = options.pop("values", sequences(len(names)))
    return labeling_page(values, names=list(names), **options)


def settled(browser):
    """Wait for two frames, so that all updates are drawn."""
    browser.execute_async_script(
        "const done = arguments[0];requestAnimationFrame(() => requestAnimationFrame(() => done()))"
    )


def pixel(browser, place, n=N):
    """Return the offset of a place from the center of the canvas in the initial view."""
    width = find(browser, ".large canvas").size["width"]
    left, right = 44 if width < 600 else 60, 10
    room = 0.01 * (n - 1)
    share = (place + room) / (n - 1 + 2 * room)
    return round(left + share * (width - left - right) - width / 2)


def drag(browser, start, end, key="", n=N):
    from selenium.webdriver import ActionChains

    canvas = find(browser, ".large canvas")
    pointer = ActionChains(browser, duration=20)
    pointer.move_to_element_with_offset(canvas, pixel(browser, start, n), 0)
    pointer.click_and_hold()
    pointer.move_to_element_with_offset(canvas, pixel(browser, end, n), 0)
    pointer.release()
    pointer.send_keys(key).perform()
    settled(browser)


def press(browser, *keys):
    from selenium.webdriver import ActionChains

    ActionChains(browser).send_keys(*keys).perform()
    settled(browser)


def hold(browser, held, *keys):
    from selenium.webdriver import ActionChains

    ActionChains(browser).key_down(held).send_keys(*keys).key_up(held).perform()
    settled(browser)


def stored_labels(browser):
    return browser.execute_script(STORED_LABELS)


def text(browser, name):
    return find(browser, f"[data-value={name}]").text


def click(browser, name):
    find(browser, f"[data-do={name}]").click()
    settled(browser)


def save(browser, folder):
    click(browser, "save")
    saved = folder / "labels.csv"
    for _ in range(100):
        if saved.exists():
            return str(saved)
        settled(browser)
    raise AssertionError("nothing was saved")

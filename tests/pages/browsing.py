"""Functions shared by the tests in a browser."""


def wait_until(browser, script, seconds=20):
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(browser, seconds, poll_frequency=0.05).until(
        lambda driver: driver.execute_script(script)
    )


def find(browser, selector):
    return browser.find_element("css selector", selector)

"""A browser, used by keyboard alone."""
import json

from selenium import webdriver
from selenium.webdriver.common.keys import Keys

from .parts import problems, wait_until

REPORTS = """window.policyReports = []; document.addEventListener("securitypolicyviolation", (event) =>
window.policyReports.push(`${event.violatedDirective} ${event.blockedURI}`))"""

class Browser:
    def __init__(self):
        options = webdriver.ChromeOptions()
        for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1280,1000",
                         "--hide-scrollbars", "--lang=en"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))
        self.driver.set_page_load_timeout(30)
        # The browser's own reports of what the policy of a page forbade. A script of the driver is not the page's.
        self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": REPORTS})
        self.requests = []

    def open(self, address):
        self.driver.get(address)
        self.look()

    def look(self):
        """Errors of the page, what its policy forbade, and what it asked for."""
        for report in self.driver.execute_script("return window.policyReports ?? []"):
            problems.append(f"{self.driver.current_url}: Content-Security-Policy: {report}")
        for entry in self.driver.get_log("browser"):
            if entry["level"] in ("SEVERE", "WARNING"):
                problems.append(f"{self.driver.current_url}: {entry['message']}")
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"]["url"])

    def text(self):
        return self.driver.execute_script("return document.querySelector('main').innerText")

    def shows(self, words, seconds=20):
        def found():
            try:
                return words in self.text()
            except Exception:  # between two pages
                return False
        try:
            wait_until(f"no page shows “{words}”", seconds, found)
        except SystemExit as failure:
            raise SystemExit(f"{failure}; the last is {self.driver.current_url}: {self.text()[:600]}") from None
        self.look()

    # Keyboard only.

    def press(self, *keys):
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)

    def go(self, letter, heading):
        self.press("g", letter)
        wait_until(f"g {letter} does not lead to {heading}", 10, lambda: heading in self.heading())
        self.look()

    def heading(self):
        try:
            return self.driver.execute_script("return document.querySelector('h1')?.innerText ?? ''")
        except Exception:
            return ""

    def active(self):
        return self.driver.execute_script(
            "const e = document.activeElement; return (e.getAttribute('aria-label') ?? e.labels?.[0]?.innerText ?? "
            "e.innerText ?? '').trim()")

    def tab_to(self, words, key=Keys.TAB, within=None):
        for _ in range(400):
            self.press(key)
            name = self.active()
            if name.startswith(words) and (within is None or self.driver.execute_script(
                    "return !!document.activeElement.closest(arguments[0])", within)):
                outline = self.driver.execute_script("return getComputedStyle(document.activeElement).outlineStyle")
                if outline == "none":
                    problems.append(f"{self.driver.current_url}: the focus on “{name}” cannot be seen")
                return
        raise SystemExit(f"console: FAILED: no key leads to “{words}” on {self.driver.current_url}")

    def search(self, text):
        self.press("/")
        self.press(text, Keys.ENTER)

    def replaced(self, text):
        self.press(Keys.CONTROL + "a")
        self.press(text)

"""The console in a browser: started by Deploy/checks/console.

Arguments: directory of the programs, directory for the pictures of the documentation (empty: none).
"""
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse

from selenium import webdriver
from selenium.webdriver.common.keys import Keys

import axe_playwright_python

import hostile

programs, screenshots = pathlib.Path(sys.argv[1]), sys.argv[2]
axe = (pathlib.Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
postgres = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))[-1]
problems = []
started = time.monotonic()
REPORTS = """window.policyReports = []; document.addEventListener("securitypolicyviolation", (event) =>
window.policyReports.push(`${event.violatedDirective} ${event.blockedURI}`))"""


def say(text):
    print(f"console: {text}", flush=True)


def wait_until(what, seconds, condition):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.2)
    raise SystemExit(f"console: FAILED: {what}")


class Development:
    """`storekeeper dev`, with what it printed."""

    def __init__(self, directory):
        self.log, self.paused = directory / "dev.log", []
        self.process = subprocess.Popen(
            [programs / "storekeeper", "dev", "--keep", directory / "kept", "--rate", "40", "--subscriptions", "80",
             "--tampered", "0.05", "--seed", "7"],
            stdout=open(self.log, "wb"), stderr=subprocess.STDOUT, start_new_session=True)

    def said(self, pattern):
        if self.process.poll() is not None:
            raise SystemExit(f"console: FAILED: storekeeper dev ended:\n{self.log.read_text()[-2000:]}")
        return re.search(pattern, self.log.read_text(errors="replace"))

    def environment(self):
        file = wait_until("no file of variables", 120, lambda: self.said(r"another terminal: \. (\S+)")).group(1)
        self.directory = pathlib.Path(file).parent
        lines = re.findall(r"^export (\w+)='(.*)'$", pathlib.Path(file).read_text(), re.MULTILINE)
        return {**os.environ, **{name: value.replace("'\\''", "'") for name, value in lines}}

    def simulators(self):
        found = subprocess.run(["pgrep", "-P", str(self.process.pid), "-x", "simulator"], capture_output=True, text=True)
        return [int(each) for each in found.stdout.split()]

    def pause(self):
        """No more notifications: the browser needs the processor for itself."""
        self.paused = self.simulators()
        for each in self.paused:
            os.kill(each, signal.SIGSTOP)

    def stop(self):
        for each in self.paused:
            os.kill(each, signal.SIGCONT)
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()


class Database:
    def __init__(self, environment):
        self.environment = {name: value for name, value in environment.items() if name != "PGOPTIONS"}

    def value(self, sql):
        done = subprocess.run(
            [postgres / "psql", "--no-psqlrc", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1",
             self.environment["DATABASE_URL"], "--command", sql],
            env=self.environment, capture_output=True, text=True, check=True)
        return done.stdout.strip()


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
        self.sizes = {}

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
            if message["method"] == "Network.loadingFinished":
                self.sizes[message["params"]["requestId"]] = message["params"]["encodedDataLength"]

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


def order_number(transaction):
    digits, number, text = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", int(transaction), ""
    while number:
        number, digit = divmod(number, 36)
        text = digits[digit] + text
    return "M" + text


def tasks(browser, database):
    ended = wait_until("no purchase has ended", 90, lambda: database.value(
        "select s.transaction_id from subscription s where environment = 'Production' and status = 2 and not exists ("
        "select from access_period a where a.environment = s.environment and a.original_transaction_id = "
        "s.original_transaction_id and now() <@ period) limit 1"))
    browser.search(order_number(ended))
    browser.shows("No access since")
    say(f"by keyboard: the order's customer, and why: {browser.heading()}")

    reason = wait_until("no dead letter is indexed", 60, lambda: database.value(
        "select reason from rejected where build is not null and cluster <> 'fixture' group by reason order by count(*) desc limit 1"))
    browser.go("d", "Dead letters")
    browser.tab_to(reason, key="j")
    browser.press(Keys.ENTER)
    browser.shows(f"Dead letters: reason {reason}")
    browser.tab_to("Dry run")
    browser.press(Keys.ENTER)
    browser.shows("would be sent through the pipeline again")
    browser.tab_to("Reason", within="section[aria-labelledby='replay-title']")
    browser.press("the check of the console", Keys.ENTER)
    browser.shows("sent through the pipeline again, for", 60)
    say(f"by keyboard: {browser.heading()}")

    browser.go("d", "Dead letters")
    browser.shows("was rejected by release 0.9.9")
    say("by keyboard: the release with which a spike of rejections began")

    browser.go("c", "Coverage")
    browser.tab_to("Every day as a table")
    browser.press(Keys.ENTER)
    browser.tab_to("Recover 20")
    browser.press(Keys.ENTER)
    browser.shows("These windows would be opened")
    browser.tab_to("Reason")
    browser.press("an auditor asks for this day", Keys.ENTER)
    browser.shows("The window is open.")
    say("by keyboard: a day that is not proven is being recovered")

    account = database.value(
        "select owner_account_token from subscription where environment = 'Production' and owner_account_token is not null limit 1")
    browser.search(account)
    browser.shows(account)
    browser.tab_to("Product")
    browser.press("pro.weekly")
    browser.tab_to("Days")
    browser.replaced("7")
    browser.tab_to("Reason")
    browser.press("outage of yesterday", Keys.ENTER)
    browser.shows("Access granted.")
    browser.go("a", "Audit")
    browser.shows("outage of yesterday")
    say("by keyboard: access for a week, with its reason in the audit log")

    purchase = database.value(
        "select original_transaction_id from subscription where environment = 'Production' and status = 1 and "
        "expires_at > now() + interval '1 day' and is_auto_renewing and bundle_id = 'com.example.app' limit 1")
    browser.search(purchase)
    browser.shows(purchase)
    browser.tab_to("Reason", within="section[aria-labelledby='extend-title']")
    browser.press("apology for the outage", Keys.ENTER)
    browser.shows("Apple has extended the subscription.")
    say("by keyboard: a subscription has more days from Apple")
    return account


def fixtures(database):
    """What a run of a minute does not bring about: a day that is over and not proven, and a release that rejects."""
    wait_until("nothing is kept of coverage", 60, lambda: database.value("select count(*) from coverage") != "0")
    database.value(
        "insert into coverage_day (planned_at, window_id, day, environment, bundle_id, still_missing, missing, listed) "
        "select now(), gen_random_uuid(), current_date - 1, 'Production', bundle_id, 3, 3, 40 from coverage "
        "where environment = 'Production' limit 1 on conflict do nothing")
    database.value(
        "insert into rejected (rejected_at, kafka_offset, kafka_partition, cluster, topic, stage, reason, message, environment, "
        "bundle_id, build) select now() - interval '2 days' + n * interval '30 seconds', n, 0, 'fixture', 't', 'state-updater', "
        "'unreadable', 'the date of the transaction cannot be read', 'Production', 'com.example.app', '0.9.9' "
        "from generate_series(1, 5000) n")


AXE = """const [rules, done] = arguments; axe.run(document, {resultTypes: ['violations'], runOnly: rules}).then(r => done(
r.violations.map(v => v.id + ': ' + v.nodes.map(n => n.target.join(' ') + ' ' + n.failureSummary).slice(0, 3).join(' | '))))"""
EVERYTHING = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# All else is the same in the other scheme: the style sheet changes colours alone.
COLOURS = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}


def examined(browser, address, pages):
    """axe-core on every page, by two browsers at a time."""
    for path in pages:
        # The browser itself complains of a page that is not there.
        if path != "/nothing":
            browser.open(address + path)
    second = Browser()
    try:
        for cookie in browser.driver.execute_cdp_cmd("Network.getCookies", {"urls": [address]})["cookies"]:
            second.driver.execute_cdp_cmd("Network.setCookie", {
                "url": address, **{name: cookie[name] for name in ("name", "value", "path", "secure", "httpOnly")}})
        with concurrent.futures.ThreadPoolExecutor(2) as both:
            return sum(both.map(lambda part: examined_by(part[0].driver, address, part[1]), [
                (browser, pages[::2]), (second, pages[1::2])]))
    finally:
        second.driver.quit()


def examined_by(driver, address, pages):
    """With the pages' own scripts and without; axe needs what the pages' own policy forbids them."""
    driver.execute_cdp_cmd("Page.setBypassCSP", {"enabled": True})
    count = 0
    for path in pages:
        for scripts in (True, False):
            for width in (360, 1280):
                driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
                    "width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False})
                driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not scripts})
                driver.get(address + path)
                # The page was read without scripts, and only the driver's run from here on.
                driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
                driver.execute_script(axe)
                for scheme in ("light", "dark"):
                    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
                        "features": [{"name": "prefers-color-scheme", "value": scheme}]})
                    found = driver.execute_async_script(AXE, EVERYTHING if scheme == "light" else COLOURS)
                    place = f"{path[:80]} {scheme} {width}{'' if scripts else ' without scripts'}"
                    problems.extend(f"axe: {place}: {each}" for each in found)
                    wide = driver.execute_script("return document.documentElement.scrollWidth - window.innerWidth")
                    if wide > 0:
                        problems.append(f"{place}: {wide} px wider than the window")
                    count += 1
    driver.execute_cdp_cmd("Page.setBypassCSP", {"enabled": False})
    return count


def hostile_pages(browser, address, database):
    """What came in through ingest with markup in it: every page with it runs none of it."""
    # One is too long for a key of the database, and one holds a NUL.
    wait_until("the hostile notifications do not arrive", 60, lambda: database.value(
        "select count(distinct reason) from rejected where reason in ('unstorable', 'body')") == "2")
    purchases = database.value(
        "select string_agg('/purchases/' || environment || '/' || original_transaction_id, ' ') from subscription "
        "where product_id like '%<script>%' or product_id like '%' || u&'\\202e' || '%'").split()
    if len(purchases) != 2:
        problems.append(f"of two purchases with hostile texts there are {len(purchases)}")
    notifications = database.value(
        "select string_agg('/notifications/' || notification_uuid, ' ') from notification "
        "where subtype like '%<script>%' or subtype like '%' || u&'\\202e' || '%'").split()
    driver = browser.driver
    for path in purchases + notifications + [
            "/notifications", "/dead-letters", "/dead-letters/list?reason=unstorable", "/insight/renewals",
            "/insight/win-back", "/notifications?type=" + urllib.parse.quote(hostile.MARKUP),
            "/search?q=" + urllib.parse.quote(hostile.MARKUP)]:
        browser.open(address + path)
        text = browser.text()
        for character in "\u202e\u2066":
            if character in text:
                problems.append(f"{path}: changes the direction of text")
        made = driver.execute_script(
            "return document.querySelectorAll('main script, main img, [onmouseover]').length")
        if made:
            problems.append(f"{path}: {made} elements were made of what came in")
    return purchases[:1] + notifications[:1]


def pictures(browser, address, path, directory):
    for scheme in ("light", "dark"):
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": scheme}]})
        browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": 1200, "height": 860, "deviceScaleFactor": 1, "mobile": False})
        browser.driver.get(address + path)
        browser.driver.save_screenshot(str(pathlib.Path(directory) / f"console-{scheme}.png"))


def main(directory):
    development = Development(directory)
    browser = None
    try:
        environment = development.environment()
        link = wait_until("no link is printed", 120, lambda: development.said(r"5 minutes: (\S+)")).group(1)
        address = link[:link.index("/sign-in")]
        database = Database(environment)
        fixtures(database)
        browser = Browser()
        browser.open(link)
        browser.tab_to("Sign in")
        browser.press(Keys.ENTER)
        wait_until("signing in does not lead to the overview", 20, lambda: browser.driver.current_url == address + "/")
        ingest = next(development.directory.glob("ingest*.port")).read_text().strip()
        taken = hostile.send(
            programs, development.directory / "authority", f"http://127.0.0.1:{ingest}/v1/notifications")
        say(f"ingest took {taken} notifications with hostile texts")
        account = tasks(browser, database)
        purchase = database.value(
            "select original_transaction_id from subscription where environment = 'Production' and status = 1 and "
            "(select count(*) from timeline t where t.environment = subscription.environment and "
            "t.original_transaction_id = subscription.original_transaction_id) > 3 limit 1")
        notification = database.value("select notification_uuid from notification order by recorded_at limit 1")
        selection = database.value("select id from console_selection limit 1")
        pages = [
            "/", "/help", "/search", "/search?q=none", f"/purchases/Production/{purchase}",
            f"/accounts/Production/{account}", "/notifications", f"/notifications/{notification}", "/dead-letters",
            "/dead-letters/list?reason=unreadable", f"/dead-letters/selections/{selection}", "/coverage",
            "/coverage/recover", "/pipeline", "/audit", "/insight/cancellations", "/insight/ends",
            "/insight/price-consents", "/insight/win-back", "/insight/loyalty", "/insight/renewals", "/nothing",
        ] + hostile_pages(browser, address, database)
        say(f"{len(pages)} pages for axe, {time.monotonic() - started:.0f} s after the start")
        development.pause()
        count = examined(browser, address, pages)
        hosts = {urllib.parse.urlsplit(each).netloc for each in browser.requests if not each.startswith("data:")}
        if hosts != {urllib.parse.urlsplit(address).netloc}:
            problems.append(f"pages asked {sorted(hosts)}")
        if screenshots:
            pictures(browser, address, f"/purchases/Production/{purchase}", screenshots)
        say(f"{len(pages)} pages in {count} variants; {len(browser.requests)} requests, all to the console")
    finally:
        if browser:
            browser.driver.quit()
        development.stop()
    for problem in problems[:60]:
        print(f"console: {problem}", file=sys.stderr)
    if problems:
        raise SystemExit(f"console: FAILED: {len(problems)} problems")
    say(f"{time.monotonic() - started:.0f} s: the main tasks by keyboard alone, no violation of WCAG 2.2 AA that axe finds, no error, no request to elsewhere")


with tempfile.TemporaryDirectory() as work:
    # Postgres runs as another user where this one is root.
    os.chmod(work, 0o755)
    try:
        main(pathlib.Path(work))
    except KeyboardInterrupt:
        raise SystemExit("console: FAILED: stopped") from None

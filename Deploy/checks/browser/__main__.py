"""The console in a browser: started by Deploy/checks/console.

Arguments: directory of the programs, directory for the pictures of the documentation (empty: none), directory for a picture of every
page.
"""
import os
import pathlib
import sys
import tempfile
import time

from selenium.webdriver.common.keys import Keys

import hostile

from . import accessibility, security, tasks, weight
from .page import Browser
from .parts import Database, Development, problems, say, wait_until

programs, screenshots, kept = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
started = time.monotonic()


def pictures(browser, address, path, directory):
    for scheme in ("light", "dark"):
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": scheme}]})
        browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": 1200, "height": 860, "deviceScaleFactor": 1, "mobile": False})
        browser.driver.get(address + path)
        browser.driver.save_screenshot(str(pathlib.Path(directory) / f"console-{scheme}.png"))


def main(directory):
    development = Development(programs, directory)
    browser = None
    try:
        environment = development.environment()
        link = wait_until("no link is printed", 120, lambda: development.said(r"5 minutes: (\S+)")).group(1)
        address = link[:link.index("/sign-in")]
        database = Database(environment)
        tasks.fixtures(database)
        browser = Browser()
        browser.open(link)
        browser.tab_to("Sign in")
        browser.press(Keys.ENTER)
        wait_until("signing in does not lead to the overview", 20, lambda: browser.driver.current_url == address + "/")
        ingest = next(development.directory.glob("ingest*.port")).read_text().strip()
        taken = hostile.send(
            programs, development.directory / "authority", f"http://127.0.0.1:{ingest}/v1/notifications")
        say(f"ingest took {taken} notifications with hostile texts")
        account = tasks.done(browser, database)
        purchase = database.value(
            "select original_transaction_id from subscription where environment = 'Production' and status = 1 and "
            "(select count(*) from timeline t where t.environment = subscription.environment and "
            "t.original_transaction_id = subscription.original_transaction_id) > 3 limit 1")
        notification = database.value("select notification_uuid from notification order by recorded_at limit 1")
        certificate = database.value("select id from erased_account limit 1")
        selection = database.value("select id from console_selection limit 1")
        pages = [
            "/", "/help", "/search", "/search?q=none", f"/purchases/Production/{purchase}",
            f"/accounts/Production/{account}", "/notifications", f"/notifications/{notification}", "/dead-letters",
            "/dead-letters/list?reason=unreadable", f"/dead-letters/selections/{selection}", "/coverage",
            "/coverage/recover", "/pipeline", "/audit", "/insight/cancellations", "/insight/ends",
            "/insight/price-consents", "/insight/win-back", "/insight/loyalty", "/insight/renewals", "/nothing",
            "/revenue", "/revenue/movements", "/revenue/retention", "/revenue/corrections",
            f"/accounts/Production/{account}/erasure?app=com.example.app", f"/erasures/{certificate}",
        ] + security.hostile_pages(browser, address, database)
        say(f"{len(pages)} pages for axe, {time.monotonic() - started:.0f} s after the start")
        development.pause()
        heaviest, size = weight.weighed(browser, address, pages)
        say(f"the heaviest page is {heaviest}: {size} bytes with all that it needs")
        count = accessibility.examined(browser, address, pages, kept)
        security.requested(browser, address)
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

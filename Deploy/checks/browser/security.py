"""What came in through ingest with markup in it, and requests to elsewhere."""
import urllib.parse

import hostile

from .parts import problems, wait_until


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


def requested(browser, address):
    """That pages asked the console alone."""
    hosts = {urllib.parse.urlsplit(each).netloc for each in browser.requests if not each.startswith("data:")}
    if hosts != {urllib.parse.urlsplit(address).netloc}:
        problems.append(f"pages asked {sorted(hosts)}")

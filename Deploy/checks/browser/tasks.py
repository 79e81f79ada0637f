"""The main tasks of support and operators, and the questions of a founder, by keyboard alone."""
from selenium.webdriver.common.keys import Keys

from .parts import problems, say, wait_until


def order_number(transaction):
    digits, number, text = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", int(transaction), ""
    while number:
        number, digit = divmod(number, 36)
        text = digits[digit] + text
    return "M" + text


def owner(database, *others):
    """An account that owns purchases, none of `others`. It is known in one environment and app only: a search for an account
    that is known in several shows a list."""
    return database.value(
        "select app_account_token from (select owner_account_token as app_account_token, environment, bundle_id from subscription "
        "union select app_account_token, environment, bundle_id from account_claim) as known "
        "where app_account_token in (select owner_account_token from subscription) "
        f"and app_account_token <> all ('{{{','.join(others)}}}'::uuid[]) "
        "group by app_account_token having min(environment) = 'Production' and max(environment) = 'Production' "
        "and min(bundle_id) = 'com.example.app' and max(bundle_id) = 'com.example.app' order by 1 limit 1")


# A founder's questions: each with its number on the screen Revenue, and the report that the number leads to.
QUESTIONS = [
    ("How much do we earn a month?", "Monthly revenue", "Monthly revenue"),
    ("Why did it change?", "Net movement", "Why it changed"),
    ("Who leaves?", "Customers who left", "Who leaves"),
    ("Do trials pay?", "Trials that were paid", "Trials"),
    ("What is refunded?", "Refunded", "Charges and refunds"),
]


def answered(browser, database):
    """The five questions, and who is behind a row."""
    moved = wait_until("no revenue is computed", 120, lambda: database.value(
        "select to_char(at at time zone 'UTC', 'YYYY-MM') || ' ' || currency from mrr_movement where environment = 'Production' and "
        "bundle_id = 'com.example.app' and at > now() - interval '300 days' and exists ("
        "select from insight_position where as_of is not null) order by at desc limit 1"))
    for question, number, report in QUESTIONS:
        browser.go("m", "Revenue")
        browser.tab_to(number, key="j")
        answer = " ".join(browser.active().split())
        browser.press(Keys.ENTER)
        wait_until(f"“{number}” does not lead to “{report}”", 20, lambda: browser.heading() == report)
        browser.shows("As of")
        say(f"by keyboard: {question} {answer}")

    month, currency = moved.split()
    browser.go("m", "Revenue")
    browser.tab_to("Net movement", key="j")
    browser.press(Keys.ENTER)
    wait_until("no movements are shown", 20, lambda: browser.heading() == "Why it changed")
    for _ in range(400):
        browser.press("k")
        cells = browser.driver.execute_script(
            "return [...(document.activeElement.closest('tr')?.cells ?? [])].map((cell) => cell.innerText)")
        if cells and cells[0].startswith(month) and currency in cells:
            break
    else:
        raise SystemExit(f"console: FAILED: no key leads to the row of {moved}")
    browser.press(Keys.ENTER)
    wait_until("a row does not lead to its purchases", 20, lambda: browser.heading() == "Movements of monthly revenue")
    wait_until("no key leads to a purchase", 20, lambda: browser.press("j") or browser.driver.execute_script(
        "return !!document.activeElement.closest('main td')"))
    browser.press(Keys.ENTER)
    wait_until("a movement does not lead to its purchase", 20, lambda: "/purchases/Production/" in browser.driver.current_url)
    browser.look()
    say("by keyboard: from a number to its purchases")


def done(browser, database):
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

    answered(browser, database)

    browser.go("c", "Coverage")
    browser.tab_to("Every day as a table")
    browser.press(Keys.ENTER)
    browser.tab_to("Recover 20")
    browser.press(Keys.ENTER)
    browser.shows("These windows would be opened")
    browser.tab_to("Reason")
    browser.press("an auditor asks for this day", Keys.ENTER)
    browser.shows("The window is open.")
    say("by keyboard: a day that is not complete is being recovered")

    account = owner(database)
    browser.search(account)
    browser.shows(account)
    # The form begins with a product that the customer's app sells.
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

    forgotten = owner(database, account)
    browser.search(forgotten)
    browser.shows(forgotten)
    browser.tab_to("Erase or detach the customer of com.example.app")
    browser.press(Keys.ENTER)
    browser.shows("What would be forgotten")
    browser.tab_to("Reason", within="section[aria-labelledby='erase-title']")
    browser.press("the customer asked in ticket 812", Keys.ENTER)
    browser.shows("The customer is erased.")
    left = database.value(f"select count(*) from subscription where owner_account_token = '{forgotten}'")
    if left != "0":
        problems.append(f"the erased account still owns {left} purchases")
    say("by keyboard: a customer is erased, after a look at what that means")
    return account


def fixtures(database):
    """What a run of a minute does not bring about: a day that is over and not complete, and a release that rejects."""
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

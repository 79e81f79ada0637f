"""The main tasks of support and operators, by keyboard alone."""
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

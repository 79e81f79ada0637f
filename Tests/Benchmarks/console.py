"""The pages of the console before a large database: started by Tests/Benchmarks/console."""
import argparse
import http.client
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse

import console_fill
from rehearsal import ports, postgres

LARGE = ("notification", "subscription", "transaction", "timeline", "access_period", "account_claim", "purchase_account", "rejected")


def say(text):
    print(f"console: {text}", file=sys.stderr, flush=True)


class Server(postgres.Postgres):
    """With the plans of the console's statements in its log, when they are asked for."""

    def __init__(self, directory):
        if (pathlib.Path(directory) / "data").exists():
            self.bin, self.directory, self.port = postgres.programs(), pathlib.Path(directory), ports.free_port()
            self.is_root, self.disk, self.data = os.geteuid() == 0, None, self.directory / "data"
            self.start()
        else:
            super().__init__(directory)

    def settings(self):
        return super().settings() | {
            "max_wal_size": "4GB", "session_preload_libraries": "auto_explain",
            "log_line_prefix": "'%a: '", "log_timezone": "UTC"}

    def plans(self, asked):
        self.sql(f"alter system set auto_explain.log_min_duration = {0 if asked else -1}")
        self.sql("select pg_reload_conf()")


class Browser:
    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.port, self.cookie = port, ""

    def ask(self, method, path, form=None):
        headers = {"Origin": f"http://127.0.0.1:{self.port}", "Cookie": self.cookie}
        body = None
        if form is not None:
            body = urllib.parse.urlencode(form)
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        started = time.perf_counter()
        self.connection.request(method, path, body, headers)
        answer = self.connection.getresponse()
        content = answer.read()
        return answer, content, (time.perf_counter() - started) * 1000


def pages(database):
    """Each page by a name, with the addresses to take in turn."""

    def values(sql, count=200):
        return [row[0] for row in database.sql(f"{sql} limit {count}")]

    sample = "tablesample system (1)" if int(database.value("select count(*) > 50000 from subscription") == "t") else ""
    purchases = values(f"select original_transaction_id from subscription {sample} where environment = 'Production'")
    accounts = values(
        f"select owner_account_token from subscription {sample} where environment = 'Production' and owner_account_token is not null")
    transactions = values(f"select transaction_id from transaction {sample}")
    uuids = values(f"select notification_uuid from notification {sample}")
    letters = values(
        "select (extract(epoch from rejected_at) * 1000000)::bigint || '/' || kafka_partition || '/' || kafka_offset from rejected "
        "order by random()")
    shown = values("select notification_uuid from notification_payload")
    return {
        "overview": ["/"],
        "search: purchase": [f"/search?q={each}" for each in purchases],
        "search: account": [f"/search?q={each}" for each in accounts],
        "search: transaction": [f"/search?q={each}" for each in transactions],
        "search: notification": [f"/search?q={each}" for each in uuids],
        "search: nothing": ["/search?q=9999999999"],
        "purchase": [f"/purchases/Production/{each}" for each in purchases],
        "account": [f"/accounts/Production/{each}" for each in accounts],
        "erasure: dry run": [f"/accounts/Production/{each}/erasure?app=com.example.app" for each in accounts],
        "notifications": ["/notifications"],
        "notifications: further back": [f"/notifications?after={each}" for each in uuids],
        "notifications: a type": ["/notifications?type=DID_RENEW"],
        "notifications: a rare type": [f"/notifications?type=METADATA_UPDATE&after={each}" for each in uuids],
        "notifications: an app": [
            f"/notifications?app=com.example.{app}&environment={environment}"
            for app in ("app", "reader", "trainer") for environment in ("Production", "Sandbox")],
        "notification": [f"/notifications/{each}" for each in shown],
        "dead letters": ["/dead-letters"],
        "dead letters: further back": [f"/dead-letters/list?after={each}" for each in letters],
        "dead letters: a reason": [
            f"/dead-letters/list?reason={each}" for each in ("signature", "body", "too-old", "nothing-has-it")],
        "coverage": ["/coverage"],
        "pipeline": ["/pipeline"],
        "audit": ["/audit"],
        "audit: a person": ["/audit?actor=ann", "/audit?actor=eve"],
    } | {
        f"insight: {name}": [f"/insight/{name}"]
        for name in ("cancellations", "ends", "price-consents", "loyalty", "win-back", "renewals")
    } | {"help": ["/help"]}


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def measured(browser, addresses, rounds):
    took, worst = [], 200
    for number in range(rounds):
        path = addresses[number % len(addresses)]
        answer, content, milliseconds = browser.ask("GET", path)
        # What a search finds is a page of its own, and measured with it.
        while answer.status == 303:
            answer, content, more = browser.ask("GET", answer.headers["Location"])
            milliseconds += more
        took.append(milliseconds)
        worst = max(worst, answer.status)
    return took, worst, len(content)


def computed(browser, path):
    """Seconds until a report of Insight is there; meanwhile its page says that it is being computed."""
    started = time.monotonic()
    while b"is being computed" in browser.ask("GET", path)[1]:
        if time.monotonic() - started > 60:
            raise SystemExit(f"console: {path} is not computed within 60 s")
        time.sleep(0.1)
    return time.monotonic() - started


def scans(log):
    """Sequential scans of large tables in the plans of the console's statements."""
    found = {}
    for entry in re.split(r"\n(?=storekeeper \w+: |\S*: )", log):
        if not entry.startswith("storekeeper console: "):
            continue
        statement = " ".join(entry.partition("Query Text:")[2].split())[:100]
        for table in re.findall(r"Seq Scan on (?:\w+\.)?(\w+)", entry):
            if table in LARGE:
                found.setdefault((table, statement), entry)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", nargs="?", default=".build/release")
    parser.add_argument("--fill", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--limit", type=float, default=100)
    parser.add_argument("--directory")
    options = parser.parse_args()
    programs = pathlib.Path(options.programs).resolve()
    directory = pathlib.Path(options.directory or tempfile.mkdtemp(prefix="console-", dir="/tmp"))
    directory.mkdir(parents=True, exist_ok=True)
    directory.chmod(0o755)
    database, console = Server(directory / "postgres"), None
    try:
        environment = os.environ | {"DATABASE_URL": database.url(), "KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1"}
        if database.value("select to_regclass('notification') is null") == "t":
            # The schema and its roles, and some notifications with everything that belongs to them.
            subprocess.run(
                [programs / "devkit", "dev", "--count", "500", "--rate", "100"], check=True, stdout=sys.stderr,
                env={name: value for name, value in environment.items() if name != "KAFKA_BOOTSTRAP_SERVERS"})
        if int(database.value("select greatest(reltuples, 0)::bigint from pg_class where oid = 'notification'::regclass")
               ) < 0.99 * options.fill:  # The count is an estimate.
            console_fill.fill(database, options.fill // 5 * 5, say)
        port = ports.free_port()
        address = f"http://127.0.0.1:{port}"
        console = subprocess.Popen(
            [programs / "console"], stdout=subprocess.DEVNULL, stderr=open(directory / "console.log", "wb"),
            env=environment | {
                "STOREKEEPER_CONSOLE_URL": address, "STOREKEEPER_CONSOLE_ADDRESS": f"127.0.0.1:{port}",
                "STOREKEEPER_ADMIN_ADDRESS": "127.0.0.1:0"})
        ports.wait_until("the console listens", 60, lambda: listens(port))
        link = subprocess.run(
            [programs / "storekeeper", "console", "login", "--as", "benchmark", "--role", "admin", "--url", address],
            env=environment, capture_output=True, text=True, check=True).stdout
        browser = Browser(port)
        answer, _, _ = browser.ask("POST", "/sign-in", {"link": re.search(r"link=([\w-]+)", link).group(1)})
        browser.cookie = answer.headers["Set-Cookie"].split(";")[0]
        failures = report(database, browser, options)
    finally:
        if console:
            console.send_signal(signal.SIGTERM)
            console.wait(30)
        database.stop()
        if not options.directory:
            shutil.rmtree(directory)
    raise SystemExit(1 if failures else 0)


def listens(port):
    try:
        http.client.HTTPConnection("127.0.0.1", port, timeout=1).connect()
    except OSError:
        return False
    return True


def report(database, browser, options):
    size = database.value("select pg_size_pretty(pg_database_size(current_database()))")
    count = int(database.value("select greatest(reltuples, 0)::bigint from pg_class where oid = 'notification'::regclass"))
    print(f"{count:,} notifications, {size}; {options.rounds} rounds, milliseconds")
    print(f"{'page':<30}{'p50':>8}{'p95':>8}{'max':>8}{'KB':>7}")
    failures = 0
    everything = pages(database)
    for name, addresses in everything.items():
        slow = computed(browser, addresses[0]) if name.startswith("insight") else 0
        # The first requests prepare statements and fill caches.
        measured(browser, addresses, 8)
        took, status, size = measured(browser, addresses, options.rounds)
        p95 = percentile(took, 0.95)
        mark = "" if p95 <= options.limit and status == 200 else "  too slow" if status == 200 else f"  status {status}"
        failures += bool(mark)
        mark += f"  computed beside the page in {slow:.1f} s" if slow > 0.1 else ""
        print(f"{name:<30}{percentile(took, 0.5):>8.1f}{p95:>8.1f}{max(took):>8.1f}{size / 1024:>7.1f}{mark}", flush=True)
    log = database.directory / "log"
    place = log.stat().st_size
    database.plans(True)
    for addresses in everything.values():
        measured(browser, addresses, 1)
    database.plans(False)
    with open(log, errors="replace") as file:
        file.seek(place)
        found = scans(file.read())
    for (table, statement), plan in found.items():
        print(f"reads all of {table}: {statement}\n{plan}")
    if not found:
        print("no statement reads a large table as a whole")
    return failures + len(found)


main()

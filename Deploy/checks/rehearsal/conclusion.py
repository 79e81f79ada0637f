"""How a rehearsal says what it saw, and ends."""
import pathlib
import sys
import time

from . import checker
from .drain import drain
from .evidence import IS_NOTIFICATION
from .ports import wait_until
from .record import Record


def say(text):
    print(f"{pathlib.Path(sys.argv[0]).name}: {text}", flush=True)


def until_stored(deployment, count, seconds=120):
    wait_until(f"the ledger does not reach {count} notifications", seconds, lambda: stored(deployment) >= count)


def stored(deployment):
    rows = deployment.postgres.sql(f"select count(*) from notification where {IS_NOTIFICATION}", check=False)
    return int(rows[0][0]) if rows else 0


def conclude(deployment, seconds=120, compares_messages=True, compares_dead_letters=True):
    """Waits until everything was sent and has had its effect, compares, prints, and returns the exit code."""
    wait_until("the simulator does not come to its end", 600, lambda: deployment.progress().get("isFinished"))
    # To read that of an hour and to compare it takes minutes, which are no part of how long the pipeline drains.
    record = Record(deployment.record)
    began = time.monotonic()
    left = drain(deployment, seconds, compares_dead_letters, record)
    took = time.monotonic() - began
    verdict = checker.check(record, deployment, compares_messages, compares_dead_letters)
    verdict.stuck = left
    deployment.has_failed = not verdict.is_clean()
    for problem in verdict.problems():
        say(problem)
    for text in deployment.exits:
        say(f"ended by itself: {text}")
    say(f"{verdict.sent} sent, {verdict.accepted} accepted, {verdict.given_up} given up by Apple; {verdict.compared()}")
    say(f"{len(verdict.lost)} lost, {len(verdict.twice)} twice, {len(verdict.wrong)} wrong, {len(verdict.stuck)} stuck; drained "
        f"within {took:.1f} s")
    return 1 if deployment.has_failed else 0

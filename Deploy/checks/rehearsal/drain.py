"""Waits until everything that was sent has had its effect."""
import time

from .record import Record


def drain(deployment, seconds, with_dead_letters=True, record=None):
    """Returns what is left to do when the time is over; nothing where the pipeline has drained.

    The simulator's record is read once, when it is complete, or given by a caller who has waited for that.
    """
    end = time.monotonic() + seconds
    while True:
        if not record and deployment.progress().get("isFinished", False):
            record = Record(deployment.record)
        left = remaining(deployment, record, with_dead_letters) if record else ["the simulator has deliveries left"]
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.5)


def unfinished(deployment):
    """What has been accepted so far, and has not had its effect."""
    record = Record(deployment.record)
    return without_effect(deployment, record, {uuid for uuid in record.genuine() if record.is_accepted(uuid)}, True)


def remaining(deployment, record, with_dead_letters):
    left = without_effect(deployment, record, record.expected(), with_dead_letters)
    return left + [f"{service.name} is not ready" for service in deployment.services if not deployment.is_ready(service)]


def without_effect(deployment, record, expected, with_dead_letters):
    left, sql = [], deployment.postgres.sql
    # Not asked of the services: what counts is what they have written.
    stored = {row[0] for row in sql("select notification_uuid from notification", check=False) or []}
    missing = expected - stored
    if missing:
        left.append(f"{len(missing)} notifications are not in the ledger")
    rejected = {row[0] for row in sql("select notification_uuid from rejected", check=False) or []}
    missing = record.expected_dead_letters() - rejected
    if missing and with_dead_letters:
        left.append(f"{len(missing)} forgeries are not among the dead letters")
    unpublished = sql("select count(*) from timeline where published_at is null", check=False)
    if unpublished is None or unpublished[0][0] != "0":
        left.append("changes are not published" if unpublished else "Postgres does not answer")
    return left

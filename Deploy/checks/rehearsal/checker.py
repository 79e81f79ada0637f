"""Compares what the simulator recorded with what the database and Kafka hold. Shares no code with the services.

Lost: answered 200, and not in the ledger, or a forgery that is not among the dead letters.
Twice: an effect of a notification that occurs more than once.
Wrong: a ledger entry, an access period or a message that differs from what was sent; a forgery that was stored; a genuine
notification that was rejected.
"""
import collections
import dataclasses
import json
import subprocess


@dataclasses.dataclass
class Verdict:
    sent: int = 0
    accepted: int = 0
    repeated: int = 0
    retried: int = 0
    given_up: int = 0
    stored: int = 0
    purchases: int = 0
    changes: int = 0
    lost: list = dataclasses.field(default_factory=list)
    twice: list = dataclasses.field(default_factory=list)
    wrong: list = dataclasses.field(default_factory=list)
    stuck: list = dataclasses.field(default_factory=list)

    def is_clean(self):
        return not (self.lost or self.twice or self.wrong or self.stuck)

    def problems(self):
        for kind in ["lost", "twice", "wrong", "stuck"]:
            found = getattr(self, kind)
            for text in found[:5]:
                yield f"{kind}: {text}"
            if len(found) > 5:
                yield f"{kind}: and {len(found) - 5} more"


class Record:
    """The simulator's record of what it sent."""

    def __init__(self, path):
        self.notifications, self.attempts = {}, collections.defaultdict(list)
        if not path.exists():
            return
        with open(path) as file:
            for text in file:
                if not text.endswith("\n"):
                    break
                line = json.loads(text)
                if line["line"] == "notification":
                    self.notifications[line["uuid"]] = line
                elif line["line"] == "attempt":
                    self.attempts[line["uuid"]].append(line)

    def is_accepted(self, uuid):
        return any(200 <= (attempt.get("status") or 0) <= 206 for attempt in self.attempts[uuid])

    def genuine(self):
        return {uuid: line for uuid, line in self.notifications.items() if not line.get("expectedRejection")}

    def forged(self):
        return {uuid: line for uuid, line in self.notifications.items() if line.get("expectedRejection")}

    def expected(self):
        """Genuine notifications that must be in the ledger: accepted, or given up, which Apple's history lists."""
        return {uuid for uuid in self.genuine() if self.attempts[uuid]}

    def expected_dead_letters(self):
        return {uuid for uuid in self.forged() if self.is_accepted(uuid)}


# Single objects of a customer's history are in the table, too.
IS_NOTIFICATION = "notification_type not like 'signed%'"


def ledger(postgres):
    rows = postgres.sql(
        "select notification_uuid, notification_type, coalesce(subtype, ''), environment, bundle_id,"
        " coalesce(original_transaction_id, ''), coalesce(transaction_id, ''),"
        f" (extract(epoch from signed_at) * 1000)::bigint from notification where {IS_NOTIFICATION}")
    return {row[0]: row[1:] for row in rows}


def changed_messages(bootstrap):
    """All records of subscriptions.changed, as (partition, offset, text)."""
    with subprocess.Popen(
            ["timeout", "600", "kcat", "-C", "-q", "-m", "60", "-b", bootstrap, "-t", "subscriptions.changed", "-o", "beginning",
             "-e", "-X", "fetch.wait.max.ms=10", "-f", "%p\t%o\t%s\n"], stdout=subprocess.PIPE, text=True) as kcat:
        # Line by line: of an hour they are a million.
        rows = [line.removesuffix("\n").split("\t", 2) for line in kcat.stdout]
    if kcat.returncode != 0:
        raise RuntimeError(f"kcat failed with {kcat.returncode}")
    return sorted((int(partition), int(offset), text) for partition, offset, text in rows)


def check(record, postgres, bootstrap, compares_messages=True, compares_dead_letters=True):
    """Messages cannot be compared where the database or the cluster was replaced: changes are sent again, dated again."""
    verdict = Verdict()
    attempts = [attempt for all in record.attempts.values() for attempt in all]
    verdict.sent = len(record.notifications)
    verdict.accepted = sum(record.is_accepted(uuid) for uuid in record.notifications)
    verdict.repeated = sum(attempt.get("isRepetition", False) for attempt in attempts)
    verdict.retried = sum(attempt["attempt"] > 1 and not attempt.get("isRepetition") for attempt in attempts)
    verdict.given_up = sum(not record.is_accepted(uuid) for uuid in record.genuine())
    stored = ledger(postgres)
    verdict.stored = len(stored)
    check_ledger(record, stored, verdict)
    if compares_dead_letters:
        check_dead_letters(record, postgres, verdict)
    check_changes(postgres, bootstrap if compares_messages else None, verdict)
    check_access(record, postgres, stored, verdict)
    return verdict


def check_ledger(record, stored, verdict):
    genuine = record.genuine()
    for uuid in record.expected():
        if uuid not in stored:
            how = "answered 200" if record.is_accepted(uuid) else "given up by Apple, and listed in its history"
            verdict.lost.append(f"{uuid} {genuine[uuid]['notificationType']}: {how}, and not in the ledger")
    for uuid, row in stored.items():
        line = genuine.get(uuid)
        if line is None:
            verdict.wrong.append(f"{uuid} is in the ledger; " + ("a forgery" if uuid in record.forged() else "never sent"))
            continue
        expected = [line["notificationType"], line.get("subtype") or "", line["environment"], line["bundleId"],
                    line.get("originalTransactionId") or "", line.get("transactionId") or "", str(line["signedDate"])]
        if row != expected:
            verdict.wrong.append(f"{uuid}: the ledger has {row} where {expected} was sent")


def check_dead_letters(record, postgres, verdict):
    found = {}
    for uuid, reason in postgres.sql("select notification_uuid, reason from rejected where notification_uuid is not null"):
        found.setdefault(uuid, set()).add(reason)
    forged = record.forged()
    for uuid in record.expected_dead_letters():
        if uuid not in found:
            verdict.lost.append(f"{uuid}: a forgery answered 200, and not among the dead letters")
        elif found[uuid] != {forged[uuid]["expectedRejection"]}:
            verdict.wrong.append(f"{uuid}: rejected for {found[uuid]} instead of {forged[uuid]['expectedRejection']}")
    for uuid in found:
        if uuid in record.genuine():
            verdict.wrong.append(f"{uuid}: genuine, and rejected for {found[uuid]}")


def check_changes(postgres, bootstrap, verdict):
    """The timeline has an effect once, and subscriptions.changed without repeats equals the timeline, in its order.

    Recovery can change a purchase while this reads: what is published before the topic is read must be in the topic, and
    what the topic holds must be in the timeline afterwards.
    """
    query = "select notification_uuid, environment, original_transaction_id, revision from timeline"
    published = {tuple(row) for row in postgres.sql(f"{query} where published_at is not null")} if bootstrap else set()
    messages = changed_messages(bootstrap) if bootstrap else []
    timeline = collections.Counter(tuple(row) for row in postgres.sql(query))
    effects = collections.Counter(effect[:3] for effect in timeline.elements())
    verdict.changes = len(effects)
    verdict.twice += [f"{' '.join(effect)}: {count} rows of the timeline" for effect, count in effects.items() if count > 1]
    revisions = collections.Counter(effect[1:] for effect in timeline.elements())
    verdict.twice += [
        f"{' '.join(purchase)}: {count} changes have this revision" for purchase, count in revisions.items() if count > 1]
    if not bootstrap:
        return
    sent, newest = {}, {}
    for _, _, text in messages:
        message = json.loads(text)
        purchase = (message["environment"], message["originalTransactionId"])
        effect = (message["notificationUUID"].lower(), *purchase, str(message["revision"]))
        if effect in sent:
            if sent[effect] != text:
                verdict.wrong.append(f"{' '.join(effect)}: repeated with other content")
            continue
        sent[effect] = text
        if int(effect[3]) <= newest.get(purchase, 0):
            verdict.wrong.append(f"{' '.join(effect)}: sent behind revision {newest[purchase]}")
        newest[purchase] = int(effect[3])
    verdict.lost += [f"{' '.join(effect)}: in the timeline, and never sent" for effect in published - sent.keys()]
    verdict.wrong += [f"{' '.join(effect)}: sent, and not in the timeline" for effect in sent.keys() - timeline.keys()]


def check_access(record, postgres, stored, verdict):
    """Access of each purchase all of whose notifications are stored, at every boundary and a millisecond before."""
    histories = collections.defaultdict(list)
    for uuid, line in record.genuine().items():
        if line.get("originalTransactionId"):
            histories[line["environment"], line["originalTransactionId"]].append(line)
    found = collections.defaultdict(list)
    for environment, purchase, product, start, end, reason in postgres.sql(
            "select environment, original_transaction_id, product_id, (extract(epoch from lower(period)) * 1000)::bigint,"
            " (extract(epoch from upper(period)) * 1000)::bigint, reason from access_period"):
        found[environment, purchase].append((product, int(start), int(end) if end else None, False))
    for purchase, lines in histories.items():
        lines.sort(key=lambda line: line["signedDate"])
        said = [line["access"] for line in lines if line.get("access") is not None]
        if not said or any(line["uuid"] not in stored for line in lines):
            continue
        verdict.purchases += 1
        expected = [
            (period["productId"], period["startsAt"], period.get("endsAt"), period["isGrace"]) for period in said[-1]]
        moment = first_difference(expected, found[purchase], lines[-1]["signedDate"])
        if moment:
            verdict.wrong.append(f"{' '.join(purchase)}: access at {moment[0]}: {moment[2]} instead of {moment[1]}")


def first_difference(expected, found, followed_until):
    """The first moment with another answer, and both answers."""
    boundaries = {edge for _, start, end, _ in expected + found for edge in (start, end) if edge is not None}
    for moment in sorted(boundaries | {edge - 1 for edge in boundaries} | {followed_until}):
        wanted, actual = at(expected, moment), at(found, moment)
        # What is over of a grace period is forgotten with the renewal info that told it.
        if wanted and wanted[3] and moment < followed_until:
            continue
        if (wanted and wanted[0]) != (actual and actual[0]):
            return moment, wanted and wanted[0], actual and actual[0]
    return None


def at(periods, moment):
    return next((one for one in periods if one[1] <= moment and (one[2] is None or moment < one[2])), None)

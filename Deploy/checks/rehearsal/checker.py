"""Compares what the simulator recorded with what the database and Kafka hold. Shares no code with the services.

Lost: answered 200, and not in the ledger, or a forgery that is not among the dead letters; a notification that changed
something and has no row in the timeline, a row without its message, an original that is not stored.
Twice: an effect of a notification that occurs more than once.
Wrong: a ledger entry, an original, a fact or account of a purchase, an access period, a row of the timeline or a message that
differs from what was sent; a forgery that was stored; a genuine notification that was rejected.
"""
import collections
import dataclasses
import json

from . import contents, evidence


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
    originals: int = 0
    states: int = 0
    lost: list = dataclasses.field(default_factory=list)
    twice: list = dataclasses.field(default_factory=list)
    wrong: list = dataclasses.field(default_factory=list)
    stuck: list = dataclasses.field(default_factory=list)

    def is_clean(self):
        return not self.kinds()

    def kinds(self):
        return [kind for kind in ["lost", "twice", "wrong", "stuck"] if getattr(self, kind)]

    def compared(self):
        return (f"{self.stored} in the ledger, {self.originals} originals, {self.changes} changes, {self.states} of them with the "
                f"state after them, and access of {self.purchases} purchases compared")

    def problems(self):
        for kind in self.kinds():
            found = getattr(self, kind)
            for text in found[:5]:
                yield f"{kind}: {text}"
            if len(found) > 5:
                yield f"{kind}: and {len(found) - 5} more"


def check(record, deployment, compares_messages=True, compares_dead_letters=True):
    """Messages cannot be compared where the database or the cluster was replaced: changes are sent again, dated again.

    Recovery can change a purchase while this reads: what is published before the topic is read must be in the topic, and
    what the topic holds must be in the timeline afterwards.
    """
    published = evidence.published(deployment.postgres) if compares_messages else None
    messages = deployment.changed_messages() if compares_messages else None
    return judge(record, deployment, published, messages, compares_dead_letters)


def judge(record, deployment, published, messages, compares_dead_letters=True):
    """Without messages neither they nor the order of the changes are compared."""
    postgres = deployment.postgres
    verdict, found = Verdict(), evidence.Evidence(postgres, [stored for stored, _ in deployment.earlier])
    attempts = [attempt for all in record.attempts.values() for attempt in all]
    verdict.sent = len(record.notifications)
    verdict.accepted = sum(record.is_accepted(uuid) for uuid in record.notifications)
    verdict.repeated = sum(attempt.get("isRepetition", False) for attempt in attempts)
    verdict.retried = sum(attempt["attempt"] > 1 and not attempt.get("isRepetition") for attempt in attempts)
    verdict.given_up = sum(not record.is_accepted(uuid) for uuid in record.genuine())
    verdict.stored = len(found.stored)
    check_ledger(record, found.stored, verdict)
    if compares_dead_letters:
        check_dead_letters(record, postgres, verdict)
    check_timeline(found.timeline, verdict)
    if messages is not None:
        check_messages(found.timeline, published, messages, verdict)
    contents.check_originals(record, postgres, found.stored, verdict)
    contents.check_states(record, found, verdict, knows_order=messages is not None)
    check_access(record, found, verdict)
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


def check_timeline(timeline, verdict):
    """An effect occurs once, and so does a revision of a purchase."""
    effects = collections.Counter((change.uuid, *change.purchase) for change in timeline)
    verdict.changes = len(effects)
    verdict.twice += [f"{' '.join(effect)}: {count} rows of the timeline" for effect, count in effects.items() if count > 1]
    revisions = collections.Counter((*change.purchase, str(change.revision)) for change in timeline)
    verdict.twice += [
        f"{' '.join(purchase)}: {count} changes have this revision" for purchase, count in revisions.items() if count > 1]


def check_messages(timeline, published, messages, verdict):
    """subscriptions.changed without repeats equals the timeline, word for word and in its order."""
    rows = {(change.uuid, *change.purchase, change.revision): change for change in timeline}
    sent, newest = {}, {}
    for _, _, key, text in messages:
        message = evidence.told(text)
        effect, name = (message.uuid, *message.purchase, message.revision), f"{message.uuid} {' '.join(message.purchase)}"
        if effect in sent:
            if evidence.fixed(sent[effect]) != evidence.fixed(text):
                verdict.wrong.append(f"{name}: repeated with other content")
            continue
        sent[effect] = text
        if message.revision <= newest.get(message.purchase, 0):
            verdict.wrong.append(f"{name}: sent behind revision {newest[message.purchase]}")
        newest[message.purchase] = message.revision
        if key != message.purchase[1]:
            verdict.wrong.append(f"{name}: sent under the key {key}")
        if effect not in rows:
            verdict.wrong.append(f"{name}: sent, and not in the timeline")
        else:
            verdict.wrong += [f"{name}: {difference}" for difference in differences(message, rows[effect])]
    verdict.lost += [f"{' '.join(map(str, effect))}: in the timeline, and never sent" for effect in published - sent.keys()]


def differences(message, row):
    """Between a message and its row. Postgres has microseconds, and the message rounds them."""
    for field in evidence.TOLD:
        sent, kept = getattr(message, field), getattr(row, field)
        if sent != kept and not (field == "appliedAt" and abs(sent - kept) <= 1):
            yield f"the message says {field} {sent}, and the timeline {kept}"
    if message.changes != json.loads(row.changes):
        yield f"the message tells {message.changes}, and the timeline {row.changes}"


def check_access(record, found, verdict):
    """Access of each purchase all of whose notifications are stored, at every boundary and a millisecond before."""
    for purchase, lines in record.purchases().items():
        said = [line["access"] for line in lines if line.get("access") is not None]
        if not said or any(line["uuid"] not in found.stored for line in lines):
            continue
        verdict.purchases += 1
        expected = [
            (period["productId"], period["startsAt"], period.get("endsAt"), period["isGrace"]) for period in said[-1]]
        moment = first_difference(expected, found.periods[purchase], lines[-1]["signedDate"])
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

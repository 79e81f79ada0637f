"""Compares what a run left behind with what the simulator says it sent: the originals byte for byte, and each purchase fact by
fact, in the timeline after every notification and in the tables at the end."""
import base64
import hashlib
import json
import re

from . import evidence, originals
from .expected import FACTS, TRANSACTION, Purchase, changes
from .record import signed


def check_originals(record, postgres, stored, verdict):
    """The chains first: those that the rows name must be what their digests say."""
    headers, genuine, seen = {}, record.genuine(), set()
    for number, *row in postgres.rows(evidence.CHAINS, evidence.ORIGINALS):
        if number == 0:
            digest, header = (bytes.fromhex(field.removeprefix("\\x")) for field in row)
            headers[digest] = header
            if hashlib.sha256(header).digest() != digest:
                verdict.wrong.append(f"certificate chain {digest.hex()} has another digest")
            continue
        uuid, packed, chains, decoded = row
        seen.add(uuid)
        found = difference_of_original(genuine.get(uuid), packed, chains, decoded, headers)
        if found:
            verdict.wrong.append(f"{uuid}: {found}")
        verdict.originals += 1
    verdict.lost += [f"{uuid}: its signed original is not stored" for uuid in stored.keys() - seen]


def difference_of_original(line, packed, chains, decoded, headers):
    """What is wrong with a stored original, if anything. Parts of a customer's history are not in the record, and what is stored as
    their decoded payload holds more than Apple signed."""
    try:
        named = [headers[digest] for digest in map(bytes.fromhex, re.findall("[0-9a-f]{64}", chains))]
        original = originals.restored(bytes.fromhex(packed.removeprefix("\\x")), named)
        if line and encoded_digest(original) != line["payloadDigest"]:
            return f"the stored original is not what was sent: it begins with {original[:40]} and has {len(original)} bytes"
        if line and originals.decoded(original) != json.loads(decoded):
            return "the decoded payload is not that of the stored original"
    except (originals.Damaged, ValueError) as damage:
        return f"the stored original cannot be read: {damage}"
    except KeyError as missing:
        return f"the stored original names a chain that is not stored: {missing}"
    return None


def encoded_digest(original):
    return base64.urlsafe_b64encode(hashlib.sha256(original).digest()).decode().rstrip("=")


def check_states(record, evidence, verdict, knows_order=True):
    """Each purchase after each of its notifications, and at the end.

    What Apple's API answered about a customer is not in the record: behind it only the end is compared. Nor is the order known
    where the cluster was replaced.
    """
    rows = {(change.uuid, change.purchase): change for change in evidence.timeline}
    purchases = record.purchases()
    for purchase, lines in purchases.items():
        applied = [line for line in lines if line["uuid"] in evidence.stored]
        applied.sort(key=lambda line: evidence.offsets[line["uuid"]])
        if not applied:
            continue
        follower = Purchase(lines)
        until = min(evidence.parts.get(purchase, [(float("inf"),)]))
        before = follower.facts()
        for line in applied:
            follower.apply(line)
            after = follower.facts()
            if knows_order and evidence.offsets[line["uuid"]] < until:
                compare_change(line, changes(before, after), follower, rows.get((line["uuid"], purchase)), verdict)
            before = after
        compare_end(purchase, follower, evidence, verdict)
        compare_transactions(purchase, applied, evidence, verdict)
    verdict.wrong += [f"{' '.join(purchase)} is a purchase that was never sent"
                      for purchase in evidence.subscriptions.keys() - purchases.keys()]
    known = evidence.stored.keys()
    verdict.wrong += [f"{change.uuid} {' '.join(change.purchase)}: in the timeline, and not in the ledger"
                      for change in evidence.timeline if change.uuid not in known and change.purchase not in evidence.parts]


def compare_change(line, expected, follower, row, verdict):
    name = f"{line['uuid']} {line['notificationType']} of {line['environment']} {line['originalTransactionId']}"
    if not row:
        if expected:
            told = ", ".join(sorted(f"{fact} from {old} to {new}" for fact, old, new in expected))
            verdict.lost.append(f"{name}: changed {told}, and has no row in the timeline")
        return
    verdict.states += 1
    found = {(change["fact"], change.get("from"), change.get("to"))
             for change in json.loads(row.changes) if change["fact"] in FACTS}
    for fact, old, new in sorted(expected - found, key=str):
        verdict.wrong.append(f"{name}: the timeline does not tell {fact} from {old} to {new}")
    for fact, old, new in sorted(found - expected, key=str):
        verdict.wrong.append(f"{name}: the timeline tells {fact} from {old} to {new}, which did not happen")
    facts = follower.facts()
    renews = None if facts["autoRenewStatus"] is None else facts["autoRenewStatus"] == 1
    event = "/".join(filter(None, [line["notificationType"], line.get("subtype")]))
    wanted = {"bundleId": line["bundleId"], "event": event, "occurredAt": line["signedDate"], "status": facts["status"],
              "isAutoRenewing": renews}
    for field, value in wanted.items():
        if getattr(row, field) != value:
            verdict.wrong.append(f"{name}: {field} after it is {getattr(row, field)} instead of {value}")
    answers = follower.access(row.appliedAt)
    actual = (row.hasAccess, row.accessUntil, row.productId)
    if answers is not None and actual not in answers:
        verdict.wrong.append(f"{name}: access, its end and its product after it are {actual} instead of "
                             f"{' or '.join(str(tuple(answer)) for answer in answers)}")


def compare_end(purchase, follower, evidence, verdict):
    """The row of the purchase, and the accounts that claim it."""
    name, row = " ".join(purchase), evidence.subscriptions.get(purchase)
    if not row:
        verdict.lost.append(f"{name}: no state of this purchase")
        return
    bundle, _, *row, owner = row
    wanted = follower.facts() | {"bundleId": follower.newest["bundleId"], "owner": follower.owner()}
    has_answers = purchase in evidence.parts
    for fact, found in zip([*FACTS, "bundleId", "owner"], [*row, bundle, owner]):
        # Apple answers with the status as of the question, and with what it told in notifications that are not here.
        if has_answers and (fact == "status" or not follower.knows_all()):
            continue
        if found != stored(wanted[fact]):
            verdict.wrong.append(f"{name}: {fact} is {found or None} instead of {wanted[fact]}")
    claims = evidence.claims.get(purchase, set())
    if claims != follower.accounts and not has_answers:
        verdict.wrong.append(f"{name}: the accounts {sorted(claims)} claim it instead of {sorted(follower.accounts)}")


def compare_transactions(purchase, applied, evidence, verdict):
    """Each transaction is what the notification about it that was signed last says."""
    newest = {}
    for line in applied:
        if line.get("facts"):
            id = line["transactionId"]
            newest[id] = max(newest.get(id) or line, line, key=signed)
    for id, line in newest.items():
        wanted = [purchase[1], *(stored(line["facts"].get(fact)) for fact in TRANSACTION)]
        found = evidence.transactions.get((purchase[0], id))
        if not found:
            verdict.lost.append(f"{' '.join(purchase)}: transaction {id} is not stored")
        elif found != wanted and purchase not in evidence.parts:
            verdict.wrong.append(f"{' '.join(purchase)}: transaction {id} is {found} instead of {wanted}")


def stored(value):
    """As Postgres writes it."""
    if isinstance(value, bool):
        return "t" if value else "f"
    return "" if value is None else str(value)

"""What the database and Kafka hold after a run, read without the services' code."""
import collections
import json
import subprocess

# Single objects of a customer's history are in the table, too.
IS_NOTIFICATION = "notification_type not like 'signed%'"


def milliseconds(*columns):
    return ", ".join(f"(extract(epoch from {column}) * 1000)::bigint" for column in columns)


# Of one moment. A null becomes an empty text.
LEDGER = (
    "select notification_uuid, notification_type, subtype, environment, bundle_id, original_transaction_id, transaction_id,"
    f" {milliseconds('signed_at')}, kafka_offset from notification")
TIMELINE = (
    "select notification_uuid, environment, original_transaction_id, revision, bundle_id, event,"
    f" {milliseconds('occurred_at', 'applied_at')}, status, product_id, has_access, {milliseconds('access_until')},"
    " is_auto_renewing, changes from timeline order by original_transaction_id, revision")
SUBSCRIPTIONS = (
    "select environment, original_transaction_id, bundle_id, revision, status, transaction_id, product_id,"
    f" {milliseconds('purchased_at', 'expires_at', 'revoked_at')}, revocation_reason, app_account_token,"
    f" is_auto_renewing::integer, auto_renew_product_id, is_in_billing_retry, {milliseconds('grace_period_expires_at')},"
    " expiration_intent, owner_account_token from subscription")
TRANSACTIONS = (
    "select environment, original_transaction_id, transaction_id, product_id,"
    f" {milliseconds('purchased_at', 'expires_at', 'revoked_at')}, revocation_reason, app_account_token from transaction")
CLAIMS = "select environment, original_transaction_id, app_account_token from account_claim where evidence = 'apple'"
PERIODS = (
    f"select environment, original_transaction_id, product_id, {milliseconds('lower(period)', 'upper(period)')}"
    " from access_period")
ORIGINALS = "select notification_uuid, signed_original, chains, decoded from notification_payload"
CHAINS = "select digest, header from certificate_chain"

# What a row of the timeline and its message say, besides the id of the effect.
TOLD = ["bundleId", "event", "occurredAt", "appliedAt", "status", "productId", "hasAccess", "accessUntil", "isAutoRenewing"]
Change = collections.namedtuple("Change", ["uuid", "purchase", "revision", *TOLD, "changes"])


class Evidence:
    """Of the ledger, the timeline and the tables of the state."""

    def __init__(self, postgres, earlier=()):
        """Offsets are those of the topic that there was: `earlier` are the uuids that were stored each time it was made again."""
        self.earlier = earlier
        self.stored, self.offsets, self.parts = {}, {}, collections.defaultdict(list)
        self.timeline, self.subscriptions, self.transactions = [], {}, {}
        self.claims, self.periods = collections.defaultdict(set), collections.defaultdict(list)
        keep = [self._ledger, self._timeline, self._subscription, self._transaction, self._claim, self._period]
        for number, *row in postgres.rows(LEDGER, TIMELINE, SUBSCRIPTIONS, TRANSACTIONS, CLAIMS, PERIODS):
            keep[number](row)

    def _ledger(self, row):
        uuid, *row, offset = row
        place = sum(uuid not in stored for stored in self.earlier), int(offset)
        if row[0].startswith("signed"):
            self.parts[row[2], row[4]].append(place)
        else:
            self.stored[uuid], self.offsets[uuid] = row, place

    def _timeline(self, row):
        uuid, environment, purchase, revision, bundle, event, occurred, applied, status, product, *rest, changes = row
        access, until, renews = rest
        self.timeline.append(Change(
            uuid, (environment, purchase), int(revision), bundle, event, int(occurred), int(applied), number(status),
            product or None, flag(access), number(until), flag(renews), changes))

    def _subscription(self, row):
        self.subscriptions[row[0], row[1]] = row[2:]

    def _transaction(self, row):
        self.transactions[row[0], row[2]] = [row[1], *row[3:]]

    def _claim(self, row):
        self.claims[row[0], row[1]].add(row[2])

    def _period(self, row):
        environment, purchase, product, start, end = row
        self.periods[environment, purchase].append((product, int(start), number(end), False))


def number(text):
    return int(text) if text else None


def flag(text):
    return text == "t" if text else None


def published(postgres):
    """The effects whose messages the topic must hold."""
    return {(uuid, environment, purchase, int(revision)) for _, uuid, environment, purchase, revision in postgres.rows(
        "select notification_uuid, environment, original_transaction_id, revision from timeline where published_at is not null")}


def changed_messages(bootstrap, topic="subscriptions.changed"):
    """All records of subscriptions.changed, as (partition, offset, key, text)."""
    with subprocess.Popen(
            ["timeout", "600", "kcat", "-C", "-q", "-m", "60", "-b", bootstrap, "-t", topic, "-o", "beginning",
             "-e", "-X", "fetch.wait.max.ms=10", "-f", "%p\t%o\t%k\t%s\n"], stdout=subprocess.PIPE, text=True) as kcat:
        # Line by line: of an hour they are a million.
        rows = [line.removesuffix("\n").split("\t", 3) for line in kcat.stdout]
    if kcat.returncode != 0:
        raise RuntimeError(f"kcat failed with {kcat.returncode}")
    return sorted((int(partition), int(offset), key, text) for partition, offset, key, text in rows)


def fixed(text):
    """What a repetition of a message tells again. It may name another account, and a newer version of the transaction."""
    return {name: value for name, value in json.loads(text).items() if name not in ("appAccountToken", "transaction")}


def told(text):
    """A message in the form of a row of the timeline."""
    message = json.loads(text)
    state = message["state"]
    return Change(
        message["notificationUUID"].lower(), (message["environment"], message["originalTransactionId"]), message["revision"],
        message["bundleId"], message["event"], message["occurredAt"], message["appliedAt"], state["status"],
        state["productId"], state["hasAccess"], state["accessUntil"], state["isAutoRenewing"], message["changes"])

"""Falsifies what a clean run has stored and sent, in one way after the other, each in a copy of the database."""
import dataclasses
import json
import subprocess

from . import checker, evidence

# The purchase with the most changes.
ONE = ("(environment, original_transaction_id) = (select environment, original_transaction_id from timeline"
       " group by 1, 2 order by count(*) desc, 1, 2 limit 1)")
EFFECT = ("occurred_at, applied_at, published_at, revision, status, access_until, notification_uuid, environment, has_access,"
          " is_auto_renewing, original_transaction_id, bundle_id, event, product_id, changes")
ORIGINAL = ("notification_uuid = (select min(notification_uuid::text)::uuid from notification"
            " where original_transaction_id is not null)")


@dataclasses.dataclass
class Falsification:
    """`sql` changes the database, `message` what a message says; the checker has to say `kind`, and why in these words."""
    name: str
    kind: str
    words: str
    sql: str = ""
    message: object = None


def no_access(message):
    message["state"] |= {"hasAccess": False, "accessUntil": None}


def later(message):
    if message["state"]["accessUntil"]:
        message["state"]["accessUntil"] += 1


def replaced(field, value):
    def replace(message):
        message["state"][field] = value
    return replace


def untold(message):
    del message["changes"][-1]


ALL = [
    Falsification(
        "an effect twice", "twice", "2 rows of the timeline",
        f"insert into timeline ({EFFECT}) select {EFFECT} from timeline where revision = 3"),
    Falsification(
        "access ends a millisecond early", "wrong", "access at",
        "update access_period set period = tstzrange(lower(period), upper(period) - interval '1 millisecond')"),
    Falsification(
        "no access in timeline and messages", "wrong", "access, its end and its product after it",
        "update timeline set has_access = false, access_until = null", no_access),
    Falsification("no access in the messages", "wrong", "the message says hasAccess False", message=no_access),
    Falsification(
        "access for ever in timeline and messages", "wrong", "access, its end and its product after it",
        "update timeline set access_until = null where has_access", replaced("accessUntil", None)),
    Falsification("access until a millisecond later in the messages", "wrong", "the message says accessUntil", message=later),
    Falsification(
        "another status in timeline and messages", "wrong", "status after it is",
        "update timeline set status = 2", replaced("status", 2)),
    Falsification(
        "another product in timeline and messages", "wrong", "access, its end and its product after it",
        "update timeline set product_id = 'com.example.app.other'", replaced("productId", "com.example.app.other")),
    Falsification(
        "renewal always on in timeline and messages", "wrong", "isAutoRenewing after it is",
        "update timeline set is_auto_renewing = true", replaced("isAutoRenewing", True)),
    Falsification("a change untold in the messages", "wrong", "the message tells", message=untold),
    Falsification(
        "a change untold in the timeline", "wrong", "the timeline does not tell",
        f"update timeline set changes = changes - 0 where {ONE}"),
    Falsification(
        "a change that did not happen", "wrong", "which did not happen",
        f"update timeline set changes = changes || '[{{\"fact\": \"status\", \"from\": \"1\", \"to\": \"9\"}}]' where {ONE}"),
    Falsification("a purchase without timeline", "lost", "has no row in the timeline", f"delete from timeline where {ONE}"),
    Falsification(
        "a notification without timeline", "lost", "has no row in the timeline",
        f"delete from timeline where id = (select min(id) from timeline where {ONE})"),
    Falsification(
        "random owners", "wrong", "owner is",
        "update subscription set owner_account_token = gen_random_uuid() where owner_account_token is not null"),
    Falsification("no owners", "wrong", "owner is None", "update subscription set owner_account_token = null"),
    Falsification(
        "random accounts claim", "wrong", "claim it instead of", "update account_claim set app_account_token = gen_random_uuid()"),
    Falsification("a purchase without state", "lost", "no state of this purchase", f"delete from subscription where {ONE}"),
    Falsification(
        "another end of the period in the state", "wrong", "expiresDate is",
        f"update subscription set expires_at = expires_at + interval '1 millisecond' where {ONE}"),
    Falsification(
        "another refund in a transaction", "wrong", "transaction",
        f"update transaction set revoked_at = now(), revocation_reason = 1 where {ONE}"),
    Falsification(
        "zeroed originals", "wrong", "is not what was sent",
        "update notification_payload set signed_original = decode(repeat('00', length(signed_original)), 'hex')"),
    Falsification(
        "one bit of one original", "wrong", "stored original",
        "update notification_payload set signed_original = set_bit(signed_original, length(signed_original) * 8 - 1,"
        f" 1 - get_bit(signed_original, length(signed_original) * 8 - 1)) where {ORIGINAL}"),
    Falsification(
        "the original of another notification", "wrong", "is not what was sent",
        "update notification_payload set (signed_original, chains, decoded) = (select signed_original, chains, decoded"
        f" from notification_payload where not ({ORIGINAL}) limit 1) where {ORIGINAL}"),
    Falsification("no originals", "lost", "its signed original is not stored", "delete from notification_payload"),
    Falsification(
        "another decoded payload", "wrong", "decoded payload",
        f"update notification_payload set decoded = '{{}}' where {ORIGINAL}"),
    Falsification(
        "another certificate chain", "wrong", "has another digest",
        "update certificate_chain set header = set_byte(header, 9, 65 + get_byte(header, 10) % 2)"),
]


def all(deployment, record):
    """Of a deployment that stands still: each name, what the checker says, and whether that is right."""
    postgres = deployment.postgres
    published, messages = evidence.published(postgres), evidence.changed_messages(deployment.bootstrap)
    for number, one in enumerate(ALL):
        postgres.sql("create database falsified template postgres")
        postgres.database = "falsified"
        if one.sql:
            postgres.sql(one.sql)
        given = rewritten(deployment, messages, one.message, f"falsified-{number}") if one.message else messages
        verdict = checker.judge(record, deployment, published, given)
        postgres.database = "postgres"
        postgres.sql("drop database falsified")
        yield one.name, verdict, any(one.words in text for text in getattr(verdict, one.kind))


def rewritten(deployment, messages, change, topic):
    """The messages as they come from a topic of their own, changed."""
    lines = []
    for _, _, key, text in messages:
        message = json.loads(text)
        change(message)
        lines.append(f"{key}\t{json.dumps(message)}\n")
    subprocess.run(
        ["kcat", "-P", "-b", deployment.bootstrap, "-t", topic, "-K", "\t"], input="".join(lines), text=True, check=True)
    return evidence.changed_messages(deployment.bootstrap, topic)

"""Drives Deploy/checks/webhooks: PROGRAMS WORK CHANGES KAFKA COMMAND THAT CRASHES POSTGRES …; with --receive, is one of the receivers.

KAFKA is the process of kafka_node.py, 0 without one.
"""
import atexit
import base64
import collections
import hashlib
import http.server
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid

# Of changes; one more gets Apple's notifications as Apple sent them.
RECEIVERS = 20
PURCHASES = 200


def receive(port, secret, library, log):
    """Verifies each request, writes a line about it, and only then answers: what is killed in between gets it again."""
    if library == "svix":
        from svix.webhooks import Webhook
    else:
        from standardwebhooks.webhooks import Webhook
    verifier = Webhook(secret)
    lines = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            length = int(self.headers["content-length"])
            body = self.rfile.read(length)
            if len(body) < length:
                # The sender was killed in the middle of the request, which is no delivery.
                self.close_connection = True
                return
            headers = {name.lower(): value for name, value in self.headers.items()}
            try:
                verifier.verify(body, headers)
            except Exception as error:
                os.write(lines, f"refused {type(error).__name__} {headers.get('webhook-id')}\n".encode())
                self.answer(400)
                return
            event = json.loads(body)
            if "signedPayload" in event:
                told = json.loads(base64.urlsafe_b64decode(event["signedPayload"].split(".")[1]))
                milliseconds = time.time() * 1000 - told["toldAt"]
                os.write(lines, (f"got {told['purchase']} {told['revision']} {headers['webhook-id']} false {milliseconds:.0f} "
                                 f"{hashlib.sha256(body).hexdigest()}\n").encode())
            elif event["type"] != "webhook.test":
                data = event["data"]
                assert int(headers["storekeeper-cursor"]) == data["sequence"]
                milliseconds = time.time() * 1000 - data["appliedAt"]
                os.write(lines, (f"got {data['originalTransactionId']} {data['revision']} {headers['webhook-id']} "
                                 f"{headers.get('storekeeper-replay', 'false')} {milliseconds:.0f}\n").encode())
            self.answer(200)

        def answer(self, status):
            self.send_response(status)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.serve_forever()


if sys.argv[1] == "--receive":
    receive(int(sys.argv[2]), *sys.argv[3:6])

from rehearsal.ports import free_port  # noqa: E402

programs, work, changes, kafka, crash = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5:]


def say(text):
    print(f"webhooks: {text}", flush=True)


def storekeeper(*arguments):
    done = subprocess.run([f"{programs}/storekeeper", "webhooks", *arguments, "--json"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"storekeeper webhooks {' '.join(arguments)}: {done.stderr}")
    return json.loads(done.stdout)


def sql(text):
    done = subprocess.run(["psql", "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", os.environ["DATABASE_URL"]],
                          input=text, capture_output=True, text=True)
    if done.returncode:
        raise ConnectionError(done.stderr)
    return done.stdout.strip()


class Child:
    """A process that is started again after it was killed, and ends with this one."""

    def __init__(self, name, command, environment=None):
        self.name, self.command, self.environment = name, command, environment or {}
        self.start()
        atexit.register(lambda: self.process.kill())

    def start(self):
        log = open(work / f"{self.name}.out", "ab")
        self.process = subprocess.Popen(self.command, stdout=log, stderr=log, env=os.environ | self.environment)

    def kill(self):
        self.process.kill()
        self.process.wait()


class Receiver(Child):
    def __init__(self, number, kind="changes"):
        self.kind, self.port, self.log = kind, free_port("127.0.0.1"), work / f"receiver-{number}.lines"
        made = storekeeper("create", "--environment", "Production", "--kind", kind,
                           "--url", f"http://127.0.0.1:{self.port}/hook")
        self.endpoint, self.library = made["endpoint"], "svix" if number % 2 else "standardwebhooks"
        super().__init__(f"receiver-{number}", self.arguments(made["secret"]))

    def arguments(self, secret):
        return [sys.executable, "-B", __file__, "--receive", str(self.port), secret, self.library, str(self.log)]

    def lines(self):
        return [line.split() for line in self.log.read_text().splitlines()] if self.log.exists() else []


def sender(number):
    return Child(f"sender-{number}", [f"{programs}/webhooks"], {
        "STOREKEEPER_ADMIN_ADDRESS": f"127.0.0.1:{free_port('127.0.0.1')}", "STOREKEEPER_DEVELOPMENT_MODE": "true"})


def insert(first, count, revisions):
    """Changes and the notifications of them, as the state-updater would write both."""
    changes, notifications, payloads = [], [], []
    for number in range(first, first + count):
        purchase, name = f"p{random.randrange(PURCHASES)}", str(uuid.uuid4())
        revisions[purchase] += 1
        revision = revisions[purchase]
        told = {"purchase": purchase, "revision": revision, "toldAt": int(time.time() * 1000), "filler": random.randbytes(1000).hex()}
        middle = base64.urlsafe_b64encode(json.dumps(told).encode()).decode().rstrip("=")
        # Without padding, as Apple's.
        while len(middle) % 4:
            told["filler"] += "0"
            middle = base64.urlsafe_b64encode(json.dumps(told).encode()).decode().rstrip("=")
        original = f"e30.{middle}.c2ln"
        bodies[name] = hashlib.sha256(f'{{"signedPayload":"{original}"}}'.encode()).hexdigest()
        changes.append(f"(now(), now(), {revision}, 1, '{name}', 'Production', true, '{purchase}', 'com.example.app',"
                       " 'DID_RENEW', '[{\"fact\": \"status\", \"to\": \"1\"}]')")
        notifications.append(f"(now() + {revision} * interval '1 ms', now(), now(), {number}, '{name}', 'Production', 0, true, true, "
                             f"false, false, 'webhook', 'DID_RENEW', 'com.example.app', '{purchase}')")
        # The byte 0 says that the original follows as it was received.
        payloads.append(f"(now(), '{name}', '{{}}', decode('00' || '{original.encode().hex()}', 'hex'), '{{}}')")
    sql("begin; insert into timeline (occurred_at, applied_at, revision, status, notification_uuid, environment, has_access, "
        f"original_transaction_id, bundle_id, event, changes) values {', '.join(changes)}; "
        "insert into notification_payload (recorded_at, notification_uuid, decoded, signed_original, chains) "
        f"values {', '.join(payloads)}; "
        "insert into notification (signed_at, received_at, recorded_at, kafka_offset, notification_uuid, environment, "
        "kafka_partition, has_advanced, is_lifecycle_event, is_revoked, has_added_seats, source, notification_type, bundle_id, "
        f"original_transaction_id) values {', '.join(notifications)}; commit; select pg_notify('storekeeper_outbox', '')")


def retried(body):
    """Postgres may be crashing."""
    for _ in range(100):
        try:
            return body()
        except ConnectionError:
            time.sleep(0.3)
    sys.exit("webhooks: Postgres does not come back")


def dead(port):
    """A receiver that takes connections and never answers."""
    listener = socket.create_server(("127.0.0.1", port), backlog=1000)
    held = []

    def hold():
        while True:
            try:
                held.append(listener.accept()[0])
            except OSError:
                return
    threading.Thread(target=hold, daemon=True).start()
    return listener, held


def latencies(receivers, seconds):
    """Milliseconds from the change to each receiver, while a change is written every fifth of a second."""
    known = [len(receiver.lines()) for receiver in receivers]
    for number in range(seconds * 5):
        insert(number, 1, revisions)
        time.sleep(0.2)
    time.sleep(2)
    return sorted(int(line[5]) for receiver, begin in zip(receivers, known) for line in receiver.lines()[begin:] if line[0] == "got")


def percentile(values, share):
    return values[min(len(values) - 1, int(len(values) * share))]


def compare_with_dead():
    """Whether receivers wait for others that are dead."""
    # Notifications for the last one, of kind apple, are looked for twice a second: their time says nothing about the others.
    healthy = receivers[RECEIVERS // 2:RECEIVERS]
    latencies(receivers, 3)
    before = latencies(healthy, 15)
    sockets = []
    for receiver in receivers[:RECEIVERS // 2]:
        receiver.kill()
        sockets.append(dead(receiver.port))
    # Until five requests to each have failed, which takes 45 s, they hold two places each.
    between, after = latencies(healthy, 45), latencies(healthy, 15)
    figures = [f"p50 {percentile(some, 0.5)} ms, p99 {percentile(some, 0.99)} ms of {len(some)}" for some in (before, between, after)]
    say(f"all answer: {figures[0]}; half of them just died: {figures[1]}; half of them are failing: {figures[2]}")
    for listener, held in sockets:
        listener.shutdown(socket.SHUT_RDWR)  # ends accept, which holds the port
        listener.close()
        for connection in held:
            connection.close()
    for receiver in receivers[:RECEIVERS // 2]:
        receiver.start()
    deadline = time.monotonic() + 1200
    while sql("select count(*) from webhook_health where failures >= 5") != "0":
        if time.monotonic() > deadline:
            sys.exit("webhooks: FAILED: receivers that answer again are not sent to")
        time.sleep(0.5)
    for some in (between, after):
        if len(some) < len(before) or percentile(some, 0.99) > 2 * percentile(before, 0.99) + 250:
            sys.exit("webhooks: FAILED: receivers wait for others that are dead")


def waiting():
    return int(retried(lambda: sql("select count(*) from webhook_queue")))


signal.signal(signal.SIGTERM, lambda *_: sys.exit("webhooks: stopped"))
random.seed(7)
# The digest of the body that each notification is relayed with.
bodies = {}
receivers = [Receiver(number) for number in range(RECEIVERS)] + [Receiver(RECEIVERS, kind="apple")]
senders = [sender(number) for number in range(2)]
deadline = time.monotonic() + 300
while sql("select count(*) from webhook_endpoint where state = 'active'") != str(len(receivers)):
    if time.monotonic() > deadline:
        sys.exit("webhooks: the endpoints do not become active: " + sql("select string_agg(last_fault, '; ') from webhook_health"))
    time.sleep(0.2)
say(f"{len(receivers)} endpoints are active")

revisions = collections.Counter()
if os.environ.get("DEAD_RECEIVERS"):
    compare_with_dead()
begun = time.monotonic()
steps = 40
kills = collections.Counter()
is_over = threading.Event()


def disturb():
    """Every second kills receivers and a sender, which are started again half a second later."""
    turn = 0
    while not is_over.wait(0.5):
        victims = random.sample(receivers, 3) + [senders[turn % 2]]
        for victim in victims:
            victim.kill()
            kills[victim.name.split("-")[0]] += 1
        is_over.wait(0.5)
        for victim in victims:
            victim.start()
        turn += 1


disturbance = threading.Thread(target=disturb, daemon=True)
atexit.register(is_over.set)
disturbance.start()
for step in range(steps):
    first = changes * step // steps
    retried(lambda: insert(first, changes * (step + 1) // steps - first, revisions))
    if step in (steps // 3, 2 * steps // 3):
        subprocess.run(crash, check=True)
        kills["postgres"] += 1
    if kafka and step in (steps // 4, 3 * steps // 4):
        os.kill(kafka, signal.SIGHUP)
        kills["kafka"] += 1
    if step == steps // 2:
        # One receiver goes on with the old secret, which signs for a day; another one takes the new one.
        storekeeper("rotate", receivers[0].endpoint)
        receivers[1].command = receivers[1].arguments(storekeeper("rotate", receivers[1].endpoint)["secret"])
    time.sleep(1)
is_over.set()
disturbance.join()
say(f"{changes} changes; killed: {dict(kills)}")

said = moved = time.monotonic()
arrived = 0
while waiting() or int(sql("select count(*) from timeline where published_at is null")) or any(
        len(set(line[3] for line in receiver.lines() if line[0] == "got")) < int(sql("select count(*) from timeline"))
        for receiver in (receivers[0], receivers[-1])):
    size = sum(receiver.log.stat().st_size for receiver in receivers if receiver.log.exists())
    now = time.monotonic()
    if size > arrived:
        arrived, moved = size, now
    if now > said + 30:
        said = now
        say(f"{sum(len(receiver.lines()) for receiver in receivers)} requests arrived, of at least {len(receivers) * changes}")
    if now > moved + 180:
        sys.exit(f"webhooks: FAILED: no request for three minutes; {waiting()} purchases still wait: " + sql(
            "select string_agg(distinct last_fault, '; ') from webhook_health"))
    # A delivery that met a killed receiver three times would wait for five minutes, and an endpoint that met one ten times for a probe.
    retried(lambda: sql("update webhook_queue set next_attempt_at = now() where lease is null and next_attempt_at > now()"))
    retried(lambda: sql(
        "update webhook_health set next_probe_at = now() where failures > 0 and next_probe_at > now() and not exists ("
        "select from webhook_queue where webhook_queue.endpoint = webhook_health.endpoint and lease is not null)"))
    time.sleep(0.5)

problems, requests = [], 0
expected = set(sql("select notification_uuid || '/' || original_transaction_id from timeline").split())
for receiver in receivers:
    lines = receiver.lines()
    problems += [f"{receiver.name} {' '.join(line)}" for line in lines if line[0] == "refused"][:3]
    got = [line for line in lines if line[0] == "got"]
    requests += len(got)
    wanted = {name.split("/")[0] for name in expected} if receiver.kind == "apple" else expected
    missing = wanted - {line[3] for line in got}
    if missing:
        problems.append(f"{receiver.name}: {len(missing)} of {len(wanted)} are missing")
    if receiver.kind == "apple":
        problems += [f"{receiver.name}: other bytes of {line[3]}" for line in got if bodies.get(line[3]) != line[6]][:3]
    newest = collections.Counter()
    for _, purchase, revision, *_ in got:
        if int(revision) < newest[purchase]:
            problems.append(f"{receiver.name}: {purchase} {revision} after {newest[purchase]}")
        newest[purchase] = max(newest[purchase], int(revision))
for problem in problems[:20]:
    say(f"FAILED: {problem}")
if problems:
    sys.exit(1)
seconds = time.monotonic() - begun
say(f"each of {RECEIVERS} receivers has each of {len(expected)} changes, and one each notification with Apple's bytes, none reversed; "
    f"{requests} requests, {requests - len(receivers) * len(expected)} of them repeats, in {seconds:.0f} s")

before = {line[3] for line in receivers[2].lines() if line[0] == "got"}
count = storekeeper("replay", receivers[2].endpoint, "--from", "1h", "--yes")["replayed"]
deadline = time.monotonic() + 300
while True:
    replayed = [line[3] for line in receivers[2].lines() if line[0] == "got" and line[4] == "true"]
    if len(replayed) >= count or time.monotonic() > deadline:
        break
    time.sleep(0.5)
if set(replayed) != before or count != len(expected):
    sys.exit(f"webhooks: FAILED: the replay brought {len(set(replayed))} ids, not {len(before)}")
say(f"a replay brought the same {count} ids")
for child in [*senders, *receivers]:
    child.process.send_signal(signal.SIGTERM)
for child in senders:
    if child.process.wait(timeout=30):
        sys.exit(f"webhooks: FAILED: {child.name} ended with {child.process.returncode}")

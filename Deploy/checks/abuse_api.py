"""What one API key can do to another:
abuse_api.py --address URL --control URL --key A --other B --pid N --memory MIB --seconds S --body FILE

Reads with the other key all the time, quiet at first and then beside each attack of the first key, and prints how long the reads
took, what the attacker was answered, and the most memory of the process. The same reads go to the control at the same time, an instance that
is not attacked: what slows both is the machine and not the attack. Exits with 1 where a read was not answered, took many
times as long as the control's, or the attacker was not refused at its budget with a problem that says how long to wait. Needs nothing
but Python.
"""
import argparse
import asyncio
import base64
import collections
import json
import multiprocessing
import os
import pathlib
import random
import resource
import sys
import time
import urllib.parse

parser = argparse.ArgumentParser()
parser.add_argument("--address", required=True)
parser.add_argument("--control", help="address of an instance that is not attacked")
parser.add_argument("--key", required=True, help="of the attacker")
parser.add_argument("--other", required=True, help="of the one who is not to notice")
parser.add_argument("--pid", type=int, required=True, help="of the API")
parser.add_argument("--memory", type=int, required=True, help="MiB that it may need")
parser.add_argument("--seconds", type=float, required=True)
parser.add_argument("--ratio", type=float, default=10, help="how many times the control's p99 is too long")
parser.add_argument("--tries", type=int, default=1, help="how often an attack that was not refused is made again, each time for twice as long")
parser.add_argument("--strangers", type=int, default=0, help="connections that only wait; nothing else is done")
parser.add_argument("--only", help="the title of one attack")
parser.add_argument("--body", type=pathlib.Path, help="a genuine notification")
arguments = parser.parse_args()
target, control = (urllib.parse.urlsplit(address or "") for address in [arguments.address, arguments.control])
account = "/v1/accounts/7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b/entitlements"
# Less than this is noise on a machine that does something else, too.
floor = 0.05
failures = []
# What one request of the attacker took at most.
slowest = collections.Counter()


def head(method, path, key, *headers, length=None):
    lines = [f"{method} {path} HTTP/1.1", f"Host: {target.netloc}", *headers]
    if key:
        lines.append(f"Authorization: Bearer {key}")
    if length is not None:
        lines += [f"Content-Length: {length}", "Content-Type: application/json"]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def connection(instance=target):
    return await asyncio.open_connection(instance.hostname, instance.port)


async def answer(reader, stream=False):
    """Status, headers and body of the next answer."""
    lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    body = b"" if stream else await reader.readexactly(int(headers.get("content-length", 0)))
    return int(lines[0].split()[1]), headers, body


async def ask(request, timeout=20):
    reader, writer = await connection()
    try:
        writer.write(request)
        return await asyncio.wait_for(answer(reader), timeout)
    finally:
        writer.close()


async def reads(until, times, instance):
    """One client of the other key, on a connection that it keeps."""
    reader, writer = await connection(instance)
    while time.monotonic() < until:
        begun = time.monotonic()
        writer.write(head("GET", account, arguments.other))
        status, _, _ = await asyncio.wait_for(answer(reader), 30)
        times.append(time.monotonic() - begun)
        if status != 200:
            failures.append(f"a read of the other key was answered {status}")
            return
        await asyncio.sleep(0.02)
    writer.close()


def counted(answers, status, headers, body):
    answers[str(status)] += 1
    if status == 429:
        problem = headers.get("content-type") == "application/problem+json" and json.loads(body)
        if not problem or not problem["detail"] or "retry-after" not in headers:
            failures.append("a 429 is no problem with Retry-After")


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def forged(captured):
    """A signed transaction under Apple's chain with another leaf each time."""
    header, payload, signature = json.loads(captured)["signedPayload"].split(".")
    inside = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    header, payload, signature = inside["data"]["signedTransactionInfo"].split(".")
    chain = json.loads(base64.urlsafe_b64decode(header + "=" * (-len(header) % 4)))["x5c"]
    leaf = bytearray(base64.b64decode(chain[0]))
    for place in range(1, 5):
        leaf[-place] = random.randrange(256)
    chain = [base64.b64encode(leaf).decode()] + chain[1:]
    return f"{encoded(json.dumps({'alg': 'ES256', 'x5c': chain}).encode())}.{payload}.{signature}"


bodies = []


async def uploads(until, answers):
    async def client():
        while time.monotonic() < until:
            body = random.choice(bodies)
            counted(answers, *await ask(head("POST", "/v1/transactions", arguments.key, length=len(body)) + body, 60))

    await asyncio.gather(*(client() for _ in range(8)))


async def receipts(until, answers):
    ids = [str(10**15 + number) for number in range(3000)]
    body = json.dumps({"bundleId": "com.example.app", "verifyReceiptResponse": {
        "status": 0, "environment": "Sandbox", "receipt": {"bundle_id": "com.example.app", "in_app": [
            {"transaction_id": name, "original_transaction_id": name} for name in ids]}}}).encode()

    async def client():
        while time.monotonic() < until:
            begun = time.monotonic()
            counted(answers, *await ask(head("POST", "/v1/receipts", arguments.key, length=len(body)) + body, 60))
            slowest["a receipt of 3,000 ids"] = max(slowest["a receipt of 3,000 ids"], time.monotonic() - begun)

    await asyncio.gather(*(client() for _ in range(4)))


async def held(until, answers, count, request, stream=False):
    """Opens so many connections, sends the same on each, and waits."""
    writers = []

    async def one():
        try:
            reader, writer = await connection()
            writers.append(writer)
            writer.write(request)
            left = max(0.1, until - time.monotonic())
            status, headers, _ = await asyncio.wait_for(answer(reader, stream=True), left)
            if stream and status == 200:
                answers["200"] += 1
            else:
                body = await asyncio.wait_for(reader.readexactly(int(headers.get("content-length", 0))), left)
                counted(answers, status, headers, body)
        except (TimeoutError, asyncio.TimeoutError):
            answers["waiting"] += 1
        except (OSError, asyncio.IncompleteReadError):
            answers["closed"] += 1

    slots = asyncio.Semaphore(200)

    async def spaced(number):
        async with slots:
            await asyncio.sleep(0)
        await one()

    await asyncio.gather(*(spaced(number) for number in range(count)))
    await asyncio.sleep(max(0, until - time.monotonic()))
    for writer in writers:
        writer.close()


async def half_sent(until, answers):
    size = 7 << 20
    await held(until, answers, 120, head("POST", "/v1/transactions", arguments.key, length=size + 1) + b" " * size)


async def streams(until, answers):
    await held(until, answers, 3000, head("GET", "/v1/events/stream", arguments.key), stream=True)


async def polls(until, answers):
    """As many as may wait and more; a poll of the other key waits nevertheless."""
    tag = (await ask(head("GET", account, arguments.other)))[1]["etag"]
    wait = [f"If-None-Match: {tag}", "Prefer: wait=3"]
    polling = asyncio.create_task(held(until, answers, 400, head("GET", account, arguments.key, *wait)))
    await asyncio.sleep(1)
    begun = time.monotonic()
    _, headers, _ = await ask(head("GET", account, arguments.other, *wait))
    if time.monotonic() - begun < 2.5 or "preference-applied" not in headers:
        failures.append("a poll of the other key did not wait beside the attacker's")
    await polling


def memory():
    for line in pathlib.Path(f"/proc/{arguments.pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) >> 10
    return 0


def attacking(attack, until, said):
    """The attack in its own process; says what it was answered and what was wrong."""
    answers = collections.Counter()
    try:
        asyncio.run(attack(until, answers))
    except Exception as error:  # pylint: disable=broad-except
        failures.append(f"the attacker: {error!r}")
    said.send((dict(answers), failures, dict(slowest)))


def p99(times):
    times.sort()
    return times[int(len(times) * 0.99)] if times else float("inf")


async def phase(title, attack, is_refused=True):
    if attack and arguments.only not in (None, title):
        return
    # A busy machine may not send within a few seconds what is beyond a budget.
    for number in range(arguments.tries):
        answers = await one_try(title, attack, arguments.seconds * 2 ** number)
        if answers["429"] or not attack or not is_refused:
            return
    failures.append(f"the attacker was not refused during: {title}")


async def one_try(title, attack, seconds):
    """What the attacker was answered."""
    times, beside, answers = [], [], collections.Counter()
    until = time.monotonic() + seconds
    # In a process of its own: what the attacker does must not take time from who measures.
    heard, said = multiprocessing.Pipe(duplex=False)
    attacker = multiprocessing.Process(target=attacking, args=(attack, until, said)) if attack else None
    if attacker:
        attacker.start()
    clients = [reads(until, own, instance) for own, instance in [(times, target), (beside, control)] for _ in range(4)]
    for outcome in await asyncio.gather(*clients, return_exceptions=True):
        if isinstance(outcome, BaseException):
            failures.append(f"during: {title}: {outcome!r}")
    if attacker:
        counts, found, took = await asyncio.to_thread(heard.recv)
        answers.update(counts)
        failures.extend(found)
        attacker.join()
        for request, longest in took.items():
            # Fifteen seconds, on a machine that answers the control within the noise.
            if longest > 15 * max(1, p99(beside) / floor):
                failures.append(f"{request} held a request for {longest:.0f} s")
    ratio = max(p99(times), floor) / max(p99(beside), floor)
    print(f"{title:<34} {len(times):>6} {times[len(times) // 2] * 1000 if times else -1:>8.0f} {p99(times) * 1000:>8.0f}"
          f" {p99(beside) * 1000:>8.0f} {ratio:>6.1f}"
          f" {memory():>6}  {json.dumps(dict(sorted(answers.items())))}", flush=True)
    if ratio > arguments.ratio:
        failures.append(f"reads of the other key took {ratio:.0f} times as long as the control's during: {title}")
    if memory() > arguments.memory:
        failures.append(f"the API needed {memory()} MiB of {arguments.memory} during: {title}")
    return answers


async def strangers():
    """More connections than there are, on which nothing is sent."""
    writers = []
    for _ in range(arguments.strangers):
        writers.append((await connection())[1])
    begun = time.monotonic()
    try:
        # Half of the time after which idle connections end by themselves.
        status, _, _ = await ask(head("GET", account, arguments.other), 30)
    except (TimeoutError, asyncio.TimeoutError, OSError, asyncio.IncompleteReadError):
        status = 0
    print(f"{arguments.strangers} idle strangers: answered {status} after {(time.monotonic() - begun) * 1000:.0f} ms")
    if status != 200:
        failures.append("nothing is answered while strangers hold the connections")


async def main():
    if arguments.strangers:
        return await strangers()
    print(f"{'attack by one key':<34} {'reads':>6} {'p50 ms':>8} {'p99 ms':>8} {'control':>8} {'ratio':>6} {'MiB':>6}  answers to the attacker")
    # Made before anything is measured.
    captured = arguments.body.read_text()
    bodies.extend(json.dumps({"bundleId": "com.example.app", "signedTransactions": [forged(captured) for _ in range(100)]})
                  .encode() for _ in range(10))
    await phase("none", None)
    await phase("400 long polls", polls, is_refused=False)
    await phase("3,000 event streams", streams)
    await phase("120 half-sent uploads", half_sent)
    await phase("receipts of 3,000 ids", receipts, is_refused=False)
    await phase("forged uploads", uploads)


multiprocessing.set_start_method("fork")
resource.setrlimit(resource.RLIMIT_NOFILE, (min(16384, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
os.nice(5)
asyncio.run(main())
for failure in dict.fromkeys(failures):
    print(f"FAILED: {failure}", file=sys.stderr)
sys.exit(1 if failures else 0)

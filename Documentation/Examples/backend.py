"""A backend for an app: GET /access says what the user may use, POST /purchases hands over what StoreKit signed.
POST /hook takes webhooks, whose secret is WEBHOOK_SECRET.

Put your own login in the place of the header X-User. STOREKEEPER_API, STOREKEEPER_KEY, APP (bundle id) and PORT configure it.
"""
import base64, hashlib, hmac, http.server, json, os, time, urllib.error, urllib.parse, urllib.request

API, KEY, APP = os.environ["STOREKEEPER_API"], os.environ["STOREKEEPER_KEY"], os.environ["APP"]


def ask(method, path, body=None):
    request = urllib.request.Request(API + path, method=method, data=None if body is None else json.dumps(body).encode())
    request.headers = {"Authorization": f"Bearer {KEY}", "Content-type": "application/json"}
    try:
        return json.load(urllib.request.urlopen(request, timeout=15))
    except urllib.error.HTTPError as problem:  # 503: the members of the problem say whether to let the user in
        return json.load(problem)


def is_genuine(headers, body):
    """Whether Storekeeper sent it, within five minutes: body is the bytes as received."""
    key = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
    identifier, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "0")
    code = hmac.new(key, f"{identifier}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    expected = "v1," + base64.b64encode(code).decode()
    signatures = headers.get("webhook-signature", "").split()  # two for a day after a rotation
    is_recent = timestamp.isdecimal() and abs(time.time() - int(timestamp)) < 300
    return is_recent and any(hmac.compare_digest(expected.encode(), signature.encode()) for signature in signatures)


class Backend(http.server.BaseHTTPRequestHandler):
    def do_GET(self):  # /access
        customer = f"/v1/customers/{urllib.parse.quote(self.headers['X-User'], safe='')}"
        token = ask("PUT", f"{customer}?bundleId={APP}", {})["appAccountToken"]  # the app gives it to StoreKit
        known = ask("GET", f"/v1/accounts/{token}/entitlements?bundleId={APP}")
        self.reply({"appAccountToken": token, "names": [one["name"] for one in known["entitlements"]]})

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        return self.hook(body) if self.path == "/hook" else self.purchases(json.loads(body))

    def hook(self, body):  # Store the event before the answer, and skip a webhook-id that you have.
        if not is_genuine(self.headers, body):
            return self.send_error(400)
        event = json.loads(body)
        self.reply({"took": event["type"]})

    def purchases(self, upload):  # {"appAccountToken": …, "signedTransactions": […]}: finish them if it says so
        answer = ask("POST", "/v1/transactions", {**upload, "bundleId": APP})
        known = answer.get("answer", answer).get("entitlements", [])
        self.reply({"finish": answer.get("finish", False), "names": [one["name"] for one in known]})

    def reply(self, body):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())


http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Backend).serve_forever()

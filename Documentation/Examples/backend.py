"""A backend for an app: GET /access says what the user may use, POST /purchases hands over what StoreKit signed.

Put your own login in the place of the header X-User. STOREKEEPER_API, STOREKEEPER_KEY, APP (bundle id) and PORT configure it.
"""
import http.server, json, os, urllib.error, urllib.parse, urllib.request

API, KEY, APP = os.environ["STOREKEEPER_API"], os.environ["STOREKEEPER_KEY"], os.environ["APP"]


def ask(method, path, body=None):
    request = urllib.request.Request(API + path, method=method, data=None if body is None else json.dumps(body).encode())
    request.headers = {"Authorization": f"Bearer {KEY}", "Content-type": "application/json"}
    try:
        return json.load(urllib.request.urlopen(request, timeout=15))
    except urllib.error.HTTPError as problem:  # 503: the members of the problem say whether to let the user in
        return json.load(problem)


class Backend(http.server.BaseHTTPRequestHandler):
    def do_GET(self):  # /access
        customer = f"/v1/customers/{urllib.parse.quote(self.headers['X-User'], safe='')}"
        token = ask("PUT", f"{customer}?bundleId={APP}", {})["appAccountToken"]  # the app gives it to StoreKit
        known = ask("GET", f"/v1/accounts/{token}/entitlements?bundleId={APP}")
        self.reply({"appAccountToken": token, "names": [one["name"] for one in known["entitlements"]]})

    def do_POST(self):  # /purchases with {"appAccountToken": …, "signedTransactions": […]}: finish them if it says so
        upload = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = ask("POST", "/v1/transactions", {**upload, "bundleId": APP})
        known = answer.get("answer", answer).get("entitlements", [])
        self.reply({"finish": answer.get("finish", False), "names": [one["name"] for one in known]})

    def reply(self, body):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())


http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Backend).serve_forever()

"""Notifications with hostile texts, signed as the development authority signs: for Deploy/checks/console."""
import base64
import json
import pathlib
import subprocess
import urllib.error
import urllib.request
import uuid

MARKUP = "<script>alert(1)</script>\"\u0301 onmouseover=alert(2) x='\u202egnp{{title}}<img src=//elsewhere.example/x>"
TEXTS = {"markup": MARKUP, "direction": "\u202eknil\u2066\u200d", "long": MARKUP + "A" * 4000, "nul": "a\u0000b"}


def decoded(segment):
    return base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4))


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Signer:
    def __init__(self, programs, authority):
        self.programs, self.authority = programs, authority

    def sample(self, seed):
        done = subprocess.run(
            [self.programs / "simulator", "make", "--case", "renewed", "--bare", "--seed", str(seed), "--authority",
             self.authority], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def signature(self, data):
        """r and s of ES256, which openssl writes as DER."""
        der = subprocess.run(
            ["openssl", "dgst", "-sha256", "-sign", pathlib.Path(self.authority) / "leaf-key.pem"], input=data,
            capture_output=True, check=True).stdout
        first = der[3]
        r, s = der[4:4 + first], der[6 + first:6 + first + der[5 + first]]
        return b"".join(int.from_bytes(each, "big").to_bytes(32, "big") for each in (r, s))

    def changed(self, jws, change):
        header, payload, _ = jws.split(".")
        content = json.loads(decoded(payload))
        change(content)
        # Characters beyond ASCII as they are: escapes would hide them from whatever searches bytes.
        text = header + "." + encoded(json.dumps(content, ensure_ascii=False).encode())
        return text + "." + encoded(self.signature(text.encode()))

    def notification(self, text, seed):
        """Every free text of a renewal is hostile; the signatures and the app are right."""

        def transaction(content):
            content.update(
                productId=text, offerIdentifier=text, storefront=text, currency=text, webOrderLineItemId=text,
                subscriptionGroupIdentifier=text, transactionReason=text)

        def renewal(content):
            content.update(productId=text, autoRenewProductId=text, offerIdentifier=text)

        def envelope(content):
            content.update(subtype=text, notificationUUID=str(uuid.uuid4()))
            data = content["data"]
            data["signedTransactionInfo"] = self.changed(data["signedTransactionInfo"], transaction)
            if "signedRenewalInfo" in data:
                data["signedRenewalInfo"] = self.changed(data["signedRenewalInfo"], renewal)

        return self.changed(self.sample(seed), envelope)


def post(address, body):
    request = urllib.request.Request(
        address, json.dumps({"signedPayload": body}).encode(), {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def send(programs, authority, address):
    """Posts signed notifications and unsigned texts; returns how many ingest took."""
    signer = Signer(programs, authority)
    bodies = [signer.notification(text, seed) for seed, text in enumerate(TEXTS.values(), 101)] + list(TEXTS.values())
    return sum(post(address, body) == 200 for body in bodies)

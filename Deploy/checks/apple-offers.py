"""Compares the offers that the API signs with what Apple's own creators would sign: the bytes of StoreKit 1, the claims of StoreKit 2.

Arguments: the API's address, its key, the .p8 file. ECDSA is random, so each signature is verified over what Apple's creator signs.
"""

import base64
import json
import sys
import urllib.request
import uuid

import jwt
from appstoreserverlibrary.jws_signature_creator import (
    IntroductoryOfferEligibilitySignatureCreator,
    PromotionalOfferV2SignatureCreator,
)
from appstoreserverlibrary.promotional_offer import PromotionalOfferSignatureCreator
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_private_key

BUNDLE_ID, KEY_ID, ISSUER_ID = "com.example.app", "KEY0000001", "issuer-1"
address, key, key_file = sys.argv[1:]
pem = open(key_file, "rb").read()
public_key = load_pem_private_key(pem, password=None).public_key()


def ask(path, body):
    request = urllib.request.Request(address + path, data=json.dumps({"bundleId": BUNDLE_ID, **body}).encode())
    request.add_header("Authorization", f"Bearer {key}")
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


class Recorder:
    """Stands in the place of the key: what would be signed?"""

    def sign(self, data, _):
        self.data = data
        return b""


def compare(jws, expected):
    ours = jwt.decode(jws, public_key, algorithms=["ES256"], audience=jwt.decode(expected, options={"verify_signature": False})["aud"])
    apples = jwt.decode(expected, options={"verify_signature": False})
    assert abs(ours["iat"] - apples["iat"]) < 60, (ours, apples)
    for changing in ("iat", "nonce"):
        assert type(ours.pop(changing)) is type(apples.pop(changing))
    assert ours == apples, (ours, apples)
    heads = [jwt.get_unverified_header(one) for one in (jws, expected)]
    assert heads[0] == heads[1], heads


compared = 0
for account in (None, str(uuid.uuid4()), str(uuid.uuid4()).upper()):
    for transaction in (None, "2000000000000001"):
        body = {"productId": "pro.monthly", "offerIdentifier": "spring"}
        body |= {"appAccountToken": account} if account else {}
        body |= {"transactionId": transaction} if transaction else {}
        answer = ask("/v1/offers/promotional", body)
        fields = answer["storeKit1"]
        creator = PromotionalOfferSignatureCreator(pem, KEY_ID, BUNDLE_ID)
        creator._signing_key = Recorder()
        creator.create_signature(
            "pro.monthly", fields["identifier"], account or "", uuid.UUID(fields["nonce"]), fields["timestamp"])
        assert fields["keyIdentifier"] == KEY_ID
        public_key.verify(base64.b64decode(fields["signature"]), creator._signing_key.data, ECDSA(SHA256()))
        signed = PromotionalOfferV2SignatureCreator(pem, KEY_ID, ISSUER_ID, BUNDLE_ID)
        compare(answer["jws"], signed.create_signature("pro.monthly", "spring", transaction))
        compared += 2
answer = ask("/v1/offers/introductory-eligibility", {
    "subscriptionGroupIdentifier": "1", "appAccountToken": str(uuid.uuid4()), "productId": "pro.monthly", "transactionId": "7",
})
signed = IntroductoryOfferEligibilitySignatureCreator(pem, KEY_ID, ISSUER_ID, BUNDLE_ID)
compare(answer["jws"], signed.create_signature("pro.monthly", True, "7"))
print(f"{compared + 1} signatures are what Apple's creators would sign")

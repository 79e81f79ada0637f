"""A signed in-app request of Advanced Commerce has the claims of Apple's creator: apple-commerce.py JWS KEY REQUEST."""

import base64
import json
import sys

import jwt
from appstoreserverlibrary.jws_signature_creator import JWSSignatureCreator
from cryptography.hazmat.primitives.serialization import load_pem_private_key

signed, key_file, request_file = sys.argv[1:]
with open(key_file, "rb") as file:
    key = file.read()
with open(request_file, encoding="utf-8") as file:
    request = json.load(file)
creator = JWSSignatureCreator("advanced-commerce-api", key, "KEY0000001", "issuer-1", "com.example.app")
expected = creator._create_signature({"request": base64.b64encode(json.dumps(request).encode()).decode()})
public = load_pem_private_key(key, None).public_key()
claims = [jwt.decode(text, public, algorithms=["ES256"], audience="advanced-commerce-api") for text in (signed, expected)]
assert claims[0].keys() == claims[1].keys(), claims
assert jwt.get_unverified_header(signed) == jwt.get_unverified_header(expected)
for name in claims[0].keys() - {"iat", "nonce", "request"}:
    assert claims[0][name] == claims[1][name], name
assert json.loads(base64.b64decode(claims[0]["request"])) == request
print("the signed in-app request is as Apple's creator makes it")

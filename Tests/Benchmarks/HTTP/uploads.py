"""Bodies of uploads, one a line: uploads.py AUTHORITY REQUESTS TRANSACTIONS-IN-EACH < a notification signed by the authority"""
import base64
import json
import subprocess
import sys
import time

authority, requests, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
# The certificates are those of the notification.
header = json.load(sys.stdin)["signedPayload"].split(".")[0]


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def signed(payload: dict) -> str:
    text = f"{header}.{encoded(json.dumps(payload).encode())}"
    der = subprocess.run(
        ["openssl", "dgst", "-sha256", "-sign", f"{authority}/leaf-key.pem"],
        input=text.encode(), capture_output=True, check=True).stdout
    # SEQUENCE of two INTEGERs, each of which JWS has in 32 bytes.
    first = 4 + der[3]
    numbers = der[4:first], der[first + 2:first + 2 + der[first + 1]]
    return f"{text}.{encoded(b''.join(number[-32:].rjust(32, bytes(1)) for number in numbers))}"


now = int(time.time() * 1000)
for request in range(requests):
    account = f"20000000-0000-4000-8000-{request:012x}"
    transactions = []
    for number in range(size):
        purchase = f"9{request:07}{number:07}"
        transactions.append(signed({
            "transactionId": purchase, "originalTransactionId": purchase, "bundleId": "com.example.app",
            "productId": "pro.monthly", "type": "Auto-Renewable Subscription", "subscriptionGroupIdentifier": "1",
            "purchaseDate": now - 1000, "originalPurchaseDate": now - 1000, "expiresDate": now + 86_400_000,
            "quantity": 1, "appAccountToken": account, "inAppOwnershipType": "PURCHASED", "signedDate": now - 1000,
            "environment": "Sandbox", "transactionReason": "PURCHASE"}))
    print(json.dumps({"bundleId": "com.example.app", "appAccountToken": account, "signedTransactions": transactions}))

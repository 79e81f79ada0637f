"""Verifies signed payloads with Apple's own library.

Reads one JSON object per line from standard input: first the settings {"roots": [base64 DER], "apps": [{"bundleId",
"appAppleId", "environment"}]}, then payloads {"door", "jws"}. Writes one line per payload: "accepted", or "rejected" with
the status. Signed objects inside a notification are verified, too, which the library leaves to its caller.

Needs the package app-store-server-library. For development only; nothing of it is shipped.
"""

import base64
import json
import sys

from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException, VerificationStatus


def methods(verifier):
    return {
        "notification": lambda jws: nested(verifier, verifier.verify_and_decode_notification(jws)),
        "transaction": verifier.verify_and_decode_signed_transaction,
        "renewalInfo": verifier.verify_and_decode_renewal_info,
        "appTransaction": verifier.verify_and_decode_app_transaction,
    }


def nested(verifier, notification):
    data = notification.data
    if data and data.signedTransactionInfo:
        verifier.verify_and_decode_signed_transaction(data.signedTransactionInfo)
    if data and data.signedRenewalInfo:
        verifier.verify_and_decode_renewal_info(data.signedRenewalInfo)
    app = getattr(notification, "appData", None)
    if app and app.signedAppTransactionInfo:
        verifier.verify_and_decode_app_transaction(app.signedAppTransactionInfo)


def verdict(verifiers, door, jws):
    status = "ERROR"
    for verifier in verifiers:
        try:
            methods(verifier)[door](jws)
            return "accepted"
        except VerificationException as rejection:
            status = rejection.status.name
            if rejection.status not in (VerificationStatus.INVALID_APP_IDENTIFIER, VerificationStatus.INVALID_ENVIRONMENT):
                return "rejected " + status
        except Exception as error:  # The library lets decoding errors through as they are.
            return "rejected " + type(error).__name__
    return "rejected " + status


def main():
    settings = json.loads(sys.stdin.readline())
    roots = [base64.b64decode(root) for root in settings["roots"]]
    verifiers = [
        SignedDataVerifier(roots, False, Environment(app["environment"]), app["bundleId"], app["appAppleId"])
        for app in settings["apps"]
    ]
    for line in sys.stdin:
        payload = json.loads(line)
        print(verdict(verifiers, payload["door"], payload["jws"]), flush=True)


main()

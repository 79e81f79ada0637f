"""Notifications per second that Apple's own library verifies, with what is signed inside them.

Arguments: seconds, a file with the root in DER, a file with one JWS a line. Prints the rate. Needs the package
app-store-server-library. For development only.
"""

import sys
import time

from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier

seconds, root, letters = float(sys.argv[1]), open(sys.argv[2], "rb").read(), open(sys.argv[3]).read().split()
verifier = SignedDataVerifier([root], False, Environment.PRODUCTION, "com.example.app", 1234567890)


def verify(jws):
    data = verifier.verify_and_decode_notification(jws).data
    verifier.verify_and_decode_signed_transaction(data.signedTransactionInfo)
    verifier.verify_and_decode_renewal_info(data.signedRenewalInfo)


verify(letters[0])
done, start = 0, time.monotonic()
while time.monotonic() - start < seconds:
    verify(letters[done % len(letters)])
    done += 1
print(done / (time.monotonic() - start))

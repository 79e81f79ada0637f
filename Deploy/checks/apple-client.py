"""Calls every endpoint of the simulated App Store with Apple's client library and verifies every signed answer with it."""

import base64
import http.server
import json
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
import uuid
from pathlib import Path

from appstoreserverlibrary.api_client import (
    APIException,
    AppStoreServerAPIClient,
    GetTransactionHistoryVersion,
)
from appstoreserverlibrary.models.ConsumptionRequest import ConsumptionRequest
from appstoreserverlibrary.models.DefaultConfigurationRequest import DefaultConfigurationRequest
from appstoreserverlibrary.models.DeliveryStatus import DeliveryStatus
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.ExtendReasonCode import ExtendReasonCode
from appstoreserverlibrary.models.ExtendRenewalDateRequest import ExtendRenewalDateRequest
from appstoreserverlibrary.models.ImageSize import ImageSize
from appstoreserverlibrary.models.MassExtendRenewalDateRequest import MassExtendRenewalDateRequest
from appstoreserverlibrary.models.NotificationHistoryRequest import NotificationHistoryRequest
from appstoreserverlibrary.models.PerformanceTestRequest import PerformanceTestRequest
from appstoreserverlibrary.models.RealtimeUrlRequest import RealtimeUrlRequest
from appstoreserverlibrary.models.TransactionHistoryRequest import TransactionHistoryRequest
from appstoreserverlibrary.models.UpdateAppAccountTokenRequest import UpdateAppAccountTokenRequest
from appstoreserverlibrary.models.UploadMessageImage import UploadMessageImage
from appstoreserverlibrary.models.UploadMessageRequestBody import UploadMessageRequestBody
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier

BUNDLE_ID = "com.example.app"
APP_APPLE_ID = 1_234_567_890
COUNT = 400


class Receiver(http.server.BaseHTTPRequestHandler):
    """Takes every notification."""

    protocol_version = "HTTP/1.1"
    payloads: list[str] = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        Receiver.payloads.append(json.loads(body)["signedPayload"])
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def wait_until(what, condition):
    deadline = time.monotonic() + 300
    while not condition():
        if time.monotonic() > deadline:
            sys.exit(f"apple-client: {what} did not happen within 300 s")
        time.sleep(0.05)


def check(simulator, environment, work):
    authority = Path(work) / environment.value
    port_file = authority.with_suffix(".port")
    Receiver.payloads = []
    receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    run = subprocess.Popen(
        [
            simulator, "run", "--target", f"http://127.0.0.1:{receiver.server_port}/", "--authority", authority,
            "--environment", environment.value, "--count", str(COUNT), "--subscriptions", "40", "--seed", "3",
            "--rotated-days", "30", "--api-address", "127.0.0.1:0", "--api-port-file", port_file,
            "--api-limit-scale", "1000",
        ],
        stdout=subprocess.DEVNULL,
    )
    try:
        wait_until("the API listens", port_file.exists)
        address = f"http://127.0.0.1:{port_file.read_text().strip()}"
        wait_until("all notifications arrive", lambda: len(Receiver.payloads) >= COUNT)
        return ask(address, environment, authority)
    finally:
        run.terminate()
        run.wait(20)
        receiver.shutdown()


def ask(address, environment, authority):
    key = json.loads((authority / "api-keys.json").read_text())[0]
    client = AppStoreServerAPIClient(
        (authority / key["privateKeyFile"]).read_bytes(), key["keyId"], key["issuerId"], BUNDLE_ID, environment
    )
    # The library knows Apple's hosts only.
    client._base_url = f"{address}/{environment.value.lower()}"
    root = (authority / "root.der").read_bytes()
    verifier = SignedDataVerifier([root], False, environment, BUNDLE_ID, APP_APPLE_ID)
    verified = {"notification": 0, "transaction": 0, "renewal info": 0, "app transaction": 0}
    endpoints = set()

    def notification(payload):
        verified["notification"] += 1
        content = json.loads(base64.urlsafe_b64decode(payload.split(".")[1] + "=="))
        if not {"data", "summary", "externalPurchaseToken", "appData"} & content.keys():
            # A type of tomorrow: the library knows no object that names the app, and verifies the signature alone.
            return verifier._decode_signed_object(payload)
        decoded = verifier.verify_and_decode_notification(payload)
        if decoded.data and decoded.data.signedTransactionInfo:
            transaction(decoded.data.signedTransactionInfo)
        if decoded.data and decoded.data.signedRenewalInfo:
            renewal = verifier.verify_and_decode_renewal_info(decoded.data.signedRenewalInfo)
            verified["renewal info"] += 1
            if renewal.commitmentInfo:
                assert renewal.commitmentInfo.rawCommitmentAutoRenewStatus in (0, 1), renewal
        return decoded

    def transaction(signed):
        verified["transaction"] += 1
        decoded = verifier.verify_and_decode_signed_transaction(signed)
        if decoded.rawBillingPlanType == "MONTHLY":
            verified["commitment"] = verified.get("commitment", 0) + 1
            assert 1 <= decoded.commitmentInfo.billingPeriodNumber <= decoded.commitmentInfo.totalBillingPeriods == 12
        if decoded.advancedCommerceInfo:
            verified["Advanced Commerce item"] = verified.get("Advanced Commerce item", 0) + 1
            assert decoded.advancedCommerceInfo.items[0].SKU, decoded
        return decoded

    def call(method, *arguments):
        endpoints.add(method.__name__)
        return method(*arguments)

    for payload in list(Receiver.payloads):
        notification(payload)
    with urllib.request.urlopen(f"{address}/simulator/customers?limit=1000") as answer:
        customers = json.load(answer)["customers"]
    active = []
    for customer in customers:
        original = customer["originalTransactionId"]
        statuses = call(client.get_all_subscription_statuses, original)
        for group in statuses.data:
            for item in group.lastTransactions:
                newest = transaction(item.signedTransactionInfo)
                verifier.verify_and_decode_renewal_info(item.signedRenewalInfo)
                verified["renewal info"] += 1
                is_bought = newest.rawInAppOwnershipType == "PURCHASED"
                # Consumption information about Advanced Commerce is of version 1.
                if (
                    item.rawStatus == 1 and is_bought and item.originalTransactionId == original
                    and not newest.advancedCommerceInfo
                ):
                    active.append(newest)
        for version in GetTransactionHistoryVersion:
            page = call(client.get_transaction_history, original, None, TransactionHistoryRequest(), version)
            while True:
                for signed in page.signedTransactions:
                    transaction(signed)
                if not page.hasMore:
                    break
                page = client.get_transaction_history(original, page.revision, TransactionHistoryRequest(), version)
        for signed in call(client.get_refund_history, original, None).signedTransactions:
            assert transaction(signed).revocationDate is not None
        transaction(call(client.get_transaction_info, original).signedTransactionInfo)
        app = call(client.get_app_transaction_info, original)
        verifier.verify_and_decode_app_transaction(app.signedAppTransactionInfo)
        verified["app transaction"] += 1
    active = extended(client, call, active)

    if environment == Environment.PRODUCTION:
        order = call(client.look_up_order_id, customers[0]["orderIds"][0])
        assert order.rawStatus == 0
        for signed in order.signedTransactions:
            transaction(signed)

    # What falls due meanwhile is sent, too.
    sent = set(Receiver.payloads)
    now = int(time.time() * 1000)
    request = NotificationHistoryRequest(startDate=now - 3_600_000, endDate=now + 1000)
    page = call(client.get_notification_history, None, request)
    told = set()
    while True:
        for item in page.notificationHistory:
            notification(item.signedPayload)
            told.add(item.signedPayload)
        if not page.hasMore:
            break
        page = client.get_notification_history(page.paginationToken, request)
    assert sent <= told, f"the history lacks {len(sent - told)} of {len(sent)} notifications"

    test = call(client.request_test_notification)
    endpoints.add("get_test_notification_status")
    status = None

    def has_status():
        nonlocal status
        try:
            status = client.get_test_notification_status(test.testNotificationToken)
        except APIException as error:
            assert error.http_status_code == 404, error
        return status is not None

    wait_until("the test notification is sent", has_status)
    assert notification(status.signedPayload).rawNotificationType == "TEST"

    original = active.originalTransactionId
    call(client.set_app_account_token, original, UpdateAppAccountTokenRequest(appAccountToken=str(uuid.uuid4())))
    consumption = ConsumptionRequest(
        customerConsented=True, sampleContentProvided=False, deliveryStatus=DeliveryStatus.DELIVERED
    )
    call(client.send_consumption_information, active.transactionId, consumption)
    call(client.finish_transaction, active.transactionId)
    many = MassExtendRenewalDateRequest(
        extendByDays=5, extendReasonCode=ExtendReasonCode.OTHER, requestIdentifier="all",
        productId=active.productId, storefrontCountryCodes=None,
    )
    call(client.extend_renewal_date_for_all_active_subscribers, many)
    endpoints.add("get_status_of_subscription_renewal_date_extensions")
    wait_until(
        "the mass extension is complete",
        lambda: client.get_status_of_subscription_renewal_date_extensions("all", active.productId).complete,
    )
    ask_retention_messaging(client, call, active, environment)
    ask_apis_without_library(client, transaction, verifier, original, environment)
    return endpoints, verified


def extended(client, call, subscriptions):
    """The last subscription whose renewal date can be extended: not one with seats, in a grace period or extended before."""
    extension = ExtendRenewalDateRequest(
        extendByDays=5, extendReasonCode=ExtendReasonCode.CUSTOMER_SATISFACTION, requestIdentifier="one"
    )
    for subscription in reversed(subscriptions):
        try:
            assert call(client.extend_subscription_renewal_date, subscription.originalTransactionId, extension).success
            return subscription
        except APIException as error:
            assert error.http_status_code in (400, 403), error
    sys.exit(f"apple-client: none of {len(subscriptions)} active subscriptions can be extended")


def ask_retention_messaging(client, call, active, environment):
    """Every call of the Retention Messaging API, and the errors that the library names."""
    # The seed of the simulator decides about each id: as Apple, it approves most of them in production, and all in the sandbox.
    png = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIBBBBBI", 13, b"IHDR", 3840, 160, 8, 2, 0, 0, 0, 0)
    for _ in range(20):
        image = uuid.uuid4()
        call(client.upload_image, image, png, ImageSize.FULL_SIZE)
        if [item.rawImageState for item in call(client.get_image_list).imageIdentifiers] == ["APPROVED"]:
            break
        call(client.delete_image, image)
    else:
        raise AssertionError("no image was approved")
    body = UploadMessageRequestBody(header="Stay", body="Please", image=UploadMessageImage(image, "A picture"))
    for _ in range(20):
        message = uuid.uuid4()
        call(client.upload_message, message, body)
        listed = call(client.get_message_list).messageIdentifiers
        assert [item.messageIdentifier for item in listed] == [message]
        if listed[0].rawMessageState == "APPROVED":
            break
        call(client.delete_message, message)
    else:
        raise AssertionError("no message was approved")
    call(client.configure_default_message, active.productId, "en-US", DefaultConfigurationRequest(message))
    assert call(client.get_default_message, active.productId, "en-US").messageIdentifier == message
    call(client.delete_default_message, active.productId, "en-US")
    if environment == Environment.SANDBOX:
        call(client.configure_realtime_url, RealtimeUrlRequest("https://example.com/retention"))
        assert call(client.get_realtime_url).realtimeURL == "https://example.com/retention"
        test = call(client.initiate_performance_test, PerformanceTestRequest(active.originalTransactionId))
        assert call(client.get_performance_test_results, test.requestId).rawResult == "PASS"
        call(client.delete_realtime_url)
    try:
        client.delete_image(image)
        raise AssertionError("an image in use was deleted")
    except APIException as error:
        assert error.raw_api_error == 4030019, error
    call(client.delete_message, message)
    call(client.delete_image, image)


def ask_apis_without_library(client, transaction, verifier, original, environment):
    """The External Purchase Server API and the Advanced Commerce API, for which the library has tokens and verification alone."""

    def send(method, path, body=None):
        request = urllib.request.Request(
            client._base_url + path, method=method, headers=client._get_headers() | {"Content-Type": "application/json"},
            data=None if body is None else json.dumps(body).encode(),
        )
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    report = {
        "requestIdentifier": str(uuid.uuid4()), "status": "NO_LINE_ITEM",
        "externalPurchaseId": ("SANDBOX_" if environment == Environment.SANDBOX else "") + str(uuid.uuid4()),
    }
    assert send("PUT", "/externalPurchase/v1/reports", report)["requestIdentifier"] == report["requestIdentifier"]
    assert send("GET", f"/externalPurchase/v1/reports/{report['requestIdentifier']}") == report
    names = {"displayName": "News", "description": "Every morning"}
    item = {"SKU": "news", "price": 990, "refundReason": "LEGAL", "refundType": "FULL", "revoke": True}
    items = {"items": [item | names]}
    now = {"effective": "IMMEDIATELY"}
    metadata = {"descriptors": names | now, "items": [{"currentSKU": "news", "displayName": "The news"} | now]}
    risk = {"refundRiskingPreference": False}
    for path, body in [
        ("subscription/changePrice", items), ("subscription/changeMetadata", metadata),
        ("transaction/requestRefund", items | risk),
        ("subscription/migrate", items | {"descriptors": names, "targetProductId": "generic", "taxCode": "C003-00-2"}),
        ("subscription/cancel", {}),
        ("subscription/revoke", risk | {"refundReason": "LEGAL", "refundType": "FULL"}),
    ]:
        try:
            info = {"requestInfo": {"requestReferenceId": str(uuid.uuid4())}}
            answer = send("POST", f"/advancedCommerce/v1/{path}/{original}", info | body)
        except urllib.error.HTTPError as error:
            # The state of a random purchase may not permit an end.
            assert error.code in (400, 403) and path in ("subscription/cancel", "subscription/revoke"), (path, error)
            continue
        decoded = transaction(answer["signedTransactionInfo"])
        assert decoded.originalTransactionId == original
        if path == "subscription/changeMetadata":
            assert decoded.advancedCommerceInfo.descriptors.displayName == "News", decoded
            assert decoded.advancedCommerceInfo.items[0].displayName == "The news", decoded
        renewal = verifier.verify_and_decode_renewal_info(answer["signedRenewalInfo"])
        if path == "subscription/cancel" and renewal.commitmentInfo is None:
            assert renewal.rawAutoRenewStatus == 0, renewal


def main():
    called = set()
    with tempfile.TemporaryDirectory() as work:
        for environment in (Environment.PRODUCTION, Environment.SANDBOX):
            endpoints, verified = check(sys.argv[1], environment, work)
            called |= endpoints
            counts = ", ".join(f"{count} {name}s" for name, count in verified.items())
            print(f"{environment.value}: {len(endpoints)} endpoints called; verified: {counts}")
            assert all(verified.get(kind) for kind in (*verified, "commitment", "Advanced Commerce item")), verified
    print(f"{len(called)} endpoints: {', '.join(sorted(called))}")
    # Version 1 of consumption information is deprecated.
    every = {name for name in vars(AppStoreServerAPIClient) if not name.startswith("_")} - {"send_consumption_data"}
    assert every <= called, f"not called: {every - called}"


main()

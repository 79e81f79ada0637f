import AppStore
import Foundation
import StrictJSON
import Testing

@Suite struct PayloadTests {
    private func json(_ text: String) throws -> JSONValue { try JSONDocument(Array(text.utf8)).root }

    @Test func `Transaction survives writing and reading`() throws {
        var transaction = JWSTransactionDecodedPayload()
        transaction.originalTransactionId = "2000000000000001"
        transaction.transactionId = "2000000000000002"
        transaction.purchaseDate = Date(timeIntervalSince1970: 1_780_000_000.123)
        transaction.quantity = 1
        transaction.type = .autoRenewableSubscription
        transaction.isUpgraded = true
        transaction.price = 9_990
        transaction.offerType = .winBack
        transaction.environment = .sandbox
        transaction.commitmentInfo = RawJSON(Array(#"{"a":[1]}"#.utf8))
        let again = try JWSTransactionDecodedPayload(json: JSONDocument(transaction.json).root)
        #expect(again == transaction)
        #expect(try JSONDocument(transaction.json).root["purchaseDate"]?.int64 == 1_780_000_000_123)
    }

    @Test func `Notification survives writing and reading, whatever it is about`() throws {
        var notification = ResponseBodyV2DecodedPayload()
        notification.notificationType = .renewalExtension
        notification.subtype = .summary
        notification.notificationUUID = "b5e0a6a0-6a3c-4a26-8dcb-5a2f66d6b3a5"
        notification.version = "2.0"
        notification.signedDate = Date(timeIntervalSince1970: 1_780_000_000)
        var summary = NotificationSummary()
        summary.storefrontCountryCodes = ["CAN", "USA"]
        summary.succeededCount = 5
        notification.summary = summary
        var token = ExternalPurchaseToken()
        token.externalPurchaseId = "SANDBOX_b2158121"
        notification.externalPurchaseToken = token
        var renewal = JWSRenewalInfoDecodedPayload()
        renewal.autoRenewStatus = .off
        renewal.eligibleWinBackOfferIds = ["a", "b"]
        #expect(try ResponseBodyV2DecodedPayload(json: JSONDocument(notification.json).root) == notification)
        #expect(try JWSRenewalInfoDecodedPayload(json: JSONDocument(renewal.json).root) == renewal)
        #expect(token.environment == .sandbox)
        #expect(ExternalPurchaseToken().environment == .production)
    }

    @Test func `Values that Apple has not documented survive`() throws {
        let value = try ResponseBodyV2DecodedPayload(
            json: json(#"{"notificationType":"BRAND_NEW","subtype":"NEWER","data":{"status":9},"surprise":[1]}"#))
        #expect(value.notificationType == NotificationType(rawValue: "BRAND_NEW"))
        #expect(value.notificationType?.isKnown == false)
        #expect(value.subtype?.isKnown == false)
        #expect(value.data?.status?.rawValue == 9)
        #expect(NotificationType.didRenew.isKnown)
    }

    @Test(arguments: [
        ("1780000000000", 1_780_000_000.0), ("1780000000000.5", 1_780_000_000.0005),
        ("1780000000000000", 1_780_000_000),
        ("0", 0), ("-62135769600000", -62_135_769_600), ("1.78e12", 1_780_000_000),
        ("253402300799000", 253_402_300_799),
    ])
    func `Dates come in milliseconds, fractions, microseconds, the distant past and the year 9999`(
        text: String, seconds: Double
    ) throws {
        let transaction = try JWSTransactionDecodedPayload(json: json(#"{"signedDate":\#(text)}"#))
        #expect(transaction.signedDate == Date(timeIntervalSince1970: seconds))
    }

    @Test func `Null counts as missing, and another kind of value is a fault that names the field`() throws {
        #expect(try JWSTransactionDecodedPayload(json: json(#"{"price":null}"#)).price == nil)
        let wrong: [(String, String)] = [
            (#"{"data":{"bundleId":5}}"#, "data.bundleId"), (#"{"signedDate":"now"}"#, "signedDate"),
            (#"{"data":[]}"#, "data"), (#"{"data":{"status":"1"}}"#, "data.status"),
            (#"{"data":{"appAppleId":1.5}}"#, "data.appAppleId"), ("[]", ""),
        ]
        for (text, field) in wrong {
            #expect {
                try ResponseBodyV2DecodedPayload(json: json(text))
            } throws: {
                ($0 as? PayloadFault)?.field == field
            }
        }
    }
}

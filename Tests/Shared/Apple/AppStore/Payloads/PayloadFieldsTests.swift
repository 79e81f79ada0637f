import AppStore
import Foundation
import StrictJSON
import Testing

/// Every field that Apple documents, by its name.
@Suite struct PayloadFieldsTests {
    static func json(_ text: String) throws -> JSONValue { try JSONDocument(Array(text.utf8)).root }

    /// As Foundation reads it.
    static func members(_ text: [UInt8]) throws -> NSDictionary {
        try #require(try JSONSerialization.jsonObject(with: Data(text)) as? NSDictionary)
    }

    static func names(_ text: String) throws -> [String] {
        try members(Array(text.utf8)).allKeys.compactMap { $0 as? String }
    }

    static func expect<Value: Payload & Equatable>(_ text: String, reads value: Value) throws {
        #expect(try Value(json: json(text)) == value)
        #expect(try members(value.json) == members(Array(text.utf8)))
    }

    @Test func `Every field is read under Apple's name and written under it`() throws {
        try Self.expect(AppleFields.transaction, reads: AppleFields.transactionRead)
        try Self.expect(AppleFields.renewalInfo, reads: AppleFields.renewalInfoRead)
        try Self.expect(AppleFields.data, reads: AppleFields.dataRead)
        try Self.expect(AppleFields.summary, reads: AppleFields.summaryRead)
        try Self.expect(AppleFields.externalPurchaseToken, reads: AppleFields.externalPurchaseTokenRead)
        try Self.expect(AppleFields.appData, reads: AppleFields.appDataRead)
        try Self.expect(AppleFields.appTransaction, reads: AppleFields.appTransactionRead)
        try Self.expect(AppleFields.notification, reads: AppleFields.notificationRead)
    }

    @Test func `PayloadFields cover every property of a payload`() throws {
        func unset(_ value: some Payload) -> [String] {
            Mirror(reflecting: value).children.compactMap { child in
                "\(child.value)" == "nil" ? child.label : nil
            }
        }
        #expect(unset(AppleFields.transactionRead).isEmpty)
        #expect(unset(AppleFields.renewalInfoRead).isEmpty)
        #expect(unset(AppleFields.dataRead).isEmpty)
        #expect(unset(AppleFields.summaryRead).isEmpty)
        #expect(unset(AppleFields.externalPurchaseTokenRead).isEmpty)
        #expect(unset(AppleFields.appDataRead).isEmpty)
        #expect(unset(AppleFields.appTransactionRead).isEmpty)
        #expect(unset(AppleFields.notificationRead).isEmpty)
        #expect(unset(JWSTransactionDecodedPayload()).count == 37)
    }

    /// One field is made an array of arrays, which Apple documents for none.
    static func odd(_ text: String, _ field: String) throws -> JSONValue {
        var writer = JSONWriter(capacity: 2048)
        writer.beginObject()
        let value = try json(text)
        for name in try names(text) {
            writer.member(name, raw: name == field ? Array("[[]]".utf8) : Array(value[name]?.rawBytes ?? []))
        }
        writer.endObject()
        return try JSONDocument(writer.bytes).root
    }

    /// Which fields must be of their kind; of the others an odd one is nil and taken down.
    static func expect<Value: Payload>(
        strict: Set<String>, carried: Set<String> = [], _ text: String, oddities: (Value) -> [PayloadOddity]
    ) throws {
        for field in try names(text) {
            let json = try odd(text, field)
            if strict.contains(field) {
                #expect(throws: PayloadFault.self, "\(field)") { try Value(json: json) }
            } else {
                let value = try Value(json: json)
                let expected = carried.contains(field) ? [] : [PayloadOddity(field: field, kind: .unreadable)]
                #expect(oddities(value) == expected, "\(field)")
                #expect(try members(value.json)[field] == nil || carried.contains(field), "\(field)")
            }
        }
    }

    @Test func `Field that decides nothing may be odd, one that decides who has what and until when may not`() throws {
        try Self.expect(
            strict: [
                "originalTransactionId", "transactionId", "bundleId", "productId", "subscriptionGroupIdentifier",
                "purchaseDate", "originalPurchaseDate", "expiresDate", "type", "appAccountToken", "signedDate",
                "revocationDate", "isUpgraded", "environment", "appTransactionId",
            ], carried: ["advancedCommerceInfo", "commitmentInfo", "multiSeatInfo"], AppleFields.transaction
        ) { (value: JWSTransactionDecodedPayload) in value.oddities }
        try Self.expect(
            strict: [
                "originalTransactionId", "productId", "isInBillingRetryPeriod", "gracePeriodExpiresDate", "signedDate",
                "environment", "recentSubscriptionStartDate", "renewalDate",
            ], carried: ["advancedCommerceInfo", "commitmentInfo", "multiSeatInfo"], AppleFields.renewalInfo
        ) { (value: JWSRenewalInfoDecodedPayload) in value.oddities }
        try Self.expect(
            strict: [
                "environment", "appAppleId", "bundleId", "signedTransactionInfo", "signedRenewalInfo", "status",
            ], AppleFields.data
        ) { (value: NotificationData) in value.oddities }
        try Self.expect(strict: ["environment", "appAppleId", "bundleId"], AppleFields.summary) {
            (value: NotificationSummary) in value.oddities
        }
        try Self.expect(
            strict: ["externalPurchaseId", "tokenCreationDate", "appAppleId", "bundleId", "tokenExpirationDate"],
            AppleFields.externalPurchaseToken
        ) { (value: ExternalPurchaseToken) in value.oddities }
        try Self.expect(
            strict: [
                "receiptType", "appAppleId", "bundleId", "receiptCreationDate", "originalPurchaseDate", "preorderDate",
                "appTransactionId",
            ], AppleFields.appTransaction
        ) { (value: AppTransaction) in value.oddities }
    }

    @Test(arguments: [
        ("price", "9990.5"), ("storefrontId", "143441"), ("quantity", "\"1\""), ("offerType", "true"),
        ("price", "99999999999999999999"),
    ]) func `PayloadFields report values of a similar kind as odd as well`(field: String, value: String) throws {
        let read = try JWSTransactionDecodedPayload(json: Self.json(#"{"\#(field)":\#(value)}"#))
        #expect(read.oddities == [PayloadOddity(field: field, kind: .unreadable)])
    }

    @Test func `Value of no known meaning survives and is noted, an empty one is none`() throws {
        let renewal = try JWSRenewalInfoDecodedPayload(
            json: Self.json(#"{"autoRenewStatus":2,"environment":"","expirationIntent":1}"#))
        #expect(renewal.autoRenewStatus?.rawValue == 2)
        #expect(renewal.oddities == [PayloadOddity(field: "autoRenewStatus", kind: .unknownValue)])
        let notification = try DecodedNotification(
            decoded: Array(
                #"""
                {"data":{"status":9,"signedTransactionInfo":{"type":"Rental","price":"1"},
                "signedRenewalInfo":{"offerType":8}}}
                """#.utf8))
        #expect(
            notification.oddities == [
                PayloadOddity(field: "data.status", kind: .unknownValue),
                PayloadOddity(field: "signedTransactionInfo.type", kind: .unknownValue),
                PayloadOddity(field: "signedTransactionInfo.price", kind: .unreadable),
                PayloadOddity(field: "signedRenewalInfo.offerType", kind: .unknownValue),
            ])
    }

    @Test func `Types and subtypes that Apple documents are all known`() {
        #expect(
            Set(NotificationType.known.map(\.rawValue)) == [
                "SUBSCRIBED", "DID_CHANGE_RENEWAL_PREF", "DID_CHANGE_RENEWAL_STATUS", "OFFER_REDEEMED", "DID_RENEW",
                "EXPIRED", "DID_FAIL_TO_RENEW", "GRACE_PERIOD_EXPIRED", "PRICE_INCREASE", "REFUND", "REFUND_DECLINED",
                "CONSUMPTION_REQUEST", "RENEWAL_EXTENDED", "REVOKE", "TEST", "RENEWAL_EXTENSION", "REFUND_REVERSED",
                "EXTERNAL_PURCHASE_TOKEN", "ONE_TIME_CHARGE", "RESCIND_CONSENT", "METADATA_UPDATE", "MIGRATION",
                "PRICE_CHANGE", "UNCLAIM_SEATS",
            ])
        #expect(
            Set(NotificationSubtype.known.map(\.rawValue)) == [
                "INITIAL_BUY", "RESUBSCRIBE", "DOWNGRADE", "UPGRADE", "AUTO_RENEW_ENABLED", "AUTO_RENEW_DISABLED",
                "VOLUNTARY", "BILLING_RETRY", "PRICE_INCREASE", "GRACE_PERIOD", "PENDING", "ACCEPTED",
                "BILLING_RECOVERY", "PRODUCT_NOT_FOR_SALE", "SUMMARY", "FAILURE", "UNREPORTED", "CREATED",
                "ACTIVE_TOKEN_REMINDER", "SEATS", "INCREASE_QUANTITY", "DECREASE_QUANTITY",
            ])
    }

    @Test func `Part as deep as the verifier allows is read where it stands`() throws {
        let deep = String(repeating: "[", count: 15) + String(repeating: "]", count: 15)
        let part = #"{"advancedCommerceInfo":\#(deep)}"#
        #expect(throws: Never.self) { try JSONDocument(Array(part.utf8)) }
        let read = try DecodedNotification(decoded: Array(#"{"data":{"signedTransactionInfo":\#(part)}}"#.utf8))
        #expect(read.transaction?.advancedCommerceInfo?.bytes == Array(deep.utf8))
    }
}

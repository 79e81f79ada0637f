import Contracts
import Foundation
import ServerAPI
import StrictJSON

/// The Advanced Commerce API: cancelling and revoking change the subscription; the rest is checked, announced and signed. A purchase of
/// any product is taken for one of Advanced Commerce.
///
/// <https://developer.apple.com/documentation/advancedcommerceapi>
extension StoreAPI {
    private static let reasons: Set = [
        "UNINTENDED_PURCHASE", "FULFILLMENT_ISSUE", "UNSATISFIED_WITH_PURCHASE", "LEGAL", "OTHER",
        "MODIFY_ITEMS_REFUND", "SIMULATE_REFUND_DECLINE",
    ]

    func advancedCommerce(_ call: APICall) throws -> APIAnswer {
        let json = try call.json()
        try Self.check(referenceIn: json)
        let subscriber = try subscriber(in: call)
        let date = present()
        switch call.endpoint {
        case .cancelSubscription:
            // What is cancelled stays so.
            let renewal = subscriber.current.renewal
            if renewal?.willRenew == true, renewal?.commitmentWillRenew != false {
                try change(subscriber, by: .turnRenewalOff, at: date, or: APIFault(4_030_015))
            }
        case .revokeSubscription:
            try Self.check(refundIn: json, types: ["FULL", "PRORATED"], call.app)
            try Self.check(riskingIn: json)
            try change(subscriber, by: .refund, at: date, or: APIFault(4_000_186))
        case .requestRefund:
            for item in try Self.items(json) {
                try Self.check(refundIn: item, types: ["FULL", "PRORATED", "CUSTOM"], call.app)
            }
            try Self.check(riskingIn: json)
        case .changeSubscriptionPrice:
            for item in try Self.items(json) {
                guard let price = item["price"]?.int64 else { throw APIFault(4_000_109) }
                guard price >= 0 else { throw APIFault(4_000_086) }
            }
            announce(NotificationKind(.priceChange), about: subscriber)
        case .changeSubscriptionMetadata: announce(NotificationKind(.metadataUpdate), about: subscriber)
        default:
            guard json["targetProductId"]?.string != nil else { throw APIFault(4_000_166) }
            guard json["taxCode"]?.string != nil else { throw APIFault(4_000_099) }
            _ = try Self.items(json)
            announce(NotificationKind(.migration), about: subscriber)
        }
        let newest = try self.subscriber(in: call)
        guard let purchase = newest.current.purchase else { throw APIFault(4_040_010) }
        let transaction = try sign(purchase, of: newest)
        let renewal = try newest.current.renewal.map {
            try signer.sign(PayloadBuilder.renewal($0, of: purchase, in: newest.current))
        }
        return APIAnswer { json in
            json.member("signedTransactionInfo", jws: transaction)
            if let renewal { json.member("signedRenewalInfo", jws: renewal) }
        }
    }

    private func change(
        _ subscriber: Subscriber, by event: LifecycleEvent, at date: Date, or fault: APIFault
    ) throws {
        let payload = deliveryService.withOutbox { outbox in
            outbox.apply(event, to: subscriber.originalTransactionId, now: date)
        }
        guard let payload else { throw fault }
        historyStore.note(payload)
    }

    private func announce(_ kind: NotificationKind, about subscriber: Subscriber) {
        deliveryService.withOutbox { $0.announce(kind, about: [subscriber.current]) }
    }

    private static func check(referenceIn json: JSONValue) throws {
        guard let info = json["requestInfo"] else { throw APIFault(4_000_079) }
        guard let reference = info["requestReferenceId"]?.string else { throw APIFault(4_000_080) }
        guard UUID(uuidString: reference) != nil else { throw APIFault(4_000_081) }
    }

    private static func items(_ json: JSONValue) throws -> [JSONValue] {
        guard let items = json["items"].flatMap({ $0.kind == .array ? $0.elements : nil }) else {
            throw APIFault(4_000_101)
        }
        guard !items.isEmpty else { throw APIFault(4_000_160) }
        for item in items {
            guard let sku = item["SKU"]?.string, !sku.isEmpty else { throw APIFault(4_000_105) }
            guard sku.count <= 128 else { throw APIFault(4_000_087) }
        }
        return items
    }

    private static func check(refundIn json: JSONValue, types: Set<String>, _ app: App) throws {
        guard let reason = json["refundReason"]?.string else { throw APIFault(4_000_156) }
        guard reasons.contains(reason) else { throw APIFault(4_000_124) }
        guard reason != "SIMULATE_REFUND_DECLINE" || app.environment == .sandbox else { throw APIFault(4_000_158) }
        guard let type = json["refundType"]?.string else { throw APIFault(4_000_157) }
        guard types.contains(type) else { throw APIFault(4_000_123) }
    }

    private static func check(riskingIn json: JSONValue) throws {
        guard json["refundRiskingPreference"]?.bool != nil else { throw APIFault(4_000_159) }
    }
}

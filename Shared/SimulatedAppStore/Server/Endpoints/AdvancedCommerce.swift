import AppStore
import Contracts
import Foundation
import StrictJSON

/// The Advanced Commerce API: cancelling and revoking change the subscription; the rest is checked, announced and signed.
extension StoreAPI {
    private static let reasons: Set = [
        "UNINTENDED_PURCHASE", "FULFILLMENT_ISSUE", "UNSATISFIED_WITH_PURCHASE", "LEGAL", "OTHER",
        "MODIFY_ITEMS_REFUND",
        "SIMULATE_REFUND_DECLINE",
    ]

    /// - Parameter call: whose last but one component of the path is the operation.
    func advancedCommerce(_ call: APICall) throws -> APIAnswer {
        let json = try call.json()
        guard let reference = json["requestInfo"]?["requestReferenceId"]?.string, UUID(uuidString: reference) != nil
        else {
            throw APIFault(4_000_000, "Invalid request. The request reference id must be a UUID.")
        }
        let subscriber = try subscriber(in: call)
        let date = present()
        switch call.endpoint {
        case .cancelSubscription:
            // What is cancelled stays so.
            let renewal = subscriber.current.renewal
            if renewal?.willRenew == true, renewal?.commitmentWillRenew != false {
                try change(subscriber, by: .turnRenewalOff, at: date)
            }
        case .revokeSubscription:
            try Self.check(reasonIn: json)
            try change(subscriber, by: .refund, at: date)
        case .requestRefund:
            let items = try Self.items(json)
            for item in items { try Self.check(reasonIn: item) }
        case .changeSubscriptionPrice:
            let items = try Self.items(json)
            guard items.allSatisfy({ ($0["price"]?.int64 ?? -1) >= 0 }) else { throw APIFault(4_000_000) }
            announce(NotificationKind(.priceChange), about: subscriber)
        case .changeSubscriptionMetadata: announce(NotificationKind(.metadataUpdate), about: subscriber)
        default:
            guard json["targetProductId"]?.string != nil, json["taxCode"]?.string != nil else {
                throw APIFault(4_000_000)
            }
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

    private func change(_ subscriber: Subscriber, by event: LifecycleEvent, at date: Date) throws {
        let payload = deliveryService.withOutbox { outbox in
            outbox.apply(event, to: subscriber.originalTransactionId, now: date)
        }
        guard let payload else {
            throw APIFault(4_000_000, "Invalid request. The subscription's state does not permit it.")
        }
        historyStore.note(payload)
    }

    private func announce(_ kind: NotificationKind, about subscriber: Subscriber) {
        deliveryService.withOutbox { $0.announce(kind, about: [subscriber.current]) }
    }

    private static func items(_ json: JSONValue) throws -> [JSONValue] {
        let items = json["items"]?.elements ?? []
        guard !items.isEmpty, items.allSatisfy({ $0["SKU"]?.string.map { !$0.isEmpty && $0.count <= 128 } ?? false })
        else {
            throw APIFault(4_000_000, "Invalid request. Each item needs a SKU of at most 128 characters.")
        }
        return items
    }

    private static func check(reasonIn json: JSONValue) throws {
        guard let reason = json["refundReason"]?.string, reasons.contains(reason),
            let type = json["refundType"]?.string, ["FULL", "PRORATED", "CUSTOM"].contains(type)
        else { throw APIFault(4_000_000, "Invalid request. The refund reason or type is invalid.") }
    }
}

import Contracts
import Foundation
import ServerAPI
import StrictJSON

/// The Advanced Commerce API: what is asked for is checked, done, announced and signed. A purchase of any product is taken for
/// one of Advanced Commerce. A refund is decided at once, and declined only where the request simulates that.
///
/// <https://developer.apple.com/documentation/advancedcommerceapi>
extension StoreAPI {
    private static let reasons: Set = [
        "UNINTENDED_PURCHASE", "FULFILLMENT_ISSUE", "UNSATISFIED_WITH_PURCHASE", "LEGAL", "OTHER",
        "MODIFY_ITEMS_REFUND", declined,
    ]
    /// The reason by which a developer tests a refund that is declined.
    private static let declined = "SIMULATE_REFUND_DECLINE"

    func advancedCommerce(_ call: APICall) throws -> APIAnswer {
        let json = try call.json()
        let reference = try Self.reference(in: json)
        if try !commerceReferences.take(reference, for: call) {
            do { try change(call, json) } catch {
                commerceReferences.release(reference, of: call.app)
                throw error
            }
        }
        let after = try subscriber(in: call)
        let isAboutTransaction = call.endpoint == .requestRefund
        let shown = isAboutTransaction ? after.transaction(call.id)?.purchase : nil
        guard let purchase = shown ?? after.current.purchase else { throw APIFault(4_040_010) }
        let transaction = try sign(purchase, of: after)
        let renewal = try after.current.renewal.map {
            try signer.sign(PayloadBuilder.renewal($0, of: purchase, in: after.current))
        }
        return APIAnswer { json in
            json.member("signedTransactionInfo", jws: transaction)
            if let renewal { json.member("signedRenewalInfo", jws: renewal) }
        }
    }

    private func change(_ call: APICall, _ json: JSONValue) throws {
        let subscriber = try subscriber(in: call)
        let newest = subscriber.current.purchase
        let date = present()
        switch call.endpoint {
        case .cancelSubscription:
            // What is cancelled stays so.
            let renewal = subscriber.current.renewal
            if renewal?.willRenew == true, renewal?.commitmentWillRenew != false {
                try change(subscriber, by: .turnRenewalOff, at: date, or: APIFault(4_030_015))
            }
        case .revokeSubscription:
            let refund = try Self.check(refundIn: json, types: ["FULL", "PRORATED"], call.app)
            try Self.check(riskingIn: json)
            let current = subscriber.current
            guard current.status == 1 || current.status == 4, current.customer?.ownership == .purchased else {
                throw APIFault(4_000_186)
            }
            try change(
                subscriber, newest, by: .revocation(reason: refund.reason, type: refund.type), at: date)
        case .requestRefund:
            let refunds = try Self.items(json).map { item in
                let refund = try Self.check(refundIn: item, types: ["FULL", "PRORATED", "CUSTOM"], call.app)
                return CommerceRequest.ItemRefund(
                    sku: item["SKU"]?.string ?? "", reason: refund.reason, type: refund.type,
                    amount: try Self.amount(item, refund.type), revokes: item["revoke"]?.bool ?? false)
            }
            try Self.check(riskingIn: json)
            let isDeclined = refunds.contains { $0.reason == Self.declined }
            guard isDeclined || subscriber.current.customer?.ownership == .purchased else {
                throw APIFault(4_000_185)
            }
            guard let transaction = subscriber.transaction(call.id)?.purchase ?? newest else {
                throw APIFault(4_040_010)
            }
            try change(subscriber, transaction, by: isDeclined ? .declinedRefund : .refund(refunds), at: date)
        case .changeSubscriptionPrice:
            let prices = try Self.items(json).map { item in
                guard let price = item["price"]?.int64 else { throw APIFault(4_000_109) }
                guard price >= 0 else { throw APIFault(4_000_086) }
                return CommerceRequest.Price(sku: item["SKU"]?.string ?? "", price: price)
            }
            try change(subscriber, newest, by: .prices(prices), at: date)
        case .changeSubscriptionMetadata:
            try change(subscriber, newest, by: Self.metadata(in: json), at: date)
        default:
            guard json["targetProductId"]?.string != nil else { throw APIFault(4_000_166) }
            guard json["taxCode"]?.string != nil else { throw APIFault(4_000_099) }
            try change(subscriber, newest, by: Self.migration(in: json), at: date)
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

    private func change(
        _ subscriber: Subscriber, _ purchase: Purchase?, by request: CommerceRequest, at date: Date
    ) throws {
        guard let purchase else { throw APIFault(4_040_010) }
        let payload = deliveryService.withOutbox { outbox in
            outbox.apply(request, to: purchase, of: subscriber.current, now: date)
        }
        guard let payload else { throw APIFault(4_000_122) }
        historyStore.note(payload)
    }

    private static func reference(in json: JSONValue) throws -> UUID {
        guard let info = json["requestInfo"] else { throw APIFault(4_000_079) }
        guard let text = info["requestReferenceId"]?.string else { throw APIFault(4_000_080) }
        guard let reference = UUID(uuidString: text) else { throw APIFault(4_000_081) }
        return reference
    }

    private static func metadata(in json: JSONValue) throws -> CommerceRequest {
        var namings: [CommerceRequest.Naming] = []
        if let descriptors = json["descriptors"], !descriptors.isNull {
            let naming = try naming(descriptors, isLater: isLater(descriptors))
            guard naming.name != nil || naming.description != nil else { throw APIFault(4_000_165) }
            namings.append(naming)
        }
        if let items = json["items"], !items.isNull {
            namings += try Self.items(json, sku: "currentSKU").map { item in
                var naming = try naming(item, isLater: isLater(item))
                (naming.sku, naming.newSKU) = (item["currentSKU"]?.string, item["SKU"]?.string)
                guard (naming.newSKU ?? "").count <= 128 else { throw APIFault(4_000_087) }
                return naming
            }
        }
        return .metadata(namings, taxCode: json["taxCode"]?.string)
    }

    private static func migration(in json: JSONValue) throws -> CommerceRequest {
        guard let descriptors = json["descriptors"], !descriptors.isNull else { throw APIFault(4_000_103) }
        var namings = [try naming(descriptors)]
        for item in try items(json) {
            var naming = try naming(item)
            naming.sku = item["SKU"]?.string
            namings.append(naming)
        }
        guard namings.allSatisfy({ $0.name != nil }) else { throw APIFault(4_000_106) }
        guard namings.allSatisfy({ $0.description != nil }) else { throw APIFault(4_000_107) }
        return .migration(namings, taxCode: json["taxCode"]?.string)
    }

    private static func naming(_ json: JSONValue, isLater: Bool = false) throws -> CommerceRequest.Naming {
        let (name, description) = (json["displayName"]?.string, json["description"]?.string)
        guard (name ?? "").count <= 30 else { throw APIFault(4_000_089) }
        guard (description ?? "").count <= 45 else { throw APIFault(4_000_088) }
        return CommerceRequest.Naming(name: name, description: description, isLater: isLater)
    }

    /// Whether a change waits for the next period.
    private static func isLater(_ json: JSONValue) throws -> Bool {
        switch json["effective"]?.string {
        case "IMMEDIATELY"?: return false
        case "NEXT_BILL_CYCLE"?: return true
        case nil: throw APIFault(4_000_111)
        case _?: throw APIFault(4_000_173)
        }
    }

    /// The amount of a custom refund, which no other has.
    private static func amount(_ item: JSONValue, _ type: String) throws -> Int64? {
        let amount = item["refundAmount"]?.int64
        guard type == "CUSTOM" else {
            guard amount == nil else { throw APIFault(4_000_155) }
            return nil
        }
        guard let amount else { throw APIFault(4_000_153) }
        guard amount >= 0 else { throw APIFault(4_000_154) }
        return amount
    }

    /// - Parameter name: of the member that names the item.
    private static func items(_ json: JSONValue, sku name: String = "SKU") throws -> [JSONValue] {
        guard let items = json["items"].flatMap({ $0.kind == .array ? $0.elements : nil }) else {
            throw APIFault(4_000_101)
        }
        guard !items.isEmpty else { throw APIFault(4_000_160) }
        for item in items {
            guard let sku = item[name]?.string, !sku.isEmpty else { throw APIFault(4_000_105) }
            guard sku.count <= 128 else { throw APIFault(4_000_087) }
        }
        guard Set(items.compactMap { $0[name]?.string }).count == items.count else { throw APIFault(4_000_194) }
        return items
    }

    private static func check(
        refundIn json: JSONValue, types: Set<String>, _ app: App
    ) throws -> (reason: String, type: String) {
        guard let reason = json["refundReason"]?.string else { throw APIFault(4_000_156) }
        guard reasons.contains(reason) else { throw APIFault(4_000_124) }
        guard reason != declined || app.environment == .sandbox else { throw APIFault(4_000_158) }
        guard let type = json["refundType"]?.string else { throw APIFault(4_000_157) }
        guard types.contains(type) else { throw APIFault(4_000_123) }
        return (reason, type)
    }

    private static func check(riskingIn json: JSONValue) throws {
        guard json["refundRiskingPreference"]?.bool != nil else { throw APIFault(4_000_159) }
    }
}

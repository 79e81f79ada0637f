import Foundation
import StrictJSON
import Synchronization

/// The API of the system that an app moves from: of each customer it says what the newest export of its shape says.
///
/// Below `/other-system/revenuecat` as https://www.revenuecat.com/docs/api-v1/customers, and below `/other-system/adapty` as
/// https://adapty.io/docs/api-adapty/operations/getProfile. Every key that begins as the system's keys do is accepted: `sk_`, `secret_`.
final class OtherSystemAPI: Sendable {
    /// The first component of the paths.
    static let root = "other-system"

    private let customers = Mutex<[ExportShape: [String: [ExportedRecord]]]>([:])

    /// Answers from this export from now on, in place of an earlier one of its shape.
    func take(_ export: CustomerExport) {
        let records = Dictionary(grouping: export.records, by: \.customerId)
        customers.withLock { $0[export.shape] = records }
    }

    /// Answers a request.
    /// - Parameter storm: a pause that is wanted before the next request; nil where there is no such fault.
    func answer(to request: APIRequest, storm: Duration?) -> APIAnswer {
        let path = Array(request.path.dropFirst())
        guard request.method == "GET", let shape = path.first.flatMap(ExportShape.init) else { return .notFound }
        if let storm {
            var answer = APIAnswer(status: 429)
            // Seconds from now, as other servers than Apple's write it.
            answer.retryAfter = Int64((storm / .seconds(1)).rounded(.up))
            return answer
        }
        switch (shape, Array(path.dropFirst())) {
        case (.revenueCat, let path) where path.count == 3 && path[0] == "v1" && path[1] == "subscribers":
            guard request.authorization?.hasPrefix("Bearer sk_") == true else { return .unauthorized }
            let records = records(of: path[2], in: shape)
            // It creates a customer whom it does not have.
            return APIAnswer(status: records.isEmpty ? 201 : 200) { $0.member(subscriber: path[2], records) }
        case (.adapty, ["api", "v2", "server-side-api", "profile"]):
            guard request.authorization?.hasPrefix("Api-Key secret_") == true else { return .unauthorized }
            let id = request.customerUserId ?? ""
            let records = records(of: id, in: shape)
            guard !records.isEmpty else {
                return APIAnswer(status: 404) { $0.member("error_code", "profile_does_not_exist") }
            }
            return APIAnswer { $0.member(profile: id, records) }
        default: return .notFound
        }
    }

    private func records(of customer: String, in shape: ExportShape) -> [ExportedRecord] {
        customers.withLock { $0[shape]?[customer] ?? [] }
    }
}

extension ExportedRecord {
    fileprivate static func time(_ date: Date?) -> String? { date.map { $0.formatted(.iso8601) } }

    /// The newest record of each product; the API says nothing of the periods before.
    fileprivate static func newest(_ records: [ExportedRecord]) -> [ExportedRecord] {
        Dictionary(grouping: records, by: \.productId).values.compactMap { records in
            records.max { $0.start < $1.start }
        }.sorted { $0.productId < $1.productId }
    }

    /// The end of what was paid: what a grace period adds is said beside it.
    fileprivate var paidEnd: Date? { graceEnd == nil ? effectiveEnd : end }
}

extension JSONWriter {
    /// RevenueCat's answer.
    fileprivate mutating func member(subscriber id: String, _ records: [ExportedRecord]) {
        let newest = ExportedRecord.newest(records)
        beginObject("subscriber")
        member("original_app_user_id", id)
        beginObject("subscriptions")
        for record in newest where record.isSubscription {
            beginObject(record.productId)
            member("purchase_date", ExportedRecord.time(record.start))
            let first = records.filter { $0.productId == record.productId }.map(\.start).min()
            member("original_purchase_date", ExportedRecord.time(first))
            member("expires_date", ExportedRecord.time(record.paidEnd))
            member("grace_period_expires_date", ExportedRecord.time(record.graceEnd))
            member("ownership_type", record.isFamilyShared ? "FAMILY_SHARED" : "PURCHASED")
            members(ofPurchase: record)
            endObject()
        }
        endObject()
        beginObject("non_subscriptions")
        let others = Dictionary(grouping: records.filter { !$0.isSubscription }, by: \.productId)
        for (product, records) in others.sorted(by: { $0.key < $1.key }) {
            beginArray(product)
            for record in records {
                beginObject()
                member("purchase_date", ExportedRecord.time(record.start))
                members(ofPurchase: record)
                endObject()
            }
            endArray()
        }
        endObject()
        beginObject("entitlements")
        for record in newest where record.givesAccess {
            beginObject(record.productId)
            member("product_identifier", record.productId)
            member("purchase_date", ExportedRecord.time(record.start))
            member("expires_date", ExportedRecord.time(record.paidEnd))
            member("grace_period_expires_date", ExportedRecord.time(record.graceEnd))
            endObject()
        }
        endObject()
        // Attributes are whatever apps set, and are in such answers: a reader must not keep them.
        beginObject("subscriber_attributes")
        beginObject("$email")
        member("value", "one@example.com")
        endObject()
        endObject()
        endObject()
    }

    private mutating func members(ofPurchase record: ExportedRecord) {
        switch record.store {
        case .appStore: member("store", "app_store")
        case .playStore: member("store", "play_store")
        case .byHand: member("store", "promotional")
        }
        member("is_sandbox", record.isSandbox)
        member("store_transaction_id", record.transactionId)
        member("refunded_at", ExportedRecord.time(record.refundedAt))
    }

    /// Adapty's answer.
    fileprivate mutating func member(profile id: String, _ records: [ExportedRecord]) {
        beginObject("data")
        member("profile_id", "profile-of-\(id)")
        member("customer_user_id", id)
        member("email", "one@example.com")
        beginArray("access_levels")
        for record in ExportedRecord.newest(records) where record.givesAccess {
            beginObject()
            member("access_level_id", record.productId)
            member("store_original_transaction_id", record.originalTransactionId)
            member("expires_at", ExportedRecord.time(record.effectiveEnd))
            endObject()
        }
        endArray()
        beginArray("subscriptions")
        // One of each purchase, whatever its products were.
        let purchases = Dictionary(grouping: records.filter(\.isSubscription)) { $0.originalTransactionId ?? "" }
        for record in purchases.values.compactMap({ records in records.max { $0.start < $1.start } }) {
            beginObject()
            members(ofProfile: record)
            member("expires_at", ExportedRecord.time(record.paidEnd))
            member("is_in_grace_period", record.graceEnd != nil)
            member("renewal_cancelled_at", ExportedRecord.time(record.refundedAt))
            let reason: String? = record.refundedAt == nil ? nil : "refund"
            member("cancellation_reason", reason)
            endObject()
        }
        endArray()
        beginArray("non_subscriptions")
        for record in records where !record.isSubscription {
            beginObject()
            members(ofProfile: record)
            member("is_refund", record.refundedAt != nil)
            member("is_consumable", !record.givesAccess)
            endObject()
        }
        endArray()
        endObject()
    }

    private mutating func members(ofProfile record: ExportedRecord) {
        member("store", record.store == .playStore ? "play_store" : "app_store")
        member("store_product_id", record.productId)
        member("store_transaction_id", record.transactionId)
        member("store_original_transaction_id", record.originalTransactionId)
        member("environment", record.isSandbox ? "Sandbox" : "Production")
        member("purchased_at", ExportedRecord.time(record.start))
    }
}

import Contracts
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// The newest request for a refund of one transaction and the newest outcome, each by Apple's clock: what the ledger says about
/// refunds of it.
struct RefundFacts: Sendable {
    var key: SubscriptionKey
    var bundleId: String
    var transactionId: String
    /// The version of the newest CONSUMPTION_REQUEST.
    var request: EventVersion?
    /// Its `consumptionRequestReason`.
    var reason: String?
    /// What Apple decided last.
    var outcome: (status: RefundRequest.Status, version: EventVersion)?

    static let columns: [Column<RefundFacts>] = [
        Column("environment", \.key.environment),
        Column("transaction_id", \.transactionId),
        Column("original_transaction_id", \.key.originalTransactionId),
        Column("bundle_id", \.bundleId),
        Column("requested_at", as: Date.self, get: { $0.request?.signedDate }, set: { _, _ in }),
        Column("request_uuid", as: UUID.self, get: { $0.request?.notificationUUID }, set: { _, _ in }),
        Column("reason", \.reason),
        Column("outcome", as: String.self, get: { $0.outcome?.status.rawValue }, set: { _, _ in }),
        Column("outcome_at", as: Date.self, get: { $0.outcome?.version.signedDate }, set: { _, _ in }),
        Column("outcome_uuid", as: UUID.self, get: { $0.outcome?.version.notificationUUID }, set: { _, _ in }),
    ]

    /// What some events say, one value for each transaction.
    static func newest(in events: some Sequence<PurchaseEvent>) -> [RefundFacts] {
        var newest: [StoreEnvironment: [String: RefundFacts]] = [:]
        for event in events {
            guard let refund = RefundRequest(event) else { continue }
            let facts = RefundFacts(event, refund)
            let known = newest[event.key.environment]?[refund.transactionId]
            newest[event.key.environment, default: [:]][refund.transactionId] = known?.joining(facts) ?? facts
        }
        return newest.values.flatMap(\.values)
    }

    private init(_ event: PurchaseEvent, _ refund: RefundRequest) {
        key = event.key
        bundleId = event.bundleId
        transactionId = refund.transactionId
        if refund.status == .requested {
            request = refund.version
            reason = event.consumptionRequestReason
        } else {
            outcome = (refund.status, refund.version)
        }
    }

    /// The newest of both. Purchase and app are those of the newest request, or where there is none of the newest outcome, so that
    /// the order does not matter.
    private func joining(_ other: RefundFacts) -> RefundFacts {
        let isOtherRequestNewer = other.request.map { new in request.map { $0 < new } ?? true } ?? false
        let isOtherOutcomeNewer =
            other.outcome.map { new in outcome.map { $0.version < new.version } ?? true } ?? false
        let takesOther = isOtherRequestNewer || (request == nil && other.request == nil && isOtherOutcomeNewer)
        var joined = takesOther ? other : self
        joined.request = isOtherRequestNewer ? other.request : request
        joined.reason = isOtherRequestNewer ? other.reason : reason
        joined.outcome = isOtherOutcomeNewer ? other.outcome : outcome
        return joined
    }
}

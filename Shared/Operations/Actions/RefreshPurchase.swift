import Postgres
import Storage
import Subscriptions

import struct Foundation.UUID

/// Asks recovery for the whole history of a purchase's customer.
package struct RefreshPurchase: Sendable {
    package static let name = "refresh"

    private let subscription: Subscription

    package init(_ subscription: Subscription) { self.subscription = subscription }

    package var plan: OperationPlan {
        let id = subscription.key.originalTransactionId
        return OperationPlan(
            Self.name, on: "purchase \(id)",
            about: OperatorAction.About(subscription.key.environment, subscription.bundleId),
            ["Apple would be asked for the whole history of the customer of purchase \(id)."])
    }

    /// - Parameters:
    ///   - id: of a new request.
    ///   - storing: further statements of the transaction that adds a new request.
    /// - Returns: the new request, or a recent one.
    @discardableResult
    package func perform(
        on connection: PostgresConnection, id: UUID, by performer: Performer,
        storing: @escaping @Sendable (RefreshStore.Refresh) -> [Command] = { _ in [] }
    ) async throws -> RefreshStore.Refresh {
        try await RefreshStore(connection).request(
            subscription.key, of: subscription.bundleId, id: id, at: performer.now, audit: plan.action(of: performer),
            storing: storing)
    }
}

import Postgres
import Storage
import WebhookDelivery

import struct Foundation.UUID

/// Sends changes, or Apple's notifications, to an endpoint again, under their ids. Counted first.
package struct ReplayWebhooks: Sendable {
    /// As in the audit log.
    package static let name = "webhooks replay"

    let endpoint: WebhookEndpoint
    let selection: WebhookReplayStore.Selection
    /// How many changes would be sent.
    package let count: Int
    private let most: Int?

    /// - Parameter most: refuses more changes, and any while an earlier replay to the endpoint is unfinished; nil has no limit.
    /// - Throws: `OperationError` where there is no such endpoint, where a filter is not accepted, and where there are more changes.
    package init(
        _ selection: WebhookReplayStore.Selection, to id: UUID, most: Int? = nil, on connection: PostgresConnection
    ) async throws {
        endpoint = try await ChangeWebhook.find(id, on: connection).endpoint
        if case .time(_, let filter) = selection { try filter.check(for: endpoint.kind) }
        self.selection = selection
        self.most = most
        count = try await WebhookReplayStore(connection).count(
            selection, to: id, endpoint.kind, most: most.map { $0 + 1 })
        if let most, count > most {
            throw OperationError(
                "more than \(most) changes would be sent; name a shorter time, or run `storekeeper webhooks replay`, which "
                    + "has no limit")
        }
    }

    /// Of the endpoint.
    package var kind: WebhookEndpoint.Kind { endpoint.kind }

    package var plan: OperationPlan {
        OperationPlan(
            Self.name, on: WebhookSubject.text(endpoint.id), about: nil,
            [
                "\(count.counted(endpoint.kind == .apple ? "notification" : "change")) would be sent to \(endpoint.url) again, under the same ids."
            ],
            isEffective: count > 0,
            doubt: count > 0 ? "The receiver gets events that it may have processed; it skips them by their ids." : nil)
    }

    /// - Parameter storing: further statements of the transaction that enqueues as many.
    /// - Returns: how many were enqueued.
    /// - Throws: `OperationError` where an earlier replay has to end first.
    package func perform(
        on connection: PostgresConnection, by performer: Performer,
        storing: @escaping @Sendable (Int) -> [Command] = { _ in [] }
    ) async throws -> Int {
        do {
            return try await WebhookReplayStore(connection).replay(
                selection, to: endpoint.id, endpoint.kind, at: performer.now, most: most,
                audit: plan.action(of: performer), storing: storing)
        } catch is WebhookReplayStore.Unfinished {
            throw OperationError(
                "an earlier replay to the endpoint has changes that wait; send this one when they are delivered, or run "
                    + "`storekeeper webhooks replay`, which does not wait")
        }
    }
}

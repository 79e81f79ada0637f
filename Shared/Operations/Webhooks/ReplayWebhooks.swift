import Postgres
import Storage
import WebhookDelivery

import struct Foundation.UUID

/// Sends changes to an endpoint again, under their ids. Counted first.
package struct ReplayWebhooks: Sendable {
    /// As in the audit log.
    package static let name = "webhooks replay"

    let endpoint: WebhookEndpoint
    let selection: WebhookReplayStore.Selection
    /// How many changes would be sent.
    package let count: Int

    /// - Throws: `OperationError` where there is no such endpoint.
    package init(
        _ selection: WebhookReplayStore.Selection, to id: UUID, on connection: PostgresConnection
    ) async throws {
        endpoint = try await ChangeWebhook.find(id, on: connection).endpoint
        self.selection = selection
        count = try await WebhookReplayStore(connection).count(selection, to: id)
    }

    package var plan: OperationPlan {
        OperationPlan(
            Self.name, on: WebhookSubject.text(endpoint.id), about: nil,
            ["\(count.counted("change")) would be sent to \(endpoint.url) again, under the same ids."],
            isEffective: count > 0,
            doubt: count > 0 ? "The receiver gets events that it may have processed; it skips them by their ids." : nil)
    }

    /// - Returns: how many were enqueued.
    package func perform(on connection: PostgresConnection, by performer: Performer) async throws -> Int {
        try await WebhookReplayStore(connection).replay(
            selection, to: endpoint.id, at: performer.now, audit: plan.action(of: performer))
    }
}

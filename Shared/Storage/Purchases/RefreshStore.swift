import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// Requests to refresh a purchase from Apple, and their outcomes.
///
/// They are processed like the recovery requests of gaps: the state-updater publishes them, recovery fetches the history from
/// Apple and sends missing notifications through the pipeline.
package struct RefreshStore: Sendable {
    /// One request, with its outcome once there is one.
    package struct Refresh: Sendable, Equatable {
        package var id: UUID
        package var requestedAt: Date
        package var answeredAt: Date?
        /// `answered`, or the reason why Apple has not answered.
        package var outcome: String?
        /// The reason in one sentence; nil where Apple answered.
        package var message: String?
    }

    /// The reason of these requests; the reasons of others are kinds of gaps.
    package static let reason = "refresh"
    /// Seconds within which a second request returns the first one, because Apple's limits count all purchases of an app.
    package static let interval: Double = 60

    private let connection: PostgresConnection

    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// - Parameters:
    ///   - id: the id of a new request.
    ///   - storing: further statements of the transaction that adds a new request.
    /// - Returns: the new request, or the recent one. Only a new one has a row in the audit log.
    package func request(
        _ key: SubscriptionKey, of bundleId: String, id: UUID, at now: Date, audit: OperatorAction,
        storing: @escaping @Sendable (Refresh) -> [Command] = { _ in [] }
    ) async throws -> Refresh {
        let new = Refresh(id: id, requestedAt: now)
        let isAdded = try await connection.transaction { transaction in
            let request = Self.command(requesting: key, of: bundleId, id: id, at: now)
            guard try transaction.pipeline([request])[0].affected > 0 else { return false }
            try transaction.commit(after: [OperatorActionStore.command(recording: [audit])] + storing(new))
            return true
        }
        if !isAdded, let last = try await last(of: key) { return last }
        return new
    }

    private static func command(requesting key: SubscriptionKey, of bundleId: String, id: UUID, at now: Date) -> Command
    {
        Command(
            insert, id, key.environment.rawValue, key.originalTransactionId, bundleId, now,
            now.addingTimeInterval(-interval))
    }

    /// The last request for a purchase; nil where there was none.
    package func last(of key: SubscriptionKey) async throws -> Refresh? {
        try await connection.execute(Self.last, key.environment.rawValue, key.originalTransactionId).first.map { row in
            Refresh(
                id: try row.value("before_uuid"), requestedAt: try row.value("requested_at"),
                answeredAt: try row.optional("answered_at"), outcome: try row.optional("outcome"),
                message: try row.optional("message"))
        }
    }

    static let statements = [insert, last]

    private static let insert = Statement(
        "refresh-insert",
        unsafeSQL: """
            insert into recovery_request (
                requested_at, environment, original_transaction_id, bundle_id, reason, before_uuid, to_at)
            select $5::timestamptz, $2::text::store_environment, $3::text, $4::text, '\(reason)', $1::uuid, $5::timestamptz
            where not exists (
                select
                from recovery_request
                where environment = $2::text::store_environment and original_transaction_id = $3::text
                    and reason = '\(reason)' and requested_at > $6::timestamptz)
            """)

    private static let last = Statement(
        "refresh-last",
        unsafeSQL: """
            select request.before_uuid, request.requested_at, answer.answered_at, answer.outcome, answer.message
            from recovery_request request
            left join recovery_answer answer using (environment, original_transaction_id, before_uuid)
            where request.environment = $1::text::store_environment and request.original_transaction_id = $2::text
                and request.reason = '\(reason)'
            order by request.requested_at desc, request.id desc
            limit 1
            """)
}

import Contracts
import Postgres

import struct Foundation.Date
import struct Foundation.UUID

/// One attempt of Apple's to send a notification. The uuid is an unverified field of the payload.
///
/// [sendAttemptItem](https://developer.apple.com/documentation/appstoreserverapi/sendattemptitem)
public struct RecordedAttempt: Sendable, Hashable {
    /// The uuid of the notification.
    public var notificationUUID: UUID
    /// Production or Sandbox.
    public var environment: StoreEnvironment
    /// The app's bundle identifier.
    public var bundleId: String
    /// Apple's `attemptDate`.
    public var attemptedAt: Date
    /// Apple's `sendAttemptResult`, raw.
    public var result: String

    package init(
        notificationUUID: UUID, environment: StoreEnvironment, bundleId: String, attemptedAt: Date, result: String
    ) {
        self.notificationUUID = notificationUUID
        self.environment = environment
        self.bundleId = bundleId
        self.attemptedAt = attemptedAt
        self.result = result
    }
}

/// Apple's send attempts of notifications that it did not deliver at once or that the ledger lacked: they show why Apple could
/// not reach ingest. Written with the items of a window.
public struct SendAttemptStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// The attempts to send one notification, in Apple's order.
    public func attempts(at uuid: UUID) async throws -> [RecordedAttempt] {
        try await connection.execute(Self.find, uuid).map { row in
            RecordedAttempt(
                notificationUUID: uuid, environment: try SubscriptionStore.environment(row),
                bundleId: try row.value("bundle_id"), attemptedAt: try row.value("attempted_at"),
                result: try row.value("result"))
        }
    }

    /// A bar of the histogram.
    public struct Bar: Sendable, Hashable {
        /// Production or Sandbox.
        public var environment: StoreEnvironment
        /// The app's bundle identifier.
        public var bundleId: String
        /// Apple's `sendAttemptResult`, raw.
        public var result: String
        /// Number of attempts.
        public var attempts: Int64
    }

    /// The results of Apple's attempts within a time, most frequent first.
    public func histogram(from: Date, to: Date) async throws -> [Bar] {
        try await connection.execute(Self.histogram, from, to).map { row in
            Bar(
                environment: try SubscriptionStore.environment(row), bundleId: try row.value("bundle_id"),
                result: try row.value("result"), attempts: try row.value("attempts"))
        }
    }

    /// Deletes attempts before a time.
    /// - Returns: number of rows.
    public func delete(attemptedBefore time: Date) async throws -> Int {
        try await deletingInPortions { try await connection.execute(Self.delete, time, $0).affected }
    }

    static let statements = [insert, find, histogram, delete]

    static func inserting(_ attempts: [RecordedAttempt]) -> Command {
        Command(
            insert, attempts.map(\.notificationUUID), attempts.map(\.environment.rawValue), attempts.map(\.bundleId),
            attempts.map(\.attemptedAt), attempts.map(\.result))
    }

    /// Apple lists an attempt after it ended, so the first stored result is final.
    static let insert = Statement(
        "send-attempt-insert",
        """
        insert into send_attempt (notification_uuid, environment, bundle_id, attempted_at, result)
        select notification_uuid, environment::store_environment, bundle_id, attempted_at, result
        from unnest($1::uuid[], $2::text[], $3::text[], $4::timestamptz[], $5::text[])
            as given (notification_uuid, environment, bundle_id, attempted_at, result)
        order by notification_uuid, attempted_at
        on conflict (notification_uuid, attempted_at) do nothing
        """)

    static let find = Statement(
        "send-attempt-find",
        """
        select environment::text as environment, bundle_id, attempted_at, result
        from send_attempt
        where notification_uuid = $1::uuid
        order by attempted_at
        """)

    static let histogram = Statement(
        "send-attempt-histogram",
        """
        select environment::text as environment, bundle_id, result, count(*) as attempts
        from send_attempt
        where attempted_at >= $1::timestamptz and attempted_at < $2::timestamptz
        group by 1, 2, 3
        order by attempts desc, 1, 2, 3
        """)

    static let delete = Statement(
        "send-attempt-delete",
        """
        delete from send_attempt
        where ctid = any (array(
                select ctid
                from send_attempt
                where attempted_at < $1::timestamptz
                order by attempted_at
                limit $2::bigint))
            and attempted_at < $1::timestamptz
        """)
}

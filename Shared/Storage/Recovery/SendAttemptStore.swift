import Contracts
import Postgres

import struct Foundation.Date
import struct Foundation.UUID

/// One attempt of Apple's to reach us. The uuid is the payload's claim.
public struct RecordedAttempt: Sendable, Hashable {
    /// Which notification.
    public var notificationUUID: UUID
    /// Production or Sandbox.
    public var environment: StoreEnvironment
    /// The app.
    public var bundleId: String
    /// By Apple's clock.
    public var attemptedAt: Date
    /// Apple's word, raw.
    public var result: String

    /// All fields.
    public init(
        notificationUUID: UUID, environment: StoreEnvironment, bundleId: String, attemptedAt: Date, result: String
    ) {
        self.notificationUUID = notificationUUID
        self.environment = environment
        self.bundleId = bundleId
        self.attemptedAt = attemptedAt
        self.result = result
    }
}

/// Why we were not reached: Apple's attempts, of notifications it did not deliver at once or that we lacked. Written with
/// the items of a window.
public struct SendAttemptStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// The attempts at one notification, in Apple's order.
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
        /// The app.
        public var bundleId: String
        /// Apple's word.
        public var result: String
        /// How often.
        public var attempts: Int64
    }

    /// How Apple's attempts within a time ended, most frequent first.
    public func histogram(from: Date, to: Date) async throws -> [Bar] {
        try await connection.execute(Self.histogram, from, to).map { row in
            Bar(
                environment: try SubscriptionStore.environment(row), bundleId: try row.value("bundle_id"),
                result: try row.value("result"), attempts: try row.value("attempts"))
        }
    }

    /// Forgets attempts before a time.
    /// - Returns: how many.
    public func forget(attemptedBefore time: Date) async throws -> Int {
        try await repeating { try await connection.execute(Self.forget, time).affected }
    }

    static let statements = [insert, find, histogram, forget]

    static func inserting(_ attempts: [RecordedAttempt]) -> Command {
        Command(
            insert, attempts.map(\.notificationUUID), attempts.map(\.environment.rawValue), attempts.map(\.bundleId),
            attempts.map(\.attemptedAt), attempts.map(\.result))
    }

    /// An attempt has ended when Apple lists it, so the first word stays.
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

    static let forget = Statement(
        "send-attempt-forget", "delete from send_attempt where attempted_at < $1::timestamptz")
}

import Contracts
import Postgres

import struct Foundation.Date
import struct Foundation.UUID

/// Requested test notifications and their outcomes.
public struct CanaryStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// Stores a requested test notification.
    public func add(_ canary: Canary) async throws {
        _ = try await repeating {
            try await connection.execute(
                Self.insert, canary.environment.rawValue, canary.bundleId, canary.token, canary.requestedAt)
        }
    }

    /// The pending ones, oldest first, each with its arrival in the ledger.
    public func waiting(limit: Int = 100) async throws -> [Canary] {
        try await connection.execute(Self.waiting, Int64(limit)).map { row in try Self.canary(row) }
    }

    /// Stores the status of a test notification; an outcome settles it.
    public func update(_ canary: Canary, at time: Date) async throws {
        _ = try await repeating {
            try await connection.execute(
                Self.update, canary.environment.rawValue, canary.bundleId, canary.token, canary.notificationUUID,
                canary.attemptedAt, canary.attemptResult, canary.arrivedAt, canary.outcome?.rawValue,
                canary.outcome == nil ? nil : time)
        }
    }

    /// Deletes a pending test notification whose outcome would say nothing.
    public func withdraw(_ canary: Canary) async throws {
        _ = try await repeating {
            try await connection.execute(Self.withdraw, canary.environment.rawValue, canary.bundleId, canary.token)
        }
    }

    /// When a notification was recorded in the ledger; nil where the ledger lacks it.
    public func arrival(of uuid: UUID) async throws -> Date? {
        try await connection.execute(Self.arrival, uuid).first?.value(at: 0)
    }

    /// The latest test notifications, newest first.
    public func newest(_ limit: Int) async throws -> [Canary] {
        try await connection.execute(Self.newest, Int64(limit)).map { row in try Self.canary(row) }
    }

    /// The latest test notification of each app and environment. Of those of two days, or of the latest hundred where these are
    /// more: what is older would speak for ever of an app that is no longer configured.
    public func newestOfEachApp(at now: Date) async throws -> [Canary] {
        try await connection.execute(Self.newestOfEachApp, now).map { row in try Self.canary(row) }
    }

    /// When a test notification was last requested until a time; nil where it never was.
    public func lastRequested(
        _ environment: StoreEnvironment, _ bundleId: String, until time: Date
    ) async throws -> Date? {
        try await connection.execute(Self.lastRequested, environment.rawValue, bundleId, time).first?.optional(at: 0)
    }

    /// Deletes test notifications requested before a time.
    /// - Returns: number of rows.
    public func delete(requestedBefore time: Date) async throws -> Int {
        try await deletingInPortions { try await connection.execute(Self.delete, time, $0).affected }
    }

    private static func canary(_ row: Row) throws -> Canary {
        var canary = Canary(
            environment: try SubscriptionStore.environment(row), bundleId: try row.value("bundle_id"),
            token: try row.value("token"), requestedAt: try row.value("requested_at"))
        canary.notificationUUID = try row.optional("notification_uuid")
        canary.attemptedAt = try row.optional("attempted_at")
        canary.attemptResult = try row.optional("attempt_result")
        canary.arrivedAt = try row.optional("arrived_at")
        if let word: String = try row.optional("outcome") {
            guard let outcome = Canary.Outcome(rawValue: word) else { throw UnknownWindowWord(word: word) }
            canary.outcome = outcome
        }
        return canary
    }

    static let statements = [
        insert, waiting, update, withdraw, arrival, newest, newestOfEachApp, lastRequested, delete,
    ]

    static let insert = Statement(
        "canary-insert",
        """
        insert into canary (environment, bundle_id, token, requested_at)
        values ($1::text::store_environment, $2::text, $3::text, $4::timestamptz)
        on conflict do nothing
        """)

    static let waiting = Statement(
        "canary-waiting",
        """
        select environment::text as environment, bundle_id, token, requested_at, notification_uuid, attempted_at,
            attempt_result, arrived_at, outcome
        from canary
        where settled_at is null
        order by requested_at
        limit $1::bigint
        """)

    static let update = Statement(
        "canary-update",
        """
        update canary
        set notification_uuid = $4::uuid, attempted_at = $5::timestamptz, attempt_result = $6::text,
            arrived_at = $7::timestamptz, outcome = $8::text, settled_at = $9::timestamptz
        where environment = $1::text::store_environment and bundle_id = $2::text and token = $3::text
            and settled_at is null
        """)

    static let withdraw = Statement(
        "canary-withdraw",
        """
        delete from canary
        where environment = $1::text::store_environment and bundle_id = $2::text and token = $3::text
            and settled_at is null
        """)

    static let arrival = Statement(
        "canary-arrival", "select recorded_at from notification where notification_uuid = $1::uuid")

    static let newest = Statement(
        "canary-newest",
        """
        select environment::text as environment, bundle_id, token, requested_at, notification_uuid, attempted_at,
            attempt_result, arrived_at, outcome
        from canary
        order by requested_at desc
        limit $1::bigint
        """)

    static let newestOfEachApp = Statement(
        "canary-newest-of-each-app",
        """
        select distinct on (latest.environment, bundle_id) latest.environment::text as environment, bundle_id, token,
            requested_at, notification_uuid, attempted_at, attempt_result, arrived_at, outcome
        from (
            select *
            from canary
            order by requested_at desc
            limit greatest(
                100, (select count(*) from canary where requested_at > $1::timestamptz - interval '2 days'))
        ) as latest
        order by latest.environment, bundle_id, requested_at desc
        """)

    static let lastRequested = Statement(
        "canary-last-requested",
        """
        select max(requested_at)
        from canary
        where environment = $1::text::store_environment and bundle_id = $2::text and requested_at <= $3::timestamptz
        """)

    static let delete = Statement(
        "canary-delete",
        """
        delete from canary
        where ctid = any (array(
                select ctid from canary where requested_at < $1::timestamptz order by requested_at limit $2::bigint))
            and requested_at < $1::timestamptz
        """)
}

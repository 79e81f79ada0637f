import Contracts
import Postgres

import struct Foundation.Date
import struct Foundation.UUID

/// A request for one customer's history that Apple has not answered yet.
public struct PostponedRequest: Sendable {
    /// The request as read from Kafka.
    public var request: RecoveryRequest
    /// The minimum pause before the next attempt; each further failure doubles the last pause, up to five minutes.
    public var pause: Duration
    /// Why Apple has not answered, in one sentence.
    public var reason: String
    /// When the request was postponed.
    public var postponedAt: Date

    package init(request: RecoveryRequest, pause: Duration, reason: String, postponedAt: Date) {
        self.request = request
        self.pause = pause
        self.reason = reason
        self.postponedAt = postponedAt
    }
}

/// Requests for single customers that wait in the database and not in Kafka, so that an app whose key Apple refuses delays no
/// other app. ``RecoveryAnswerStore`` writes them with the answers.
public struct PostponedRequestStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// Claims the requests that are due, to be published to Kafka again; any number of processes may call it at once.
    ///
    /// The rows stay: a request without an answer, because its process was killed, is claimed again.
    /// - Parameter seconds: the time after which a claimed request is due again.
    public func take(limit: Int, seconds: Int64) async throws -> [RecoveryRequest] {
        try await repeating { try await connection.execute(Self.take, Int64(limit), seconds) }.map { row in
            try RecoveryRequest(row)
        }
    }

    /// Makes claimed requests due again at once, because they were not published.
    public func release(_ requests: [RecoveryRequest]) async throws {
        _ = try await repeating {
            try await connection.execute(
                Self.release, requests.map(\.environment.rawValue), requests.map(\.originalTransactionId),
                requests.map(\.before))
        }
    }

    /// The postponed requests of an app in an environment.
    public struct Waiting: Sendable, Hashable {
        /// Production or Sandbox.
        public var environment: StoreEnvironment
        /// The app's bundle identifier.
        public var bundleId: String
        /// Number of requests.
        public var requests: Int64
        /// The earliest time at which one of them was first postponed.
        public var since: Date
        /// Why the latest of them was postponed.
        public var lastError: String
    }

    /// The postponed requests by app and environment, those that wait longest first.
    public func waiting() async throws -> [Waiting] {
        try await connection.execute(Self.waiting).map { row in
            Waiting(
                environment: try SubscriptionStore.environment(row), bundleId: try row.value("bundle_id"),
                requests: try row.value("requests"), since: try row.value("since"),
                lastError: try row.value("last_error"))
        }
    }

    static let statements = [answered, postpone, take, release, waiting]

    static func answering(_ answers: [RecoveryAnswer]) -> Command {
        Command(
            answered, answers.map(\.key.environment.rawValue), answers.map(\.key.originalTransactionId),
            answers.map(\.before))
    }

    static func postponing(_ postponed: [PostponedRequest]) -> Command {
        let requests = postponed.map(\.request)
        return Command(
            postpone, requests.map(\.environment.rawValue), requests.map(\.originalTransactionId),
            requests.map(\.bundleId), requests.map(\.before), requests.map { $0.skipped.joined(separator: ",") },
            requests.map(\.from), requests.map(\.to), requests.map(\.requestedAt), postponed.map(\.postponedAt),
            postponed.map { $0.pause.components.seconds }, postponed.map(\.reason))
    }

    static let answered = Statement(
        "postponed-request-answered",
        """
        delete from postponed_request
        using unnest($1::text[], $2::text[], $3::uuid[]) as given (environment, original_transaction_id, before_uuid)
        where postponed_request.environment = given.environment::store_environment
            and postponed_request.original_transaction_id = given.original_transaction_id
            and postponed_request.before_uuid = given.before_uuid
        """)

    static let postpone = Statement(
        "postponed-request-postpone",
        """
        insert into postponed_request as held (
            environment, original_transaction_id, bundle_id, before_uuid, reason, from_at, to_at, requested_at,
            postponed_at, not_before, failures, last_error)
        select distinct on (environment, original_transaction_id, before_uuid) environment::store_environment,
            original_transaction_id, bundle_id, before_uuid, reason, from_at, to_at, requested_at, postponed_at,
            statement_timestamp() + pause * interval '1 second', 1, last_error
        from unnest(
            $1::text[], $2::text[], $3::text[], $4::uuid[], $5::text[], $6::timestamptz[], $7::timestamptz[],
            $8::timestamptz[], $9::timestamptz[], $10::bigint[], $11::text[]
        ) as given (
            environment, original_transaction_id, bundle_id, before_uuid, reason, from_at, to_at, requested_at,
            postponed_at, pause, last_error)
        order by environment, original_transaction_id, before_uuid
        on conflict (environment, original_transaction_id, before_uuid) do update
        set not_before = greatest(
                excluded.not_before,
                statement_timestamp() + least(300, power(2, least(held.failures, 9))) * interval '1 second'),
            failures = held.failures + 1, last_error = excluded.last_error
        """)

    /// A time that is further ahead than any pause is from before the database's clock was set back.
    static let take = Statement(
        "postponed-request-take",
        """
        with due as (
            select environment, original_transaction_id, before_uuid
            from postponed_request
            where not_before <= statement_timestamp() or not_before > statement_timestamp() + interval '2 hours'
            order by not_before
            limit $1::bigint
            for update skip locked
        )
        update postponed_request
        set not_before = statement_timestamp() + $2::bigint * interval '1 second'
        from due
        where postponed_request.environment = due.environment
            and postponed_request.original_transaction_id = due.original_transaction_id
            and postponed_request.before_uuid = due.before_uuid
        returning postponed_request.environment::text as environment, postponed_request.original_transaction_id,
            bundle_id, reason, postponed_request.before_uuid, from_at, to_at, requested_at
        """)

    static let release = Statement(
        "postponed-request-release",
        """
        update postponed_request
        set not_before = statement_timestamp()
        from unnest($1::text[], $2::text[], $3::uuid[]) as given (environment, original_transaction_id, before_uuid)
        where postponed_request.environment = given.environment::store_environment
            and postponed_request.original_transaction_id = given.original_transaction_id
            and postponed_request.before_uuid = given.before_uuid
        """)

    static let waiting = Statement(
        "postponed-request-waiting",
        """
        select environment::text as environment, bundle_id, count(*) as requests, min(postponed_at) as since,
            (array_agg(last_error order by not_before desc))[1] as last_error
        from postponed_request
        group by 1, 2
        order by since
        """)
}

extension RecoveryRequest {
    /// A request from a row of either table that stores requests.
    init(_ row: Row) throws {
        let reason: String = try row.value("reason")
        self.init(
            environment: try SubscriptionStore.environment(row),
            originalTransactionId: try row.value("original_transaction_id"), bundleId: try row.value("bundle_id"),
            skipped: reason.split(separator: ",").map(String.init), before: try row.value("before_uuid"),
            from: try row.optional("from_at"), to: try row.value("to_at"), requestedAt: try row.value("requested_at"))
    }
}

import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// The outcome of a request for one customer's history.
public struct RecoveryAnswer: Sendable, Hashable {
    /// The purchase in the request.
    public var key: SubscriptionKey
    /// The app's bundle identifier.
    public var bundleId: String
    /// The notification after the gap, which identifies the request.
    public var before: UUID
    /// `answered`, or why there is no answer.
    public var outcome: String
    /// Why there is no answer, in one sentence; nil where there is one.
    public var message: String?
    /// Number of notifications that Apple listed.
    public var notifications: Int64
    /// Number of them that the ledger lacked.
    public var missing: Int64
    /// Number of transactions and renewal infos with new facts.
    public var signedObjects: Int64
    /// Apple's revision, from which the next request continues; nil where there is none.
    public var revision: String?
    /// When Apple answered, or the request failed.
    public var answeredAt: Date

    package init(
        key: SubscriptionKey, bundleId: String, before: UUID, outcome: String, message: String? = nil,
        notifications: Int64 = 0, missing: Int64 = 0, signedObjects: Int64 = 0, revision: String? = nil,
        answeredAt: Date
    ) {
        self.key = key
        self.bundleId = bundleId
        self.before = before
        self.outcome = outcome
        self.message = message
        self.notifications = notifications
        self.missing = missing
        self.signedObjects = signedObjects
        self.revision = revision
        self.answeredAt = answeredAt
    }
}

/// The answers of Apple about single customers, and the revision up to which each history was read.
public struct RecoveryAnswerStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// The revision from which the next request for a purchase's transaction history continues; nil for the first request.
    public func revision(of key: SubscriptionKey) async throws -> String? {
        try await connection.execute(Self.revision, key.environment.rawValue, key.originalTransactionId)
            .first?.value(at: 0)
    }

    /// Stores answers with the revisions, Apple's send attempts and the postponed requests, in one transaction. Call it after
    /// the missing notifications were published to Kafka. Idempotent.
    public func record(
        _ answers: [RecoveryAnswer], attempts: [RecordedAttempt], postponed: [PostponedRequest] = []
    ) async throws {
        // The last revision of each purchase, from its last request.
        let last = Dictionary(
            answers.filter { $0.revision != nil }.map { ($0.key, $0) }, uniquingKeysWith: { $1 }
        ).values.sorted { $0.key < $1.key }
        let named = Dictionary(answers.map { (Name(key: $0.key, before: $0.before), $0) }, uniquingKeysWith: { $1 })
            .values.sorted { ($0.key, $0.before.uuidString) < ($1.key, $1.before.uuidString) }
        let writing = [
            Command(
                Self.keepRevision, last.map(\.key.environment.rawValue), last.map(\.key.originalTransactionId),
                last.map(\.bundleId), last.map(\.revision), last.map(\.answeredAt)),
            Command(
                Self.insert, named.map(\.key.environment.rawValue), named.map(\.key.originalTransactionId),
                named.map(\.bundleId), named.map(\.before), named.map(\.outcome), named.map(\.message),
                named.map(\.notifications), named.map(\.missing), named.map(\.signedObjects), named.map(\.answeredAt)),
            SendAttemptStore.inserting(attempts), PostponedRequestStore.answering(named),
            PostponedRequestStore.postponing(postponed),
        ]
        _ = try await repeating { try await connection.pipeline(writing) }
    }

    /// The answers about a purchase, newest first.
    public func answers(of key: SubscriptionKey) async throws -> [RecoveryAnswer] {
        try await connection.execute(Self.find, key.environment.rawValue, key.originalTransactionId).map { row in
            RecoveryAnswer(
                key: key, bundleId: try row.value("bundle_id"), before: try row.value("before_uuid"),
                outcome: try row.value("outcome"), message: try row.optional("message"),
                notifications: try row.value("notifications"), missing: try row.value("missing"),
                signedObjects: try row.value("signed_objects"), revision: try row.optional("revision"),
                answeredAt: try row.value("answered_at"))
        }
    }

    /// Deletes answers before a time; the revisions stay.
    /// - Returns: number of rows.
    public func delete(answeredBefore time: Date) async throws -> Int {
        try await deletingInPortions { try await connection.execute(Self.delete, time, $0).affected }
    }

    private struct Name: Hashable {
        var key: SubscriptionKey
        var before: UUID
    }

    static let statements = [revision, keepRevision, insert, find, delete]

    static let revision = Statement(
        "history-revision-find",
        """
        select revision
        from history_revision
        where environment = $1::text::store_environment and original_transaction_id = $2::text
        """)

    static let keepRevision = Statement(
        "history-revision-keep",
        """
        insert into history_revision as held (environment, original_transaction_id, bundle_id, revision, asked_at)
        select environment::store_environment, original_transaction_id, bundle_id, revision, asked_at
        from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[])
            as given (environment, original_transaction_id, bundle_id, revision, asked_at)
        on conflict (environment, original_transaction_id) do update
        set bundle_id = excluded.bundle_id, revision = excluded.revision, asked_at = excluded.asked_at
        where held.asked_at <= excluded.asked_at
        """)

    static let insert = Statement(
        "recovery-answer-insert",
        """
        insert into recovery_answer (
            environment, original_transaction_id, bundle_id, before_uuid, outcome, message, notifications, missing, signed_objects,
            answered_at)
        select environment::store_environment, original_transaction_id, bundle_id, before_uuid, outcome, message,
            notifications, missing, signed_objects, answered_at
        from unnest(
            $1::text[], $2::text[], $3::text[], $4::uuid[], $5::text[], $6::text[], $7::bigint[], $8::bigint[],
            $9::bigint[], $10::timestamptz[]
        ) as given (
            environment, original_transaction_id, bundle_id, before_uuid, outcome, message, notifications, missing, signed_objects,
            answered_at)
        on conflict (environment, original_transaction_id, before_uuid) do update
        set outcome = excluded.outcome, message = excluded.message, notifications = excluded.notifications,
            missing = excluded.missing, signed_objects = excluded.signed_objects, answered_at = excluded.answered_at
        """)

    static let find = Statement(
        "recovery-answer-find",
        """
        select answer.bundle_id, before_uuid, outcome, message, notifications, missing, signed_objects, answered_at, revision
        from recovery_answer as answer
        left join history_revision as held using (environment, original_transaction_id)
        where environment = $1::text::store_environment and original_transaction_id = $2::text
        order by answered_at desc, before_uuid
        """)

    static let delete = Statement(
        "recovery-answer-delete",
        """
        delete from recovery_answer
        where ctid = any (array(
                select ctid
                from recovery_answer
                where answered_at < $1::timestamptz
                order by answered_at
                limit $2::bigint))
            and answered_at < $1::timestamptz
        """)
}

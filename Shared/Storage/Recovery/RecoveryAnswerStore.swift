import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// What became of a request for one customer's history.
public struct RecoveryAnswer: Sendable, Hashable {
    /// The purchase that was asked about.
    public var key: SubscriptionKey
    /// The app.
    public var bundleId: String
    /// As in the request, of which it is the name.
    public var before: UUID
    /// `answered`, or why there is no answer.
    public var outcome: String
    /// One sentence where there is none.
    public var message: String?
    /// How many notifications Apple listed.
    public var notifications: Int64
    /// Of them the ledger lacked.
    public var missing: Int64
    /// Transactions and renewal information that told something new.
    public var parts: Int64
    /// Where the next answer begins; nil where there is none.
    public var revision: String?
    /// When.
    public var answeredAt: Date

    /// All fields.
    public init(
        key: SubscriptionKey, bundleId: String, before: UUID, outcome: String, message: String? = nil,
        notifications: Int64 = 0, missing: Int64 = 0, parts: Int64 = 0, revision: String? = nil, answeredAt: Date
    ) {
        self.key = key
        self.bundleId = bundleId
        self.before = before
        self.outcome = outcome
        self.message = message
        self.notifications = notifications
        self.missing = missing
        self.parts = parts
        self.revision = revision
        self.answeredAt = answeredAt
    }
}

/// What Apple answered about single customers, and how far each of their histories was read.
public struct RecoveryAnswerStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// Where the next question for a purchase's transaction history goes on; nil where it begins.
    public func revision(of key: SubscriptionKey) async throws -> String? {
        try await connection.execute(Self.revision, key.environment.rawValue, key.originalTransactionId)
            .first?.value(at: 0)
    }

    /// Writes answers down, with the revisions, Apple's attempts and what has to be asked later, in one transaction. To be
    /// called when what they hold is on the line. Repeatable.
    public func record(
        _ answers: [RecoveryAnswer], attempts: [RecordedAttempt], postponed: [PostponedRequest] = []
    ) async throws {
        // Of one purchase the last, as it was asked last.
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
                named.map(\.notifications), named.map(\.missing), named.map(\.parts), named.map(\.answeredAt)),
            SendAttemptStore.inserting(attempts), PostponedRequestStore.answering(named),
            PostponedRequestStore.postponing(postponed),
        ]
        _ = try await repeating { try await connection.pipeline(writing) }
    }

    /// What was answered about a purchase, newest first.
    public func answers(of key: SubscriptionKey) async throws -> [RecoveryAnswer] {
        try await connection.execute(Self.find, key.environment.rawValue, key.originalTransactionId).map { row in
            RecoveryAnswer(
                key: key, bundleId: try row.value("bundle_id"), before: try row.value("before_uuid"),
                outcome: try row.value("outcome"), message: try row.optional("message"),
                notifications: try row.value("notifications"), missing: try row.value("missing"),
                parts: try row.value("parts"), revision: try row.optional("revision"),
                answeredAt: try row.value("answered_at"))
        }
    }

    /// Forgets answers before a time. How far a history was read stays.
    /// - Returns: how many.
    public func forget(answeredBefore time: Date) async throws -> Int {
        try await repeating { try await connection.execute(Self.forget, time).affected }
    }

    private struct Name: Hashable {
        var key: SubscriptionKey
        var before: UUID
    }

    static let statements = [revision, keepRevision, insert, find, forget]

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
            environment, original_transaction_id, bundle_id, before_uuid, outcome, message, notifications, missing, parts,
            answered_at)
        select environment::store_environment, original_transaction_id, bundle_id, before_uuid, outcome, message,
            notifications, missing, parts, answered_at
        from unnest(
            $1::text[], $2::text[], $3::text[], $4::uuid[], $5::text[], $6::text[], $7::bigint[], $8::bigint[],
            $9::bigint[], $10::timestamptz[]
        ) as given (
            environment, original_transaction_id, bundle_id, before_uuid, outcome, message, notifications, missing, parts,
            answered_at)
        on conflict (environment, original_transaction_id, before_uuid) do update
        set outcome = excluded.outcome, message = excluded.message, notifications = excluded.notifications,
            missing = excluded.missing, parts = excluded.parts, answered_at = excluded.answered_at
        """)

    static let find = Statement(
        "recovery-answer-find",
        """
        select answer.bundle_id, before_uuid, outcome, message, notifications, missing, parts, answered_at, revision
        from recovery_answer as answer
        left join history_revision as held using (environment, original_transaction_id)
        where environment = $1::text::store_environment and original_transaction_id = $2::text
        order by answered_at desc, before_uuid
        """)

    static let forget = Statement(
        "recovery-answer-forget", "delete from recovery_answer where answered_at < $1::timestamptz")
}

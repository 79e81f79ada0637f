import Contracts
import Postgres

import struct Foundation.Date
import struct Foundation.UUID

/// Frozen lists of dead letters, and what was done with them.
package struct DeadLetterSelections: Sendable {
    /// What can be done with a selection.
    package enum Action: String, Sendable {
        case replay
        case dismiss
    }

    /// A frozen list.
    package struct Selection: Sendable, Equatable {
        package var id: UUID
        package var createdAt: Date
        package var createdBy: String
        package var cluster: String
        /// partition/offset.
        package var deadLetters: [String]
        /// How many of them the ledger has already.
        package var known: Int64
        package var criteria: String
        package var command: String
        package var action: Action?
        package var requestedAt: Date?
        package var requestedBy: String?
        package var note: String?
        package var finishedAt: Date?
        package var sent: Int64?
        package var error: String?
    }

    /// At most so many in one selection: what is replayed goes through one process's memory.
    package static let limit = 10_000

    private let connection: PostgresConnection

    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// Freezes the open dead letters that fit, the newest first; of several Kafka clusters those of the newest one's.
    package func freeze(
        _ criteria: DeadLetterGroups.Criteria, id: UUID, by person: String, in words: String, command: String,
        at now: Date
    ) async throws {
        _ = try await connection.execute(
            Self.freeze, criteria.stage, criteria.reason, criteria.environment, criteria.bundleId, criteria.build,
            id, now, person, words, command, Int64(Self.limit))
    }

    package func find(_ id: UUID) async throws -> Selection? {
        try await connection.execute(Self.find, id).first.map(Self.selection)
    }

    /// Asks for a replay; the console sends it outside of the request.
    /// - Returns: false where something was done with the selection already.
    package func requestReplay(_ id: UUID, by person: String, note: String, at now: Date) async throws -> Bool {
        try await connection.execute(Self.request, id, now, person, note).affected == 1
    }

    /// Settles a selection as dismissed.
    /// - Parameter audit: the rows of the audit log, one for each dead letter of the selection, written in the same transaction.
    /// - Returns: false where something was done with the selection already.
    package func dismiss(
        _ id: UUID, by person: String, note: String, at now: Date,
        audit: @Sendable (_ cluster: String, _ deadLetters: [String]) -> [OperatorAction]
    ) async throws -> Bool {
        try await connection.transaction { transaction in
            guard let row = try transaction.execute(Self.dismiss, id, now, person, note).first else { return false }
            let deadLetters = try row.value("dead_letters", as: String.self).split(separator: " ").map(String.init)
            try transaction.commit(after: [
                OperatorActionStore.command(recording: audit(try row.value("cluster"), deadLetters))
            ])
            return true
        }
    }

    /// Takes the oldest replay that no process carries out, for a while by the clock of the database.
    package func claim(seconds: Int64) async throws -> Selection? {
        try await connection.execute(Self.claim, seconds).first.map(Self.selection)
    }

    /// What became of a replay; with an error and no end it is tried again when the lease is over. One that another process has
    /// finished stays so.
    package func settle(_ id: UUID, finishedAt: Date?, sent: Int?, error: String?) async throws {
        _ = try await connection.execute(Self.settle, id, finishedAt, sent.map { Int64($0) }, error)
    }

    private static func selection(_ row: Row) throws -> Selection {
        Selection(
            id: try row.value("id"), createdAt: try row.value("created_at"), createdBy: try row.value("created_by"),
            cluster: try row.value("cluster"),
            deadLetters: try row.value("dead_letters", as: String.self).split(separator: " ").map(String.init),
            known: try row.value("known"), criteria: try row.value("criteria"), command: try row.value("command"),
            action: try row.optional("action").flatMap(Action.init), requestedAt: try row.optional("requested_at"),
            requestedBy: try row.optional("requested_by"), note: try row.optional("note"),
            finishedAt: try row.optional("finished_at"), sent: try row.optional("sent"),
            error: try row.optional("error"))
    }

    static let statements = [freeze, find, request, dismiss, claim, settle]

    private static let columns = """
        id, created_at, created_by, cluster, array_to_string(dead_letters, ' ') as dead_letters, known, criteria,
            command, action, requested_at, requested_by, note, finished_at, sent, error
        """

    private static let freeze = Statement(
        "console-selection-freeze",
        unsafeSQL: """
            with matching as (
                select rejected.cluster, kafka_partition, kafka_offset, notification_uuid, rejected_at
                from rejected
                where \(DeadLetterGroups.matches)
                    and not exists (
                        select from operator_action where \(DeadLetterGroups.isAboutDeadLetter))
            ), chosen as (
                select cluster, kafka_partition, kafka_offset, notification_uuid
                from matching
                where cluster = (select cluster from matching order by rejected_at desc limit 1)
                order by rejected_at desc
                limit $11::bigint
            )
            insert into console_selection (id, created_at, created_by, criteria, command, cluster, dead_letters, known)
            select $6::uuid, $7::timestamptz, $8::text, $9::text, $10::text, coalesce(min(chosen.cluster), ''),
                coalesce(
                    array_agg(kafka_partition || '/' || kafka_offset order by kafka_partition, kafka_offset), '{}'),
                count(*) filter (where exists (
                    select from notification where notification.notification_uuid = chosen.notification_uuid))
            from chosen
            """)

    private static let find = Statement(
        "console-selection-find", unsafeSQL: "select \(columns) from console_selection where id = $1::uuid")

    private static let request = Statement(
        "console-selection-request",
        """
        update console_selection
        set requested_at = $2::timestamptz, action = 'replay', requested_by = $3::text, note = $4::text
        where id = $1::uuid and requested_at is null and cardinality(dead_letters) > 0
        """)

    private static let dismiss = Statement(
        "console-selection-dismiss",
        """
        update console_selection
        set requested_at = $2::timestamptz, finished_at = $2::timestamptz, action = 'dismiss', requested_by = $3::text,
            note = $4::text
        where id = $1::uuid and requested_at is null and cardinality(dead_letters) > 0
        returning cluster, array_to_string(dead_letters, ' ') as dead_letters
        """)

    /// An end that is further ahead than any lease is from before the database's clock was set back.
    private static let claim = Statement(
        "console-selection-claim",
        unsafeSQL: """
            update console_selection
            set held_until = statement_timestamp() + $1::bigint * interval '1 second'
            where id = (
                select id
                from console_selection
                where action = 'replay' and finished_at is null
                    and (held_until is null or held_until <= statement_timestamp()
                        or held_until > statement_timestamp() + interval '2 hours' + $1::bigint * interval '1 second')
                order by requested_at
                limit 1
                for update skip locked)
            returning \(columns)
            """)

    private static let settle = Statement(
        "console-selection-settle",
        """
        update console_selection
        set finished_at = $2::timestamptz, sent = coalesce($3::bigint, sent), error = $4::text
        where id = $1::uuid and finished_at is null
        """)
}

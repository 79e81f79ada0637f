import ArgumentParser
import Commands
import Contracts
import Foundation
import Operations
import Storage

/// `storekeeper dead-letters list`.
struct DeadLettersList: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List dead letters, newest first.",
        discussion: """
            Lists open dead letters; with --handled also replayed and dismissed ones. Without DATABASE_URL, or while the \
            database is unavailable, lists all of them with state unknown.

            Examples:
              storekeeper dead-letters list --stage verifier --from 6h --app com.example.app
              storekeeper dead-letters list --handled --json
            """)

    @OptionGroup var kafka: KafkaOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var restriction: DeadLetterQueryOptions

    @Flag(help: "Include replayed and dismissed dead letters.")
    var handled = false

    @OptionGroup var limits: LimitOptions

    func run(in context: CommandContext) async throws {
        let query = try restriction.query(now: context.now())
        let log = try await DeadLetterLog(try kafka.configuration(in: context))
        let auditLog =
            database.isGiven(in: context)
            ? DeadLetterActions(
                store: OperatorActionStore(try database.connection(for: "dead-letters list", in: context)),
                cluster: log.cluster) : nil
        // Filtered and handled dead letters must not use up the limit.
        let all = try await log.deadLetters(newest: query.isRestricted || auditLog != nil ? nil : Int64(limits.limit))
        if let warning = query.warning(among: all) { context.warn(warning) }
        let found = all.filter(query.accepts)
        await log.close()
        let actions = try await auditLog?.knownActions(on: found, in: context)
        let rows = found.map { deadLetter in
            DeadLetterRow(
                deadLetter, state: actions.map { DeadLetterActions.state(after: $0[deadLetter.id] ?? []) } ?? .unknown)
        }
        let shown = rows.filter { handled || $0.state == .open || $0.state == .unknown }
            .sorted { $0.rejectedAt > $1.rejectedAt }.prefix(limits.limit)
        try output.list(Array(shown), none: "No dead letters.", in: context)
    }
}

/// A row of `storekeeper dead-letters list`.
struct DeadLetterRow: ListedRow {
    var id: String
    var rejectedAt: Date
    var stage: String
    var reason: String
    var message: String
    var notificationUUID: String?
    var notificationType: String?
    var environment: String?
    var bundleId: String?
    var topic: String
    var partition: Int32
    var offset: Int64
    var attempts: Int
    var build: String
    var state: DeadLetterActions.State

    init(_ logged: StoredDeadLetter, state: DeadLetterActions.State) {
        id = logged.id.description
        rejectedAt = logged.deadLetter.rejectedAt
        stage = logged.deadLetter.stage
        reason = logged.deadLetter.reason
        message = logged.deadLetter.message
        notificationUUID = logged.contents.notificationUUID
        notificationType = logged.contents.notificationType
        environment = logged.contents.environment
        bundleId = logged.contents.bundleId
        topic = logged.deadLetter.position.topic
        partition = logged.deadLetter.position.partition
        offset = logged.deadLetter.position.offset
        attempts = logged.deadLetter.attempts
        build = logged.deadLetter.build
        self.state = state
    }

    static let columns: [TextTable.Column] = ["id", "rejected", "stage", "reason", "state", "type", "uuid", "message"]

    var cells: [String] {
        [
            id, rejectedAt.text, stage, reason, state.rawValue, notificationType.map { Self.short($0) } ?? "-",
            notificationUUID.map { Self.short($0) } ?? "-", Self.short(message, 160),
        ]
    }

    /// A posted text may be of any length.
    private static func short(_ text: String, _ length: Int = 40) -> String {
        text.count > length ? text.prefix(length - 1) + "…" : text
    }
}

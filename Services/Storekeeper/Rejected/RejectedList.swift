import ArgumentParser
import Contracts
import Foundation
import Storage

/// `storekeeper rejected list`.
struct RejectedList: Verb {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the dead letters, the one refused last first.",
        discussion: """
            Shows the open ones; --handled shows also those that were replayed or resolved. Without a database, or where \
            it does not answer, all of them are shown and their state is unknown.
            """)

    @OptionGroup var kafka: KafkaOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var restriction: LetterQueryOptions

    @Flag(help: "Also those that were replayed or resolved.")
    var handled = false

    @OptionGroup var limits: LimitOptions

    func run(in surroundings: Surroundings) async throws {
        let query = try restriction.query(now: surroundings.now())
        let log = try await DeadLetterLog(try kafka.configuration(in: surroundings))
        let trail =
            database.isGiven(in: surroundings)
            ? LetterTrail(
                store: OperatorActionStore(try database.connection(for: "rejected list", in: surroundings)),
                cluster: log.cluster) : nil
        // What a filter drops or somebody has dealt with must not use up the limit.
        let all = try await log.letters(newest: query.isRestricted || trail != nil ? nil : Int64(limits.limit))
        if let warning = query.warning(among: all) { surroundings.warn(warning) }
        let found = all.filter(query.accepts)
        await log.close()
        let actions = try await trail?.knownActions(on: found.map(\.id), in: surroundings)
        let rows = found.map { letter in
            LetterRow(
                letter, state: actions.map { LetterTrail.state(after: $0[letter.id] ?? []) } ?? .unknown)
        }
        let shown = rows.filter { handled || $0.state == .open || $0.state == .unknown }
            .sorted { $0.refusedAt > $1.refusedAt }.prefix(limits.limit)
        try output.list(Array(shown), none: "No dead letters.", in: surroundings)
    }
}

/// A dead letter, as it is listed.
struct LetterRow: ListedRow {
    var id: String
    var refusedAt: Date
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
    var state: LetterTrail.State

    init(_ logged: LoggedLetter, state: LetterTrail.State) {
        id = logged.id.description
        refusedAt = logged.letter.refusedAt
        stage = logged.letter.stage
        reason = logged.letter.reason
        message = logged.letter.message
        notificationUUID = logged.contents.notificationUUID
        notificationType = logged.contents.notificationType
        environment = logged.contents.environment
        bundleId = logged.contents.bundleId
        topic = logged.letter.position.topic
        partition = logged.letter.position.partition
        offset = logged.letter.position.offset
        attempts = logged.letter.attempts
        build = logged.letter.build
        self.state = state
    }

    static let columns: [TextTable.Column] = ["letter", "refused", "stage", "reason", "state", "type", "uuid", "why"]

    var cells: [String] {
        [
            id, refusedAt.text, stage, reason, state.rawValue, notificationType.map { Self.short($0) } ?? "-",
            notificationUUID.map { Self.short($0) } ?? "-", Self.short(message, 160),
        ]
    }

    /// What a stranger wrote may be long.
    private static func short(_ text: String, _ length: Int = 40) -> String {
        text.count > length ? text.prefix(length - 1) + "…" : text
    }
}

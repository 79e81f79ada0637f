import ArgumentParser
import Commands
import Foundation
import Storage

/// `storekeeper audit`: which operator changed what, and why.
struct Audit: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "List operator actions, newest first.",
        discussion: """
            Every command that changes something records who ran it, on what and why; records cannot be changed.

            Examples:
              storekeeper audit --limit 20 --json
              storekeeper audit --from 7d --to 1d
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @Option(help: "Only at or after this time: \(TimeArgument.help).")
    var from: TimeArgument?

    @Option(help: "Only before this time.")
    var to: TimeArgument?

    @OptionGroup var limits: LimitOptions

    func run(in context: CommandContext) async throws {
        let range = try DateRange(from: from, to: to, now: context.now())
        let store = OperatorActionStore(try database.connection(for: "audit", in: context))
        try output.list(
            try await store.newest(limits.limit, from: range.from, to: range.to).map(ActionRow.init),
            none: "No operator actions.",
            in: context)
    }
}

/// A row of `storekeeper audit`.
struct ActionRow: ListedRow {
    var actedAt: Date
    var actor: String
    /// Null where a person acted.
    var apiKey: String?
    var operation: String
    var subject: String
    var bundleId: String?
    var environment: String?
    var reason: String?
    var outcome: String

    init(_ action: OperatorAction) {
        actedAt = action.actedAt
        actor = action.actor
        apiKey = action.apiKey?.uuidString.lowercased()
        operation = action.operation
        subject = action.subject
        bundleId = action.about?.bundleId
        environment = action.about?.environment.rawValue
        reason = action.reason
        outcome = action.outcome.rawValue
    }

    static let columns: [TextTable.Column] = [
        "time", "actor", "operation", "subject", "app", "environment", "reason", "outcome",
    ]

    var cells: [String] {
        [
            actedAt.text, actor, operation, subject, bundleId ?? "-", environment ?? "-", reason ?? "-", outcome,
        ]
    }
}

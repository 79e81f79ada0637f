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
    var action: String
    var subject: String
    var note: String?

    init(_ action: OperatorAction) {
        actedAt = action.actedAt
        actor = action.actor
        self.action = action.action
        subject = action.subject
        note = action.note
    }

    static let columns: [TextTable.Column] = ["time", "actor", "action", "subject", "note"]

    var cells: [String] { [actedAt.text, actor, action, subject, note ?? "-"] }
}

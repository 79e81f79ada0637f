import ArgumentParser
import Foundation
import Storage

/// `storekeeper trail`: who did what by hand.
struct Trail: Verb {
    static let configuration = CommandConfiguration(
        commandName: "trail", abstract: "Show what was done by hand: who, when, what and why, newest first.",
        discussion: "Commands that change something write it down, and nobody can change what is written.")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var limits: LimitOptions

    func run(in surroundings: Surroundings) async throws {
        let store = OperatorActionStore(try database.connection(for: "trail", in: surroundings))
        try output.list(
            try await store.newest(limits.limit).map(ActionRow.init), none: "Nothing was done by hand.",
            in: surroundings)
    }
}

/// An action, as it is listed.
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

    static let columns: [TextTable.Column] = ["when", "who", "what", "to what", "why"]

    var cells: [String] { [actedAt.text, actor, action, subject, note ?? "-"] }
}

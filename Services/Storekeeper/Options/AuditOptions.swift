import ArgumentParser
import Commands
import Storage

/// Who runs a command that changes something, and why.
struct AuditOptions: ParsableArguments {
    @Option(help: "Operator name for the audit log (default: current user).")
    var actor: String?

    @Option(help: "Reason, for the audit log; at most 500 characters.")
    var note: String?

    func validate() throws {
        try Self.check(actor, "--actor", 200)
        try Self.check(note, "--note", 500)
    }

    /// Unicode scalars: what is shown as one character can be any number of bytes.
    static func check(_ text: String?, _ option: String, _ limit: Int) throws {
        guard let length = text?.unicodeScalars.count, length > limit else { return }
        throw ValidationError("\(option) has \(length) characters; give at most \(limit)")
    }

    /// Records the action; `storekeeper audit` lists it.
    /// - Parameters:
    ///   - action: the command.
    ///   - subjects: what it changed.
    ///   - about: the app and the customer whom it concerns, so that an erasure finds the entry.
    func record(
        _ action: String, on subjects: [String], about: OperatorAction.About? = nil,
        to auditLog: OperatorActionStore, in context: CommandContext
    ) async throws {
        let now = context.now()
        try await auditLog.record(
            subjects.map {
                OperatorAction(
                    actedAt: now, actor: actor ?? context.user, action: action, subject: $0, note: note,
                    about: about)
            })
    }
}

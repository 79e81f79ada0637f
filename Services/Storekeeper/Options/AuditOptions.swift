import ArgumentParser
import Storage

/// Who runs a command that changes something, and why.
struct AuditOptions: ParsableArguments {
    @Option(help: "Operator name for the audit log (default: current user).")
    var actor: String?

    @Option(help: "Reason, for the audit log.")
    var note: String?

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

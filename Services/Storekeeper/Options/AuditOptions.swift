import ArgumentParser
import Commands
import Operations
import Storage

/// Who runs a command that changes something, and why.
struct AuditOptions: ParsableArguments {
    @Option(help: "Operator name for the audit log (default: current user).")
    var actor: String?

    @Option(help: "Reason, for the audit log; at most \(Performer.longestReason) characters.")
    var note: String?

    func validate() throws {
        if let length = actor?.unicodeScalars.count, length > 200 {
            throw ValidationError("--actor has \(length) characters; give at most 200")
        }
        try asUsage { _ = try Performer.checked(note) }
    }

    /// Who performs the command, and why.
    func performer(in context: CommandContext) throws -> Performer {
        try Performer(actor ?? context.user, reason: note, at: context.now())
    }

    /// Records the action; `storekeeper audit` lists it.
    /// - Parameters:
    ///   - operation: the command.
    ///   - subjects: what it changed.
    ///   - about: the app and the customer whom it concerns, so that an erasure finds the entry.
    func record(
        _ operation: String, on subjects: [String], about: OperatorAction.About? = nil,
        to auditLog: OperatorActionStore, in context: CommandContext
    ) async throws {
        let performer = try performer(in: context)
        try await auditLog.record(subjects.map { performer.action(operation, on: $0, about: about) })
    }
}

/// Runs a check of an operation's limits; what is outside of them is a wrong command line.
func asUsage(_ check: () throws -> Void) throws {
    do {
        try check()
    } catch let error as OperationError {
        throw ValidationError("\(error)")
    }
}

extension OperationPlan {
    /// Prints what would happen.
    func show(_ output: OutputOptions, in context: CommandContext) throws {
        if let doubt, !output.json { context.warn(doubt) }
        guard output.json else { return effects.forEach { context.print($0.escaped) } }
        try output.print(
            json: Printed(
                operation: operation, subject: subject, effects: effects, isEffective: isEffective, doubt: doubt),
            in: context)
    }

    private struct Printed: Encodable {
        var dryRun = true
        var operation: String
        var subject: String
        var effects: [String]
        var isEffective: Bool
        var doubt: String?
    }
}

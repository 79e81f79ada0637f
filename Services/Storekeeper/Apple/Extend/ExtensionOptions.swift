import AppStore
import ArgumentParser
import Commands
import Foundation
import Operations
import Storage

/// The options of both kinds of extension, and their audit log.
struct ExtensionOptions: ParsableArguments {
    @OptionGroup var apple: AppleOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var audit: AuditOptions

    @Option(help: "Days to extend by, 1 to 90.")
    var days: Int64

    @Option(help: "Reason for Apple.")
    var reason: ExtendRenewal.Reason

    @Option(help: "Request identifier; repeat it to retry the same request (default: a new UUID).")
    var requestId: String?

    @Flag(help: "Print the request; send nothing.")
    var dryRun = false

    func validate() throws {
        try asUsage { try ExtendRenewal.check(days) }
    }

    /// The given identifier, or a new one.
    func name(in context: CommandContext) -> String { requestId ?? context.id().uuidString.lowercased() }

    /// The audit log; nil without a database. Opened before the request: what Apple has done cannot be undone when the
    /// audit log turns out to be unavailable.
    func auditLog(in context: CommandContext) async throws -> OperatorActionStore? {
        guard database.isGiven(in: context) else { return nil }
        let auditLog = OperatorActionStore(try database.connection(for: "extend", in: context))
        _ = try await auditLog.newest(1)
        return auditLog
    }

    /// Prints the request: as text, or as JSON with its identifier.
    func say(_ text: String, of request: ExtensionRequest, in context: CommandContext) throws {
        guard output.json else { return context.print(text) }
        try output.print(json: request, in: context)
    }

    /// Writes a row of the audit log, where there is one.
    func record(_ action: OperatorAction, to auditLog: OperatorActionStore?) async throws {
        guard let auditLog else { return }
        do {
            try await auditLog.record([action])
        } catch  where action.outcome == .done {
            throw CommandError(
                "Apple accepted the request, but the audit log could not be written: \(error). Do not repeat the request."
            )
        }
    }
}

/// The request as JSON.
struct ExtensionRequest: Encodable {
    var requestIdentifier: String
    var days: Int64
    /// Of one subscription.
    var originalTransactionId: String?
    /// Of all its active subscriptions.
    var productId: String?
    /// Three-letter country codes; nil is everywhere.
    var storefronts: [String]?
    /// Printed, not sent.
    var isDry = false
}

extension ExtendRenewal.Reason: ExpressibleByArgument {}

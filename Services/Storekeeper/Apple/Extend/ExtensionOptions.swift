import AppStore
import ArgumentParser
import Foundation
import Storage

/// What both kinds of extension are told, and the trail that keeps who asked for them.
struct ExtensionOptions: ParsableArguments {
    /// Why, in words for Apple's numbers.
    enum Reason: String, CaseIterable, ExpressibleByArgument {
        case undeclared
        case satisfaction
        case other
        case outage

        var code: ExtendReasonCode {
            switch self {
            case .undeclared: .undeclared
            case .satisfaction: .customerSatisfaction
            case .other: .other
            case .outage: .serviceIssueOrOutage
            }
        }
    }

    @OptionGroup var apple: AppleOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var audit: AuditOptions

    @Option(help: "How many days, 1 to 90.")
    var days: Int64

    @Option(help: "Why, for Apple.")
    var reason: Reason

    @Option(help: "Our name of this request, the same if it is repeated. Default: a new one.")
    var requestId: String?

    @Flag(help: "Say what Apple would be asked, and do nothing.")
    var dryRun = false

    func validate() throws {
        guard (1...90).contains(days) else { throw ValidationError("--days must lie between 1 and 90") }
    }

    /// The name that was given, or a new one.
    func name(in context: CommandContext) -> String { requestId ?? context.id().uuidString.lowercased() }

    /// Where it is kept that it was done, if there is a database to write to. Looked at before Apple is asked: what Apple
    /// has done is not undone because it could not be written down.
    func auditLog(in context: CommandContext) async throws -> OperatorActionStore? {
        guard database.isGiven(in: context) else { return nil }
        let auditLog = OperatorActionStore(try database.connection(for: "extend", in: context))
        _ = try await auditLog.newest(1)
        return auditLog
    }

    /// What Apple would be asked, or was: for people, or for programs with the name by which it is asked about.
    func say(_ text: String, of request: ExtensionRequest, in context: CommandContext) throws {
        guard output.json else { return context.print(text) }
        try output.print(json: request, in: context)
    }

    /// Keeps what Apple has taken up.
    /// - Parameter subject: who was given days.
    func record(
        _ subject: String, request name: String, to auditLog: OperatorActionStore?, in context: CommandContext
    ) async throws {
        guard let auditLog else { return }
        do {
            try await audit.record(
                "extend", on: ["\(subject) by \(days) days, request \(name)"], to: auditLog, in: context)
        } catch {
            throw CommandError("Apple has taken it up, but the trail could not be written: \(error). Do not ask again.")
        }
    }
}

/// What Apple is asked for, for programs.
struct ExtensionRequest: Encodable {
    var requestIdentifier: String
    var days: Int64
    /// Of one subscriber.
    var originalTransactionId: String?
    /// Of all active subscribers of it.
    var productId: String?
    /// By the country's three letters; nil is everywhere.
    var storefronts: [String]?
    /// Only said, not asked.
    var isDry = false
}

import ArgumentParser
import Commands
import Contracts
import Foundation
import Operations
import Storage

/// `storekeeper external-purchases list`: the tokens, those that are due to be reported first.
struct ExternalPurchasesList: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List external purchase tokens with their age.",
        discussion: """
            Tokens come from Apple's notifications, while the ledger keeps their payloads. Due is what Apple said last to be \
            unreported, unless storekeeper external-purchases report has sent a report since; reports that another program \
            sends are not known here. Exit codes: 0 listed; with --due, 1 where a token is due.

            Example: storekeeper external-purchases list --app com.example.app --due
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Option(help: "Environment of the App Store (default: both).")
    var environment: StoreEnvironment?

    @Option(help: "Bundle id of the app (default: all apps).")
    var app: String?

    @Flag(help: "List only tokens that are due to be reported.")
    var due = false

    @OptionGroup var limits: LimitOptions

    func run(in context: CommandContext) async throws {
        let connection = try database.connection(for: "external-purchases", in: context)
        let tokens = try await ExternalPurchaseTokens(connection).tokens(
            of: app, in: environment, limit: limits.limit)
        let rows = tokens.filter { !due || $0.isDue }.map { Row($0, context.now()) }
        try output.list(rows, none: due ? "No token is due." : "No token is known.", in: context)
        if due, !rows.isEmpty { throw Exit.failed.code }
    }

    struct Row: ListedRow {
        static let columns: [TextTable.Column] = [
            "token", "app", "environment", "kind", .number("age"), "expires", "unreported", "reported", "due",
        ]

        var externalPurchaseId: String
        var app: String
        var environment: String
        var tokenType: String?
        var createdAt: Date?
        /// Since its creation.
        var age: String?
        var expiresAt: Date?
        var unreportedAt: Date?
        var reportedAt: Date?
        var isDue: Bool

        init(_ token: ExternalPurchaseTokens.Token, _ now: Date) {
            externalPurchaseId = token.externalPurchaseId
            app = token.bundleId
            environment = token.environment.rawValue
            tokenType = token.tokenType
            createdAt = token.createdAt
            age = token.createdAt.map { TimeSpan.age(now.timeIntervalSince($0)) }
            expiresAt = token.expiresAt
            unreportedAt = token.unreportedAt
            reportedAt = token.reportedAt
            isDue = token.isDue
        }

        var cells: [String] {
            [
                externalPurchaseId, app, environment, tokenType ?? "-", age ?? "-", expiresAt?.text ?? "-",
                unreportedAt?.text ?? "-", reportedAt?.text ?? "-", isDue ? "DUE" : "-",
            ]
        }
    }
}

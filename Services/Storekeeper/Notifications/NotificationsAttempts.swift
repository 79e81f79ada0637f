import ArgumentParser
import Commands
import Contracts
import Foundation
import Operations
import Storage

/// `storekeeper notifications attempts`: how Apple's attempts to deliver ended, counted.
struct NotificationsAttempts: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "attempts", abstract: "Count Apple's attempts by result, with what to check.",
        discussion: """
            Counts the attempts of notifications that Apple did not deliver at once or that the ledger lacked, as the \
            scheduler has read them in Apple's history. Apple is not asked.

            Example: storekeeper notifications attempts --from 7d
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Option(help: "First day or time: \(TimeArgument.help) (default: 30 days ago).")
    var from: TimeArgument?

    @Option(help: "End (default: now).")
    var to: TimeArgument?

    @Option(help: "Bundle id of the app (default: all apps).")
    var app: String?

    @Option(help: "Environment of the App Store (default: both).")
    var environment: StoreEnvironment?

    func run(in context: CommandContext) async throws {
        let now = context.now()
        let range = try DateRange(from: from ?? .ago(30 * 86_400), to: to ?? .ago(0), now: now)
        let connection = try database.connection(for: "notifications", in: context)
        let bars = try await SendAttemptStore(connection).histogram(from: range.from ?? now, to: range.to ?? now)
            .filter { bar in
                (app ?? bar.bundleId) == bar.bundleId && (environment ?? bar.environment) == bar.environment
            }
        try output.list(bars.map(Row.init), none: "No failed attempt of Apple's is known of this time.", in: context)
    }

    struct Row: ListedRow {
        static let columns: [TextTable.Column] = ["result", "app", "environment", .number("attempts"), "check"]

        /// Apple's `sendAttemptResult`.
        var result: String
        var app: String
        var environment: String
        var attempts: Int64
        /// What to check; nil for a success.
        var remedy: String?

        init(_ bar: SendAttemptStore.Bar) {
            result = bar.result
            app = bar.bundleId
            environment = bar.environment.rawValue
            attempts = bar.attempts
            remedy = bar.remedy
        }

        var cells: [String] { [result, app, environment, "\(attempts)", remedy ?? "-"] }
    }
}

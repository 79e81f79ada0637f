import ArgumentParser
import Commands
import Contracts
import Foundation
import Operations
import Storage

/// `storekeeper compare list`: the differences of a comparison.
struct CompareList: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the differences of a comparison.",
        discussion: """
            Of the newest comparison of the app, or of the newest one of a day; where files of several kinds are compared, of one \
            kind by --source. Column purchase: the original transaction id, for storekeeper events purchase; notification: the one \
            that decided, for storekeeper events show.

            Examples:
              storekeeper compare list --app com.example.app --cause unexplained
              storekeeper compare list --app com.example.app --day 2026-11-20 --source adapty --limit 1000 --json
            """)

    @OptionGroup var options: AppOptions

    @Option(help: "Day, in UTC, of the moment of the file: \(TimeArgument.help) (default: the newest comparison).")
    var day: TimeArgument?

    @Option(help: "Kind of file: \(ComparisonSource.names) (default: the newest of any).")
    var source: ComparisonSource?

    @Option(help: "\(ComparisonCause.allCases.map(\.rawValue).joined(separator: ", ")) (default: all).")
    var cause: ComparisonCause?

    @OptionGroup var limits: LimitOptions

    func run(in context: CommandContext) async throws {
        let connection = try options.database.connection(for: "compare", in: context)
        let now = context.now()
        let comparison = try await ComparisonChoice(
            of: options.app, in: options.environment, day: day?.date(now: now), source: source
        ).newest(at: now, on: connection)
        if !options.output.json {
            context.print("\(comparison.source) of \(comparison.takenAt.text):")
        }
        try options.output.list(
            try await ComparisonStore(connection).differences(
                of: comparison.id, cause: cause, limit: limits.limit
            ).map(Row.init), none: "No differences.", in: context)
    }

    /// A difference.
    private struct Row: ListedRow {
        static let columns: [TextTable.Column] = [
            "customer", "entitlement", "here", "there", "cause", "purchase", "notification", .number("line"),
        ]

        var customerId: String
        var appAccountToken: String?
        var entitlement: String
        /// Until when there is access: a moment, `noEnd` or `none`.
        var here: String
        var there: String
        var cause: String
        /// The reason of the access period here.
        var reason: String?
        var originalTransactionId: String?
        var notificationUUID: String?
        /// The line in the file; null where the file does not name the customer.
        var line: Int?

        init(_ difference: ComparisonDifference) {
            customerId = difference.customerId
            appAccountToken = difference.account?.uuidString.lowercased()
            entitlement = difference.entitlement
            here = difference.ours.text
            there = difference.others.text
            cause = difference.cause.rawValue
            reason = difference.reason
            originalTransactionId = difference.purchase
            notificationUUID = difference.notificationUUID?.uuidString.lowercased()
            line = difference.line
        }

        var cells: [String] {
            [
                customerId, entitlement, here, there, cause, originalTransactionId ?? "–", notificationUUID ?? "–",
                line.map { "\($0)" } ?? "–",
            ]
        }
    }
}

extension ComparisonDifference.Side {
    fileprivate var text: String { hasAccess ? until?.text ?? "noEnd" : "none" }
}

extension ComparisonCause: ExpressibleByArgument {}

extension ComparisonSource: ExpressibleByArgument {
    /// In the help.
    static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }
}

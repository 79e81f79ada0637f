import ArgumentParser
import Commands
import Contracts
import Foundation
import Storage
import Subscriptions

/// `storekeeper events timeline`: the history of one purchase.
struct EventsTimeline: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "timeline", abstract: "Show the timeline of one purchase.",
        discussion: """
            In order of arrival: each notification with its description, and below it the changes that it made; \
            notifications that changed nothing are included. Exit codes: 0 found; 1 unknown purchase.

            Example: storekeeper events timeline 2000000123456789 --environment Production
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "Original transaction id of the purchase.")
    var purchase: String

    @Option(help: "Environment of the App Store (default: both).")
    var environment: StoreEnvironment?

    func run(in context: CommandContext) async throws {
        let connection = try database.connection(for: "events timeline", in: context)
        let (ledger, timeline) = (NotificationStore(connection), TimelineStore(connection))
        var rows: [TimelineEntry] = []
        for environment in environment.map({ [$0] }) ?? StoreEnvironment.allCases {
            let key = SubscriptionKey(environment: environment, originalTransactionId: purchase)
            var changes = Dictionary(grouping: try await timeline.rows(of: key), by: \.notificationUUID)
            for line in try await ledger.lines(of: key).sorted(by: { $0.recordedAt < $1.recordedAt }) {
                let decoded = try await ledger.decoded(line.notificationUUID)
                rows.append(TimelineEntry(line, says: PurchaseEvent(line, decoded: decoded)?.sentence))
                rows += (changes.removeValue(forKey: line.notificationUUID) ?? []).flatMap(TimelineEntry.all)
            }
            // Only its changes remain of a notification that is not in the ledger.
            rows += changes.values.joined().sorted { $0.id < $1.id }.flatMap(TimelineEntry.all)
        }
        guard !rows.isEmpty else { throw CommandError(unknownPurchase: purchase) }
        try output.list(rows, none: "", in: context)
    }
}

extension CommandError {
    /// The ledger has no notification of this purchase.
    init(unknownPurchase purchase: String) {
        self.init("unknown purchase \(purchase.escaped): check that it is an original transaction id")
    }
}

/// A row of the timeline: a notification, or a change that it made.
struct TimelineEntry: ListedRow {
    var occurredAt: Date?
    var appliedAt: Date
    var environment: String
    /// Of the row, as in its message; nil for the notification itself.
    var sequence: Int64?
    /// Nil for the notification itself.
    var fact: String?
    var from: String?
    var to: String?
    var transactionId: String?
    var notificationType: String?
    var subtype: String?
    /// A description for people.
    var says: String
    var notificationUUID: String

    init(_ line: LedgerLine, says: String?) {
        occurredAt = line.signedDate
        appliedAt = line.recordedAt
        environment = line.environment.rawValue
        transactionId = line.transactionId
        notificationType = line.notificationType
        subtype = line.subtype
        self.says =
            (says ?? "Contents deleted by retention or unreadable.")
            + (line.hasAdvanced ? "" : " Arrived late: a newer notification was known.")
        notificationUUID = line.notificationUUID.uuidString.lowercased()
    }

    static func all(in row: TimelineRow) -> [TimelineEntry] { row.changes.map { TimelineEntry($0, of: row) } }

    private init(_ change: FactChange, of row: TimelineRow) {
        occurredAt = row.occurredAt
        appliedAt = row.appliedAt
        environment = row.key.environment.rawValue
        sequence = row.id
        fact = change.fact
        from = change.from
        to = change.to
        transactionId = change.transactionId
        says = Change.sentence(
            fact: change.fact, from: change.from, to: change.to, transactionId: change.transactionId)
        notificationUUID = row.notificationUUID.uuidString.lowercased()
    }

    static let columns: [TextTable.Column] = [
        "signed", "stored", "environment", "event", "description", "notification",
    ]

    var cells: [String] {
        let event = notificationType.map { type in subtype.map { "\(type)/\($0)" } ?? type }
        return [
            occurredAt?.text ?? "-", appliedAt.text, environment, event ?? "- \(fact ?? "")", says, notificationUUID,
        ]
    }
}

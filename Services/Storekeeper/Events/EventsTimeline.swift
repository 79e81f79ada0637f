import ArgumentParser
import Contracts
import Foundation
import Storage
import Subscriptions

/// `storekeeper events timeline`: what became of one purchase, notification by notification.
struct EventsTimeline: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "timeline", abstract: "Show what became of one purchase, notification by notification.",
        discussion: """
            In the order in which we learned: each notification with what it says, and below it what it changed. What came \
            late or changed nothing is there, too. How the purchase stands and what is doubtful about it: storekeeper \
            events purchase. Exits 1 where nothing is known of the purchase.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "Its original transaction id.")
    var purchase: String

    @Option(help: "Production or Sandbox. Default: every one that knows the purchase.")
    var environment: StoreEnvironment?

    func run(in context: CommandContext) async throws {
        let connection = try database.connection(for: "events timeline", in: context)
        let (ledger, timeline) = (NotificationStore(connection), TimelineStore(connection))
        var rows: [TimelineEntry] = []
        for environment in environment.map({ [$0] }) ?? StoreEnvironment.allCases {
            let key = SubscriptionKey(environment: environment, originalTransactionId: purchase)
            var changes = Dictionary(grouping: try await timeline.changes(of: key), by: \.notificationUUID)
            for line in try await ledger.lines(of: key).sorted(by: { $0.recordedAt < $1.recordedAt }) {
                let decoded = try await ledger.decoded(line.notificationUUID)
                rows.append(TimelineEntry(line, says: PurchaseEvent(line, decoded: decoded)?.sentence))
                rows += (changes.removeValue(forKey: line.notificationUUID) ?? []).map(TimelineEntry.init)
            }
            // Of a notification that the ledger has lost nothing else is known.
            rows += changes.values.joined().sorted { $0.id < $1.id }.map(TimelineEntry.init)
        }
        guard !rows.isEmpty else { throw CommandError(unknownPurchase: purchase) }
        try output.list(rows, none: "", in: context)
    }
}

extension CommandError {
    /// Neither a notification nor a change of it is known.
    init(unknownPurchase purchase: String) {
        self.init("nothing is known of a purchase \(purchase.escaped); is it an original transaction id?")
    }
}

/// A notification or a change that it made, as it is listed.
struct TimelineEntry: ListedRow {
    var occurredAt: Date?
    var learnedAt: Date
    var environment: String
    /// Nil for the notification itself.
    var fact: String?
    var from: String?
    var to: String?
    var transactionId: String?
    var notificationType: String?
    var subtype: String?
    /// For an operator.
    var says: String
    var notificationUUID: String

    init(_ line: LedgerLine, says: String?) {
        occurredAt = line.signedDate
        learnedAt = line.recordedAt
        environment = line.environment.rawValue
        transactionId = line.transactionId
        notificationType = line.notificationType
        subtype = line.subtype
        self.says =
            (says ?? "What it said can no longer be read.")
            + (line.hasAdvanced ? "" : " It came late: newer was known.")
        notificationUUID = line.notificationUUID.uuidString.lowercased()
    }

    init(_ row: TimelineRow) {
        occurredAt = row.occurredAt
        learnedAt = row.learnedAt
        environment = row.key.environment.rawValue
        fact = row.fact
        from = row.from
        to = row.to
        transactionId = row.transactionId
        says = Change.sentence(fact: row.fact, from: row.from, to: row.to, transactionId: row.transactionId)
        notificationUUID = row.notificationUUID.uuidString.lowercased()
    }

    static let columns: [TextTable.Column] = ["occurred", "learned", "environment", "what", "says", "because of"]

    var cells: [String] {
        let event = notificationType.map { type in subtype.map { "\(type)/\($0)" } ?? type }
        return [
            occurredAt?.text ?? "-", learnedAt.text, environment, event ?? "- \(fact ?? "")", says, notificationUUID,
        ]
    }
}

import AppStore
import ArgumentParser
import Commands
import Contracts
import Foundation
import Operations
import ServerAPI
import Storage

/// `storekeeper notifications`: what Apple remembers of the notifications it sent.
struct Notifications: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notifications", abstract: "Show what Apple sent, and how its attempts ended.",
        discussion: "Example: storekeeper notifications history --transaction 2000000123456789 --app com.example.app",
        subcommands: [NotificationsHistory.self, NotificationsAttempts.self])
}

/// `storekeeper notifications history`: of one customer, with how each was delivered and whether the ledger has it.
struct NotificationsHistory: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "Show what Apple sent about a customer.",
        discussion: """
            Apple lists every notification of the last 180 days (Sandbox: 30) about the customer of the transaction, \
            with its attempts to deliver it. With DATABASE_URL, the column ledger says whether Storekeeper has stored it; \
            POST /v1/subscriptions/…/refresh and storekeeper backfill fetch what is missing. Nothing is verified or \
            changed. Exit codes: 0 all are stored; 1 some are missing, or Apple knows none.

            Example: storekeeper notifications history --transaction 2000000123456789 --app com.example.app
            """)

    @OptionGroup var apple: AppleOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Option(help: "Any transaction id of the customer.")
    var transaction: String

    @Option(help: "First day or time: \(TimeArgument.help) (default: as far back as Apple remembers).")
    var from: TimeArgument?

    @Option(help: "End (default: now).")
    var to: TimeArgument?

    func validate() throws {
        guard transaction.isTransactionId else {
            throw ValidationError(
                "--transaction \(transaction.escaped) is not a transaction id: those have digits only")
        }
    }

    func run(in context: CommandContext) async throws {
        let now = context.now()
        let range = try DateRange(from: from, to: to, now: now)
        let items = try await apple.withClient(in: context) { client in
            let environment = client.storeEnvironment
            let earliest = environment.earliestHistory(at: now)
            let request = NotificationHistoryRequest(
                startDate: max(range.from ?? earliest, earliest), endDate: range.to ?? now,
                transactionId: transaction)
            var items: [NotificationHistoryItem] = []
            for try await page in client.notificationHistory(request) { items += page.items }
            return items
        }
        var rows = items.map(HistoryRow.init)
        if database.isGiven(in: context) {
            let connection = try database.connection(for: "notifications", in: context)
            let recorded = try await RecoveryItemStore(connection).recorded(rows.compactMap(\.id))
            for index in rows.indices { rows[index].isRecorded = rows[index].id.map(recorded.contains) ?? false }
        }
        try output.list(
            rows, none: "Apple lists no notification about the customer of transaction \(transaction).", in: context)
        if rows.isEmpty || rows.contains(where: { $0.isRecorded == false }) { throw Exit.failed.code }
    }
}

/// A notification in Apple's history. What the payload says of itself is not verified.
struct HistoryRow: ListedRow {
    static let columns: [TextTable.Column] = ["signed", "type", "uuid", "attempts", "last result", "ledger", "check"]

    var notificationUUID: String?
    var notificationType: String?
    var subtype: String?
    var signedDate: Date?
    /// The oldest first.
    var attempts: [Attempt]
    /// Whether the ledger has it; nil without a database.
    var isRecorded: Bool?

    struct Attempt: Encodable {
        var date: Date?
        var result: String?
        /// What to check; nil after a success.
        var remedy: String?
    }

    var id: UUID? { notificationUUID.flatMap { UUID(uuidString: $0) } }

    init(_ item: NotificationHistoryItem) {
        let claim = item.signedPayload.flatMap { UncheckedNotification($0) }
        notificationUUID = claim?.notificationUUID?.uuidString.lowercased()
        notificationType = claim?.notificationType
        subtype = claim?.subtype
        signedDate = claim?.signedDate
        attempts = item.sendAttempts.map {
            Attempt(date: $0.attemptDate, result: $0.sendAttemptResult?.rawValue, remedy: $0.sendAttemptResult?.remedy)
        }
        .sorted { ($0.date ?? .distantPast) < ($1.date ?? .distantPast) }
    }

    var cells: [String] {
        let kind = [notificationType, subtype].compactMap { $0 }.joined(separator: "/")
        return [
            signedDate?.text ?? "-", kind.isEmpty ? "-" : kind, notificationUUID ?? "-", "\(attempts.count)",
            attempts.last?.result ?? "-", isRecorded.map { $0 ? "yes" : "MISSING" } ?? "-", check,
        ]
    }

    /// What to do about the newest attempt that failed, also after a later one succeeded: the reason that made it late may still be there.
    private var check: String {
        if let failed = attempts.last(where: { $0.remedy != nil }), let remedy = failed.remedy {
            let isOver = attempts.last?.remedy == nil
            return isOver ? "\(failed.result ?? "failed") before: \(remedy)" : remedy
        }
        return isRecorded == false && attempts.last != nil
            ? "Apple received 200: storekeeper dead-letters list, storekeeper recover" : "-"
    }
}

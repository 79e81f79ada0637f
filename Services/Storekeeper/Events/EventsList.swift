import ArgumentParser
import Contracts
import Foundation
import Storage
import Subscriptions

/// `storekeeper events list`: the newest notifications of a kind, or those of one purchase.
struct EventsList: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List notifications, the one recorded last first.",
        discussion: "With --purchase: those of one purchase, in Apple's order.")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Option(help: "An original transaction id.")
    var purchase: String?

    @Option(help: "Apple's notificationType, such as DID_RENEW.")
    var type: String?

    @Option(help: "Apple's subtype.")
    var subtype: String?

    @Option(help: "Production or Sandbox.")
    var environment: StoreEnvironment?

    @Option(help: "An app's bundle id.")
    var app: String?

    @Option(help: "How it came: \(NotificationSource.allCases.map(\.rawValue).joined(separator: ", ")).")
    var source: NotificationSource?

    @Option(help: "Recorded at or after, \(TimeArgument.help).")
    var from: TimeArgument?

    @Option(help: "Recorded before.")
    var to: TimeArgument?

    @OptionGroup var limits: LimitOptions

    func run(in context: CommandContext) async throws {
        KnownTypeWarning.warn(about: type, in: context)
        let stretch = try DateRange(from: from, to: to, now: context.now())
        let store = NotificationStore(try database.connection(for: "events list", in: context))
        let lines = try await lines(of: store, in: stretch)
        try output.list(lines.map(EventRow.init), none: "No such notification in the ledger.", in: context)
    }

    private func lines(of store: NotificationStore, in stretch: DateRange) async throws -> [LedgerLine] {
        var search = NotificationSearch()
        search.notificationType = type
        search.subtype = subtype
        search.environment = environment
        search.bundleId = app
        search.source = source
        search.from = stretch.from
        search.to = stretch.to
        guard let purchase else { return try await store.newest(limits.limit, where: search) }
        var lines: [LedgerLine] = []
        for environment in environment.map({ [$0] }) ?? StoreEnvironment.allCases {
            lines += try await store.lines(
                of: SubscriptionKey(environment: environment, originalTransactionId: purchase))
        }
        return Array(lines.filter(search.matches).suffix(limits.limit))
    }
}

extension NotificationSearch {
    /// The same question, asked of a line in hand.
    func matches(_ line: LedgerLine) -> Bool {
        (notificationType ?? line.notificationType) == line.notificationType
            && (subtype == nil || subtype == line.subtype) && (environment ?? line.environment) == line.environment
            && (bundleId ?? line.bundleId) == line.bundleId && (source?.rawValue ?? line.source) == line.source
            && (from ?? .distantPast) <= line.recordedAt && line.recordedAt < (to ?? .distantFuture)
    }
}

extension StoreEnvironment: ExpressibleByArgument {}
extension NotificationSource: ExpressibleByArgument {}

/// A notification of the ledger, as it is listed.
struct EventRow: ListedRow {
    var notificationUUID: String
    var notificationType: String
    var subtype: String?
    var environment: String
    var bundleId: String
    var originalTransactionId: String?
    var transactionId: String?
    var signedAt: Date?
    var receivedAt: Date
    var recordedAt: Date
    var source: String
    var hasAdvanced: Bool
    var contentConflicts: Int

    init(_ line: LedgerLine) {
        notificationUUID = line.notificationUUID.uuidString.lowercased()
        notificationType = line.notificationType
        subtype = line.subtype
        environment = line.environment.rawValue
        bundleId = line.bundleId
        originalTransactionId = line.originalTransactionId
        transactionId = line.transactionId
        signedAt = line.signedDate
        receivedAt = line.receivedAt
        recordedAt = line.recordedAt
        source = line.source
        hasAdvanced = line.hasAdvanced
        contentConflicts = line.contentConflicts
    }

    static let columns: [TextTable.Column] = [
        "recorded", "uuid", "type", "subtype", "environment", "purchase", "app", "source",
    ]

    var cells: [String] {
        [
            recordedAt.text, notificationUUID, notificationType, subtype ?? "-", environment,
            originalTransactionId ?? "-", bundleId, source,
        ]
    }
}

import ArgumentParser
import Commands
import Contracts
import Foundation
import Operations
import Storage
import Subscriptions

/// `storekeeper events list`: the newest notifications, or those of one purchase.
struct EventsList: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List notifications, newest first.",
        discussion: """
            With --purchase, lists the notifications of one purchase by signedDate, oldest first.

            Examples:
              storekeeper events list --from 1h --app com.example.app
              storekeeper events list --type REFUND --environment Production --json
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Option(help: "Original transaction id of a purchase.")
    var purchase: String?

    @Option(help: "notificationType, such as DID_RENEW.")
    var type: String?

    @Option(help: "subtype, such as VOLUNTARY.")
    var subtype: String?

    @Option(help: "Environment of the App Store.")
    var environment: StoreEnvironment?

    @Option(help: "Bundle id of the app (default: all apps).")
    var app: String?

    @Option(help: "How the notification arrived.")
    var source: NotificationSource?

    @Option(help: "Only stored at or after this time: \(TimeArgument.help).")
    var from: TimeArgument?

    @Option(help: "Only stored before this time.")
    var to: TimeArgument?

    @OptionGroup var limits: LimitOptions

    func run(in context: CommandContext) async throws {
        KnownTypeWarning.warn(about: type, in: context)
        let stretch = try DateRange(from: from, to: to, now: context.now())
        let store = NotificationStore(try database.connection(for: "events list", in: context))
        let lines = try await lines(of: store, in: stretch)
        try output.list(lines.map(EventRow.init), none: "No notifications match.", in: context)
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
    /// Whether a line matches the same filter.
    func matches(_ line: LedgerLine) -> Bool {
        (notificationType ?? line.notificationType) == line.notificationType
            && (subtype == nil || subtype == line.subtype) && (environment ?? line.environment) == line.environment
            && (bundleId ?? line.bundleId) == line.bundleId && (source?.rawValue ?? line.source) == line.source
            && (from ?? .distantPast) <= line.recordedAt && line.recordedAt < (to ?? .distantFuture)
    }
}

extension StoreEnvironment: ExpressibleByArgument {}
extension NotificationSource: ExpressibleByArgument {}

/// A row of `storekeeper events list`.
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
    /// From Apple's signature to the receipt, of what Apple posted itself.
    var deliverySeconds: Double?
    /// Whether an earlier attempt of Apple's must have failed.
    var isLate: Bool
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
        deliverySeconds = line.deliverySeconds
        isLate = line.isLate
        recordedAt = line.recordedAt
        source = line.source
        hasAdvanced = line.hasAdvanced
        contentConflicts = line.contentConflicts
    }

    static let columns: [TextTable.Column] = [
        "recorded", "uuid", "type", "subtype", "environment", "purchase", "app", "source",
        "late by",
    ]

    var cells: [String] {
        [
            recordedAt.text, notificationUUID, notificationType, subtype ?? "-", environment,
            originalTransactionId ?? "-", bundleId, source, isLate ? TimeSpan.age(deliverySeconds ?? 0) : "-",
        ]
    }
}

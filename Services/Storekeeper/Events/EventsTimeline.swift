import ArgumentParser
import Contracts
import Foundation
import Storage
import Subscriptions

/// `storekeeper events timeline`: what became of one purchase, change by change.
struct EventsTimeline: Verb {
    static let configuration = CommandConfiguration(
        commandName: "timeline", abstract: "Show what became of one purchase, change by change.",
        discussion: "In the order in which we learned. Exits 1 where nothing is known of the purchase.")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "Its original transaction id.")
    var purchase: String

    @Option(help: "Production or Sandbox. Default: every one that knows the purchase.")
    var environment: StoreEnvironment?

    func run(in surroundings: Surroundings) async throws {
        let store = TimelineStore(try database.connection(for: "events timeline", in: surroundings))
        var rows: [ChangeRow] = []
        for environment in environment.map({ [$0] }) ?? StoreEnvironment.allCases {
            let key = SubscriptionKey(environment: environment, originalTransactionId: purchase)
            rows += try await store.changes(of: key).map(ChangeRow.init)
        }
        guard !rows.isEmpty else {
            throw Failure("nothing is known of a purchase \(purchase.visible); is it an original transaction id?")
        }
        try output.list(rows, none: "", in: surroundings)
    }
}

/// A change, as it is listed.
struct ChangeRow: ListedRow {
    var occurredAt: Date
    var learnedAt: Date
    var environment: String
    var fact: String
    var from: String?
    var to: String?
    var notificationUUID: String

    init(_ row: TimelineRow) {
        occurredAt = row.occurredAt
        learnedAt = row.learnedAt
        environment = row.key.environment.rawValue
        fact = row.fact
        from = row.from
        to = row.to
        notificationUUID = row.notificationUUID.uuidString.lowercased()
    }

    static let columns: [TextTable.Column] = [
        "occurred", "learned", "environment", "fact", "from", "to", "because of",
    ]

    var cells: [String] {
        [occurredAt.text, learnedAt.text, environment, fact, from ?? "-", to ?? "-", notificationUUID]
    }
}

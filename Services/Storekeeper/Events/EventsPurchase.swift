import AppStore
import ArgumentParser
import Commands
import Contracts
import Foundation
import Operations
import Postgres
import Storage
import Subscriptions

/// `storekeeper events purchase`: the state of one purchase, its access, gaps and anomalies.
struct EventsPurchase: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "purchase", abstract: "Show the state of one purchase.",
        discussion: """
            Access is that of this purchase alone; another purchase of the same customer may outrank it. Anomalies are \
            contradictions in Apple's data; a gap is a pair of notifications between which one must be missing; conflicts are \
            notifications whose uuid arrived with other content, too. Exit codes: 0 found; 1 unknown purchase.

            Example: storekeeper events purchase 2000000123456789
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "Original transaction id of the purchase.")
    var purchase: String

    @Option(help: "Environment of the App Store (default: both).")
    var environment: StoreEnvironment?

    func run(in context: CommandContext) async throws {
        let connection = try database.connection(for: "events purchase", in: context)
        var found: [PurchaseSheet] = []
        for environment in environment.map({ [$0] }) ?? StoreEnvironment.allCases {
            let key = SubscriptionKey(environment: environment, originalTransactionId: purchase)
            if let sheet = try await PurchaseSheet(key, at: context.now(), connection) { found.append(sheet) }
        }
        guard !found.isEmpty else { throw CommandError(unknownPurchase: purchase) }
        if output.json { return try output.print(json: found, in: context) }
        for (place, sheet) in found.enumerated() {
            if place > 0 { context.print("") }
            FactLines.of(sheet.facts).forEach(context.print)
        }
    }
}

/// What an operator asks first about a purchase.
struct PurchaseSheet: Encodable {
    var environment: String
    var originalTransactionId: String
    var bundleId: String
    var productId: String?
    var transactionId: String?
    /// The purchase that Apple says this was before it was migrated.
    var previousOriginalTransactionId: String?
    var expiresAt: Date?
    /// Of a subscription that is paid in parts: which payment of how many, until when the customer is bound, what the next costs.
    var commitment: String?
    /// The first, current and next price.
    var prices: String?
    /// What was charged and refunded, for each currency.
    var paid: [String]
    /// How many of a consumable were bought, and what was credited for them.
    var bought: [String]
    /// What the accounts that got those credits have left.
    var balances: [String]
    /// What the current transaction and its renewal information have of Advanced Commerce, in words.
    var advancedCommerce: [String]
    /// The messages that StoreKit has for the customer in the app.
    var messages: [String]
    /// Time without payment between paid periods.
    var unpaid: [String]
    var state: String
    var givesAccess: Bool
    /// Why there is access, or why there is none.
    var reason: String
    var until: Date?
    var notifications: Int
    var anomalies: [String]
    var gaps: [String]
    var conflicts: [String]

    /// Nil for an unknown purchase.
    init?(_ key: SubscriptionKey, at now: Date, _ connection: PostgresConnection) async throws {
        guard let known = try await SubscriptionStore(connection).find(key) else { return nil }
        let view = try await PurchaseView(known, at: now, on: connection)
        let (period, state) = (view.current, view.state)
        let lines = try await NotificationStore(connection).lines(of: key)
        // Apple does not document which transactions of a migrated purchase name the old one.
        let transactions = try await TransactionStore(connection).versions(of: key)
        environment = key.environment.rawValue
        originalTransactionId = key.originalTransactionId
        bundleId = known.bundleId
        productId = known.transaction?.productId
        transactionId = known.transaction?.transactionId
        previousOriginalTransactionId =
            transactions.lazy.compactMap(\.facts.previousOriginalTransactionId).first
        expiresAt = known.transaction?.expiresDate
        commitment = Commitment(transaction: known.transaction, renewal: known.renewal)
            .map { $0.text(known.transaction, known.renewal) }
        prices = view.prices.text
        paid = view.paid.map(\.text)
        bought = view.consumables.credits
        balances = view.consumables.balances
        advancedCommerce = try await AdvancedCommerceInfo.lines(of: known, on: connection)
        messages = view.messages.map { "\($0.rawValue): \($0.sentence)" }
        unpaid = view.unpaidSpans.map { span in
            let length = TimeSpan.text(seconds: Int(span.end.timeIntervalSince(span.start)))
            return "\(span.start.text) to \(span.end.text), \(length)"
        }
        self.state = state.rawValue
        givesAccess = period != nil
        reason = period?.reason ?? state.rawValue
        until = period?.until
        notifications = lines.count
        anomalies = view.anomalies.map(\.sentence)
        gaps = view.gaps.map { gap in
            "\(gap.from.map { "\($0.text) to " } ?? "before ")\(gap.to.text): \(gap.sentence)"
        }
        conflicts = lines.filter { $0.contentConflicts > 0 }.map { $0.notificationUUID.uuidString.lowercased() }
    }

    var facts: [Fact] {
        let access = givesAccess ? "yes\(until.map { ", until \($0.text)" } ?? "")" : "no"
        let facts: [Fact] = [
            ("purchase", originalTransactionId), ("environment", environment), ("app", bundleId),
            ("product", productId), ("transaction", transactionId),
            ("migrated", previousOriginalTransactionId.map { "from purchase \($0)" }), ("ends", expiresAt?.text),
            ("commitment", commitment), ("prices", prices),
            ("state", state),
            ("access", "\(access) (\(reason))"), ("notifications", "\(notifications)"),
        ]
        let lists: [(String, [String])] = [
            ("bought", bought), ("balance", balances), ("paid", paid), ("commerce", advancedCommerce),
            ("message", messages), ("unpaid", unpaid), ("anomaly", anomalies), ("gap", gaps),
            ("conflict", conflicts.map { "\($0) arrived with other content, too" }),
        ]
        return facts + lists.flatMap { name, texts in texts.map { (name, $0) } }
    }
}

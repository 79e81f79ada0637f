import Contracts
import Postgres
import Subscriptions

/// The purchases for which a transaction has changed what decides who may use them.
struct OwnershipChange: Sendable {
    /// A purchase, or Apple's id of a customer, within one app.
    struct Name: Hashable, Sendable {
        var app: CoverageStore.App
        var id: String
    }

    /// Changed purchases.
    private(set) var purchases: Set<Name> = []
    /// Apple's ids of customers whose purchases are decided again, because a changed purchase had the id before.
    private(set) var customers: Set<Name> = []

    init(_ purchases: Set<Name> = []) { self.purchases = purchases }

    init(_ purchases: [String], customers: Set<String> = [], of app: CoverageStore.App) {
        self.purchases = Set(purchases.map { Name(app: app, id: $0) })
        self.customers = Set(customers.map { Name(app: app, id: $0) })
    }

    init(_ purchases: some Sequence<(key: SubscriptionKey, bundleId: String)>) {
        for (key, bundleId) in purchases { insert(key, of: bundleId) }
    }

    var isEmpty: Bool { purchases.isEmpty && customers.isEmpty }

    mutating func insert(_ key: SubscriptionKey, of bundleId: String) {
        purchases.insert(
            Name(app: CoverageStore.App(key.environment, bundleId), id: key.originalTransactionId))
    }

    /// Adds the purchase where a change of it decides who may use which purchase. A renewal does not.
    /// - Parameter before: nil where it was not stored.
    mutating func join(_ before: OwnedPurchase?, _ after: OwnedPurchase?) {
        guard before != after else { return }
        for purchase in [before, after].compactMap(\.self) { insert(purchase.key, of: purchase.bundleId) }
        guard let before, let customer = before.appTransactionId, customer != after?.appTransactionId else { return }
        customers.insert(Name(app: CoverageStore.App(before.key.environment, before.bundleId), id: customer))
    }

    mutating func formUnion(_ other: OwnershipChange) {
        purchases.formUnion(other.purchases)
        customers.formUnion(other.customers)
    }

    /// What is locked for it, see ``OwnershipLock``.
    var locks: Set<String> {
        Set(purchases.map(OwnershipLock.purchase)).union(customers.map(OwnershipLock.customer))
    }
}

/// Locks, until a transaction ends, against other transactions that decide about the same Apple account.
///
/// Two transactions that change different purchases of one Apple account share the id of a customer. A transaction writes what it
/// changes, locks, and reads only then what decides, so the later one sees what the earlier one has changed. Many locks would fill
/// the server's table of locks, so a large change takes one lock on all Apple accounts, as the last step before its commit; small ones
/// hold that lock together.
enum OwnershipLock {
    /// More names than this take the lock on all Apple accounts.
    private static let most = 100

    static func purchase(_ name: OwnershipChange.Name) -> String { "purchase \(text(name))" }

    static func customer(_ name: OwnershipChange.Name) -> String { "customer \(text(name))" }

    private static func text(_ name: OwnershipChange.Name) -> String {
        "\(name.app.environment.rawValue) \(name.app.bundleId) \(name.id)"
    }

    static func commands(_ names: Set<String>) -> [Command] {
        isAll(names.count) ? [Command(all)] : [Command(shared), Command(named, names.sorted())]
    }

    /// Whether a transaction with so many names has locked all Apple accounts.
    static func isAll(_ count: Int) -> Bool { count > most }

    static let statements = [all, shared, named]

    /// Before the locks, so that they can be given back.
    static let begin = Statement("ownership-lock-begin", "savepoint ownership")
    static let end = Statement("ownership-lock-end", "release savepoint ownership")
    static let giveBack = Statement("ownership-lock-give-back", "rollback to savepoint ownership")

    /// Also before a change that concerns all purchases of an app: it waits for all transactions that decide by what was before.
    static let all = Statement(
        "ownership-lock-all", "select pg_advisory_xact_lock(hashtextextended(current_schema() || ' ownership', 0))")

    private static let shared = Statement(
        "ownership-lock-shared",
        "select pg_advisory_xact_lock_shared(hashtextextended(current_schema() || ' ownership', 0))")

    /// In one order, so that two transactions with the same names do not wait for each other.
    private static let named = Statement(
        "ownership-lock-named",
        """
        select pg_advisory_xact_lock(hashtextextended(current_schema() || ' ' || name, 0))
        from unnest($1::text[]) with ordinality as given (name, place)
        order by place
        """)
}

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
        for purchase in [before, after].compactMap(\.self) {
            insert(purchase.key, of: purchase.bundleId)
            // A claim on the purchase before waits, too: it does not read yet that this one follows it.
            guard let id = purchase.migratedFrom else { continue }
            purchases.insert(Name(app: CoverageStore.App(purchase.key.environment, purchase.bundleId), id: id))
        }
        guard let before, let customer = before.appTransactionId, customer != after?.appTransactionId else { return }
        customers.insert(Name(app: CoverageStore.App(before.key.environment, before.bundleId), id: customer))
    }

    mutating func formUnion(_ other: OwnershipChange) {
        purchases.formUnion(other.purchases)
        customers.formUnion(other.customers)
    }

    /// What is locked for it.
    var locks: Set<OwnershipLock> {
        Set(purchases.map(OwnershipLock.purchase)).union(customers.map(OwnershipLock.customer))
    }
}

/// A lock, until a transaction ends, against other transactions that decide about the same Apple account.
///
/// Two transactions that change different purchases of one Apple account share the id of a customer. A transaction writes what it
/// changes, locks, and reads only then what decides, so the later one sees what the earlier one has changed. Many locks would fill
/// the server's table of locks, so a large change takes one lock on all Apple accounts of an app in its environment, as the last step
/// before its commit; small ones hold that lock together. A large change of one app, or in the Sandbox, holds up no other app.
struct OwnershipLock: Hashable, Sendable {
    /// One transaction locks no more names than this.
    private static let most = 100

    /// The app and environment of what is locked.
    let app: CoverageStore.App
    private let name: String

    private init(_ kind: String, _ id: String, of app: CoverageStore.App) {
        self.app = app
        name = "\(kind) \(Self.text(app)) \(id)"
    }

    static func purchase(_ name: OwnershipChange.Name) -> OwnershipLock {
        OwnershipLock("purchase", name.id, of: name.app)
    }

    static func customer(_ name: OwnershipChange.Name) -> OwnershipLock {
        OwnershipLock("customer", name.id, of: name.app)
    }

    /// - Parameter identity: of an app transaction, see ``AccountAppStore``.
    static func appTransaction(_ identity: String, of app: CoverageStore.App) -> OwnershipLock {
        OwnershipLock("app", identity, of: app)
    }

    private static func text(_ app: CoverageStore.App) -> String { "\(app.environment.rawValue) \(app.bundleId)" }

    /// In one order, the apps before the names, so that two transactions do not wait for each other.
    static func commands(_ locks: Set<OwnershipLock>) -> [Command] {
        let wholly = apps(lockedWhollyFor: locks)
        let sorted = Set(locks.map(\.app)).sorted { text($0) < text($1) }
        let names = locks.filter { !wholly.contains($0.app) }.map(\.name).sorted()
        return sorted.map { wholly.contains($0) ? all(of: $0) : Command(shared, text($0)) }
            + (names.isEmpty ? [] : [Command(named, names)])
    }

    /// The apps of which a transaction with these locks locks all Apple accounts: of several apps, those with more than their share
    /// of the names.
    static func apps(lockedWhollyFor locks: Set<OwnershipLock>) -> Set<CoverageStore.App> {
        guard locks.count > most else { return [] }
        let counts = locks.reduce(into: [CoverageStore.App: Int]()) { $0[$1.app, default: 0] += 1 }
        return Set(counts.filter { $0.value > most / counts.count }.keys)
    }

    /// Locks all Apple accounts of an app. Also before a change that concerns all of its purchases: it waits for all transactions that
    /// decide by what was before.
    static func all(of app: CoverageStore.App) -> Command { Command(exclusive, text(app)) }

    static let statements = [begin, end, giveBack, exclusive, shared, named]

    /// Before the locks, so that they can be given back.
    static let begin = Statement("ownership-lock-begin", "savepoint ownership")
    static let end = Statement("ownership-lock-end", "release savepoint ownership")
    static let giveBack = Statement("ownership-lock-give-back", "rollback to savepoint ownership")

    private static let exclusive = Statement(
        "ownership-lock-all",
        "select pg_advisory_xact_lock(hashtextextended(current_schema() || ' ownership ' || $1::text, 0))")

    private static let shared = Statement(
        "ownership-lock-shared",
        "select pg_advisory_xact_lock_shared(hashtextextended(current_schema() || ' ownership ' || $1::text, 0))")

    private static let named = Statement(
        "ownership-lock-named",
        """
        select pg_advisory_xact_lock(hashtextextended(current_schema() || ' ' || name, 0))
        from unnest($1::text[]) with ordinality as given (name, place)
        order by place
        """)
}

import Postgres
import Subscriptions

extension PurchaseInBatch {
    /// The commands that read purchases with everything that decides their access; ``read(_:)`` decodes their results.
    /// - Parameter isLocking: whether the purchases are locked until the transaction ends.
    static func commands(reading keys: [SubscriptionKey], isLocking: Bool = true) -> [Command] {
        [
            isLocking ? SubscriptionStatements.command(locking: keys) : SubscriptionStatements.command(reading: keys),
            TransactionStore.command(transactionsOf: keys),
            AccessPeriodStatements.command(periodsOf: keys), Command(ProductStore.configured),
            TransactionStore.command(migrationsOf: keys),
        ]
    }

    /// The stored purchases, and the configured durations of non-renewing products.
    static func read(
        _ answers: ArraySlice<Rows>
    ) throws -> (known: [SubscriptionKey: PurchaseInBatch], durations: ProductDurations) {
        let migrations = try TransactionStore.migrations(answers[answers.startIndex + 4])
        let first = answers.startIndex
        let transactions = Dictionary(
            grouping: try answers[first + 1].map { row in try StoredTransaction.read(row) }, by: \.key)
        let periods = Dictionary(
            grouping: try answers[first + 2].map { row in try AccessPeriodRow.read(row) }, by: \.key)
        // Of a purchase that is not stored only the migration is known.
        let unknown = migrations.mapValues { PurchaseInBatch(migratedAt: $0) }
        let known: [SubscriptionKey: PurchaseInBatch] = try answers[first].reduce(into: unknown) { purchases, row in
            let known = try SubscriptionColumns.read(row)
            let key = known.subscription.key
            purchases[key] = PurchaseInBatch(
                known, transactions: (transactions[key] ?? []).map(\.version), periods: Set(periods[key] ?? []),
                migratedAt: migrations[key])
        }
        return (known, try ProductDurations(answers[first + 3]))
    }
}

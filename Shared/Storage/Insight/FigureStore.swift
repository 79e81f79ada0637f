import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date

/// Computes the figures of purchases that changed, and keeps the sums of days.
///
/// Every transaction takes purchases from the queue, replaces what they added to the sums, and commits all of it or nothing, so a process
/// may end at any moment. The lock on `insight_position` keeps two of them apart.
package struct FigureStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// Computes the figures of the purchases that changed first, and of those that change by the clock.
    /// - Parameter limit: of purchases of either.
    /// - Returns: whether there may be more.
    package func update(limit: Int = 500, at now: Date) async throws -> Bool {
        let now = try now.atPostgresPrecision()
        return try await repeating {
            try await connection.transaction { transaction in
                let taken = try transaction.pipeline([
                    Command(Self.lock), Command(Self.take, Int64(limit)), Command(Self.due, now, Int64(limit)),
                ])
                let keys = Set(try (Array(taken[1]) + Array(taken[2])).map { row in try Self.key(row) }).sorted()
                if !keys.isEmpty { try Self.compute(keys, at: now, in: transaction) }
                guard taken[1].count < limit, taken[2].count < limit else { return true }
                _ = try transaction.pipeline([Command(Self.move, now), Command(Self.report, now)])
                return false
            }
        }
    }

    private static func compute(_ keys: [SubscriptionKey], at now: Date, in transaction: PostgresTransaction) throws {
        let read = try transaction.pipeline([
            Command(apps, keys.map(\.environment.rawValue), keys.map(\.originalTransactionId)),
            TransactionStore.command(transactionsOf: keys), AccessPeriodStatements.command(periodsOf: keys),
            Command(movements, keys.map(\.environment.rawValue), keys.map(\.originalTransactionId)),
            Command(extended, keys.map(\.environment.rawValue), keys.map(\.originalTransactionId)),
        ])
        let apps = try Dictionary(
            uniqueKeysWithValues: read[0].map { row in (try key(row), try row.value("bundle_id", as: String.self)) })
        let transactions = Dictionary(grouping: try read[1].map { row in try StoredTransaction.read(row) }, by: \.key)
        let periods = Dictionary(grouping: try read[2].map { row in try AccessPeriodRow.read(row) }, by: \.key)
        let known = Dictionary(grouping: try read[3].map { row in try MovementRow.read(row) }, by: \.key)
        let ends = try nominalEnds(read[4])
        var (sums, moved, added): ([FigureRow], [SubscriptionKey], [MovementRow]) = ([], [], [])
        var changes: [Date?] = []
        for (place, key) in keys.enumerated() {
            let figures = PurchaseFigures(
                (transactions[key] ?? []).map(\.version.facts),
                access: (periods[key] ?? []).compactMap(AccessPeriod.init),
                in: key.environment, nominalEnds: ends[key] ?? [:], at: now)
            changes.append(figures.changesAt)
            sums += figures.sums.map { FigureRow(place: place + 1, key: $0.key, sum: $0.value) }
            let rows = figures.movements.map { MovementRow(key: key, bundleId: apps[key] ?? "", movement: $0) }
            let stored = known[key] ?? []
            // A stored one may be there twice; those of the purchase are all different.
            guard rows.count != stored.count || Set(rows) != Set(stored) else { continue }
            moved.append(key)
            added += rows
        }
        var commands = [
            Command(
                fold,
                all: [
                    keys.map(\.environment.rawValue), keys.map(\.originalTransactionId), keys.map { apps[$0] ?? "" },
                    changes,
                ] + FigureRow.columns.parameters(of: sums) + [now])
        ]
        if !moved.isEmpty {
            commands += [
                Command(removeMovements, moved.map(\.environment.rawValue), moved.map(\.originalTransactionId)),
                Command(addMovements, all: MovementRow.columns.parameters(of: added)),
            ]
        }
        _ = try transaction.pipeline(commands)
    }

    /// The ends of periods before they were extended, by purchase and transaction.
    /// - Parameter rows: of ``extended``.
    static func nominalEnds(_ rows: Rows) throws -> [SubscriptionKey: [String: Date]] {
        try rows.reduce(into: [:]) { ends, row in
            let id: String = try row.value("transaction_id")
            ends[try key(row), default: [:]][id] = try row.value("nominal_end", as: Date.self)
        }
    }

    private static func key(_ row: Row) throws -> SubscriptionKey {
        SubscriptionKey(
            environment: try StoreEnvironment(stored: row.value("environment")),
            originalTransactionId: try row.value("original_transaction_id"))
    }

    /// How far the figures are.
    package struct Status: Sendable, Equatable {
        /// Nil while they are computed for the first time.
        package var asOf: Date?
        /// When they were last compared with transactions and access periods.
        package var checkedAt: Date?
        /// The same; before the first time, when the database got figures.
        package var uncheckedSince: Date?
        /// Found then.
        package var differences: Int64
    }

    package func status() async throws -> Status {
        guard let row = try await connection.execute(Self.status).first else { return Status(differences: 0) }
        return Status(
            asOf: try row.optional("as_of"), checkedAt: try row.optional("checked_at"),
            uncheckedSince: try row.optional("unchecked_since"), differences: try row.value("differences"))
    }

    /// Number of purchases that changed since their figures were computed.
    package func waiting() async throws -> Int {
        guard let row = try await connection.execute(Self.waiting).first else { return 0 }
        return Int(try row.value("purchases", as: Int64.self))
    }

    /// Adds up the days and months again from what each purchase added to them, and has the figures of every purchase computed again.
    /// - Returns: number of purchases.
    package func rebuild(audit: OperatorAction) async throws -> Int {
        try await connection.transaction { transaction in
            let results = try transaction.pipeline([
                Command(Self.lock), Command(Self.clearDays), Command(Self.clearMonths), Command(Self.clearConverted),
                Command(Self.addDays), Command(Self.enqueueAll), OperatorActionStore.command(recording: [audit]),
            ])
            return results[5].affected
        }
    }

    /// Deletes sums of nothing.
    package func tidy() async throws {
        _ = try await connection.transaction { transaction in
            try transaction.pipeline([
                Command(Self.lock), Command(Self.removeEmpty), Command(Self.removeEmptyMonths),
                Command(Self.removeEmptyConverted),
            ])
        }
    }
}

/// What a purchase adds to a day.
struct FigureRow: Sendable {
    /// Of the purchase among the given ones, from 1.
    var place: Int
    var day: Int
    var kind: String
    var step: Int
    var cell: CellColumns
    var sum: PurchaseFigures.Sum
    /// Nil for a loss, by whose day no purchase is looked up.
    var dayKey: Int32?

    init(place: Int, key: PurchaseFigures.Key, sum: PurchaseFigures.Sum) {
        self.place = place
        (day, kind, step) = (key.day, key.kind.rawValue, key.step)
        cell = key.cell
        self.sum = sum
        dayKey = key.kind.key(of: Int32(clamping: key.day))
    }

    typealias CellColumns = RevenueCell

    static let columns: [Column<FigureRow>] = [
        Column("place", \.place), Column("day", \.day), Column("kind", \.kind), Column("step", \.step),
        Column("currency", \.cell.currency), Column("product_id", \.cell.productId),
        Column("storefront", \.cell.storefront), Column("period", \.cell.period), Column("offer", \.cell.offer),
        Column("amount", \.sum.amount), Column("revenuecat_amount", \.sum.revenueCatAmount),
        Column("purchases", \.sum.purchases), Column("count", \.sum.count),
        Column("day_key", \.dayKey),
    ]
}

extension PurchaseFigures.Kind {
    /// The key of a purchase in `insight_purchase.day_keys`: the day and the kind. Nil for losses.
    /// - Parameter day: since 1970.
    func key(of day: Int32) -> Int32? {
        let number: Int32? =
            switch self {
            case .charge, .loyalCharge: 0
            case .refund: 1
            case .refundOfCharge: 2
            case .periods, .unbrokenPeriods: 3
            case .trialRunning, .trialEnded, .trialPaid: 4
            case .new: 5
            case .expansion: 6
            case .contraction: 7
            case .churn: 8
            case .reactivation: 9
            case .lostInDay, .lostInMonth: nil
            }
        return number.map { day * 10 + $0 }
    }
}

/// A row of `mrr_movement`.
struct MovementRow: Sendable, Hashable {
    var key: SubscriptionKey
    var bundleId: String
    var movement: RevenueMovement

    static let columns: [Column<MovementRow>] = [
        Column("environment", \.key.environment), Column("original_transaction_id", \.key.originalTransactionId),
        Column("bundle_id", \.bundleId), Column("at", \.movement.at),
        Column(
            "kind", as: String.self, get: { $0.movement.kind.rawValue },
            set: { if let kind = $1.flatMap(RevenueMovement.Kind.init(rawValue:)) { $0.movement.kind = kind } }),
        Column("currency", \.movement.cell.currency), Column("product_id", \.movement.cell.productId),
        Column("storefront", \.movement.cell.storefront), Column("period", \.movement.cell.period),
        Column("offer", \.movement.cell.offer), Column("amount", \.movement.value.amount),
        Column("revenuecat_amount", \.movement.value.revenueCatAmount),
        Column(
            "purchases", as: Int16.self, get: { Int16(clamping: $0.movement.purchases) },
            set: { $0.movement.purchases = Int($1 ?? 0) }),
        Column("transaction_id", \.movement.transactionId),
    ]

    static func read(_ row: Row) throws -> MovementRow { try columns.read(row, into: empty) }

    private static let empty = MovementRow(
        key: SubscriptionKey(environment: .production, originalTransactionId: ""), bundleId: "",
        movement: RevenueMovement(
            at: .distantPast, kind: .new, cell: RevenueCell(.empty, period: nil), value: .zero, purchases: 0,
            transactionId: ""))
}

extension AccessPeriod {
    /// Nil for a reason that this build does not know.
    init?(_ row: AccessPeriodRow) {
        guard let reason = Reason(rawValue: row.reason) else { return nil }
        self.init(
            productId: row.productId, startsAt: row.startsAt, endsAt: row.endsAt, reason: reason,
            transactionId: row.transactionId, notificationUUID: row.notificationUUID)
    }
}

import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date

/// Computes the figures of purchases that changed, and keeps the sums of days.
///
/// A batch of purchases is read and computed while the one before is written. Its transaction takes the purchases from the queue, replaces
/// what they added to the sums, and commits all of it or nothing, so a process may end at any moment. What changes between reading and
/// writing has a row of the queue that was not read, and is computed again.
package struct FigureStore: Sendable {
    private let connection: PostgresConnection
    private let reading: PostgresConnection

    /// - Parameters:
    ///   - connection: all statements run on it but those that read a batch.
    ///   - reading: nil: the same, so that no batch is read while another is written.
    package init(_ connection: PostgresConnection, reading: PostgresConnection? = nil) {
        self.connection = connection
        self.reading = reading ?? connection
    }

    /// Computes the figures of the purchases that changed first, and of those that change by the clock.
    /// - Parameters:
    ///   - limit: of purchases of either.
    ///   - size: purchases of a batch.
    /// - Returns: whether this process may have more to do; false also where another one has written meanwhile, which does the rest.
    package func update(limit: Int = 5_000, batches size: Int = 2_000, at now: Date) async throws -> Bool {
        let now = try now.atPostgresPrecision()
        let found = try await connection.pipeline([
            Command(Self.turn), Command(Self.changed, Int64(limit)), Command(Self.due, now, Int64(limit)),
        ])
        var turn: Int64 = try found[0][0].value("turn")
        let batches = try Batch.all(changed: found[1], due: found[2], size: size)
        var next = try await commands(batches.first, at: now)
        for place in batches.indices {
            guard let commands = next else { break }
            try Task.checkCancellation()
            async let following = self.commands(batches.dropFirst(place + 1).first, at: now)
            guard try await write(commands, in: turn) else { return false }
            turn += 1
            next = try await following
        }
        guard found[1].count < limit, found[2].count < limit else { return true }
        _ = try await write([Command(Self.move, now), Command(Self.report, now)], in: turn)
        return false
    }

    /// Purchases to compute, and the rows of the queue because of which they are.
    private struct Batch: Sendable {
        var keys: [SubscriptionKey] = []
        var changes: [(key: SubscriptionKey, changedBy: String)] = []

        static func all(changed: Rows, due: Rows, size: Int) throws -> [Batch] {
            let changes = Dictionary(
                grouping: try changed.map { row in
                    (key: try FigureStore.key(row), changedBy: try row.value("changed_by", as: String.self))
                }, by: \.key)
            let keys = Set(changes.keys).union(try due.map { row in try FigureStore.key(row) }).sorted()
            return stride(from: 0, to: keys.count, by: size).map { first in
                let keys = Array(keys[first..<min(first + size, keys.count)])
                return Batch(keys: keys, changes: keys.flatMap { changes[$0] ?? [] })
            }
        }
    }

    /// Reads and computes a batch.
    /// - Returns: what writes its figures.
    private func commands(_ batch: Batch?, at now: Date) async throws -> [Command]? {
        guard let batch else { return nil }
        let (keys, changes) = (batch.keys, batch.changes)
        let read = try await reading.pipeline([
            Command(Self.apps, keys.map(\.environment.rawValue), keys.map(\.originalTransactionId)),
            TransactionStore.command(transactionsOf: keys), AccessPeriodStatements.command(periodsOf: keys),
            Command(Self.movements, keys.map(\.environment.rawValue), keys.map(\.originalTransactionId)),
            Command(Self.extended, keys.map(\.environment.rawValue), keys.map(\.originalTransactionId)),
        ])
        let apps = try Dictionary(
            uniqueKeysWithValues: read[0].map { row in
                (try Self.key(row), try row.value("bundle_id", as: String.self))
            })
        let transactions = Dictionary(grouping: try read[1].map { row in try StoredTransaction.read(row) }, by: \.key)
        let periods = Dictionary(grouping: try read[2].map { row in try AccessPeriodRow.read(row) }, by: \.key)
        let known = Dictionary(grouping: try read[3].map { row in try MovementRow.read(row) }, by: \.key)
        let ends = try Self.nominalEnds(read[4])
        var purchases: [PurchaseRow] = []
        var (sums, moved, movements): ([FigureRow], [SubscriptionKey], [MovementRow]) = ([], [], [])
        for (place, key) in keys.enumerated() {
            let figures = PurchaseFigures(
                (transactions[key] ?? []).map(\.version.facts),
                access: (periods[key] ?? []).compactMap(AccessPeriod.init),
                in: key.environment, nominalEnds: ends[key] ?? [:], at: now)
            let purchase = PurchaseRow(key, bundleId: apps[key] ?? "", figures)
            purchases.append(purchase)
            sums += figures.sums.map { FigureRow(place: place + 1, key: $0.key, sum: $0.value) }
            let rows = figures.movements.map { MovementRow(key: key, bundleId: purchase.bundleId, movement: $0) }
            let stored = known[key] ?? []
            // A stored one may be there twice; those of the purchase are all different.
            guard rows.count != stored.count || Set(rows) != Set(stored) else { continue }
            moved.append(key)
            movements += rows
        }
        var commands = [
            Command(
                Self.take, changes.map(\.key.environment.rawValue), changes.map(\.key.originalTransactionId),
                changes.map(\.changedBy)),
            Command(
                Self.fold,
                all: PurchaseRow.columns.parameters(of: purchases) + FigureRow.columns.parameters(of: sums) + [now]),
        ]
        if !moved.isEmpty {
            commands += [
                Command(Self.removeMovements, moved.map(\.environment.rawValue), moved.map(\.originalTransactionId)),
                Command(Self.addMovements, all: MovementRow.columns.parameters(of: movements)),
            ]
        }
        return commands
    }

    /// - Returns: false, with nothing written, where another process has written since the turn was read.
    private func write(_ commands: [Command], in turn: Int64) async throws -> Bool {
        try await repeating {
            try await connection.transaction { transaction in
                // The row stays locked until the transaction ends.
                guard try transaction.execute(Self.begin, turn).count == 1 else { return false }
                _ = try transaction.pipeline(commands)
                return true
            }
        }
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

import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date

/// Replaces rows of the live schema that differ from the rebuilt ones, one purchase at a time.
///
/// Each purchase is compared again under a lock that keeps the pipeline from writing purchases meanwhile. Nothing is
/// published, because no notification caused the change.
public struct StateRepair: Sendable {
    private let comparison: StateComparison

    /// - Parameter comparison: on a connection with the right to write to the live schema, which is its `search_path`.
    public init(_ comparison: StateComparison) { self.comparison = comparison }

    /// The outcome for one purchase.
    public enum Outcome: Sendable, Equatable {
        /// The purchase was repaired; the number of rows replaced.
        case repaired(rows: Int)
        /// The purchase or its notifications changed since the comparison: it was not touched.
        case moved
        /// Another transaction held a needed lock for two seconds.
        case held
        /// Another purchase has a row that by the ledger belongs to this one; repair that one first.
        case taken
    }

    /// The tables that a repair changes and this user may not; empty where the user may change all of them.
    public func forbidden() async throws -> [String] {
        let statement = Statement(
            unsafeSQL: """
                select name
                from unnest($1::text[]) with ordinality as given (name, place)
                cross join lateral (select '\(comparison.live).' || quote_ident(name)) as place (qualified)
                where not has_table_privilege(place.qualified, 'insert')
                    or name <> 'operator_action' and not has_table_privilege(place.qualified, 'delete')
                order by given.place
                """)
        let names = ComparedTable.all.map(\.name) + [OwnershipComparison.table, "operator_action"]
        return try await comparison.connection.execute(statement, names)
            .map { row in try row.value("name") }
    }

    /// Repairs one purchase, all its rows or none, with an entry in the audit log.
    ///
    /// Who may use the purchases of its Apple account is decided again, which may repair rows of other purchases.
    /// - Parameters:
    ///   - fingerprint: of the differences found before; with other differences the purchase is not touched.
    ///   - note: the entry of the audit log, written in the same transaction.
    ///   - now: the clock of this process.
    public func repair(
        _ key: SubscriptionKey, found fingerprint: Int, at now: Date,
        note: @escaping @Sendable ([StateComparison.Difference]) -> OperatorAction
    ) async throws -> Outcome {
        do {
            return try await comparison.connection.transaction(isolation: .repeatableRead) { transaction in
                // The snapshot begins with the first query after the lock.
                _ = try transaction.pipeline([Command(.lockTimeout), Command(lock)])
                let findings = try comparison.findings(of: key, in: transaction)
                let differences = findings.differences
                guard findings.open.isEmpty, findings.cut.isEmpty, differences.fingerprint == fingerprint else {
                    return .moved
                }
                for table in ComparedTable.all {
                    let rows = differences.filter { $0.table == table.name }
                    if !rows.isEmpty { try replace(rows, of: table, key, in: transaction) }
                }
                let apps = try transaction.execute(apps, key.environment.rawValue, key.originalTransactionId)
                try OwnershipStore.decide(
                    OwnershipChange(try apps.map { row in (key: key, bundleId: try row.value("bundle_id")) }), at: now,
                    in: transaction)
                guard !differences.isEmpty else { return .repaired(rows: 0) }
                _ = try transaction.execute(enqueue, key.environment.rawValue, key.originalTransactionId)
                _ = try transaction.pipeline([OperatorActionStore.command(recording: [note(differences)])])
                return .repaired(rows: differences.count)
            }
        } catch is Taken {
            return .taken
        } catch let error as PostgresError where error.meaning == .repeatable {
            return error.sqlState == "55P03" ? .held : .moved
        }
    }

    /// Thrown internally, to roll back.
    private struct Taken: Error {}

    private func replace(
        _ rows: [StateComparison.Difference], of table: ComparedTable, _ key: SubscriptionKey,
        in transaction: PostgresTransaction
    ) throws {
        let (environment, id) = (key.environment.rawValue, key.originalTransactionId)
        let rebuilt = rows.filter { $0.presence != .onlyLive }.map(\.row)
        let bodies = try transaction.execute(bodies(of: table), environment, id, rebuilt).map { row in
            try row.value("body", as: String.self)
        }
        _ = try transaction.execute(delete(from: table), environment, id, rows.map(\.row))
        let inserted = try transaction.execute(insert(into: table), bodies).affected
        guard bodies.count == rebuilt.count, inserted == bodies.count else { throw Taken() }
    }

    /// `LedgerStore.apply` takes a conflicting lock on the first table before it writes, and every other transaction that changes
    /// who may use a purchase takes one on another of them; readers are not blocked.
    private var lock: Statement {
        let tables = ["subscription", "account_claim", "purchase_transfer", "chosen_account", "sharing_policy"]
        let names = tables.map { "\(comparison.live).\($0)" }.joined(separator: ", ")
        return Statement(unsafeSQL: "lock table \(names) in exclusive mode")
    }

    /// The apps in which a purchase may belong to an account.
    private var apps: Statement {
        let tables = ["subscription", "account_claim", OwnershipComparison.table].map { table in
            """
            select bundle_id
            from \(comparison.live).\(table)
            where environment = $1::text::\(comparison.live).store_environment and original_transaction_id = $2::text
            """
        }
        return Statement(unsafeSQL: tables.joined(separator: "\nunion\n"))
    }

    /// The figures of the purchase are computed again, also where only its app changed, which no trigger sees.
    private var enqueue: Statement {
        Statement(
            unsafeSQL: """
                insert into \(comparison.live).insight_change (environment, original_transaction_id)
                values ($1::text::\(comparison.live).store_environment, $2::text)
                on conflict do nothing
                """)
    }

    /// Rebuilt rows as JSON, because their row types belong to the other schema.
    private func bodies(of table: ComparedTable) -> Statement {
        let kept = table.ignored.map { "'\($0.column)', \($0.value)" }.joined(separator: ", ")
        let body = table.rebuilt("to_jsonb(fresh) - 'row_key'", of: "fresh", live: comparison.live)
        func side(_ schema: String) -> String {
            """
            (
                select t.*, \(table.key) as row_key
                from \(schema).\(table.name) t
                where environment = $1::text::\(schema).store_environment and original_transaction_id = $2::text
                    and \(table.condition)
            )
            """
        }
        return Statement(
            unsafeSQL: """
                select (\(body)
                    || case when held.row_key is null then '{}' else jsonb_build_object(\(kept)) end)::text as body
                from \(side(comparison.rebuilt)) as fresh
                left join \(side(comparison.live)) as held on held.row_key = fresh.row_key
                where fresh.row_key = any ($3::text[])
                """)
    }

    private func delete(from table: ComparedTable) -> Statement {
        Statement(
            unsafeSQL: """
                delete from \(comparison.live).\(table.name)
                where environment = $1::text::\(comparison.live).store_environment
                    and original_transaction_id = $2::text and \(table.condition)
                    and \(table.key) = any ($3::text[])
                """)
    }

    private func insert(into table: ComparedTable) -> Statement {
        let name = "\(comparison.live).\(table.name)"
        return Statement(
            unsafeSQL: """
                insert into \(name)
                select fresh.*
                from unnest($1::text[]) as given (body)
                cross join lateral jsonb_populate_record(null::\(name), given.body::jsonb) as fresh
                on conflict do nothing
                """)
    }
}

extension Collection where Element == StateComparison.Difference {
    /// A hash of the differences, stable within this process. Without those that the repair of another purchase of the same Apple
    /// account may have repaired.
    public var fingerprint: Int { filter { $0.table != OwnershipComparison.table }.hashValue }
}

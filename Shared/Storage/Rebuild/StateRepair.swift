import Contracts
import Postgres
import Subscriptions

/// Puts what was rebuilt from the ledger in the place of what differs from it, one purchase at a time.
///
/// Each purchase is compared again under a lock that keeps the line from writing any, for as long as that takes. Nothing
/// is published: what a notification changed was told when it came, and no notification brought this.
public struct StateRepair: Sendable {
    private let comparison: StateComparison

    /// - Parameter comparison: on a connection that may write to the live schema, which is that connection's own.
    public init(_ comparison: StateComparison) { self.comparison = comparison }

    /// What became of one purchase.
    public enum Outcome: Sendable, Equatable {
        /// So many rows are as the ledger tells now.
        case repaired(rows: Int)
        /// It is not as it was when it was compared, or its ledger is not: it was left as it stands.
        case moved
        /// Somebody held what this needs for two seconds.
        case held
        /// Another purchase has a row that by the ledger belongs to this one; putting that right first may help.
        case taken
    }

    /// The tables that this user may not change, though it would have to; empty where nothing is in the way.
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
        return try await comparison.connection.execute(statement, ComparedTable.all.map(\.name) + ["operator_action"])
            .map { row in try row.value("name") }
    }

    /// Puts one purchase right, all its rows or none, with a line in the trail.
    /// - Parameters:
    ///   - fingerprint: of the differences that were found before; with any others the purchase has moved.
    ///   - note: who does what to which subject, written down in the same transaction.
    public func repair(
        _ key: SubscriptionKey, found fingerprint: Int,
        note: @escaping @Sendable ([StateComparison.Difference]) -> OperatorAction
    ) async throws -> Outcome {
        do {
            return try await comparison.connection.transaction(isolation: .repeatableRead) { transaction in
                // The first question that is asked sees what was there when the lock was given.
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
                _ = try transaction.pipeline([OperatorActionStore.command(recording: [note(differences)])])
                return .repaired(rows: differences.count)
            }
        } catch is Taken {
            return .taken
        } catch let error as PostgresError where error.meaning == .repeatable {
            return error.sqlState == "55P03" ? .held : .moved
        }
    }

    /// Thrown inside only, to roll back.
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

    /// The one transaction takes a lesser lock on this table before it writes anything; who only reads is not hindered.
    private var lock: Statement {
        Statement(unsafeSQL: "lock table \(comparison.live).subscription in exclusive mode")
    }

    /// Rebuilt rows as JSON, which knows nothing of the schema that their types are of.
    private func bodies(of table: ComparedTable) -> Statement {
        let kept = table.ignored.map { "'\($0.column)', \($0.value)" }.joined(separator: ", ")
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
                select (to_jsonb(told) - 'row_key'
                    || case when held.row_key is null then '{}' else jsonb_build_object(\(kept)) end)::text as body
                from \(side(comparison.rebuilt)) as told
                left join \(side(comparison.live)) as held on held.row_key = told.row_key
                where told.row_key = any ($3::text[])
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
                select told.*
                from unnest($1::text[]) as given (body)
                cross join lateral jsonb_populate_record(null::\(name), given.body::jsonb) as told
                on conflict do nothing
                """)
    }
}

extension Collection where Element == StateComparison.Difference {
    /// The same for the same differences, within this process.
    public var fingerprint: Int { Array(self).hashValue }
}

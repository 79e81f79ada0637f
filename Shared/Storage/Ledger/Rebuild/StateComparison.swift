import Contracts
import Postgres
import Subscriptions

/// Compares the state of the same purchases in two schemas of one database: the live one, and one rebuilt from its ledger.
///
/// It compares the rows that depend on the set of notifications alone: subscriptions, transactions, access periods, anomalies,
/// lifecycle gaps, refund requests, the claims of transactions, and who may use the purchases. It does not compare what depends on arrival: the timeline, whether a
/// notification changed the state, recovery requests, revisions, and the times of processing.
///
/// Safe while the pipeline runs: all rows of a purchase are read in one snapshot, and a purchase is compared only if both
/// ledgers hold the same notifications about it in that snapshot.
public struct StateComparison: Sendable {
    let connection: PostgresConnection
    /// The names of the schemas, quoted.
    let live: String
    let rebuilt: String

    /// - Parameter connection: with the right to read both schemas, and without a statement timeout.
    public init(_ connection: PostgresConnection, live: String, rebuilt: String) {
        self.connection = connection
        self.live = FreshSchema.quoted(live)
        self.rebuilt = FreshSchema.quoted(rebuilt)
    }

    /// A row that differs between the schemas.
    public struct Difference: Sendable, Hashable {
        /// The purchase of the row.
        public var key: SubscriptionKey
        /// The name of the table.
        public var table: String
        /// The key of the row within its purchase; empty where a purchase has one row.
        public var row: String
        /// The columns that differ, in alphabetical order; empty where one schema lacks the row.
        public var columns: [Column]
        /// Which of the schemas have the row.
        public var presence: Presence

        /// The schemas that have a row.
        public enum Presence: String, Sendable {
            case both
            case onlyLive
            case onlyRebuilt
        }

        /// One column of the row; nil stands for NULL.
        public struct Column: Sendable, Hashable {
            /// The name of the column.
            public var name: String
            /// The value in the live schema.
            public var live: String?
            /// The value in the rebuilt schema.
            public var rebuilt: String?
        }
    }

    /// The result of comparing some purchases.
    public struct Findings: Sendable {
        /// Number of purchases, including those that could not be compared.
        public var purchases = 0
        /// The differences of the compared purchases.
        public var differences: [Difference] = []
        /// The purchases of which the rebuilt ledger lacks notifications: apply those and compare again.
        public var open: [SubscriptionKey] = []
        /// The purchases that cannot be compared, because retention has dropped payloads of their notifications. None of them
        /// is `open`.
        public var cut: [SubscriptionKey] = []
        /// The last purchase, after which the next page begins; nil at the end.
        public var last: String?
    }

    /// Compares the next purchases of an environment, in the order of their ids.
    public func page(
        of environment: StoreEnvironment, after id: String?, limit: Int = 2000
    ) async throws -> Findings {
        let boundary = boundary
        return try await compare(environment, in: .after(id ?? "")) { transaction in
            let row = try transaction.execute(boundary, environment.rawValue, id ?? "", Int64(limit))[0]
            let count = Int(try row.value("purchases", as: Int64.self))
            return (count, count < limit ? nil : try row.optional("last"))
        }
    }

    /// Compares the given purchases.
    public func compare(_ ids: [String], of environment: StoreEnvironment) async throws -> Findings {
        try await compare(environment, in: .named(ids)) { _ in (ids.count, nil) }
    }

    /// Number of purchases in the live schema, for showing progress.
    public func count() async throws -> Int {
        let statement = Statement(unsafeSQL: "select count(*) as purchases from \(live).subscription")
        return Int(try await connection.execute(statement)[0].value("purchases", as: Int64.self))
    }

    private enum Scope: Sendable {
        case after(String)
        case named([String])
    }

    private func compare(
        _ environment: StoreEnvironment, in scope: Scope,
        until last: @escaping @Sendable (PostgresTransaction) throws -> (count: Int, last: String?)
    ) async throws -> Findings {
        try await connection.transaction(isolation: .repeatableRead) { transaction in
            let (purchases, last) = try last(transaction)
            let parameters: [any PostgresParameter] =
                switch scope {
                case .after(let id): [environment.rawValue, id, last, [String]?.none]
                case .named(let ids): [environment.rawValue, "", String?.none, ids]
                }
            var findings = try findings(environment, parameters, in: transaction)
            (findings.purchases, findings.last) = (purchases, last)
            return findings
        }
    }

    /// Compares one purchase within a transaction of the caller.
    func findings(of key: SubscriptionKey, in transaction: PostgresTransaction) throws -> Findings {
        try findings(
            key.environment, [key.environment.rawValue, "", String?.none, [key.originalTransactionId]], in: transaction)
    }

    private func findings(
        _ environment: StoreEnvironment, _ parameters: [any PostgresParameter], in transaction: PostgresTransaction
    ) throws -> Findings {
        let statements = [missingStatement, ownedStatement] + ComparedTable.all.map { statement(comparing: $0) }
        let rows = try transaction.pipeline(statements.map { Command($0, all: parameters) })
        var findings = Findings()
        for row in rows[0] {
            let key = SubscriptionKey(
                environment: environment, originalTransactionId: try row.value("original_transaction_id"))
            if try row.value("is_cut") { findings.cut.append(key) } else { findings.open.append(key) }
        }
        let excluded = Set(findings.cut + findings.open)
        let ownership = try OwnershipComparison(live: live, rebuilt: rebuilt).differences(
            of: OwnershipStore.purchases(rows[1]), in: transaction)
        findings.differences = try zip(ComparedTable.all, rows.dropFirst(2)).flatMap { table, rows in
            try rows.map { row in try Self.difference(row, table, environment) }
        }
        findings.differences = (findings.differences + ownership).filter { !excluded.contains($0.key) }
        return findings
    }

    private static func difference(
        _ row: Row, _ table: ComparedTable, _ environment: StoreEnvironment
    ) throws -> Difference {
        let names: [String] = try row.value("columns")
        let (live, rebuilt): ([String?], [String?]) = (try row.value("live"), try row.value("rebuilt"))
        let presence: String = try row.value("presence")
        return Difference(
            key: SubscriptionKey(
                environment: environment, originalTransactionId: try row.value("original_transaction_id")),
            table: table.name, row: try row.value("row_key"),
            columns: names.indices.map { Difference.Column(name: names[$0], live: live[$0], rebuilt: rebuilt[$0]) },
            presence: Difference.Presence(rawValue: presence) ?? .both)
    }

    private var boundary: Statement {
        Statement(
            unsafeSQL: """
                select max(id) as last, count(*) as purchases
                from (
                    select original_transaction_id as id
                    from \(live).subscription
                    where environment = $1::text::\(live).store_environment and original_transaction_id > $2::text
                    union
                    select original_transaction_id
                    from \(rebuilt).subscription
                    where environment = $1::text::\(rebuilt).store_environment and original_transaction_id > $2::text
                    order by id
                    limit $3::bigint
                ) as next
                """)
    }

    /// The rows of one table for the compared purchases.
    private func scope(_ schema: String) -> String {
        """
        environment = $1::text::\(schema).store_environment and original_transaction_id > $2::text
            and ($3::text is null or original_transaction_id <= $3::text)
            and ($4::text[] is null or original_transaction_id = any ($4::text[]))
        """
    }

    /// The purchases of which the rebuilt ledger lacks notifications, and whether retention has dropped the payload of one.
    private var missingStatement: Statement {
        Statement(
            unsafeSQL: """
                select original_transaction_id, bool_or(payload.notification_uuid is null) as is_cut
                from \(live).notification known
                left join \(live).notification_payload payload using (notification_uuid, recorded_at)
                where \(scope(live)) and not exists (
                    select from \(rebuilt).notification n where n.notification_uuid = known.notification_uuid)
                group by original_transaction_id
                """)
    }

    /// The purchases about which the schemas say, or may say, who may use them.
    private var ownedStatement: Statement {
        Statement(
            unsafeSQL: """
                select environment::text as environment, bundle_id, original_transaction_id
                from \(live).subscription
                where \(scope(live))
                union
                select environment::text, bundle_id, original_transaction_id
                from \(rebuilt).subscription
                where \(scope(rebuilt))
                union
                select environment::text, bundle_id, original_transaction_id
                from \(live).account_claim
                where \(scope(live))
                union
                select environment::text, bundle_id, original_transaction_id
                from \(live).purchase_account
                where \(scope(live))
                """)
    }

    private func statement(comparing table: ComparedTable) -> Statement {
        let ignored = (table.ignored.map(\.column) + ["environment", "original_transaction_id"]).map { "'\($0)'" }
        let body = "to_jsonb(t) - array[\(ignored.joined(separator: ", "))]"
        func side(_ schema: String) -> String {
            """
            (
                select original_transaction_id, \(table.key) as row_key,
                    \(schema == rebuilt ? table.rebuilt(body, of: "t", live: live) : body) as body
                from \(schema).\(table.name) t
                where \(scope(schema)) and \(table.condition)
            )
            """
        }
        return Statement(
            unsafeSQL: """
                select coalesce(l.original_transaction_id, r.original_transaction_id) as original_transaction_id,
                    coalesce(l.row_key, r.row_key) as row_key,
                    case when l.body is null then 'onlyRebuilt' when r.body is null then 'onlyLive' else 'both' end
                        as presence,
                    coalesce(differing.columns, '{}') as columns, coalesce(differing.live, '{}') as live,
                    coalesce(differing.rebuilt, '{}') as rebuilt
                from \(side(live)) l
                full join \(side(rebuilt)) r
                    on l.original_transaction_id = r.original_transaction_id and l.row_key = r.row_key
                left join lateral (
                    select array_agg(name order by name) as columns, array_agg(l.body ->> name order by name) as live,
                        array_agg(r.body ->> name order by name) as rebuilt
                    from jsonb_object_keys(l.body) as name
                    where l.body -> name is distinct from r.body -> name
                ) as differing on l.body is not null and r.body is not null
                where l.body is distinct from r.body
                order by 1, 2
                """)
    }
}

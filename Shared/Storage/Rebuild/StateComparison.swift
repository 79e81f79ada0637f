import Contracts
import Postgres
import Subscriptions

/// Compares what two schemas of one database believe of the same purchases: the live one, and one rebuilt from its ledger.
///
/// Compared is what is a function of the set of notifications: subscriptions, transactions, access periods, anomalies,
/// lifecycle gaps and the claims of transactions. Not compared is what tells of arrival: the timeline, whether a notification advanced
/// anything, requests for recovery, revisions, and when we noticed.
///
/// Safe beside a running line: everything about some purchases is read in one snapshot, and a purchase counts only if the
/// ledgers hold the same notifications about it then.
public struct StateComparison: Sendable {
    let connection: PostgresConnection
    /// Both quoted.
    let live: String
    let rebuilt: String

    /// - Parameter connection: may read both; without a timeout for statements.
    public init(_ connection: PostgresConnection, live: String, rebuilt: String) {
        self.connection = connection
        self.live = FreshSchema.quoted(live)
        self.rebuilt = FreshSchema.quoted(rebuilt)
    }

    /// A row that is not the same in both.
    public struct Difference: Sendable, Hashable {
        /// The purchase it belongs to.
        public var key: SubscriptionKey
        /// The table.
        public var table: String
        /// What names the row within its purchase; empty where there is one for each purchase.
        public var row: String
        /// The columns that differ, in alphabetical order; empty where one of them lacks the row.
        public var columns: [Column]
        /// Which of them has the row.
        public var presence: Presence

        /// Where a row is.
        public enum Presence: String, Sendable {
            case both
            case onlyLive
            case onlyRebuilt
        }

        /// One column of it; a value that is NULL is nil.
        public struct Column: Sendable, Hashable {
            /// Its name.
            public var name: String
            /// As it is.
            public var live: String?
            /// As it should be.
            public var rebuilt: String?
        }
    }

    /// What came of comparing some purchases.
    public struct Findings: Sendable {
        /// How many were looked at, those that could not be compared included.
        public var purchases = 0
        /// Of the purchases that could be compared.
        public var differences: [Difference] = []
        /// The rebuilt ledger lacks some of their notifications: fetch those and compare again.
        public var open: [SubscriptionKey] = []
        /// Retention has taken what some of their notifications said, so nothing can be rebuilt from what is left. None
        /// of them is `open`.
        public var cut: [SubscriptionKey] = []
        /// The last one, after which the next page begins; nil at the end.
        public var last: String?
    }

    /// The next purchases of an environment, in the order of their ids.
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

    /// Some purchases.
    public func compare(_ ids: [String], of environment: StoreEnvironment) async throws -> Findings {
        try await compare(environment, in: .named(ids)) { _ in (ids.count, nil) }
    }

    /// How many purchases the live schema knows; for showing progress.
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

    /// One purchase, by what a transaction sees that has begun already.
    func findings(of key: SubscriptionKey, in transaction: PostgresTransaction) throws -> Findings {
        try findings(
            key.environment, [key.environment.rawValue, "", String?.none, [key.originalTransactionId]], in: transaction)
    }

    private func findings(
        _ environment: StoreEnvironment, _ parameters: [any PostgresParameter], in transaction: PostgresTransaction
    ) throws -> Findings {
        let statements = [missingStatement] + ComparedTable.all.map { statement(comparing: $0) }
        let rows = try transaction.pipeline(statements.map { Command($0, all: parameters) })
        var findings = Findings()
        for row in rows[0] {
            let key = SubscriptionKey(
                environment: environment, originalTransactionId: try row.value("original_transaction_id"))
            if try row.value("is_cut") { findings.cut.append(key) } else { findings.open.append(key) }
        }
        let excluded = Set(findings.cut + findings.open)
        findings.differences = try zip(ComparedTable.all, rows.dropFirst()).flatMap { table, rows in
            try rows.map { row in try Self.difference(row, table, environment) }
        }.filter { !excluded.contains($0.key) }
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

    /// The rows of one table about the purchases in question.
    private func scope(_ schema: String) -> String {
        """
        environment = $1::text::\(schema).store_environment and original_transaction_id > $2::text
            and ($3::text is null or original_transaction_id <= $3::text)
            and ($4::text[] is null or original_transaction_id = any ($4::text[]))
        """
    }

    /// The purchases of which the rebuilt ledger lacks notifications, and whether it lacks some for good: what they said
    /// was dropped by age.
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

    private func statement(comparing table: ComparedTable) -> Statement {
        let ignored = (table.ignored.map(\.column) + ["environment", "original_transaction_id"]).map { "'\($0)'" }
        func side(_ schema: String) -> String {
            """
            (
                select original_transaction_id, \(table.key) as row_key,
                    to_jsonb(t) - array[\(ignored.joined(separator: ", "))] as body
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

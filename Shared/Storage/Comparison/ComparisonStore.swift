import Contracts
import Foundation
import Postgres

/// Comparisons with the system that an app moves from, and what they read of customers.
package struct ComparisonStore: Sendable {
    let connection: PostgresConnection

    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// Another run of the same file began since, or its comparison was deleted.
    package struct Superseded: Error, CustomStringConvertible {
        package var description: String {
            "another comparison of the same file began meanwhile, and counts instead of this one"
        }
    }

    /// Begins a comparison. What an interrupted one of the same file left is deleted; a finished one stays until this one is.
    /// - Parameter action: its row of the audit log.
    package func begin(_ comparison: Comparison, audit action: OperatorAction) async throws {
        _ = try await connection.pipeline([
            Command(
                Self.deleteUnfinished, comparison.environment.rawValue, comparison.bundleId, comparison.source,
                comparison.takenAt),
            Command(
                Self.insert, comparison.id, comparison.environment.rawValue, comparison.bundleId, comparison.source,
                comparison.takenAt, comparison.startedAt),
            OperatorActionStore.command(recording: [action]),
        ])
    }

    /// Adds differences to a comparison that runs, without those of accounts that were erased since they were read.
    /// - Throws: ``Superseded``.
    package func add(_ differences: [ComparisonDifference], to comparison: UUID) async throws {
        guard !differences.isEmpty else { return }
        let rows = try await connection.execute(
            Self.insertDifferences, comparison, differences.map(\.customerId), differences.map(\.account),
            differences.map(\.entitlement), differences.map(\.ours.hasAccess), differences.map(\.ours.until),
            differences.map(\.others.hasAccess), differences.map(\.others.until), differences.map(\.cause.rawValue),
            differences.map(\.reason), differences.map(\.purchase), differences.map(\.notificationUUID),
            differences.map { $0.line.map(Int64.init) })
        guard try rows[0].value("is_open", as: Bool.self) else { throw Superseded() }
    }

    /// Finishes a comparison, in place of an earlier one of the same file, in one transaction.
    /// - Throws: ``Superseded``; then the earlier one stays.
    package func finish(_ comparison: Comparison, at now: Date) async throws {
        let counts = String(decoding: try JSONEncoder().encode(comparison.counts), as: UTF8.self)
        let results = try await connection.pipeline([
            Command(
                Self.deleteFinished, comparison.environment.rawValue, comparison.bundleId, comparison.source,
                comparison.takenAt, comparison.id), Command(Self.finish, comparison.id, now, counts),
        ])
        guard results[1].affected == 1 else { throw Superseded() }
    }

    /// Finished comparisons, the oldest moment first.
    /// - Parameters:
    ///   - source: nil means all.
    ///   - range: of the moments of the files.
    package func finished(
        of bundleId: String, in environment: StoreEnvironment, source: String? = nil, within range: Range<Date>
    ) async throws -> [Comparison] {
        try await connection.execute(
            Self.list, environment.rawValue, bundleId, source, range.lowerBound, range.upperBound
        ).map(Self.read)
    }

    /// A finished comparison; nil where there is none of this id.
    package func finished(_ id: UUID) async throws -> Comparison? {
        try await connection.execute(Self.one, id).first.map(Self.read)
    }

    /// Differences of a comparison, in the order in which they were found.
    /// - Parameters:
    ///   - cause: nil means all.
    ///   - id: the row after which to begin.
    package func differences(
        of comparison: UUID, cause: ComparisonCause?, after id: Int64 = 0, limit: Int
    ) async throws -> [ComparisonDifference] {
        let rows =
            if let cause {
                try await connection.execute(
                    Self.differencesOfCause, comparison, id, Int64(limit), cause.rawValue)
            } else {
                try await connection.execute(Self.differences, comparison, id, Int64(limit))
            }
        return try rows.map { row in
            let cause: String = try row.value("cause")
            let line: Int64? = try row.optional("line")
            var difference = ComparisonDifference(
                customerId: try row.value("customer_id"), account: try row.optional("app_account_token"),
                entitlement: try row.value("entitlement"),
                ours: .init(hasAccess: try row.value("is_ours"), until: try row.optional("ours_until")),
                others: .init(hasAccess: try row.value("is_others"), until: try row.optional("other_until")),
                cause: ComparisonCause(rawValue: cause) ?? .unexplained, reason: try row.optional("ours_reason"),
                purchase: try row.optional("original_transaction_id"),
                notificationUUID: try row.optional("notification_uuid"), line: line.map(Int.init))
            difference.id = try row.value("id")
            return difference
        }
    }

    /// The accounts of customers, by the bytes of the developer's own ids: to Swift some that Postgres holds apart are equal. Those that
    /// are not known are left out.
    package func accounts(of ids: [String], _ app: CoverageStore.App) async throws -> [[UInt8]: UUID] {
        try await connection.execute(Self.accounts, app.environment.rawValue, app.bundleId, ids).reduce(into: [:]) {
            accounts, row in
            let id: String = try row.value("customer_id")
            accounts[Array(id.utf8)] = try row.value("app_account_token", as: UUID.self)
        }
    }

    /// Those of the accounts that were erased.
    package func erased(_ accounts: [UUID], _ app: CoverageStore.App) async throws -> Set<UUID> {
        guard !accounts.isEmpty else { return [] }
        return Set(
            try await connection.execute(Self.erased, app.environment.rawValue, app.bundleId, accounts).map { row in
                try row.value("app_account_token", as: UUID.self)
            })
    }

    /// The developer's own ids of accounts; those without one are left out.
    package func names(of accounts: [UUID], _ app: CoverageStore.App) async throws -> [UUID: String] {
        try await connection.execute(Self.names, app.environment.rawValue, app.bundleId, accounts).reduce(into: [:]) {
            names, row in
            names[try row.value("app_account_token")] = try row.value("customer_id", as: String.self)
        }
    }

    /// Accounts that may use a purchase, have grants, or the app itself, in their order; whether that gives access is not looked at.
    /// - Parameter account: after which to begin; nil: at the first.
    package func holders(_ app: CoverageStore.App, after account: UUID?, limit: Int) async throws -> [UUID] {
        let first = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        return try await connection.execute(
            Self.holders, app.environment.rawValue, app.bundleId, account ?? first, Int64(limit)
        ).map { row in try row.value("app_account_token") }
    }

    /// Deletes comparisons that began before a time, with their differences, in batches of one transaction each.
    /// - Parameter portion: number of differences per transaction.
    /// - Returns: number of comparisons.
    package func delete(startedBefore time: Date, portion: Int = 20_000) async throws -> Int {
        _ = try await deletingInPortions(of: portion) {
            try await connection.execute(Self.deleteDifferences, time, $0).affected
        }
        return try await connection.execute(Self.delete, time).affected
    }

    private static func read(_ row: Row) throws -> Comparison {
        var comparison = Comparison(
            id: try row.value("id"), environment: try SubscriptionStore.environment(row),
            bundleId: try row.value("bundle_id"), source: try row.value("source"), takenAt: try row.value("taken_at"),
            startedAt: try row.value("started_at"))
        comparison.finishedAt = try row.optional("finished_at")
        let counts: String = try row.value("counts")
        comparison.counts = try JSONDecoder().decode(Comparison.Counts.self, from: Data(counts.utf8))
        return comparison
    }
}

extension ComparisonStore {
    static let statements = [
        deleteUnfinished, insert, insertDifferences, deleteFinished, finish, list, one, differences, differencesOfCause,
        accounts, erased, names, holders, deleteDifferences, delete, purchases, transactions, reversals,
    ]

    private static let deleteUnfinished = Statement(
        "comparison-delete-unfinished",
        """
        delete from comparison
        where environment = $1::text::store_environment and bundle_id = $2::text and source = $3::text
            and taken_at = $4::timestamptz and finished_at is null
        """)

    private static let insert = Statement(
        "comparison-insert",
        """
        insert into comparison (id, environment, bundle_id, source, taken_at, started_at)
        values ($1::uuid, $2::text::store_environment, $3::text, $4::text, $5::timestamptz, $6::timestamptz)
        """)

    /// Reads the erased accounts after a running erasure, whose sweep then takes out what was stored before it.
    private static let insertDifferences = Statement(
        "comparison-difference-insert",
        """
        with compared as (
            select environment, bundle_id
            from comparison
            where id = $1::uuid and finished_at is null
        ), added as (
            insert into comparison_difference (
                comparison, customer_id, app_account_token, entitlement, is_ours, ours_until, is_others, other_until, cause,
                ours_reason, original_transaction_id, notification_uuid, line)
            select $1::uuid, customer_id, app_account_token, entitlement, is_ours, ours_until, is_others, other_until, cause,
                ours_reason, original_transaction_id, notification_uuid, line
            from unnest(
                $2::text[], $3::uuid[], $4::text[], $5::boolean[], $6::timestamptz[], $7::boolean[], $8::timestamptz[],
                $9::text[], $10::text[], $11::text[], $12::uuid[], $13::bigint[])
                with ordinality as given (
                    customer_id, app_account_token, entitlement, is_ours, ours_until, is_others, other_until, cause,
                    ours_reason, original_transaction_id, notification_uuid, line, place)
            cross join compared
            where app_account_token is null or not exists (
                select
                from erased_account
                where digest = account_digest(compared.environment, compared.bundle_id, app_account_token))
            order by place
        )
        select exists (select from compared) as is_open
        """)

    private static let deleteFinished = Statement(
        "comparison-delete-finished",
        """
        delete from comparison
        where environment = $1::text::store_environment and bundle_id = $2::text and source = $3::text
            and taken_at = $4::timestamptz and finished_at is not null
            and exists (select from comparison where id = $5::uuid and finished_at is null)
        """)

    private static let finish = Statement(
        "comparison-finish",
        """
        update comparison
        set finished_at = $2::timestamptz, counts = $3::text::jsonb
        where id = $1::uuid and finished_at is null
        """)

    private static let columns = """
        id, environment::text as environment, bundle_id, source, taken_at, started_at, finished_at, counts::text as counts
        """

    private static let list = Statement(
        "comparison-list",
        unsafeSQL: """
            select \(columns)
            from comparison
            where environment = $1::text::store_environment and bundle_id = $2::text
                and ($3::text is null or source = $3::text) and taken_at >= $4::timestamptz
                and taken_at < $5::timestamptz and finished_at is not null
            order by taken_at, source
            """)

    private static let one = Statement(
        "comparison-one",
        unsafeSQL: "select \(columns) from comparison where id = $1::uuid and finished_at is not null")

    private static let differenceColumns = """
        id, customer_id, app_account_token, entitlement, is_ours, ours_until, is_others, other_until, cause, ours_reason,
            original_transaction_id, notification_uuid, line
        """

    private static let differences = Statement(
        "comparison-differences",
        unsafeSQL: """
            select \(differenceColumns)
            from comparison_difference
            where comparison = $1::uuid and id > $2::bigint
            order by id
            limit $3::bigint
            """)

    private static let differencesOfCause = Statement(
        "comparison-differences-of-cause",
        unsafeSQL: """
            select \(differenceColumns)
            from comparison_difference
            where comparison = $1::uuid and cause = $4::text and id > $2::bigint
            order by id
            limit $3::bigint
            """)

    private static let accounts = Statement(
        "comparison-accounts",
        """
        select customer_id, app_account_token
        from customer
        where environment = $1::text::store_environment and bundle_id = $2::text and customer_id = any ($3::text[])
        """)

    private static let erased = Statement(
        "comparison-erased",
        """
        select app_account_token
        from unnest($3::uuid[]) as given (app_account_token)
        where exists (
            select
            from erased_account
            where digest = account_digest($1::text::store_environment, $2::text, app_account_token))
        """)

    private static let names = Statement(
        "comparison-names",
        """
        select app_account_token, customer_id
        from customer
        where environment = $1::text::store_environment and bundle_id = $2::text
            and app_account_token = any ($3::uuid[])
        """)

    /// A page of each table, because each has an index that begins with the account.
    private static let holders = Statement(
        "comparison-holders",
        """
        select app_account_token
        from (
            (
                select distinct app_account_token
                from purchase_account
                where app_account_token > $3::uuid and environment = $1::text::store_environment
                    and bundle_id = $2::text and may_use
                order by app_account_token
                limit $4::bigint
            ) union (
                select distinct app_account_token
                from manual_grant
                where app_account_token > $3::uuid and environment = $1::text::store_environment
                    and bundle_id = $2::text
                order by app_account_token
                limit $4::bigint
            ) union (
                select distinct app_account_token
                from account_app
                where app_account_token > $3::uuid and environment = $1::text::store_environment
                    and bundle_id = $2::text and is_entitled
                order by app_account_token
                limit $4::bigint
            )
        ) as known
        order by app_account_token
        limit $4::bigint
        """)

    private static let deleteDifferences = Statement(
        "comparison-difference-delete",
        """
        delete from comparison_difference
        where id = any (array(
            select difference.id
            from comparison compared
            join comparison_difference difference on difference.comparison = compared.id
            where compared.started_at < $1::timestamptz
            limit $2::bigint))
        """)

    private static let delete = Statement(
        "comparison-delete", "delete from comparison where started_at < $1::timestamptz")
}

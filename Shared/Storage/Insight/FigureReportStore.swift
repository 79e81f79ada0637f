import Contracts
import Foundation
import Postgres
import Subscriptions

/// Reads reports over the figures of revenue.
package struct FigureReportStore: Sendable {
    typealias Dimension = FigureReport.Dimension

    let connection: PostgresConnection
    let limit: Int
    let many: Int

    /// All statements run on this connection.
    /// - Parameters:
    ///   - limit: of sums that are read for a report, and of its rows.
    ///   - many: how much purchases may add to some days before a list of it is read in order, a part for each page.
    package init(_ connection: PostgresConnection, limit: Int = 100_000, many: Int = 5_000) {
        self.connection = connection
        self.limit = limit
        self.many = many
    }

    /// Reads and computes a report; where others need the connection, ``read(_:)`` and then ``Reading/report()``.
    /// - Throws: ``FigureReport/TooLarge``, `PostgresError`.
    package func report(_ query: FigureReport.Query) async throws -> FigureReport {
        try await read(query).report()
    }

    /// What a report is computed from.
    /// - Throws: ``FigureReport/TooLarge``, `PostgresError`.
    package func read(_ query: FigureReport.Query) async throws -> Reading {
        let days: [any PostgresParameter] = [
            query.environment.rawValue, query.bundleIds, query.days.lowerBound, query.days.upperBound,
        ]
        let isOfApps = query.bundleIds != nil
        let status = try await connection.execute(FigureStore.status).first
        let asOf: Date? = try status?.optional("as_of")
        var commands = [
            isOfApps
                ? Command(Self.completeOfApps, all: days)
                : Command(Self.completeOfAll, query.environment.rawValue, query.days.lowerBound, query.days.upperBound),
            sums(query, asOf: asOf),
        ]
        // Losses are held for whole days and months; those of a row that is cut are looked up in the movements of its time.
        let cut = query.name == .churn ? query.cutSpans(at: asOf) : []
        let told =
            query.reportingCurrency == nil
            ? [query.dimensions] : [query.dimensions, query.dimensions.subtracting([.currency])]
        commands += told.flatMap { told in
            cut.map { span in
                Command(
                    isOfApps ? Self.lost.ofApps : Self.lost.all,
                    all: [
                        query.environment.rawValue, query.bundleIds, span.lowerBound, span.upperBound,
                        query.interval.rawValue, told.map(\.rawValue), Int64(limit) + 1,
                    ])
            }
        }
        // A pipeline is one transaction.
        let rows = Array(try await connection.pipeline([Command(Self.memory)] + commands).dropFirst())
        guard rows.dropFirst().allSatisfy({ $0.count <= limit }) else { throw FigureReport.TooLarge(limit: limit) }
        let lost = try rows.dropFirst(2).map { rows in try rows.map { row in try Sum(row) } }
        return Reading(
            query: query, limit: limit, asOf: asOf, rates: try await rates(query, asOf: asOf),
            complete: Set(try rows[0].map { row in try row.value("day", as: Date.self) }),
            sums: try rows[1].map { row in try Sum(row) }, cut: cut,
            lost: Array(lost.prefix(cut.count).joined()), lostInAny: Array(lost.dropFirst(cut.count).joined()))
    }

    /// The statement that reads the sums of a report.
    private func sums(_ query: FigureReport.Query, asOf: Date?) -> Command {
        guard !query.isOfDailyCharges else { return charges(query) }
        guard query.name != .retention else { return retention(query, asOf: asOf) }
        let sources = FigureSources(query)
        return Command(
            Self.sums,
            all: [
                query.environment.rawValue, query.bundleIds, query.days.lowerBound, query.interval.rawValue,
                query.dimensions.map(\.rawValue), query.kinds, sources.head.lowerBound, sources.head.upperBound,
                sources.months.lowerBound, sources.months.upperBound, sources.cutMonth, sources.tail.lowerBound,
                sources.tail.upperBound, Int64(limit) + 1,
            ])
    }

    /// Sums that were read, of which a report is computed without a connection.
    package struct Reading: Sendable {
        let query: FigureReport.Query
        let limit: Int
        let asOf: Date?
        /// Nil where nothing is converted.
        let rates: Rates?
        /// Days.
        let complete: Set<Date>
        let sums: [Sum]
        /// Rows of the report about churn whose losses are not among the sums.
        let cut: [Range<Date>]
        let lost: [Sum]
        /// The same where currencies are not told apart; none where nothing is converted.
        let lostInAny: [Sum]

        /// - Throws: ``FigureReport/TooLarge``, `CancellationError`.
        package func report() throws -> FigureReport {
            var table = Table(query, asOf: asOf, complete: complete, limit: limit)
            switch query.name {
            case .mrr: try table.addRevenue(sums)
            case .movements: try table.addMovements(sums)
            case .churn: try table.addChurn(sums, cut: cut, lost: lost, lostInAny: lostInAny, rates: rates)
            case .retention: try table.addRetention(sums)
            case .trials: try table.addTrials(sums)
            case .revenue: try table.addCharges(sums)
            case .proceeds: try table.addProceeds(sums)
            }
            let report = FigureReport(name: query.name, asOf: asOf, rows: table.rows, conversion: rates?.conversion)
            guard let rates, query.isConvertedByRow else { return report }
            return report.converted(by: rates)
        }
    }

    /// A sum of one span, kind and cell.
    struct Sum: Sendable {
        /// The first day of the span; nil for all before the first one.
        var start: Date?
        var kind: String
        var step: Int64
        /// In the order of `Dimension`; empty for those that were not asked for.
        var cell: [String]
        var amount: Int64
        var revenueCatAmount: Int64
        var purchases: Int64
        var count: Int64
    }

    static let statements = [
        memory, sums, retention, lost.all, lost.ofApps, completeOfAll, completeOfApps, ofDays, ofFullDay, inGrace,
        charges, ratesOfDays, ratesOfTime, corrected,
    ]

    /// Until the transaction ends. With the default of 4 MB tens of thousands of sums are sorted on disk, and where the planner expects
    /// that they do not fit it sorts them instead of hashing.
    private static let memory = Statement(
        "figure-report-memory",
        "select set_config('work_mem', '64MB', true), set_config('hash_mem_multiplier', '10', true)")

    /// A plan that is made once, perhaps while a table is empty, looks up an app's rows only where it is made to: by one condition for each
    /// app, with offset 0, which keeps the planner from choosing another way.
    private struct Scoped {
        let all: Statement
        let ofApps: Statement

        /// - Parameters:
        ///   - rows: selects rows of a table, up to the last condition.
        ///   - sql: the statement, from those rows.
        init(_ all: StaticString, ofApps: StaticString, rows: String, sql: (_ rows: String) -> String) {
            self.all = Statement(all, unsafeSQL: sql("(\n\(rows)\n    and $2::text[] is null\n) as held"))
            self.ofApps = Statement(
                ofApps,
                unsafeSQL: sql(
                    """
                    (select distinct asked from unnest($2::text[]) as asked) as app
                    cross join lateral (
                    \(rows)
                        and bundle_id = asked
                    offset 0
                    ) as held
                    """))
        }
    }

    /// The cell of a row; a dimension that was not asked for is empty. Whether it was is a query of its own, because a
    /// plan that is made once would look it up for every row again.
    /// - Parameter dimensions: the parameter with their names.
    static func cell(_ dimensions: String) -> String {
        """
        case when (select 'app' = any (\(dimensions)::text[])) then bundle_id else '' end as app,
        case when (select 'product' = any (\(dimensions)::text[])) then product_id else '' end as product,
        case when (select 'storefront' = any (\(dimensions)::text[])) then storefront else '' end as storefront,
        case when (select 'currency' = any (\(dimensions)::text[])) then currency else '' end as currency,
        case when (select 'period' = any (\(dimensions)::text[])) then period else '' end as period,
        case when (select 'offer' = any (\(dimensions)::text[])) then offer else '' end as offer
        """
    }
    static let cellNames = "app, product, storefront, currency, period, offer"

    /// The day of a moment in UTC.
    static func day(_ parameter: String) -> String { "(\(parameter)::timestamptz at time zone 'UTC')::date" }

    /// The rows of a table of sums, of days or of months.
    /// - Parameters:
    ///   - bounds: the parameters with the first day and the one after the last.
    ///   - sums: the columns behind the cell.
    static func held(
        _ table: String, _ day: String, _ bounds: (String, String),
        sums: String = "amount, revenuecat_amount, purchases, count"
    ) -> String {
        """
        select \(day), \(keyColumns), \(sums)
        from \(table)
        where \(scope) and \(day) >= \(self.day(bounds.0)) and \(day) < \(self.day(bounds.1))
        """
    }

    /// The columns that tell sums of one day apart.
    static let keyColumns = "bundle_id, kind, step, currency, product_id, storefront, period, offer"

    /// The environment, apps and kinds that were asked for.
    static let scope = """
        environment = $1::text::store_environment
            and bundle_id = any (coalesce($2::text[], array(select id from app where id is not null)))
            and kind = any ($6::text[])
        """

    /// Where no app was asked for, each is looked up by itself, because an index serves days only of apps that it is told.
    static let apps = """
        app (id) as (
            (
                select bundle_id
                from insight_day
                where $2::text[] is null and environment = $1::text::store_environment
                order by bundle_id
                limit 1)
            union all
            select (
                select bundle_id
                from insight_day
                where environment = $1::text::store_environment and bundle_id > app.id
                order by bundle_id
                limit 1)
            from app
            where id is not null
        )
        """

    /// Movements add up from the beginning, so those before the first day are one span of their own. In no order: the
    /// report sorts its rows, and to sort tens of thousands of sums takes a quarter of the time.
    private static let sums = Statement(
        "figure-report-sums",
        unsafeSQL: """
            with recursive \(apps)
            select span, kind, step, \(cellNames), sum(amount)::bigint as amount,
                sum(revenuecat_amount)::bigint as revenuecat_amount, sum(purchases)::bigint as purchases,
                sum(count)::bigint as count
            from (
                select case when day >= \(day("$3")) then date_trunc($4::text, day::timestamp) at time zone 'UTC' end as span, kind,
                    step::bigint as step, \(cell("$5")), amount, revenuecat_amount, purchases, count
                from (
                    \(held("insight_day", "day", ("$7", "$8")))
                    union all
                    \(held("insight_month", "month", ("$9", "$10"))) and month is distinct from \(day("$11"))
                    union all
                    \(held("insight_day", "day", ("$12", "$13")))
                ) as held
            ) as figure
            group by span, kind, step, \(cellNames)
            limit $14::bigint
            """)

    /// Purchases that earned at the beginning of a span and not at its end. As `RevenueLoss`.
    private static let lost = Scoped(
        "figure-report-lost", ofApps: "figure-report-lost-apps",
        rows: """
            select *
            from mrr_movement
            where environment = $1::text::store_environment and at >= $3::timestamptz and at < $4::timestamptz
            """
    ) { rows in
        """
        select span, 'lost' as kind, 0::bigint as step, \(cellNames), 0::bigint as amount, 0::bigint as revenuecat_amount,
            0::bigint as purchases, count(*)::bigint as count
        from (
            select span, \(cellNames)
            from (
                select date_trunc($5::text, at at time zone 'UTC') at time zone 'UTC' as span, original_transaction_id, \(cell("$6")),
                    purchases
                from \(rows)
            ) as movement
            group by span, original_transaction_id, \(cellNames)
            having sum(purchases) < 0
        ) as purchase
        group by span, \(cellNames)
        limit $7::bigint
        """
    }

    /// The days that are complete of every app that has figures, and incomplete of none.
    private static let completeOfAll = Statement(
        "figure-report-complete",
        """
        with recursive known as (
            (select bundle_id
            from insight_day
            where environment = $1::text::store_environment
            order by bundle_id
            limit 1)
            union all
            select (
                select figure.bundle_id
                from insight_day figure
                where figure.environment = $1::text::store_environment and figure.bundle_id > known.bundle_id
                order by figure.bundle_id
                limit 1)
            from known
            where known.bundle_id is not null
        )
        select day::timestamp at time zone 'UTC' as day
        from coverage_day covered
        left join known on known.bundle_id = covered.bundle_id
        where environment = $1::text::store_environment
            and day >= ($2::timestamptz at time zone 'UTC')::date and day < ($3::timestamptz at time zone 'UTC')::date
        group by day
        having bool_and(completed_at is not null) and count(known.bundle_id) >= (select count(bundle_id) from known)
        """)

    /// The days that are complete of each of some apps.
    private static let completeOfApps = Statement(
        "figure-report-complete-apps",
        """
        select day::timestamp at time zone 'UTC' as day
        from (select distinct asked from unnest($2::text[]) as asked) as app
        cross join lateral (
            select day, completed_at
            from coverage_day
            where environment = $1::text::store_environment and bundle_id = asked
                and day >= ($3::timestamptz at time zone 'UTC')::date and day < ($4::timestamptz at time zone 'UTC')::date
            offset 0
        ) as covered
        group by day
        having count(completed_at) = (select count(distinct asked) from unnest($2::text[]) as asked)
        """)
}

extension FigureReportStore.Sum {
    /// By position, because a report is made of up to a hundred thousand.
    /// - Parameter row: `span`, `kind`, `step`, the cell, `amount`, `revenuecat_amount`, `purchases`, `count`.
    init(_ row: Row) throws {
        start = try row.optional(at: 0)
        kind = try row.value(at: 1)
        step = try row.value(at: 2)
        let cells = FigureReport.Dimension.allCases.indices
        cell = try cells.map { try row.value(at: 3 + $0) }
        amount = try row.value(at: 3 + cells.count)
        revenueCatAmount = try row.value(at: 4 + cells.count)
        purchases = try row.value(at: 5 + cells.count)
        count = try row.value(at: 6 + cells.count)
    }
}

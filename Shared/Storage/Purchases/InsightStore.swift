import Contracts
import Postgres

import struct Foundation.Date

/// The reports of the insight views, ready to be shown: every cell is text. Each is about one app in one environment and
/// reads along an index.
package struct InsightStore: Sendable {
    /// A report.
    package enum Report: String, Sendable, CaseIterable {
        case cancellations
        case ends
        case priceConsents = "price-consents"
        case loyalty
        case winBack = "win-back"
        case renewals
    }

    /// Columns and rows.
    package struct Table: Sendable, Equatable {
        package var columns: [String]
        /// Nil where nothing is known.
        package var rows: [[String?]]
        /// Column of purchases, which lead to their page.
        package var purchase: Int?
        /// There are more rows than were read.
        package var isCut: Bool

        /// Where no app is known.
        package static func empty(_ report: Report) -> Table {
            Table(columns: InsightStore.columns(of: report), rows: [], purchase: nil, isCut: false)
        }
    }

    private let connection: PostgresConnection

    /// All statements run on this connection.
    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// - Parameters:
    ///   - now: what ran or ends is seen from here.
    ///   - limit: of rows.
    package func table(
        _ report: Report, _ bundleId: String, in environment: StoreEnvironment, at now: Date, limit: Int
    ) async throws -> Table {
        let columns = Self.columns(of: report)
        let rows = try await connection.execute(
            Self.statement(of: report), environment.rawValue, bundleId, now, Int64(limit + 1))
        return Table(
            columns: columns,
            rows: try rows.prefix(limit).map { row in
                try columns.indices.map { index in try row.optional(at: index, as: String.self) }
            },
            purchase: columns.firstIndex(of: "purchase"), isCut: rows.count > limit)
    }

    package static func columns(of report: Report) -> [String] {
        switch report {
        case .cancellations: ["timing", "cancellations", "undone"]
        case .ends: ["reason", "ends"]
        case .priceConsents: ["consent", "told", "purchase", "notification"]
        case .loyalty: ["purchase", "group", "since", "paid days", "85 % from", "notification"]
        case .winBack: ["runs until", "product", "purchase", "offers", "notification"]
        case .renewals: ["renews", "product", "purchase", "at risk because", "notification"]
        }
    }

    static let statements = Report.allCases.map(statement)

    private static func statement(of report: Report) -> Statement {
        switch report {
        case .cancellations: cancellations
        case .ends: ends
        case .priceConsents: priceConsents
        case .loyalty: loyalty
        case .winBack: winBack
        case .renewals: renewals
        }
    }

    /// Of the last 30 days.
    private static let cancellations = Statement(
        "insight-cancellations",
        """
        select timing, count(*)::text, count(*) filter (where is_undone)::text
        from cancellation
        where environment = $1::text::store_environment and bundle_id = $2::text
            and cancelled_at >= $3::timestamptz - interval '720 hours' and cancelled_at <= $3::timestamptz
        group by timing
        order by count(*) desc, timing
        limit $4::bigint
        """)

    /// Of the last 30 days.
    private static let ends = Statement(
        "insight-ends",
        """
        select reason, count(*)::text
        from subscription_end
        where environment = $1::text::store_environment and bundle_id = $2::text
            and signed_at >= $3::timestamptz - interval '720 hours' and signed_at <= $3::timestamptz
        group by reason
        order by count(*) desc, reason
        limit $4::bigint
        """)

    /// The ones asked last within 90 days; Apple waits for an answer no longer than that. Without "offset 0" the view would be
    /// computed for all purchases.
    private static let priceConsents = Statement(
        "insight-price-consents",
        """
        select answer.consent, to_char(answer.signed_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI "UTC"'),
            asked.original_transaction_id, asked.notification_uuid::text
        from (
            select distinct on (original_transaction_id) original_transaction_id, notification_uuid
            from (
                select original_transaction_id, notification_uuid
                from notification
                where environment = $1::text::store_environment and bundle_id = $2::text
                    and notification_type = 'PRICE_INCREASE' and signed_at >= $3::timestamptz - interval '2160 hours'
                    and original_transaction_id is not null
                order by signed_at desc
                limit 2 * $4::bigint
            ) as newest
            order by original_transaction_id
        ) as asked
        cross join lateral (
            select consent, signed_at
            from price_consent
            where price_consent.environment = $1::text::store_environment
                and price_consent.original_transaction_id = asked.original_transaction_id
            offset 0
        ) as answer
        order by answer.signed_at desc, asked.original_transaction_id
        limit $4::bigint
        """)

    /// Of those that run, the ones that end first.
    private static let loyalty = Statement(
        "insight-loyalty",
        """
        select running.original_transaction_id, given.subscription_group_id,
            to_char(given.recent_start_at at time zone 'UTC', 'YYYY-MM-DD'),
            (given.paid_seconds / 86400)::bigint::text,
            coalesce(to_char(given.reduced_commission_at at time zone 'UTC', 'YYYY-MM-DD'), 'not yet known'),
            running.notification_uuid::text
        from (
            select environment, original_transaction_id, notification_uuid, expires_at
            from subscription
            where environment = $1::text::store_environment and bundle_id = $2::text and status = 1
                and expires_at > $3::timestamptz
            order by expires_at, original_transaction_id
            limit $4::bigint
        ) as running
        cross join lateral loyalty_at(
            running.environment, array[running.original_transaction_id], $3::timestamptz) as given
        order by running.expires_at, running.original_transaction_id, given.subscription_group_id
        limit $4::bigint
        """)

    /// Runs, and will not renew.
    private static let winBack = Statement(
        "insight-win-back",
        """
        select to_char(expires_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI "UTC"'), product_id, original_transaction_id,
            (select string_agg(offer, ', ') from json_array_elements_text(
                case when json_typeof(eligible_win_back_offer_ids) = 'array' then eligible_win_back_offer_ids end) as offer),
            notification_uuid::text
        from subscription
        where environment = $1::text::store_environment and bundle_id = $2::text and status = 1
            and expires_at > $3::timestamptz and not is_auto_renewing
        order by expires_at, original_transaction_id
        limit $4::bigint
        """)

    /// Of the next ten days, with what may stop them; those at risk first. Of each status those that are due first.
    private static let renewals = Statement(
        "insight-renewals",
        """
        select to_char(expires_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI "UTC"'), product_id, original_transaction_id,
            risk, notification_uuid::text
        from (
            select *, nullif(concat_ws(', ',
                case when status = 4 then 'the charge failed, grace period' end,
                case when status = 3 then 'the charge failed' end,
                case when price_increase_status = 0 then 'consent to the new price is pending' end,
                case when not is_auto_renewing then 'auto-renew is off' end), '') as risk
            from unnest(array[1, 3, 4]) as asked (asked_status)
            cross join lateral (
                select *
                from subscription
                where environment = $1::text::store_environment and bundle_id = $2::text and status = asked_status
                    and status in (1, 3, 4) and expires_at > $3::timestamptz
                    and expires_at <= $3::timestamptz + interval '240 hours'
                order by expires_at
                limit greatest(1000, $4::bigint)
            ) as due
        ) as coming
        order by risk is null, expires_at, original_transaction_id
        limit $4::bigint
        """)
}

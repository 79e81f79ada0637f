import Postgres

import struct Foundation.Date

/// Taxes and Apple's commission as operators state them, from which the report on proceeds is estimated.
package struct ProceedsTermsStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// The tax that prices of a storefront include, from a day until that of the storefront's next share.
    package struct TaxShare: Sendable, Equatable {
        /// ISO 3166-1 alpha-3.
        package var storefront: String
        /// Its first moment, in UTC.
        package var firstDay: Date
        /// Thousandths of a percent of the price without tax: 19 % is 19,000.
        package var rate: Int32
        /// The source of the rate, as the operator names it.
        package var source: String

        /// - Parameters:
        ///   - storefront: ISO 3166-1 alpha-3.
        ///   - firstDay: its first moment, in UTC.
        ///   - rate: thousandths of a percent of the price without tax, 0 to 100,000.
        package init(storefront: String, firstDay: Date, rate: Int32, source: String) {
            self.storefront = storefront
            self.firstDay = firstDay
            self.rate = rate
            self.source = source
        }
    }

    /// Stores tax shares; one of the same storefront and day is replaced.
    /// - Parameter shares: at most one for each storefront and day.
    /// - Returns: number of shares that are new or other than before.
    package func load(_ shares: [TaxShare], at now: Date, audit: OperatorAction) async throws -> Int {
        try await repeating {
            try await connection.transaction { transaction in
                try transaction.pipeline([
                    Command(
                        Self.load, now, shares.map(\.storefront), shares.map(\.firstDay), shares.map(\.rate),
                        shares.map(\.source)),
                    OperatorActionStore.command(recording: [audit]),
                ])[0].affected
            }
        }
    }

    /// All tax shares, by storefront and day.
    package func taxShares() async throws -> [TaxShare] {
        try await connection.execute(Self.shares).map { row in
            TaxShare(
                storefront: try row.value("storefront"), firstDay: try row.value("first_day"),
                rate: try row.value("rate"), source: try row.value("source"))
        }
    }

    /// The developer's membership in the App Store Small Business Program, from a day until that of the app's next membership.
    package struct Membership: Sendable, Equatable {
        package var bundleId: String
        /// Its first moment, in UTC.
        package var firstDay: Date
        package var isMember: Bool

        /// - Parameter firstDay: its first moment, in UTC.
        package init(bundleId: String, firstDay: Date, isMember: Bool) {
            self.bundleId = bundleId
            self.firstDay = firstDay
            self.isMember = isMember
        }
    }

    /// Stores a membership; that of the same app and day is replaced.
    package func set(_ membership: Membership, at now: Date, audit: OperatorAction) async throws {
        _ = try await repeating {
            try await connection.pipeline([
                Command(Self.set, now, membership.bundleId, membership.firstDay, membership.isMember),
                OperatorActionStore.command(recording: [audit]),
            ])
        }
    }

    /// All memberships, by app and day.
    package func memberships() async throws -> [Membership] {
        try await connection.execute(Self.members).map { row in
            Membership(
                bundleId: try row.value("bundle_id"), firstDay: try row.value("first_day"),
                isMember: try row.value("is_member"))
        }
    }

    static let statements = [load, shares, set, members]

    private static let load = Statement(
        "tax-shares-load",
        """
        insert into tax_share as held (loaded_at, from_day, rate, storefront, source)
        select $1::timestamptz, (day at time zone 'UTC')::date, rate, storefront, source
        from unnest($2::text[], $3::timestamptz[], $4::integer[], $5::text[]) as given (storefront, day, rate, source)
        on conflict (storefront, from_day) do update
        set loaded_at = excluded.loaded_at, rate = excluded.rate, source = excluded.source
        where (held.rate, held.source) is distinct from (excluded.rate, excluded.source)
        """)

    private static let shares = Statement(
        "tax-shares",
        """
        select storefront, from_day::timestamp at time zone 'UTC' as first_day, rate, source
        from tax_share
        order by storefront, from_day
        """)

    private static let set = Statement(
        "small-business-set",
        """
        insert into small_business (loaded_at, from_day, is_member, bundle_id)
        select $1::timestamptz, ($3::timestamptz at time zone 'UTC')::date, $4::boolean, $2::text
        on conflict (bundle_id, from_day) do update
        set loaded_at = excluded.loaded_at, is_member = excluded.is_member
        """)

    private static let members = Statement(
        "small-business",
        """
        select bundle_id, from_day::timestamp at time zone 'UTC' as first_day, is_member
        from small_business
        order by bundle_id, from_day
        """)
}

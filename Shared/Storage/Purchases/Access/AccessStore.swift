import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// Reads the access periods that `LedgerStore.apply` has written.
public struct AccessStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// A period of access.
    public struct Period: Sendable, Equatable {
        /// The purchase that grants the access.
        public var key: SubscriptionKey
        /// The app's bundle identifier.
        public var bundleId: String
        /// The product that may be used.
        public var productId: String
        /// The first moment of access.
        public var startsAt: Date
        /// The first moment without access; nil where access has no end.
        public var endsAt: Date?
        /// The first moment at which the purchase no longer gives the product, whatever the reasons; nil where none is known.
        public var until: Date?
        /// Why there is access, by the names of `AccessPeriod.Reason`.
        public var reason: String
        /// The transaction that paid; nil where Apple's status grants access and no known transaction explains it.
        public var transactionId: String?
        /// The notification that decided; nil where a transaction did.
        public var notificationUUID: UUID?

        /// Whether a moment is in the period.
        public func contains(_ moment: Date) -> Bool { startsAt <= moment && endsAt.map { moment < $0 } ?? true }
    }

    /// The periods of one purchase, in time order; empty for one that gives no access or is unknown. `SubscriptionStore`
    /// distinguishes the two.
    public func periods(of key: SubscriptionKey) async throws -> [Period] {
        try await connection.execute(
            Self.ofPurchase, key.environment.rawValue, key.originalTransactionId
        ).map(Self.read)
    }

    /// The periods of all purchases; holds them in memory.
    public func all() async throws -> [Period] {
        try await connection.execute(Self.all).map(Self.read)
    }

    /// The access of an account at a moment, by its own purchases and those shared with it.
    /// - Parameters:
    ///   - token: the account's UUID in any spelling.
    ///   - bundleId: the app.
    ///   - moment: past or future; the answer uses the facts known now.
    /// - Returns: nil where no purchase of this app and environment ever named the account; empty where the account is known
    ///   and has no access.
    /// - Throws: `NoAccountToken` where the token is no UUID.
    public func access(
        ofAccount token: String, of bundleId: String, in environment: StoreEnvironment, at moment: Date
    ) async throws -> [Period]? {
        let account = try UUID(accountToken: token)
        let rows = try await connection.execute(
            Self.ofAccount, account, environment.rawValue, bundleId, moment.atMilliseconds)
        if rows.isEmpty {
            let known = try await connection.execute(Self.isKnown, account, environment.rawValue, bundleId)
            guard try known[0].value("is_known") else { return nil }
        }
        return try rows.map(Self.read).sorted { $0.startsAt < $1.startsAt }
    }

    private static func read(_ row: Row) throws -> Period {
        Period(try AccessPeriodRow.read(row), until: try row.optional("until"))
    }

    static let all = Statement("access-all", unsafeSQL: "select \(AccessPeriodRow.selected), until from access")

    static let ofPurchase = Statement(
        "access-of-purchase",
        unsafeSQL: """
            select \(AccessPeriodRow.selected), until
            from access
            where environment = $1::text::store_environment and original_transaction_id = $2::text
            order by lower(period)
            """)

    static let ofAccount = Statement(
        "access-of-account",
        unsafeSQL: """
            select \(AccessPeriodRow.selected), until
            from account_access
            where app_account_token = $1::uuid and environment = $2::text::store_environment and bundle_id = $3::text
                and $4::timestamptz <@ period
            """)

    static let isKnown = Statement(
        "access-is-known",
        """
        select exists (
            select
            from purchase_account
            where app_account_token = $1::uuid and environment = $2::text::store_environment and bundle_id = $3::text
        ) as is_known
        """)
}

extension AccessStore.Period {
    init(_ row: AccessPeriodRow, until: Date?) {
        self.init(
            key: row.key, bundleId: row.bundleId, productId: row.productId, startsAt: row.startsAt,
            endsAt: row.endsAt, until: until, reason: row.reason, transactionId: row.transactionId,
            notificationUUID: row.notificationUUID)
    }
}

extension Subscription {
    /// The state at a moment, by the stored access periods of the purchase.
    package func state(at moment: Date, in periods: [AccessStore.Period]) -> SubscriptionState {
        let period = periods.first { $0.contains(moment) }
        return state(at: moment, access: period.flatMap { AccessPeriod.Reason(rawValue: $0.reason) })
    }

    /// Whether nothing but another purchase gives access again. A renewal of which nothing is known may have been charged as long as
    /// Apple may charge it, and an upgrade of which nothing is known may run.
    package func isLapsed(at moment: Date, in periods: [AccessStore.Period]) -> Bool {
        switch state(at: moment, in: periods) {
        case .expired: true
        // Of a season whose refund is reversed, no date says until when it was paid for, so a move could not be taken back.
        case .revoked: transaction?.kind != .nonRenewing
        case .overdue:
            transaction?.expiresDate.map {
                moment >= $0.addingTimeInterval(BillingRules.billingRetry(of: transaction?.billingPlanType))
            } ?? false
        // What a consumable gives may not have been credited yet.
        case .active, .gracePeriod, .billingRetry, .notBegun, .upgraded, .owned, .consumed, .unknown: false
        }
    }
}

/// A text that is no account token, because it is no UUID.
public struct NoAccountToken: Error, Equatable, CustomStringConvertible {
    /// What was given instead of a UUID.
    public var text: String

    /// What failed, why, and what to do.
    public var description: String {
        "“\(text)” is no account token: App Store account tokens are UUIDs; give one like 7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b"
    }
}

extension UUID {
    /// - Throws: `NoAccountToken` where the text is no UUID.
    init(accountToken text: String) throws {
        guard let uuid = UUID(uuidString: text) else { throw NoAccountToken(text: text) }
        self = uuid
    }
}

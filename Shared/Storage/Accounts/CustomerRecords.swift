import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// The records of app backends about their customers: ids, manual grants, and consents.
package struct CustomerRecords: Sendable {
    /// A customer by the developer's own id.
    package struct Customer: Sendable, Equatable {
        package var id: String
        package var environment: StoreEnvironment
        package var bundleId: String
        package var appAccountToken: UUID
        package var createdAt: Date

        package init(
            id: String, environment: StoreEnvironment, bundleId: String, appAccountToken: UUID, createdAt: Date
        ) {
            self.id = id
            self.environment = environment
            self.bundleId = bundleId
            self.appAccountToken = appAccountToken
            self.createdAt = createdAt
        }
    }

    /// Access that an operator or backend granted.
    package struct ManualGrant: Sendable, Equatable {
        package var id: UUID
        package var environment: StoreEnvironment
        package var bundleId: String
        package var appAccountToken: UUID
        package var productId: String
        package var reason: String
        package var startsAt: Date
        /// The end of the grant; nil where it lasts until it is revoked.
        package var endsAt: Date?
        package var createdAt: Date
        /// The id of the API key that created it.
        package var createdBy: UUID
        package var revokedAt: Date?

        /// The id in place of an API key where an operator created the grant; the audit log names the operator.
        package static let byOperator = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

        package init(
            id: UUID, environment: StoreEnvironment, bundleId: String, appAccountToken: UUID, productId: String,
            reason: String, startsAt: Date, endsAt: Date?, createdAt: Date, createdBy: UUID
        ) {
            self.id = id
            self.environment = environment
            self.bundleId = bundleId
            self.appAccountToken = appAccountToken
            self.productId = productId
            self.reason = reason
            self.startsAt = startsAt
            self.endsAt = endsAt
            self.createdAt = createdAt
            self.createdBy = createdBy
        }
    }

    /// One of the app's accounts that use a customer's Apple account.
    package struct Account: Sendable, Equatable {
        package var appAccountToken: UUID
        /// The developer's own id; nil where the account has none.
        package var customerId: String?
        /// Its strongest evidence on the Apple account.
        package var evidence: ClaimEvidence
        /// The time of its first claim with that evidence.
        package var since: Date
        /// Whether it may use one of the purchases of the Apple account.
        package var isEntitled: Bool
    }

    /// The outcome of creating a customer.
    package enum Outcome: Sendable, Equatable {
        case created(Customer)
        case known(Customer)
        /// The customer has another token, or another customer has the token.
        case conflict
    }

    private let connection: PostgresConnection

    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// Creates a customer; an existing one is not changed.
    /// - Parameter isTokenGiven: whether the caller requires this token; otherwise a stored one is returned.
    package func put(_ customer: Customer, isTokenGiven: Bool) async throws -> Outcome {
        let added = try await connection.execute(
            Self.insert, customer.id, customer.environment.rawValue, customer.bundleId, customer.appAccountToken,
            customer.createdAt
        ).affected
        guard
            let stored = try await find(customer.id, of: customer.bundleId, in: customer.environment)
        else { return .conflict }
        if added > 0 { return .created(stored) }
        return isTokenGiven && stored.appAccountToken != customer.appAccountToken ? .conflict : .known(stored)
    }

    package func find(
        _ id: String, of bundleId: String, in environment: StoreEnvironment
    ) async throws -> Customer? {
        try await connection.execute(Self.find, id, bundleId, environment.rawValue).first.map { row in
            Customer(
                id: id, environment: environment, bundleId: bundleId,
                appAccountToken: try row.value("app_account_token"), createdAt: try row.value("created_at"))
        }
    }

    /// The accounts that use the Apple accounts of a customer, the customer's own included, by their first claims. None before
    /// the customer has claimed a purchase.
    package func accounts(sharingWith customer: Customer) async throws -> [Account] {
        let app = CoverageStore.App(customer.environment, customer.bundleId)
        return try await connection.transaction(isolation: .repeatableRead) { transaction in
            let inputs = try OwnershipStore.inputs(
                of: OwnershipChange(), account: (customer.appAccountToken, app), in: transaction)[app]
            guard let inputs else { return [] }
            let tokens = Set(inputs.accounts.flatMap(\.appAccountTokens)).compactMap { UUID(uuidString: $0) }
            let ids = try transaction.execute(Self.ids, app.environment.rawValue, app.bundleId, tokens).reduce(
                into: [:]
            ) { ids, row in
                ids[try row.value("app_account_token", as: UUID.self)] = try row.value("customer_id", as: String.self)
            }
            return tokens.compactMap { token in
                let name = token.uuidString.lowercased()
                let claims = inputs.claims.filter { $0.appAccountToken == name }
                guard let evidence = claims.map(\.evidence).min(),
                    let since = claims.filter({ $0.evidence == evidence }).map(\.since).min()
                else { return nil }
                return Account(
                    appAccountToken: token, customerId: ids[token], evidence: evidence, since: since,
                    isEntitled: inputs.held.contains { $0.mayUse && $0.appAccountToken == name })
            }.sorted { ($0.since, $0.appAccountToken.uuidString) < ($1.since, $1.appAccountToken.uuidString) }
        }
    }

    /// Deletes a customer with its token; purchases, grants and consents of the token stay.
    /// - Returns: false where there is no such customer.
    package func remove(_ id: String, of bundleId: String, in environment: StoreEnvironment) async throws -> Bool {
        try await connection.execute(Self.remove, id, bundleId, environment.rawValue).affected > 0
    }

    /// Adds a grant. Affects no row where one of this id is there already.
    package static func command(adding grant: ManualGrant) -> Command {
        Command(
            insertGrant, grant.id, grant.environment.rawValue, grant.bundleId, grant.appAccountToken,
            grant.productId, grant.reason, grant.startsAt, grant.endsAt, grant.createdAt, grant.createdBy)
    }

    /// All grants of an account, including those that have ended, the newest first.
    /// - Parameter bundleId: nil means of all apps.
    package func grants(
        of account: UUID, of bundleId: String? = nil, in environment: StoreEnvironment
    ) async throws -> [ManualGrant] {
        try await connection.execute(Self.grants, account, bundleId, environment.rawValue).map { row in
            var grant = ManualGrant(
                id: try row.value("id"), environment: environment, bundleId: try row.value("bundle_id"),
                appAccountToken: account,
                productId: try row.value("product_id"), reason: try row.value("reason"),
                startsAt: try row.value("starts_at"), endsAt: try row.optional("ends_at"),
                createdAt: try row.value("created_at"), createdBy: try row.value("created_by"))
            grant.revokedAt = try row.optional("revoked_at")
            return grant
        }
    }

    /// Ends a grant now, unless it is over.
    package static func command(revoking grant: ManualGrant, at moment: Date) -> Command {
        Command(revokeGrant, grant.id, moment)
    }

    /// The customers with this token, at most one of each app.
    package func customers(
        with account: UUID, of bundleIds: [String], in environment: StoreEnvironment
    ) async throws -> [Customer] {
        try await connection.execute(Self.ofAccount, account, bundleIds, environment.rawValue).map { row in
            Customer(
                id: try row.value("customer_id"), environment: environment, bundleId: try row.value("bundle_id"),
                appAccountToken: account, createdAt: try row.value("created_at"))
        }
    }

    static let statements = [insert, find, ids, remove, insertGrant, grants, revokeGrant, ofAccount]

    private static let insert = Statement(
        "customer-insert",
        """
        insert into customer (customer_id, environment, bundle_id, app_account_token, created_at)
        values ($1::text, $2::text::store_environment, $3::text, $4::uuid, $5::timestamptz)
        on conflict do nothing
        """)

    private static let find = Statement(
        "customer-find",
        """
        select app_account_token, created_at
        from customer
        where customer_id = $1::text and bundle_id = $2::text and environment = $3::text::store_environment
        """)

    private static let ids = Statement(
        "customer-ids",
        """
        select app_account_token, customer_id
        from customer
        where environment = $1::text::store_environment and bundle_id = $2::text and app_account_token = any ($3::uuid[])
        """)

    private static let remove = Statement(
        "customer-remove",
        """
        delete from customer
        where customer_id = $1::text and bundle_id = $2::text and environment = $3::text::store_environment
        """)

    private static let insertGrant = Statement(
        "manual-grant-insert",
        """
        insert into manual_grant (
            id, environment, bundle_id, app_account_token, product_id, reason, starts_at, ends_at, created_at, created_by)
        values (
            $1::uuid, $2::text::store_environment, $3::text, $4::uuid, $5::text, $6::text, $7::timestamptz,
            $8::timestamptz, $9::timestamptz, $10::uuid)
        on conflict do nothing
        """)

    private static let grants = Statement(
        "manual-grant-list",
        """
        select id, bundle_id, product_id, reason, starts_at, ends_at, created_at, created_by, revoked_at
        from manual_grant
        where app_account_token = $1::uuid and ($2::text is null or bundle_id = $2::text)
            and environment = $3::text::store_environment
        order by created_at desc, id
        """)

    private static let revokeGrant = Statement(
        "manual-grant-revoke",
        """
        update manual_grant
        set revoked_at = greatest($2::timestamptz, starts_at)
        where id = $1::uuid and revoked_at is null and (ends_at is null or ends_at > $2::timestamptz)
        """)

    private static let ofAccount = Statement(
        "customer-of-account",
        """
        select customer_id, bundle_id, created_at
        from customer
        where app_account_token = $1::uuid and bundle_id = any ($2::text[])
            and environment = $3::text::store_environment
        order by bundle_id
        """)
}

import Contracts
import Postgres

import struct Foundation.Date
import struct Foundation.UUID

/// Detaches or erases customers on their request (GDPR, article 17).
package struct ErasureStore: Sendable {
    /// How much is forgotten.
    package enum Extent: String, Sendable, CaseIterable {
        /// The account and its records; Apple's signed payloads stay as evidence.
        case detach
        /// Also every signed payload that names the account, and Apple's id of the customer.
        case erase
    }

    /// The SQLSTATE with which records of an erased account are rejected.
    package static let rejectedState = "SK001"

    private let connection: PostgresConnection

    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// What an erasure would find now.
    package struct Preview: Sendable, Equatable {
        package var account: UUID
        /// The developer's own id, where there is one.
        package var customer: String?
        /// Number of purchases that the account owns, claims, or was detached from.
        package var purchases: Int
        /// Number of signed payloads about them that a complete erasure would delete.
        package var payloads: Int
        /// Number of grants that would be deleted.
        package var grants: Int
        /// Of the erasure or detachment before.
        package var certificate: UUID?
        /// Whether that was complete, so that nothing is left to erase.
        package var isErased: Bool
    }

    /// What forgetting a customer would find now. Changes nothing.
    /// - Returns: nil where the name is neither the developer's own id nor an account of which anything is known.
    package func preview(
        named name: String, of bundleId: String, in environment: StoreEnvironment
    ) async throws -> Preview? {
        guard let account = try await account(named: name, of: bundleId, in: environment) else { return nil }
        return try await preview(account, of: bundleId, in: environment)
    }

    /// What forgetting an account would find now. Changes nothing.
    /// - Returns: nil where nothing is known of the account in this app and environment.
    package func preview(
        _ account: UUID, of bundleId: String, in environment: StoreEnvironment
    ) async throws -> Preview? {
        guard let row = try await connection.execute(Self.preview, environment.rawValue, bundleId, account).first
        else { return nil }
        return Preview(
            account: account, customer: try row.optional("customer_id"),
            purchases: Int(try row.value("purchases", as: Int64.self)),
            payloads: Int(try row.value("payloads", as: Int64.self)),
            grants: Int(try row.value("grants", as: Int64.self)), certificate: try row.optional("certificate"),
            isErased: try row.value("is_erased"))
    }

    /// The customer by the developer's own id, which an erasure that was interrupted keeps until its repeat, or, in apps without own
    /// ids, by the account's token.
    private func account(
        named name: String, of bundleId: String, in environment: StoreEnvironment
    ) async throws -> UUID? {
        if let known = try await CustomerRecords(connection).find(name, of: bundleId, in: environment) {
            return known.appAccountToken
        }
        let unswept = try await connection.execute(Self.unsweptAccount, environment.rawValue, bundleId, name).first
        return try unswept?.value("unswept_account") ?? UUID(uuidString: name)
    }

    /// Forgets a customer, named by the developer's own id, or, in apps without own ids, by the account's token.
    /// - Parameters:
    ///   - id: of the certificate.
    ///   - audit: the row of the audit log, written in the same transaction.
    /// - Returns: nil where the name is neither, or nothing is known of the account: then nothing was changed.
    package func forget(
        named name: String, of bundleId: String, in environment: StoreEnvironment, extent: Extent, id: UUID,
        at now: Date, audit: @Sendable (Certificate) -> OperatorAction? = { _ in nil }
    ) async throws -> Certificate? {
        guard let account = try await account(named: name, of: bundleId, in: environment) else { return nil }
        return try await forget(account, of: bundleId, in: environment, extent: extent, id: id, at: now, audit: audit)
    }

    /// Forgets an account. Idempotent: a second call returns the first certificate, and completes what an interrupted one left. One that
    /// finds nothing to forget does not lock what the pipeline needs.
    /// - Parameters:
    ///   - id: of the certificate.
    ///   - audit: the row of the audit log, written in the same transaction.
    /// - Returns: nil where nothing is known of the account in this app and environment: then nothing was changed.
    package func forget(
        _ account: UUID, of bundleId: String, in environment: StoreEnvironment, extent: Extent, id: UUID, at now: Date,
        audit: @Sendable (Certificate) -> OperatorAction? = { _ in nil }
    ) async throws -> Certificate? {
        let app = CoverageStore.App(environment, bundleId)
        let certificate: Certificate? = try await repeating {
            try await connection.transaction { transaction in
                func record(_ certificate: Certificate) throws -> Certificate {
                    if let action = audit(certificate) {
                        _ = try transaction.pipeline([OperatorActionStore.command(recording: [action])])
                    }
                    return certificate
                }
                // Nothing is added under the lock to what is read here and erased then.
                let lock = try transaction.execute(
                    Self.lock, environment.rawValue, bundleId, account, extent == .erase)
                guard try lock[0].value("is_locked", as: Bool.self) else {
                    let earlier = try transaction.execute(Self.earlier, environment.rawValue, bundleId, account).first
                    return try earlier.map(Self.certificate).map(record)
                }
                // Before, because the erasure may separate purchases of one Apple account from each other.
                let change = try Self.reached(from: account, app, in: transaction)
                let apps = try AccountAppStore.identities(of: account, app, in: transaction)
                let row = try transaction.execute(
                    Self.erase, id, environment.rawValue, bundleId, account, extent == .erase, now,
                    now.addingTimeInterval(Self.retention + Self.segment)
                ).first
                guard let certificate = try row.map(Self.certificate) else { return nil }
                try OwnershipStore.decide(change, at: now, in: transaction)
                try AccountAppStore.decide(apps, app, in: transaction)
                return try record(certificate)
            }
        }
        guard let certificate else { return nil }
        try await sweep(certificate.id)
        return certificate
    }

    /// Does what an erasure leaves to do after its transaction, see the function `sweep_unswept_account`. Nothing where that is done. A
    /// later call goes on where one was interrupted.
    /// - Parameters:
    ///   - id: of the certificate.
    ///   - portion: how many payloads one transaction looks through. Another erasure waits for it, and the pipeline for that one.
    package func sweep(_ id: UUID, portion: Int64 = 500) async throws {
        while try await connection.execute(Self.sweep, id, portion)[0].value("is_left", as: Bool.self) {
            try Task.checkCancellation()
        }
    }

    /// Sweeps after erasures that were interrupted. One that fails keeps back no other one.
    /// - Parameter moment: later ones may still be in progress.
    /// - Returns: number of accounts.
    /// - Throws: the first failure, after the others.
    package func sweepInterrupted(before moment: Date) async throws -> Int {
        let ids = try await connection.execute(Self.unswept, moment).map { row in try row.value("id", as: UUID.self) }
        var failure: (any Error)?
        for id in ids {
            do { try await sweep(id) } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
        return ids.count
    }

    /// A change with all purchases of the Apple accounts that an account uses, or of which it owned or claimed a purchase.
    private static func reached(
        from account: UUID, _ app: CoverageStore.App, in transaction: PostgresTransaction
    ) throws -> OwnershipChange {
        let known = try transaction.execute(Self.purchases, app.environment.rawValue, app.bundleId, account)
        let change = OwnershipChange(try known.map { row in try row.value("original_transaction_id") }, of: app)
        let rows = try transaction.pipeline([
            OwnershipStore.command(reachedFrom: change, account: (account, app))
        ])
        return OwnershipChange(try OwnershipStore.purchases(rows[0]).map(\.id), of: app)
    }

    /// The certificate of an erasure; nil where there is none of this id.
    package func certificate(_ id: UUID) async throws -> Certificate? {
        try await connection.execute(Self.find, id).first.map(Self.certificate)
    }

    private static func certificate(_ row: Row) throws -> Certificate {
        Certificate(
            id: try row.value("id"), environment: try SubscriptionStore.environment(row),
            bundleId: try row.value("bundle_id"), extent: try row.value("is_complete") ? .erase : .detach,
            erasedAt: try row.value("erased_at"), topicsUntil: try row.value("topics_until"),
            purchases: Int(try row.value("purchases", as: Int64.self)),
            payloads: Int(try row.value("payloads", as: Int64.self)))
    }

    /// Whether an account is known to be erased or detached.
    package func isErased(
        _ account: UUID, of bundleId: String, in environment: StoreEnvironment
    ) async throws -> Bool {
        let account = ErasedAccounts.Account(environment: environment, bundleId: bundleId, token: account)
        return try await !ErasedAccounts(connection.pipeline([ErasedAccounts.command(among: [account])])[0]).isEmpty
    }

    /// The longest retention that `setup` gives a topic, in seconds.
    private static let retention = Topics.all.map { Double($0.retention.components.seconds) }.max() ?? 0

    /// Kafka deletes a segment as a whole, when its newest record is old enough. It takes records for a week (`segment.ms`, by default
    /// of brokers), and its files go some minutes later: a day is more than that.
    private static let segment = 8 * 86_400.0

    static let statements = [
        ErasedAccounts.select, unsweptAccount, unswept, preview, lock, purchases, earlier, erase, find, sweep,
    ]

    private static let columns =
        "id, environment::text as environment, bundle_id, is_complete, erased_at, topics_until, purchases, payloads"

    private static let unsweptAccount = Statement(
        "erase-account-unswept-account",
        """
        select unswept_account
        from erased_account
        where environment = $1::text::store_environment and bundle_id = $2::text and unswept_customer = $3::text
            and unswept_account is not null
        order by erased_at desc
        limit 1
        """)

    private static let unswept = Statement(
        "erase-account-unswept",
        """
        select id
        from erased_account
        where unswept_account is not null and erased_at < $1::timestamptz
        order by erased_at
        """)

    private static let preview = Statement(
        "erase-account-preview",
        """
        select cardinality(owned)::bigint as purchases,
            (
                select count(*)
                from payloads_of_account(
                    asked.environment, asked.bundle_id, account, owned,
                    purchases_of_account_alone(asked.environment, account, owned))
            ) as payloads,
            (
                select count(*)
                from manual_grant known
                where known.app_account_token = account and known.environment = asked.environment
                    and known.bundle_id = asked.bundle_id
            ) as grants,
            (
                select customer_id
                from customer known
                where known.app_account_token = account and known.environment = asked.environment
                    and known.bundle_id = asked.bundle_id
            ) as customer_id,
            erased.id as certificate, coalesce(erased.is_complete, false) as is_erased
        from (
            values ($1::text::store_environment, $2::text, $3::uuid)
        ) as asked (environment, bundle_id, account)
        cross join lateral purchases_of_account(asked.environment, asked.bundle_id, account) as owned
        left join erased_account erased on digest = account_digest(asked.environment, asked.bundle_id, account)
        where is_account_known(asked.environment, asked.bundle_id, account)
        """)

    private static let purchases = Statement(
        "erase-account-purchases",
        """
        select unnest(purchases_of_account($1::text::store_environment, $2::text, $3::uuid)) as original_transaction_id
        """)

    private static let lock = Statement(
        "erase-account-lock",
        "select lock_erasures($1::text::store_environment, $2::text, $3::uuid, $4::boolean) as is_locked")

    private static let earlier = Statement(
        "erase-account-earlier",
        unsafeSQL: """
            select \(columns)
            from erased_account
            where digest = account_digest($1::text::store_environment, $2::text, $3::uuid)
            """)

    private static let erase = Statement(
        "erase-account",
        unsafeSQL: """
            select \(columns)
            from erase_account(
                $1::uuid, $2::text::store_environment, $3::text, $4::uuid, $5::boolean, $6::timestamptz, $7::timestamptz)
            """)

    private static let find = Statement(
        "erase-account-certificate", unsafeSQL: "select \(columns) from erased_account where id = $1::uuid")

    private static let sweep = Statement(
        "erase-account-sweep", "select sweep_unswept_account($1::uuid, $2::bigint) as is_left")
}

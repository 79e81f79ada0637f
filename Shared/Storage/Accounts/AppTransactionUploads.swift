import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// Stored uploads of app transactions, and which of them are about one customer.
///
/// Older systems sign an app transaction without Apple's id of the customer (`appTransactionId`). What else it says, the version and
/// the second of the first purchase, is no customer's alone, so it does not tell by itself which of those with an id is the same
/// customer's: one of two customers would lose what was paid for. They are one where an account has sent both, as it does when its
/// device was updated. Where accounts have sent one without an id and those of several customers, it stands alone.
struct AppTransactionUploads: Sendable {
    /// An app transaction that an account has sent.
    struct Upload: Sendable, Hashable {
        /// Apple's id of the customer; a digest where there is none.
        var identity: String
        var appAccountToken: UUID
        var evidence: ClaimEvidence
        var recordedAt: Date
        var originalApplicationVersion: String
        var originalPurchaseDate: Date?
        /// Whether the account may use what the purchase of the app gives, by the stored decision.
        var isEntitled = false

        fileprivate var hasAppleId: Bool { !identity.hasPrefix(AccountAppStore.digestPrefix) }

        fileprivate func isOfPurchase(of other: Upload) -> Bool {
            originalApplicationVersion == other.originalApplicationVersion
                && originalPurchaseDate == other.originalPurchaseDate
        }
    }

    private let byCustomer: [String: [Upload]]
    /// Apple's ids of the customers of digests.
    private let customers: [String: String]

    /// - Parameters:
    ///   - uploads: all that have the identities that occur, or one that belongs to them.
    ///   - upload: another one that is about to be stored; it decides who is one customer and is not among those of the customer.
    init(_ uploads: [Upload], adding upload: Upload? = nil, in environment: StoreEnvironment) {
        var found: [String: Set<String>] = [:]
        // Outside of Production all customers have version and date in common.
        let joining = environment == .production ? uploads + (upload.map { [$0] } ?? []) : []
        for ofAccount in Dictionary(grouping: joining, by: \.appAccountToken).values {
            for digest in ofAccount where !digest.hasAppleId {
                for named in ofAccount where named.hasAppleId && named.isOfPurchase(of: digest) {
                    found[digest.identity, default: []].insert(named.identity)
                }
            }
        }
        let customers = found.compactMapValues { $0.count == 1 ? $0.first : nil }
        self.customers = customers
        byCustomer = Dictionary(grouping: uploads) { customers[$0.identity] ?? $0.identity }
    }

    /// The identity of the customer of an app transaction.
    func customer(of identity: String) -> String { customers[identity] ?? identity }

    /// The customers of all uploads, sorted.
    var all: [String] { byCustomer.keys.sorted() }

    /// The uploads of a customer.
    func uploads(of customer: String) -> [Upload] { byCustomer[customer] ?? [] }

    // MARK: - Reading

    /// Locks app transactions, and reads them with all that may be about the same customers. Reads until all that show up are locked,
    /// as ``OwnershipStore`` does.
    /// - Parameter account: whose app transactions are read and locked, too.
    static func locked(
        _ identities: [String], of account: UUID? = nil, _ app: CoverageStore.App, in transaction: PostgresTransaction
    ) throws -> [Upload] {
        var names = Set(identities).union(account.map { [$0.uuidString.lowercased()] } ?? [])
        while true {
            let locks = Set(names.map { OwnershipLock.appTransaction($0, of: app) })
            _ = try transaction.pipeline([Command(OwnershipLock.begin)] + OwnershipLock.commands(locks))
            let uploads = try read(identities, of: account, app, in: transaction)
            let missing = Set(uploads.map(\.identity)).subtracting(names)
            _ = try transaction.pipeline([Command(missing.isEmpty ? OwnershipLock.end : OwnershipLock.giveBack)])
            if missing.isEmpty { return uploads }
            names.formUnion(missing)
        }
    }

    /// Reads the same rows without locks.
    static func read(
        _ identities: [String], of account: UUID? = nil, _ app: CoverageStore.App, in transaction: PostgresTransaction
    ) throws -> [Upload] {
        try transaction.execute(Self.reached, app.environment.rawValue, app.bundleId, identities, account).map { row in
            Upload(
                identity: try row.value("identity"), appAccountToken: try row.value("app_account_token"),
                evidence: ClaimEvidence(rawValue: try row.value("evidence")) ?? .old,
                recordedAt: try row.value("recorded_at"),
                originalApplicationVersion: try row.value("original_application_version"),
                originalPurchaseDate: try row.optional("original_purchased_at"),
                isEntitled: try row.value("is_entitled"))
        }
    }

    /// Reads, without locks, the app transactions that several of the app's accounts have sent, and all that may be about the same customers.
    static func contested(_ app: CoverageStore.App, in transaction: PostgresTransaction) throws -> Self {
        let identities = try transaction.execute(contested, app.environment.rawValue, app.bundleId).map { row in
            try row.value("identity", as: String.self)
        }
        return AppTransactionUploads(try read(identities, app, in: transaction), in: app.environment)
    }

    static let statements = [reached, contested]

    /// The app transactions that several of the app's accounts have sent.
    private static let contested = Statement(
        "account-app-contested",
        """
        select identity
        from account_app
        where environment = $1::text::store_environment and bundle_id = $2::text
        group by identity
        having count(*) > 1
        """)

    private static let reached = Statement(
        "account-app-uploads",
        """
        with recursive reached (identity) as (
            (
                select identity
                from unnest($3::text[]) as given (identity)
                union
                select identity
                from account_app
                where app_account_token = $4::uuid and environment = $1::text::store_environment and bundle_id = $2::text
                    and $1::text = 'Production'
            )
            union
            select next.identity
            from reached
            cross join lateral (
                select other.identity
                from account_app held
                join account_app other
                    on other.app_account_token = held.app_account_token and other.environment = held.environment
                    and other.bundle_id = held.bundle_id
                    and other.original_application_version = held.original_application_version
                    and other.original_purchased_at is not distinct from held.original_purchased_at
                    and starts_with(other.identity, 'sha256:') <> starts_with(held.identity, 'sha256:')
                where held.identity = reached.identity and held.environment = $1::text::store_environment
                    and held.bundle_id = $2::text
                offset 0
            ) as next
            where $1::text = 'Production'
        )
        select held.identity, held.app_account_token, held.evidence::text as evidence, held.recorded_at,
            held.original_application_version, held.original_purchased_at, held.is_entitled
        from reached
        cross join lateral (
            select *
            from account_app
            where identity = reached.identity and environment = $1::text::store_environment and bundle_id = $2::text
            offset 0
        ) as held
        """)
}
